"""RoMAE in one moving picture, in four steps: observe, hide, encode, ask. The picture of chapter 00.

Fixed and made up, except the distances: one series at irregular times, and which of its points are hidden.
"""

import math

from ..explorable import Explorable, figure

TIMES = (0.6, 1.3, 3.9, 4.4, 6.8, 7.2, 9.7, 11.1, 13.6, 14.3, 17.0, 18.9)
HIDDEN = (1, 2, 4, 5, 7, 8, 10)
ASKED = 15.7  # a time at which nothing was measured
END, PERIOD, PHASE = 20.0, 9.0, 0.1
STEPS = (
    ("1 · values at times", "Twelve measurements at times that nobody chose. Each is a token: a value, at its time."),
    ("2 · hide", "Most tokens are hidden, here seven. The model will be asked for them, so that it needs no labels."),
    ("3 · encode", "The encoder sees the visible tokens only. Its attention turns queries and keys by angles that grow "
     "with the time: every score depends on a distance in time, never on a count."),
    ("4 · ask", "A mask token goes to each hidden time, and the decoder says what was there. Any other time will do as "
     "well: the ring stands where nothing was measured."),
)


def payload() -> dict:
    values = [round(math.sin(2 * math.pi * (t / PERIOD + PHASE)), 3) for t in TIMES]
    return {
        "times": list(TIMES), "values": values, "hidden": list(HIDDEN), "asked": ASKED, "end": END, "period": PERIOD,
        "phase": PHASE, "steps": [list(step) for step in STEPS],
    }


@figure("pipeline")
def explorable() -> Explorable:
    data = payload()
    return Explorable(
        name="pipeline",
        data=data,
        height=230,
        title="RoMAE in four steps",
        caption="A sketch with made-up values. Step through it, or press play. In the last step drag the ring to "
        "ask at another time.",
    )

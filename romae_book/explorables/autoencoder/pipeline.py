"""RoMAE in one moving picture, in four steps: observe, hide, encode, ask. The picture of chapter 00.

Fixed and made up, but for the distances: one series at irregular times, and which of its points are hidden.
"""

import math
from pathlib import Path

from ...palette import PALETTE
from .. import svg
from ..explorable import Explorable, figure

SCRIPT = Path(__file__).with_suffix(".js")
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


def still(data: dict) -> str:
    """The four steps below one another, as an SVG string."""
    body, blue = "", PALETTE["blue"][0]
    across = lambda t: 210 + 410 * t / data["end"]  # noqa: E731
    for k, (name, _) in enumerate(data["steps"]):
        y = 60 + 90 * k
        body += svg.label(20, y, name, font_weight=600) + svg.line([(210, y + 30), (620, y + 30)], stroke="#bbb")
        for i, (t, v) in enumerate(zip(data["times"], data["values"], strict=True)):
            hidden = k > 0 and i in data["hidden"]
            if hidden and k == 2:
                continue
            look = {"fill": "#222"}
            if hidden:
                look = {"fill": blue if k == 3 else "none", "stroke": blue if k == 3 else "#999"}
            body += svg.tag("circle", cx=across(t), cy=y - 22.0 * v, r=4, **look)
    return svg.picture(640, 400, body)


@figure("pipeline")
def explorable() -> Explorable:
    data = payload()
    return Explorable(
        name="pipeline",
        script=SCRIPT,
        data=data,
        fallback=still(data),
        height=230,
        title="RoMAE in four steps",
        caption="A sketch with made-up values. Step through it, or press play. In the last step drag the ring to "
        "ask at another time.",
    )

"""The sampling board: one tone, read where the reader puts the dots, and every other tone that passes through them."""

from ..explorable import Explorable, figure

TONE, DOTS, PHASE = 3, 8, 0.3  # hertz; readings in the second; of a turn
HIGHEST, STEP = 48.0, 0.25  # hertz that are tried
PHASES = 120  # that are tried for each
NEAR = 0.1  # a tone fits that misses the dots by less, root mean square: the noise of the chapter's series


@figure("sampling")
def explorable() -> Explorable:
    return Explorable(
        name="sampling",
        data={
            "tone": TONE, "times": [(i + 0.5) / DOTS for i in range(DOTS)], "phase": PHASE, "highest": HIGHEST,
            "step": STEP, "phases": PHASES, "near": NEAR,
        },
        height=150,
        title="Which tones pass through the dots? Drag a dot, or shake them all.",
        caption="Above: a tone of height 1, read at the dots, and in purple all others of that height that miss the "
        f"dots by less than {NEAR}. Below: by how much the best tone of each frequency misses them. The dashed line "
        "is half the number of dots a second, Nyquist's limit for even steps. You hear tones 80 times as high.",
    )

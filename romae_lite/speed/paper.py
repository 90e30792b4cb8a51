"""What the paper says of speed (Table 9)."""

from ..lab.claims import table

CLAIMS = (
    *table(
        "Table 9", "Training speed relative to absolute positions",
        dict(experiment="speed", metric="relative_speed", better="equal", better_before="higher", margin=0.03,
             margin_why="three points: a quarter of the cost that Table 9 reports for continuous positions",
             needs="a quarter of an hour of a GPU",
             note="timed over the whole training call on a GTX 1650 Ti"),
        (("relative speed", {}),),
        (  # absolute positions are the unit: 1 by definition, no claim
            ("RoPE, quantised", dict(encoding="quantised"), "0.98"),
            ("RoPE, continuous", dict(encoding="rope"), "0.87"),
        ),
    ),
)  # fmt: skip

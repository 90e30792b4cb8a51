"""What the paper says of speed (Table 9)."""

from .claim import table

CLAIMS = (
    *table(
        "Table 9", "Training speed relative to absolute positions",
        dict(experiment="speed", metric="relative_speed", better="equal",
             needs="a quarter of an hour of a GPU", measure="encoding", task="images", encoder="small",
             note="timed over the whole training call on a GTX 1650 Ti"),
        (("relative speed", {}),),
        (  # absolute positions are the unit: 1 by definition, no claim
            ("RoPE, quantised", dict(encoding="quantised"), "0.98"),
            ("RoPE, continuous", dict(encoding="rope"), "0.87"),
        ),
    ),
)

PROTOCOL = {
    "speed": (
        {
            "source": "App. B.2, and the branch add-perf-experiments in the experiments repository",
            "only": ("batch", "encoder", "decoder", "task", "machine"),
            "settings": {
                "batch": 64, "encoder": "small", "decoder": "tiny-shallow", "task": "images", "machine": "gpu",
            },
            "remarks": {
                "task": "224 x 224 x 3, 75 % hidden: one random image, 10,000 times",
                "machine": "GTX 1650 Ti; three trials of ten epochs, timed with loading, evaluation and checkpoints",
            },
        },
    ),
}

"""What the paper says of recovering positions (Table 1, Figure 2)."""

import math

from .claim import table

WIDTH, TEST = 49, 40_000  # positions on (1, 50); 4000 test samples of ten
# standard error of the variance of so many uniform numbers: sqrt((m4 - m2^2) / n) with m4 = w^4 / 80, m2 = w^2 / 12
DRAW = math.sqrt((WIDTH**4 / 80 - WIDTH**4 / 144) / TEST)
MEDIAN = (
    "the authors take the median over the range of the mean of five runs; ours is the mean of each run's own median, "
    "which is a little smaller (D15)"
)

CLAIMS = (
    *table(
        "Table 1", "Position reconstruction, test MSE",
        dict(experiment="position", metric="mse", n=5),
        (
            ("with [CLS]", dict(cls=True, needs="under four minutes of a GPU a run, or of a free CPU core a "
                                  "quarter of an hour (tiny), an hour (small), two hours (base)")),
            ("no [CLS]", dict(cls=False, better="equal", known=DRAW,
                               note="every token of the input is the same, so that without "
                              "[CLS] no model can do better than the variance of the positions")),
        ),
        (
            ("tiny", dict(size="tiny"), "0.062 (0.007)", "200.33 (0.001)"),
            ("small (width only)", dict(size="small"), "0.0057 (0.002)", "200.33 (0.001)"),
            ("base (width only)", dict(size="base"), "0.0031 (0.002)", "200.33 (0.002)"),
        ),
    ),
    *table(
        "Figure 2", "Position reconstruction over the range, absolute error",
        dict(experiment="position_range", source="E", better="equal", n=5,
             needs="half a minute of an H100 a run, or half an hour of a free CPU core",
             note="the axis says MSE; what is plotted are absolute errors"),
        (
            ("mean", dict(metric="mae_mean")), ("median", dict(metric="mae_median", note=MEDIAN)),
            ("central 80 %", dict(metric="mae_central")), ("first point", dict(metric="mae_first")),
            ("last point", dict(metric="mae_last")),
        ),
        (
            ("(0, 100)", dict(high=100), "0.060", "0.029", "0.028", "0.713", "1.682"),
            ("(0, 1000)", dict(high=1000), "0.492", "0.273", "0.266", "5.427", "16.886"),
        ),
    ),
)

PROTOCOL = {
    "position": (
        {
            "source": "Table 17; D.5",
            "settings": {
                "training_set": 20_000, "n_test": 4000, "epochs": 10, "batch": 64, "lr": 5e-4, "warmup": 625,
                "schedule": "cosine", "optimizer": "adamw", "beta1": 0.9, "beta2": 0.999, "weight_decay": 0.01,
                "clip": None, "precision": "fp32", "size": "tiny", "tokens": 10, "low": 0.0, "high": 50.0,
                "values": "same", "position_scale": 1.0,
            },
            "remarks": {
                "size": "and small, base: their code changes the width alone", "low": "their code: 1",
                "cls": "with and without",
            },
        },
    ),
    "position_range": tuple(
        {
            "source": "Table 16; B.1", "where": {"high": high},
            "settings": {
                "epochs": 10, "batch": 64, "lr": lr, "warmup": 625, "schedule": "cosine", "optimizer": "sgd",
                "beta1": 0.9, "weight_decay": 0.0, "clip": None, "size": "large", "tokens": 1, "low": 0.0, "high": high,
                "cls": True, "values": "same", "position_scale": 1.0,
            },
            "remarks": {"size": "width 960, 3 heads", "n_test": "evaluated on 500 evenly spaced positions"},
        }
        for high, lr in ((100.0, 5e-6), (1000.0, 5e-7))
    ),
}

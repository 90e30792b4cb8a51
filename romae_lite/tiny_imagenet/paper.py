"""What the paper says of Tiny ImageNet (Table 2)."""

from ..lab.claims import SHARE, table

CLAIMS = (
    *table(
        "Table 2", "Tiny ImageNet, small, F-score",
        dict(experiment="tiny_imagenet", metric="f1_macro", better="higher", cases=10_000, n=5, **SHARE,
             needs="the data set (240 MB), and most of an hour of an H100 a run"),
        (("F-score", {}),),
        (
            ("RoPE, no [CLS]", dict(encoding="rope", pool="mean"), "0.500 (0.011)"),
            ("RoPE, [CLS]", dict(encoding="rope", pool="cls"), "0.475 (0.006)"),
            ("absolute, [CLS]", dict(encoding="absolute", pool="cls"), "0.479 (0.010)"),
        ),
    ),
)  # fmt: skip

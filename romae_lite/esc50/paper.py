"""What the paper says of ESC-50 (Table 3)."""

from ..lab.claims import QUOTED, SHARE, table

CLAIMS = (
    *table(
        "Table 3", "ESC-50, accuracy by pre-training set",
        dict(experiment="esc50", metric="accuracy", better="higher", exponent=-2, unit="%", cases=2000, **SHARE,
             needs="recordings for pre-training (AudioSet-20k or Librispeech), and hours of a GPU"),
        (
            ("Librispeech", dict(pretrain="librispeech")), ("AudioSet-20k", dict(pretrain="audioset20k")),
            ("AudioSet-2M", QUOTED), ("supervised", QUOTED),
        ),
        (
            ("SSAST", QUOTED, "80.0", "82.2", "84.6", None),
            ("RoMAE-small", {}, "83.2", "84.7", None, None),
            ("state of the art, SOTA-S", QUOTED, None, None, None, "86.5"),
            ("state of the art, SOTA-P", QUOTED, None, None, None, "94.7"),
        ),
    ),
)  # fmt: skip

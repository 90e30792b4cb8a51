"""What the paper says of ELAsTiCC (Table 4)."""

from ..lab.claims import QUOTED, table

POINTS = "Table 4 does not say on which points; the authors' README calls its alert mask the closer comparison"

CLAIMS = (
    *table(
        "Table 4", "ELAsTiCC, F-score",
        dict(experiment="elasticc", metric="f1_macro", better="higher"),
        (
            ("all points", dict(alert_mask=False)),
            ("alert mask", dict(alert_mask=True, source="I", note="not in the paper but in the authors' README, which "
                                "calls it the closer comparison with ATAT")),
        ),
        (
            ("tiny-shallow", dict(encoder="tiny-shallow"), "0.7106", "0.6649"),
            ("tiny", dict(encoder="tiny"), "0.8029", "0.7205"),
        ),
    ),
    *table(
        "Table 4", "ELAsTiCC, F-score",
        dict(experiment="elasticc", metric="f1_macro", better="higher", note=POINTS),
        (("", {}),),
        (("Transformer", QUOTED, "0.5256"), ("ATAT", QUOTED, "0.6270")),
    ),
)  # fmt: skip

"""What the paper says of the UEA archive (Table 6)."""

from ..lab.claims import QUOTED, table

CLAIMS = (
    *table(
        "Table 6", "UEA, accuracy with 30 % of the observations dropped",
        dict(experiment="uea", metric="accuracy", better="higher", folds=None),  # on the set's own test set
        (("TST", QUOTED), ("mTAN", QUOTED), ("S5", QUOTED), ("ContiFormer", QUOTED), ("RoMAE-tiny", {})),
        (
            ("BasicMotions", dict(dataset="BasicMotions"), "0.9667", "0.9917", "0.9833", "0.9750", "0.9917"),
            ("CharacterTrajectories", dict(dataset="CharacterTrajectories"),
             "0.9742", "0.9529", "0.9610", "0.9833", "0.9882"),
            ("Epilepsy", dict(dataset="Epilepsy"), "0.9589", "0.9203", "0.9074", "0.9324", "0.9517"),
            ("Heartbeat", dict(dataset="Heartbeat"), "0.7398", "0.7789", "0.7333", "0.7561", "0.7447"),
            ("LSST", dict(dataset="LSST"), "0.5520", "0.5307", "0.6389", "0.6004", "0.6225"),
        ),
    ),
)  # fmt: skip

"""What the paper says of the UEA archive (Table 6)."""

from ..experiments.uea.data import SETS
from .claim import QUOTED, table

TRAIN_MODE = dict(
    metric="accuracy_train_mode", reading=True, opponent="",
    note="the printed cell again: the authors' script scores with dropout and stochastic depth at work (D27), which "
    "Table 12 has on two of the sets",
)


CLAIMS = (
    *table(
        "Table 6", "UEA, accuracy with 30 % of the observations dropped",
        dict(experiment="uea", metric="accuracy", better="higher", folds=None,
             n=3, opponent="minirocket"),  # on the set's own test set
        (("TST", QUOTED), ("mTAN", QUOTED), ("S5", QUOTED), ("ContiFormer", QUOTED), ("RoMAE-tiny", {})),
        (
            ("BasicMotions", dict(dataset="BasicMotions"), "0.9667", "0.9917", "0.9833", "0.9750", "0.9917"),
            ("CharacterTrajectories", dict(dataset="CharacterTrajectories",
                                           needs="four to five hours of a free CPU core a run"),
             "0.9742", "0.9529", "0.9610", "0.9833", "0.9882"),
            ("Epilepsy", dict(dataset="Epilepsy", needs="an hour of a free CPU core a run"),
             "0.9589", "0.9203", "0.9074", "0.9324", "0.9517"),
            ("Heartbeat", dict(dataset="Heartbeat", needs="the archive's test file, and two minutes of an H100 a run"),
             "0.7398", "0.7789", "0.7333", "0.7561", "0.7447"),
            ("LSST", dict(dataset="LSST", needs="an hour and a quarter of a free CPU core a run"),
             "0.5520", "0.5307", "0.6389", "0.6004", "0.6225"),
            ("Epilepsy, as the script scores it", dict(dataset="Epilepsy", **TRAIN_MODE), None, None, None, None,
             "0.9517"),
            ("LSST, as the script scores it", dict(dataset="LSST", **TRAIN_MODE), None, None, None, None, "0.6225"),
        ),
    ),
)

# Table 12: lr, batch, epochs, clip, dropout and stochastic depth, smoothing (one less the paper's c)
TABLE_12 = {
    "BasicMotions": (1e-2, 8, 50, 1.0, 0.0, 0.0),
    "CharacterTrajectories": (8e-3, 16, 100, 1.0, 0.0, 0.1),
    "Epilepsy": (2e-3, 16, 150, 1.0, 0.2, 0.2),
    "Heartbeat": (2e-2, 32, 30, 2.0, 0.0, 0.0),
    "LSST": (3e-2, 16, 15, 10.0, 0.2, 0.1),
}
PROTOCOL = {
    "uea": tuple(
        {
            "source": "Tables 12 and 13", "where": {"dataset": dataset},
            "settings": {
                "training_set": SETS[dataset].train, "lr": lr, "batch": batch, "epochs": epochs, "clip": clip,
                "dropout": dropout, "drop_path": dropout, "smoothing": smoothing, "optimizer": "sgd", "beta1": 0.9,
                "weight_decay": 0.0, "warmup_share": 0.1, "schedule": "cosine", "precision": "fp32",
                "pretrain_epochs": 400, "pretrain_batch": 64, "pretrain_lr": 3e-4, "pretrain_warmup_share": 0.1,
                "pretrain_optimizer": "adamw", "pretrain_beta1": 0.9, "pretrain_beta2": 0.95,
                "pretrain_weight_decay": 0.05, "mask_ratio": 0.75, "encoder": "tiny", "decoder": "tiny-shallow",
                "cls": True, "encoding": "rope", "p": 0.75, "dropped": 0.3, "source": "real", "scale": "none",
                "dataset": dataset,
            },
            "remarks": {
                "training_set": "the archive's own", "warmup": "their code reckons with batches of 16",
                "dropout": "also on attention weights", "padding": "their code: zeros",
                "embedding": "their code: fresh",
            },
        }
        for dataset, (lr, batch, epochs, clip, dropout, smoothing) in TABLE_12.items()
    ),
}

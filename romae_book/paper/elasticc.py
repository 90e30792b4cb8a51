"""What the paper says of ELAsTiCC (Table 4)."""

from .claim import QUOTED, table

POINTS = "Table 4 does not say on which points; the authors' README calls its alert mask the closer comparison"

CLAIMS = (
    *table(
        "Table 4", "ELAsTiCC, F-score",
        dict(experiment="elasticc", metric="f1_macro", better="higher",
             needs="the data set (tens of gigabytes), and several GPUs, for a batch of 16,384 is too much for one: by "
                   "counting some six to ten hours of one H100's work a run, tiny-shallow a third of it"),
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
)

PROTOCOL = {
    "elasticc": (
        {
            "source": "Table 18; D.6",
            "settings": {
                "lr": 8e-4, "batch": 4096, "epochs": 25, "clip": 10.0, "dropout": 0.2, "drop_path": 0.2,
                "optimizer": "adamw", "beta1": 0.9, "beta2": 0.999, "weight_decay": 0.05, "schedule": "cosine",
                "precision": "fp32", "pretrain_epochs": 200, "pretrain_batch": 16_384, "pretrain_lr": 6.4e-3,
                "pretrain_warmup": 2000, "pretrain_optimizer": "adamw", "pretrain_beta1": 0.9, "pretrain_beta2": 0.95,
                "pretrain_weight_decay": 0.05, "mask_ratio": 0.75, "encoder": "tiny", "decoder": "tiny-shallow",
                "cls": True, "encoding": "rope", "p": 0.75, "source": "real", "spread": "variance",
            },
            "remarks": {
                "training_set": "of about 1.8 million light curves", "mask_ratio": "their code: 0.5",
                "balanced": "their code: yes", "encoder": "and tiny-shallow", "dropout": "also on attention weights",
                "scaling": "Figure 6: “has already been normalized”; their code: none",
                "alert_mask": "no; in the authors' README also yes", "spread": "their code: the error",
            },
        },
    ),
}

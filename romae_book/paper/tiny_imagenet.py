"""What the paper says of Tiny ImageNet (Table 2)."""

from .claim import table

CLAIMS = (
    *table(
        "Table 2", "Tiny ImageNet, small, F-score",
        dict(experiment="tiny_imagenet", metric="f1_macro", better="higher", n=5,
             needs="the data set (240 MB), and by counting about four hours of a GPU a run, whose 80 GB a "
                   "batch of fine-tuning nearly fills",
             n_classes=200),  # drawn ones are ten
        (("F-score", {}),),
        (
            ("RoPE, no [CLS]", dict(encoding="rope", pool="mean", cls=False), "0.500 (0.011)"),
            ("RoPE, [CLS]", dict(encoding="rope", pool="cls"), "0.475 (0.006)"),
            ("absolute, [CLS]", dict(encoding="absolute", absolute="authors", pool="cls"), "0.479 (0.010)"),
        ),
    ),
)

PROTOCOL = {
    "tiny_imagenet": (
        {
            "source": "Table 10; D.1",
            "settings": {
                "training_set": 100_000, "lr": 1e-3, "batch": 1024, "epochs": 15, "warmup": 500,
                "optimizer": "adamw", "beta1": 0.9, "beta2": 0.999, "weight_decay": 0.05, "schedule": "cosine",
                "precision": "fp32", "dropout": 0.0, "smoothing": 0.1, "augment": 2, "magnitude": 9,
                "pretrain_epochs": 200, "pretrain_batch": 1024, "pretrain_lr": 2e-4, "pretrain_warmup": 2000,
                "pretrain_optimizer": "adamw", "pretrain_beta1": 0.9, "pretrain_beta2": 0.95, "pretrain_clip": 1.0,
                "pretrain_weight_decay": 0.05, "mask_ratio": 0.75, "encoder": "small", "decoder": "tiny-shallow",
                "p": 0.75, "source": "real", "n_classes": 200, "per_class": 500, "targets": "patch", "patch_side": 16,
                "position_scale": 1.0, "absolute": "authors", "seen_share": 1.0,
            },
            "remarks": {
                "optimizer": "their script: SGD", "decoder": "their code: small's width, two blocks",
                "side": "not in the paper; their code: 224", "pretrain_lr": "once 3e-4, for absolute positions",
                "pool": "both with RoPE", "cls": "as pool", "encoding": "rope and absolute",
            },
        },
    ),
}

"""What the paper says of ESC-50 (Table 3)."""

from .claim import QUOTED, table

CLAIMS = (
    *table(
        "Table 3", "ESC-50, accuracy by pre-training set",
        dict(experiment="esc50", metric="accuracy", better="higher", exponent=-2, unit="%",
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
)

PROTOCOL = {
    "esc50": tuple(
        {
            "source": "Table 11; D.2", "where": {"pretrain": pretrain},
            "settings": {
                "lr": 1e-3, "batch": 48, "epochs": 50, "warmup": 50, "optimizer": "adamw", "beta1": 0.9, "beta2": 0.99,
                "weight_decay": 0.02, "smoothing": 0.2, "schedule": "cosine", "pretrain_epochs": 150,
                "pretrain_batch": 64, "pretrain_lr": 5e-4, "pretrain_warmup": 1000, "pretrain_optimizer": "adamw",
                "pretrain_beta1": 0.9, "pretrain_beta2": 0.95, "pretrain_weight_decay": 0.05, "mask_ratio": 0.75,
                "encoder": "small", "decoder": "tiny-shallow", "cls": False, "encoding": "rope", "p": 0.75,
                "source": "audio", "pretrain": pretrain, "targets": "normalised",
            },
            "remarks": {
                "training_set": "not said; of 2000 clips, four folds of five are 1600",
                "cls": "not in pre-training; of fine-tuning it is not said",
                "pretrain": "LibriSpeech: split 70 to 30, and not said which part; 70 % of train-clean-100 fits",
            },
        }
        for pretrain in ("audioset20k", "librispeech")
    ),
}

"""What the paper says of the pendulum (Table 5)."""

from .claim import QUOTED, table

PRINTED = dict(
    n=20, reading=True, metric="mse_authors", exponent=0, unit="",
    note="the printed cell again, read as what the authors' script prints: the sum of squared errors of the test set "
    "times 10⁻³, which is 100 times the plain mean",
)

CLAIMS = (
    *table(
        "Table 5", "Pendulum, test MSE",
        dict(experiment="pendulum", metric="mse", exponent=-3, unit="×10⁻³", opponent="kalman"),
        (("MSE", {}),),
        (
            ("ODE-RNN", QUOTED, "7.26 (0.41)"),
            ("RKN-Δt", QUOTED, "5.09 (0.40)"),
            ("ContiFormer", QUOTED | dict(note="may be mislabelled: a third party says that the CRU paper reports this "
                                          "very number for CRU; not verified"), "4.63 (1.07)"),
            ("CRU", QUOTED, "3.94 (0.21)"),
            ("S5", QUOTED, "3.41 (0.27)"),
            ("RoMAE", dict(n=20, note="the authors' script prints 100 times the plain mean; the origin of 3.32 is "
                           "unknown"), "3.32 (0.13)"),
            ("RoMAE, as the script prints it", PRINTED, "3.32 (0.13)"),
        ),
    ),
)

PROTOCOL = {
    "pendulum": (
        {
            "source": "Tables 14 and 15; D.4",
            "settings": {
                "training_set": 2000, "n_test": 1000, "epochs": 50, "batch": 16, "lr": 3e-4, "warmup": 1000,
                "schedule": "cosine", "optimizer": "adamw", "beta1": 0.9, "beta2": 0.999, "weight_decay": 0.01,
                "clip": 1.0, "precision": "fp32", "encoder": "pendulum", "parameters": "37.4K", "cls": True,
                "encoding": "rope", "p": 0.75, "position_scale": 1.0, "keep_frames": 50,
            },
            "remarks": {
                "clip": "their code: none", "readout": "their code: [CLS]", "pixels": "their code: 0.002 and 0.0021",
                "parameters": "without the patch projection and head of the script, whose model has 77,262",
                "n_valid": "their code: 1000",
            },
        },
    ),
}

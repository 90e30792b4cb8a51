"""What the paper says of the pendulum (Table 5)."""

from ..lab.claims import QUOTED, table

CLAIMS = (
    *table(
        "Table 5", "Pendulum, test MSE",
        dict(experiment="pendulum", metric="mse", exponent=-3, unit="×10⁻³"),
        (("MSE", {}),),
        (
            ("ODE-RNN", QUOTED, "7.26 (0.41)"),
            ("RKN-Δt", QUOTED, "5.09 (0.40)"),
            ("ContiFormer", QUOTED | dict(note="may be mislabelled: a third party says that the CRU paper reports this "
                                          "very number for CRU; not verified"), "4.63 (1.07)"),
            ("CRU", QUOTED, "3.94 (0.21)"),
            ("S5", QUOTED, "3.41 (0.27)"),
            ("RoMAE", dict(note="the authors' script prints 100 times the plain mean; the origin of 3.32 is unknown"),
             "3.32 (0.13)"),
        ),
    ),
)  # fmt: skip

"""What the paper says of spirals (Table 7)."""

from .claim import QUOTED, table

UNITS = "very probably in units of 10⁻² on normalised data, so not comparable with RoMAE's row"
TARGET = (
    "which target is meant is not stated; no prediction comes closer to noisy points than their noise, 0.1, so it "
    "must be the clean curve (taken here), or less noise than the text has"
)
NOISE = 0.0937  # of the very test points of the notebook, which are seeded: 0.0987 by 0.949; ours are the same
OTHERS = QUOTED | dict(note=UNITS)
CHECKPOINT = 0.0017  # of the notebook's error above its noise, 0.0234: 45 of 75 points per spiral are drawn
FORMULA = (
    "sqrt(SSE) / 100 against noisy points, as the authors' notebook computes it, on the authors' own hundred test "
    "spirals; their noise alone gives 0.0937"
)
TEXT_RECIPE = dict(epochs=400, lr=1e-3, batch=8)  # of D.7, which the 10,000 steps of the stored checkpoint fit
NOTEBOOK = dict(
    source="N", metric="rmse_authors_authors", note=FORMULA, optimum="", opponent="",
    **TEXT_RECIPE,
)
READING = (
    "the printed cell again. D.7 adds noise to the training samples, so that its test inputs may be without: a reading "
    "of ours, found after the fact"
)
SPREAD = dict(
    metric="rmse_clean_spiral_mean_authors_clean_inputs", optimum="", opponent="", reading=True, **TEXT_RECIPE,
    note=f"{READING}: a mean over the authors' hundred test spirals, whose spread, not that over runs, is the 0.007",
)

CLAIMS = (
    *table(
        "Table 7", "Interpolation",
        dict(experiment="spirals", metric="rmse_clean", optimum="bayes", opponent="lstsq"),
        (("Spirals, RMSE", {}),),
        (
            ("Transformer", OTHERS, "1.37 (0.14)"),
            ("Latent ODE", OTHERS, "2.09 (0.22)"),
            ("ContiFormer", OTHERS, "0.49 (0.06)"),
            ("RoMAE-tiny", dict(note=TARGET, n=10), "0.0183 (0.007)"),
            ("RoMAE-tiny, stored notebook", NOTEBOOK, "0.0965839"),
            ("RoMAE-tiny, read with clean inputs", SPREAD, "0.0183"),
        ),
    ),
    *table(
        "App. B.3", "Extrapolation",
        dict(experiment="spirals", metric="rmse_authors_beyond", source="N", better="equal", **TEXT_RECIPE,
             note="sqrt(SSE) / 100 over 45 hidden points among the 75 and the five next, as the authors' notebook "
             "computes it; in that notebook the five make 89 % of the squared error"),
        (("RMSE", {}),),
        (("spirals, stored notebook", {}, "0.2850"),),
    ),
)

PROTOCOL = {
    "spirals": (
        {
            "source": "Table 19; D.7",
            "settings": {
                "training_set": 200, "n_test": 100, "epochs": 500, "batch": 32, "lr": 3e-4, "warmup": 2000,
                "schedule": "cosine", "optimizer": "adamw", "precision": "fp32", "mask_ratio": 0.6, "encoder": "tiny",
                "decoder": "tiny-shallow", "encoding": "rope", "p": 0.75, "position_scale": 1.0, "irregular": False,
            },
            "remarks": {
                "epochs": "the text of D.7: 400", "lr": "the text of D.7: 1e-3",
                "batch": "the stored checkpoint fits 8", "decoder": "their code: tiny", "cls": "their code: no",
                "n_test": "ten trials of 100",
            },
        },
    ),
}

"""What the paper says of frequencies (Appendix B.4)."""

from collections.abc import Iterator

from .claim import Claim, table


def _frequencies() -> Iterator[Claim]:
    """Appendix B.4, Figures 3 to 5: one trained model is scored at many frequencies, each a metric of its own."""
    ones = (1, 3, 5, 7, 9, 12, 15, 18, 21, 24)
    twos = ((1, 1), (1, 5), (1, 12), (1, 24), (12, 12), (18, 18), (24, 24))
    # they describe what is lost, and do not score
    base = dict(experiment="frequencies", source="N", better="equal", n=1,
                needs="about four minutes of an H200 a run, or sixteen hours of a CPU core")
    plot = dict(note="read off a plot, approximate")
    both = dict(note="both lengths were scored with one model, most likely one trained at T = 300")
    for metric, row, of_ones, of_twos, of_all, of_all_300 in (
        ("mse_noisy", "MSE over time",
         ("0.01397294", "0.01624657", "0.02127738", "0.02866676", "0.06119587", "0.13862941", "0.16501794",
          "0.20751501", "0.25592395", "0.30776482"),
         ("0.029", "0.047", "0.195", "0.586", "0.296", "0.685", "1.128"),
         ("0.425", "0.0290", "1.128"), ("0.359", "0.048136", "0.963")),
        ("mse_spectrum", "MSE of the spectrum",
         ("2.3e-4", "?", "?", "?", "8e-4", "1.95e-3", "?", "?", "?", "4e-3"),
         ("5e-4", "?", "?", "?", "?", "?", "0.0166"),
         ("5.98e-3", "4.1e-4", "1.66e-2"), ("2.78e-3", "3.4225e-4", "7.7588e-3")),
    ):
        note = plot if metric == "mse_spectrum" else {}
        columns = tuple((f"{f} Hz", dict(metric=f"{metric}_{f}hz")) for f in ones)
        yield from table("App. B.4", "One frequency", base | note, columns, ((row, dict(length=100), *of_ones),))
        columns = tuple((f"{f} and {g} Hz", dict(metric=f"{metric}_{f}hz_{g}hz")) for f, g in twos)
        yield from table("App. B.4", "Two frequencies", base, columns, ((row, dict(length=100), *of_twos),))
        words = ("mean", "min", "max")
        columns = tuple((f"{word} of all pairs", dict(metric=f"{metric}_pairs_{word}")) for word in words)
        rows = ((f"{row}, T = 100", dict(length=100), *of_all), (f"{row}, T = 300", dict(length=300), *of_all_300))
        yield from table("App. B.4", "Two frequencies", base | both, columns, rows)
    yield from table(
        "App. B.4", "The series themselves",
        dict(experiment="frequencies", metric="snr", better="equal"),
        (("mean signal-to-noise ratio", {}),), (("series", dict(length=100), "43.1"),),
    )


CLAIMS = tuple(_frequencies())

PROTOCOL = {
    "frequencies": (
        {
            "source": "App. B.4",
            "settings": {
                "training_set": 10_000, "epochs": 200, "schedule": "cosine", "encoder": "tiny",
                "decoder": "tiny-shallow", "encoding": "rope", "p": 0.75, "position_scale": 1.0, "length": 100,
                "base": 10_000.0,
            },
            "remarks": {
                "training_set": "the notebook: 5000", "batch": "the notebook: 248", "lr": "the notebook: 4e-4",
                "warmup": "the default of the authors' trainer: 2000", "cls": "the notebook: yes",
                "decoder": "the notebook: tiny", "length": "the notebook: 100 and 300",
                "observed": "50 of 100",
            },
        },
    ),
}

"""The spectrum explorable: one or two sines, half of the points hidden, and what fills them in.

Everything drawn comes from the arrays that `python -m romae_lite run frequencies` leaves beside its records. The page
adds up sines, counts errors and takes Fourier transforms; it predicts nothing itself.
"""

from collections.abc import Mapping
from pathlib import Path

import numpy as np

from ...experiments.frequencies.experiment import Frequencies
from ...lab.records import Record, load_all
from ...lab.runs import runs_of
from ..explorable import Drawable, Explorable, checked, figure_of_runs

UNIT = 200  # errors travel as whole numbers of 1/200: below the noise by far, a quarter of the bytes
COMMAND = "python -m romae_lite run frequencies --preset small --seeds 0 --set position_scale=99.0"


def key(frequencies) -> str:
    """Name of a case: "5" for one sine, "5+18" for two."""
    return "+".join(str(int(f)) for f in sorted(frequencies) if f >= 0)


def payload(models: Mapping[float, Mapping[str, np.ndarray]]) -> dict:
    """What the page needs, as JSON. models: position scale -> arrays as `Frequencies.arrays` leaves them.

    C cases, L noise levels, T points, of which H are hidden. All models must have seen the same series; ValueError says
    which one did not, or what is missing or misshapen.
    """
    if not models:
        raise ValueError("models is empty; at least one recorded run is needed")
    first = next(iter(models.values()))
    for scale, arrays in models.items():
        try:
            a = checked(arrays, {"observed": 2}, frequencies="C 2", noise="L", observed="C T", clean="C T",
                        noisy="L C T", harmonic="L C T", romae="L C T")
        except ValueError as error:
            raise ValueError(f"{error} (position scale {scale:g})") from error
        if a["noise"].min() <= 0 or a["frequencies"].min() < -1:
            raise ValueError(f"noise must be positive, and frequencies too, or -1 for none (position scale {scale:g})")
        for name in ("frequencies", "noise", "observed", "clean", "noisy"):
            if not np.array_equal(arrays[name], first[name]):
                raise ValueError(
                    f"{name} differs at position scale {scale:g}; the models must have seen the same series"
                )
    levels, observed = np.float64(first["noise"]), np.asarray(first["observed"])
    clean, noisy = np.float64(first["clean"]), np.float64(first["noisy"])
    loudest = int(levels.argmax())
    noise = (noisy[loudest] - clean) / levels[loudest]  # (C, T): one draw, scaled to every level
    # half precision: 1e-3 on values up to 2, magnified where the loudest level is scaled up
    if not np.allclose(
        noisy, clean + levels[:, None, None] * noise, atol=5e-3 * max(1, levels.max() / levels.min() / 15)
    ):
        raise ValueError("noisy is not one draw of noise at every level")
    T = clean.shape[1]
    t = np.linspace(0, 1, T)
    cases = {}
    for c, pair in enumerate(np.asarray(first["frequencies"], int)):
        waves = np.concatenate([[np.sin(2 * np.pi * f * t), np.cos(2 * np.pi * f * t)] for f in pair if f >= 0])
        sines = np.linalg.lstsq(waves.T, clean[c], rcond=None)[0]
        truth, hidden = sines @ waves, ~observed[c]
        if not np.allclose(truth, clean[c], atol=5e-3):  # half precision: 1e-3 on values up to 2
            raise ValueError(f"clean is no sum of sines of {key(pair)} Hz")
        whole = lambda x, truth=truth, hidden=hidden: np.rint((x - truth)[..., hidden] * UNIT).astype(int).tolist()  # noqa: E731
        cases[key(pair)] = {
            "sines": [round(float(s), 4) for s in sines],
            "hidden": np.flatnonzero(hidden).tolist(),
            "noise": np.rint(noise[c, ~hidden] * UNIT).astype(int).tolist(),
            "harmonic": whole(np.float64(first["harmonic"][:, c])),  # (L, H) differences from the truth
            "romae": [whole(np.float64(arrays["romae"][:, c])) for arrays in models.values()],  # (models, L, H)
        }
    singles = sorted(int(name) for name in cases if "+" not in name)
    if lacking := [f"{f}+{g}" for f in singles for g in singles if f <= g and f"{f}+{g}" not in cases]:
        raise ValueError(f"frequencies lack the pairs {', '.join(lacking)}")
    return {
        "unit": UNIT, "length": T, "frequencies": singles, "levels": [round(float(v), 4) for v in levels],
        "scales": [float(s) for s in models], "cases": cases,
    }


def series(data: dict, case: str, level: int, model: int | None) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """(truth, filled, hidden) of one case, each (T,): the clean series; the observations with the hidden points filled
    in by model number ``model``, or by harmonic regression where it is None; and which points are hidden."""
    chosen, t = data["cases"][case], np.linspace(0, 1, data["length"])
    waves = [do(2 * np.pi * f * t) for f in map(int, case.split("+")) for do in (np.sin, np.cos)]
    truth = chosen["sines"] @ np.array(waves)
    hidden = np.isin(np.arange(len(t)), chosen["hidden"])
    error = np.empty_like(truth)
    error[~hidden] = data["levels"][level] * np.array(chosen["noise"]) / data["unit"]
    error[hidden] = np.array((chosen["harmonic"] if model is None else chosen["romae"][model])[level]) / data["unit"]
    return truth, truth + error, hidden


def explorable(models: Mapping[float, Mapping[str, np.ndarray]], source: str = "") -> Explorable:
    """The figure from the arrays that `payload` describes; `source` says in the caption where they come from."""
    data = payload(dict(sorted(models.items())))
    F = data["frequencies"]
    data["start"] = {"first": 3 * len(F) // 8, "second": 5 * len(F) // 8, "level": len(data["levels"]) // 2, "model": 0}
    return Explorable(
        name="spectrum",
        data=data,
        height=250,
        title="Which sines survive when half of the points are hidden?",
        caption="Drag the frequency along the spectrum, or add a second sine. Black points are observed, with noise; "
        "blue ones RoMAE filled in; the orange rings are harmonic regression, which knows that the series is a sum of "
        "at most two sines and is about as good as anyone can be. A stick joins each of RoMAE's points to the true "
        "curve. The spectra are those of the whole series, observed points included, as the paper compares them. RoMAE "
        f"was trained with noise of 0.1; at other levels it has to generalise. {source}".rstrip(),
    )


def by_scale(root: Path | None = None) -> dict[float, list[Record]]:
    """Runs of the preset "small" at every position scale that is recorded, by scale."""
    scales = sorted({record.config["position_scale"] for record in load_all(root, Frequencies.name).records})
    return {scale: runs_of(Frequencies.small().replace(position_scale=scale), root) for scale in scales}


@figure_of_runs("spectrum", "Spectrum", COMMAND, lambda root: by_scale(root).values())
def from_runs(runs: list[Drawable], root: Path | None) -> Explorable:
    """The figure from the preset "small" at every position scale that is recorded."""
    models = {record.config["position_scale"]: arrays for record, arrays in runs}
    scales = ", ".join(f"{scale:g}" for scale in models)
    return explorable(models, f"Recorded runs: preset small, the first seed at position scale {scales}.")

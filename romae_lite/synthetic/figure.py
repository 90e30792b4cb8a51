"""The synthetic explorable: where a series is observed, and what RoMAE and the exact Gaussian process make of it.

Nothing is precomputed: the page draws the series, solves the Gaussian process, and runs RoMAE itself, with the weights
that `python -m romae_lite run synthetic --preset mini` left beside its record, in half precision. The functions below
say the same in numpy; `romae_lite.model` is what was trained.
"""

import base64
import re
from collections.abc import Mapping
from pathlib import Path

import numpy as np

from ..page import svg
from ..page.explorable import Explorable, not_recorded
from ..page.gallery import figure
from ..page.palette import PALETTE

SCRIPT = Path(__file__).with_suffix(".js")
GRID = dict(t=[round(0.02 * i, 2) for i in range(50)], references=[k / 10 for k in range(1, 11)], sharpness=120.0)
NOISE, TRAINED, MOST = 0.1, (3, 10), 20  # noise; numbers of observed points in training; the slider's last
BASE = 10_000.0
COMMAND = "python -m romae_lite run synthetic --preset mini --seeds 0"


def payload(weights: Mapping[str, np.ndarray], config: Mapping, series: int = 7, observed: int = 5) -> dict:
    """What the page needs, as JSON.

    weights: the model's, by name, as `RoMAE.state_dict` has them; they travel in half precision. config: the settings
    of `experiments.synthetic.Synthetic` that shaped it: encoder and decoder ("dim x heads x depth x ff", spelt out), p,
    position_scale, grid. ValueError names what is missing or unlike what the page computes.
    """
    unlike = {"grid": "authors", "encoding": "rope"}.items() - dict(config).items()
    if unlike:
        raise ValueError(
            f"config lacks {', '.join(f'{k}={v!r}' for k, v in sorted(unlike))}; the page knows nothing else"
        )
    sizes = {}
    for name in ("encoder", "decoder"):
        if not re.fullmatch(r"\d+x\d+x\d+x\d+", str(config[name])):
            raise ValueError(f"{name} is {config[name]!r}; spell it out as dim x heads x depth x ff")
        sizes[name] = dict(zip(("dim", "heads", "depth", "ff"), map(int, config[name].split("x")), strict=True))
    expected = set(_names(sizes, "encoder.cls" in weights))
    if set(weights) != expected:
        raise ValueError(f"weights lack or have too much: {', '.join(sorted(set(weights) ^ expected))}")
    with np.errstate(over="ignore"):  # named below
        flat = {name: np.asarray(w, np.float16).ravel() for name, w in weights.items()}
    for name, w in flat.items():
        if not np.isfinite(w).all():
            raise ValueError(f"{name} holds values that are not finite in half precision")
    return GRID | sizes | {
        "shapes": [[name, len(w)] for name, w in flat.items()],
        "weights": base64.b64encode(np.concatenate(list(flat.values())).astype("<f2").tobytes()).decode(),
        "p": config["p"], "base": BASE, "scale": config["position_scale"], "noise": NOISE, "trained": list(TRAINED),
        "max": MOST, "series": series, "observed": observed,
    }  # fmt: skip


def _names(sizes: dict, cls: bool) -> list[str]:
    names = ["mask_token", *(["encoder.cls"] if cls else []), "encoder.embed.weight", "encoder.embed.bias"]
    names += ["project.weight", "project.bias", "head.1.weight", "head.2.weight", "head.2.bias"]
    parts = (
        "norm1.weight",
        "norm2.weight",
        "attention.qkv.weight",
        "attention.out.weight",
        "ff.up.weight",
        "ff.down.weight",
    )
    for stack, prefix in (("encoder", "encoder.stack"), ("decoder", "decoder")):
        names += [f"{prefix}.blocks.{i}.{part}" for i in range(sizes[stack]["depth"]) for part in parts]
    return names


# The page's arithmetic, in numpy --------------------------------------------------------------------------------------


def romae(data: dict, observed: list[int], values: np.ndarray) -> np.ndarray:
    """Predictions at the grid's other points, in order, from the values at the observed indices (in order)."""
    flat, weight, at = np.frombuffer(base64.b64decode(data["weights"]), "<f2").astype(float), {}, 0
    for name, size in data["shapes"]:
        weight[name], at = flat[at : at + size], at + size
    linear = lambda x, name, bias=True: (  # noqa: E731
        x @ weight[f"{name}.weight"].reshape(-1, x.shape[1]).T + (weight[f"{name}.bias"] if bias else 0)
    )
    norm = lambda x, name: x / np.sqrt((x**2).mean(1, keepdims=True) + 1e-12) * weight[f"{name}.weight"]  # noqa: E731

    def stack(x: np.ndarray, positions: np.ndarray, prefix: str, size: dict) -> np.ndarray:
        N, H, d = len(x), size["heads"], size["dim"] // size["heads"]
        pair = np.arange(d // 2)
        theta = np.where(pair < int(data["p"] * d // 2), data["base"] ** (-2 * pair / d), 0)
        turn = np.exp(1j * positions[:, None, None] * theta)  # (N, 1, d / 2)
        for i in range(size["depth"]):
            block = f"{prefix}.blocks.{i}"
            heads = linear(norm(x, f"{block}.norm1"), f"{block}.attention.qkv", False).reshape(N, 3 * H, d)
            # a pair of channels as one complex number; queries and keys turn, and their score is a real part
            q, k = np.split((heads[:, : 2 * H, : d // 2] + 1j * heads[:, : 2 * H, d // 2 :]) * turn, 2, axis=1)
            score = np.einsum("nhd,mhd->hnm", q, k.conj()).real / np.sqrt(d)
            share = np.exp(score - score.max(-1, keepdims=True))
            share /= share.sum(-1, keepdims=True)
            mixed = np.einsum("hnm,mhd->nhd", share, heads[:, 2 * H :]).reshape(N, -1)
            x = x + linear(mixed, f"{block}.attention.out", False)
            up = linear(norm(x, f"{block}.norm2"), f"{block}.ff.up", False)
            x = x + linear(up / (1 + np.exp(-up)), f"{block}.ff.down", False)
        return x

    t = np.array(data["t"]) * data["scale"]
    hidden = np.setdiff1d(np.arange(len(t)), observed)
    x, positions = linear(np.asarray(values, float)[:, None], "encoder.embed"), t[list(observed)]
    if "encoder.cls" in weight:
        x, positions = np.vstack((weight["encoder.cls"], x)), np.append(0, positions)
    x = linear(stack(x, positions, "encoder.stack", data["encoder"]), "project")
    x = np.vstack((x, np.tile(weight["mask_token"], (len(hidden), 1))))
    x = stack(x, np.append(positions, t[hidden]), "decoder", data["decoder"])
    return linear(norm(x[-len(hidden) :], "head.1"), "head.2")[:, 0]


def basis(data: dict) -> np.ndarray:
    """Weights of the reference points at the grid's times, (T, 10)."""
    w = np.exp(-data["sharpness"] * np.subtract.outer(data["t"], data["references"]) ** 2)
    return w / w.sum(1, keepdims=True)


def posterior(data: dict, observed: list[int], values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Mean and standard deviation of the true curve at all points of the grid."""
    W = basis(data)
    seen = W[list(observed)]
    covariance = np.linalg.inv(np.eye(W.shape[1]) + seen.T @ seen / data["noise"] ** 2)
    return W @ covariance @ seen.T @ values / data["noise"] ** 2, np.sqrt(((W @ covariance) * W).sum(1))


def series(data: dict, number: int) -> tuple[np.ndarray, np.ndarray, list[int]]:
    """The page's series of that number: (clean, noisy, the order in which points are observed)."""
    state, mask = number * 0x9E3779B9 & 0xFFFFFFFF, 0xFFFFFFFF

    def uniform() -> float:  # mulberry32
        nonlocal state
        state = state + 0x6D2B79F5 & mask
        z = (state ^ state >> 15) * (state | 1) & mask
        z ^= z + ((z ^ z >> 7) * (z | 61) & mask) & mask
        return ((z ^ z >> 14) & mask) / 2**32

    def gauss() -> float:
        radius = np.sqrt(-2 * np.log(1 - uniform()))
        return float(radius * np.cos(2 * np.pi * uniform()))

    clean = basis(data) @ [gauss() for _ in data["references"]]
    noisy = clean + data["noise"] * np.array([gauss() for _ in data["t"]])
    keys = [uniform() for _ in data["t"]]
    return clean, noisy, sorted(range(len(keys)), key=keys.__getitem__)


def errors(data: dict, number: int, observed: list[int]) -> dict[str, float]:
    """Mean squared errors to the true curve at the points that are not observed: of "romae", of "gp", and what is
    "expected" of the Gaussian process over all series observed there."""
    clean, noisy, _ = series(data, number)
    observed = sorted(observed)
    hidden = np.setdiff1d(np.arange(len(clean)), observed)
    mean, sd = posterior(data, observed, noisy[observed])
    return {
        "romae": float(np.mean((romae(data, observed, noisy[observed]) - clean[hidden]) ** 2)),
        "gp": float(np.mean((mean - clean)[hidden] ** 2)),
        "expected": float(np.mean(sd[hidden] ** 2)),
    }


# The figure -----------------------------------------------------------------------------------------------------------


def still(data: dict) -> str:
    """The opening view as an SVG string."""
    width, height = 700, 380
    clean, noisy, order = series(data, data["series"])
    observed = sorted(order[: data["observed"]])
    hidden = np.setdiff1d(np.arange(len(clean)), observed)
    mean, sd = posterior(data, observed, noisy[observed])
    place = lambda i, value: (30 + i * 640 / 49, 170 - 50 * value)  # noqa: E731
    curve = lambda values, index=range(50): [place(i, v) for i, v in zip(index, values, strict=True)]  # noqa: E731
    orange, blue = PALETTE["vermillion"][0], PALETTE["blue"][0]
    ring = "L".join(f"{x:.1f} {y:.1f}" for x, y in [*curve(mean + 2 * sd), *curve(mean - 2 * sd)[::-1]])
    body = svg.tag("path", d=f"M{ring}Z", fill=orange, fill_opacity=0.15)
    body += svg.line(curve(clean), stroke="#999", stroke_width=1.75)
    body += svg.line(curve(mean), stroke=orange, stroke_width=2.25, stroke_dasharray="7 4")
    body += svg.line(curve(romae(data, observed, noisy[observed]), hidden), stroke=blue, stroke_width=2.75)
    for i in observed:
        x, y = place(i, noisy[i])
        body += svg.tag("circle", cx=x, cy=y, r=5.5, fill="#222")
    for x, name, colour, dash in (
        (30, "true curve", "#999", "none"), (170, "Gaussian process, two standard deviations", orange, "7 4"),
        (500, "RoMAE", blue, "none"),
    ):  # fmt: skip
        body += svg.line([(x, 352), (x + 26, 352)], stroke=colour, stroke_width=2.3, stroke_dasharray=dash)
        body += svg.label(x + 34, 356, name)
    return svg.picture(width, height, body)


def explorable(weights: Mapping[str, np.ndarray], config: Mapping, source: str = "", **opening: int) -> Explorable:
    """The figure from a model's weights and settings (see `payload`); `source` names their record."""
    data = payload(weights, config, **opening)
    return Explorable(
        name="synthetic",
        script=SCRIPT,
        data=data,
        fallback=still(data),
        height=340,
        title="Where would you look?",
        caption="Drag the observed points along the series, or change how many there are. The Gaussian process knows "
        "how the series are made, so its curve is the best possible guess, and the true curve lies within its band for "
        "95 % of the time. RoMAE has only seen examples. Both are computed here, in the page; RoMAE is the preset "
        f"mini, a model made small enough for that. {source}".rstrip(),
    )


@figure("synthetic")
def from_results(root: Path | None = None, **opening: int) -> Explorable:
    """The figure from the first seed of the preset "mini" found under results/synthetic."""
    from ..lab import records  # here: the other figures need nothing but the standard library and numpy

    folder = (Path(root) if root else records.results_dir()) / "synthetic"
    found = sorted(
        (int(match[1]), path) for path in folder.glob("*.npz") if (match := re.fullmatch(r"mini-s(\d+)", path.stem))
    )
    reasons = []
    for _, path in found:
        try:
            arrays, record = records.load_arrays(path), records.load(path.with_suffix(".json"))
            weights = {k.removeprefix("weights."): w for k, w in arrays.items() if k.startswith("weights.")}
            source = (
                f"Recorded run: {record.parameters:,} weights, seed {record.seed}; over its whole test set the mean "
                f"squared error is {record.metrics['mse_clean']:.4f}, the Gaussian process's "
                f"{record.metrics['mse_clean_gp']:.4f}. To repeat it: {record.command}."
            )
            if reasons:
                source += f" Skipped: {'; '.join(reasons)}."
            return explorable(weights, record.config, source, **opening)
        except (ValueError, OSError, KeyError) as error:
            reasons.append(f"{path.name} cannot be used ({error})")
    return not_recorded("synthetic", "Synthetic series", COMMAND, reasons)

"""The hero: points of a spiral that the reader adds, drags and removes, and a model in the page that asks anywhere.

Two models of one size draw it: one trained with any number of visible points, one with always thirty, for half as long.
How far each is from the best possible is recorded on the test set, for every number of points.
"""

import math
from collections.abc import Mapping
from pathlib import Path

import numpy as np
import torch
from torch import Tensor, nn

from ...experiments.experiment import Splits
from ...lab.records import Record
from romae_lite.model import RoMAE, count_parameters, interpolate
from .. import svg
from ..explorable import Drawable, Explorable, checked, drawn
from ..gallery import figure
from ..palette import PALETTE
from ..weights import packed, unpacked
from romae_lite.tokens import Tokens
from romae_lite.training import seeded
from romae_lite.zoo import from_arrays
from ...experiments.spirals import rivals
from ...experiments.spirals.data import GRID, NOISE, A, B, generate
from ...experiments.spirals.experiment import Spirals

SCRIPT = Path(__file__).with_suffix(".js")
COMMAND = "python -m romae_lite run spirals --preset page --seeds 0 --set epochs=2"
MODELS = {"varying": "any number of points", "fixed": "always 30 points"}  # in training
CHANGES = {"varying": {"epochs": 2}, "fixed": {"counts": "fixed"}}  # of the preset "page"

COUNTS = (3, 5, 8, 12, 16, 20, 25, 30, 35, 45, 60, 74)
WEIGHTS = 95_000  # more do not fit beside a record


def recorded(exp: Spirals, model: nn.Module, data: Splits) -> dict[str, np.ndarray]:
    """What a run keeps for it: its weights in half precision, and errors on the test spirals for COUNTS.

    hero.mse (2, K): mean squared error to the clean curve at all hidden points, of RoMAE and of the Bayes-optimal
    predictor; hero.se (K,): the standard error of the mean difference of the two over spirals.
    """
    if not exp.irregular or count_parameters(model) > WEIGHTS:
        return {}
    mse, se = np.empty((2, len(COUNTS))), np.empty(len(COUNTS))
    order = torch.rand(data.test.values.shape[:2], generator=seeded(0, 6)).argsort(1)  # (n, 75)
    for k, count in enumerate(COUNTS):
        square = errors(exp, model, data.test, order[:, :count].sort(1).values, order[:, count:])
        mse[:, k] = square.mean(1)
        se[k] = (square[0] - square[1]).std(ddof=1) / math.sqrt(square.shape[1])
    weights = {f"weights.{name}": w.half().cpu().numpy() for name, w in model.state_dict().items()}
    return {"hero.counts": np.array(COUNTS, np.int16), "hero.mse": mse, "hero.se": se, **weights}


def errors(exp: Spirals, model: nn.Module, tokens: Tokens, shown: Tensor, asked: Tensor) -> np.ndarray:
    """Squared error to the clean curve, (2, n) means over the asked points of each spiral: RoMAE, Bayes-optimal.

    shown, asked (n, V) and (n, M): indices of the points that are seen and asked for."""
    rows = torch.arange(len(tokens))[:, None]
    few = Tokens(values=tokens.values[rows, shown], positions=tokens.positions[rows, shown])
    curve = interpolate(model, few, tokens.positions[rows, asked])
    observed = torch.zeros(tokens.values.shape[:2], dtype=torch.bool).scatter_(1, shown, True)
    theta = tokens.positions[..., 0].numpy() / exp.scale
    best = torch.from_numpy(rivals.bayes(theta, tokens.values.double().numpy(), observed.numpy()))[rows, asked]
    clean = tokens.aux["clean"][rows, asked]
    return np.stack([(found - clean).square().mean((1, 2)).numpy() for found in (curve.double(), best)])


def runs(model: str, root: Path | None) -> list[Record]:
    """Of one of MODELS, the recorded runs."""
    return Spirals.page().replace(**CHANGES[model]).records(root)


def finding(root: Path | None = None) -> dict[str, float | str]:
    """What recorded runs say, for the book's text; empty where they are missing.

    Errors are over the Bayes-optimal one, as ratios of root mean squares: least and most from 5 to 74 visible points,
    and those of models that were trained with 30 points only, at a few and at many.
    """
    varying = next(iter(runs("varying", root)), None)
    thirty = always_thirty(root)
    if varying is None or not thirty:
        return {}
    ours, theirs = ratios(varying.arrays), thirty["ratio"]
    among = [ours[n] for n in COUNTS if n >= 5]
    return {
        "parameters": varying.parameters, "n_test": varying.config["n_test"], "from": 5, "to": COUNTS[-1],
        "least": min(among), "most": max(among), "few": 12, "many": 60, "fixed_few": theirs[12],
        "fixed_many": theirs[60], "fixed_on": thirty["on"], "fixed_which": thirty["which"],
    }  # fmt: skip


def always_thirty(root: Path | None = None) -> dict:
    """The counter-example: {"ratio": visible points -> error over Bayes-optimal, "on": of what, "which": model}; empty
    without records.

    The same model trained with a fixed number, if it was recorded; else the preset "best", on the six test spirals
    that each of its runs keeps, on the paper's grid of angles."""
    if same := runs("fixed", root):
        on = f"{same[0].config['n_test']:,} test spirals, one run of half as many passes"
        return {"ratio": ratios(same[0].arrays), "on": on, "which": "such a"}
    square, others = np.zeros((2, len(COUNTS))), Spirals.best().records(root)
    spirals = 0
    for arrays in (run.arrays for run in others):
        if arrays["counts"].tolist() != list(COUNTS):
            return {}
        for clean, order, *curves in zip(*(arrays[n] for n in ("clean", "order", "romae", "bayes")), strict=True):
            spirals += 1
            for k, count in enumerate(COUNTS):
                hidden = order[count:].astype(int)
                square[:, k] += [float(((curve[k] - clean)[hidden] ** 2).mean()) for curve in curves]
    if not spirals:
        return {}
    found = np.sqrt(square[0] / square[1]).tolist()
    on = f"{spirals} test spirals, {len(others)} run" + "s" * (len(others) > 1)
    return {"ratio": dict(zip(COUNTS, found, strict=True)), "on": on, "which": "another, larger"}


def ratios(arrays: Mapping[str, np.ndarray]) -> dict[int, float]:
    """Number of visible points -> RoMAE's root mean squared error over the Bayes-optimal one."""
    romae, bayes = np.sqrt(arrays["hero.mse"])
    return dict(zip(arrays["hero.counts"].tolist(), (romae / bayes).tolist(), strict=True))


def model_of(record: Record, arrays: Mapping[str, np.ndarray]) -> RoMAE:
    """The model that a run left among its arrays. RuntimeError names weights that are missing or misshapen."""
    return from_arrays(record.planned.build().build(record.seed), arrays)


def payload(
    models: Mapping[str, RoMAE],
    arrays: Mapping[str, Mapping[str, np.ndarray]],
    scale: float,
    thirty: dict | None = None,
) -> dict:
    """What the page needs, as JSON. models, arrays: by the names in MODELS, all or the first alone; scale: factor on
    the angles; thirty: what `always_thirty` found. ValueError names an array that is missing or impossible."""
    curves = {}
    for name, kept in arrays.items():
        found = checked(kept, **{"hero.counts": "K", "hero.mse": "2 K", "hero.se": "K"})
        if found["hero.counts"].tolist() != list(COUNTS):
            raise ValueError(f"hero.counts is {found['hero.counts'].tolist()}; expected {list(COUNTS)}")
        if (found["hero.mse"] <= 0).any():
            raise ValueError("hero.mse holds errors that are not positive")
        curves[name] = [round(float(r), 4) for r in np.sqrt(found["hero.mse"][0] / found["hero.mse"][1])]
    return {
        "models": [
            {"id": name, "name": MODELS[name], "ratio": curves[name], **packed(model)} for name, model in models.items()
        ],
        "counts": list(COUNTS), "scale": scale, "end": float(GRID[-1]), "a": A, "b": B, "noise": NOISE,
        "seed": 4, "start": 12,
        "thirty": [round(thirty["ratio"][n], 4) for n in COUNTS] if thirty else None,
    }  # fmt: skip


def answers(data: dict, model: int, theta: np.ndarray, values: np.ndarray, at: np.ndarray) -> np.ndarray:
    """What the page draws: RoMAE's curve at the angles `at` (M,), from points values (V, 2) at angles theta (V,)."""
    seen = Tokens(
        values=torch.tensor(values, dtype=torch.float32)[None],
        positions=torch.tensor(theta * data["scale"], dtype=torch.float64)[None, :, None],
    )
    places = torch.tensor(at * data["scale"], dtype=torch.float64)[None, :, None]
    return interpolate(unpacked(data["models"][model]), seen, places)[0].double().numpy()


def still(data: dict) -> str:
    """One spiral, twelve of its points and what the first model makes of them, as an SVG string."""
    made = generate(8, np.random.default_rng(1), irregular=True)
    s = int((~made.aux["clockwise"]).nonzero()[0])
    theta, values = made.positions[s, ::6, 0].numpy(), made.values[s, ::6].double().numpy()
    at = np.linspace(0, data["end"], 75)
    curve = answers(data, 0, theta, values, at)
    width, height, (x0, y0), zoom = 640, 380, (5, 0), 52
    place = lambda points: [(200 + zoom * (x - x0), 190 - zoom * (y - y0)) for x, y in points]  # noqa: E731
    body = svg.line(place(made.aux["clean"][s].numpy()), stroke="#999", stroke_width=1.75)
    body += svg.line(place(curve), stroke=PALETTE["blue"][0], stroke_width=2.75)
    body += "".join(svg.tag("circle", cx=x, cy=y, r=4.5, fill="#222") for x, y in place(values))
    for i, (name, colour) in enumerate((("RoMAE", PALETTE["blue"][0]), ("true curve", "#999"))):
        body += svg.line([(430, 60 + 26 * i), (460, 60 + 26 * i)], stroke=colour, stroke_width=2.5)
        body += svg.label(470, 64 + 26 * i, name)
    body += svg.label(430, 124, f"{len(theta)} noisy points observed")
    return svg.picture(width, height, body)


def explorable(
    models: Mapping[str, RoMAE], arrays: Mapping[str, Mapping[str, np.ndarray]], scale: float, source: str = "",
    thirty: dict | None = None,
) -> Explorable:  # fmt: skip
    data = payload(models, arrays, scale, thirty)
    return Explorable(
        name="hero",
        script=SCRIPT,
        needs=("romae",),
        data=data,
        fallback=still(data),
        height=380,
        title="A model that reads points at any angle, and answers at any angle",
        caption="A point's position is its angle along the spiral, as time is in a series. Black: noisy points that "
        "the model sees; drag them, press the plane to add one. Blue: RoMAE, computed in this page. Orange dashes: the "
        "best possible answer, which knows how spirals are made. Grey: the true curve. One spiral is luck; the small "
        f"chart is the mean over the test set. {source}".rstrip(),
    ).tour(
        ("Thirty points: the blue curve is drawn by a model that has only read these points.", {"points": 30}),
        ("Six points. The model answers everywhere, less well; the small chart says how well on the average.",
         {"points": 6}),
        ("Asked at another angle, it answers there: positions are numbers, and no grid is needed.",
         {"points": 6, "ask at angle": 1}),
    )  # fmt: skip


@figure("hero")
def from_results(root: Path | None = None) -> Explorable:
    """The figure from the first seed of the preset "page", and of the same with always 30 points, where it is there."""

    def draw(found: list[Drawable]) -> Explorable:
        named = dict(zip(MODELS, found, strict=False))
        models = {name: model_of(*run) for name, run in named.items()}
        first = found[0][0]
        targets = "the clean curves" if first.config.get("targets") == "clean" else "the noisy points"
        source = (
            f"{first.parameters:,} weights; one run, {first.config['epochs']} × {first.config['n_train']:,} spirals "
        )
        source += f"with {targets} as targets; {first.config['n_test']:,} test spirals; "
        thirty = always_thirty(root)
        if thirty:
            source += f"dots: {thirty['which']} model that always saw 30 points ({thirty['on']}); "
        source += f"to repeat it: {first.command}."
        scale = first.planned.build().scale
        arrays = {name: arrays for name, (_, arrays) in named.items()}
        return explorable(models, arrays, scale, source, thirty)

    return drawn("hero", "Spirals", COMMAND, [runs(model, root) for model in MODELS], draw, root)

"""What an experiment is: settings, data, model, loss, metrics. One file beside this one for each."""

import dataclasses
import functools
import math
import types
import typing
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
import torch
from torch import Tensor, nn

from romae_lite.fast import Fast
from romae_lite.model import INITS, ModelConfig, RoMAE, size
from romae_lite.rope import PositionEncoding
from romae_lite.tokens import Tokens
from romae_lite.training import PRECISIONS, Recipe, fit, seeded_build

MANY = 10**7  # no whole number among the settings is larger: a slip would fill the memory


class Splits(NamedTuple):
    train: Tokens
    valid: Tokens
    test: Tokens


def setting(
    default: Any, doc: str, *, low: float | None = None, high: float | None = None, choices=None,
    was: Any = dataclasses.MISSING,
):
    """A field of an experiment: its default, what it means, and what it accepts.

    low, high  bounds, inclusive
    choices    all that there is to choose from
    was        for a setting that was added later: the value with which records were made that do not have it
    """
    metadata = {"doc": doc, "low": low, "high": high, "choices": choices, "was": was}
    return field(default=default, metadata=metadata)


@dataclass(frozen=True, kw_only=True)
class Experiment:
    """A question asked of the model: its settings, its data, its loss, and how an answer is scored.

    A subclass adds settings as fields and fills in `data`, `build`, `loss` and `evaluate`; class methods named in
    `tiers` are its presets, like `paper` and `quick`. An experiment never changes: `replace` makes another one. What
    cannot be run is refused when it is made: ValueError or TypeError name the setting, the value and what it accepts.
    """

    name: ClassVar[str]
    chapter: ClassVar[int] = 99  # where it is told; experiments are listed in this order
    # preset -> tier of its records: "own" is our settings, "smoke" proves that the code runs
    tiers: ClassVar[dict[str, str]] = {"paper": "paper", "best": "own", "quick": "smoke"}
    # settings that change a run's speed, not its protocol
    neutral: ClassVar[frozenset[str]] = frozenset({"precision", "compile"})
    shaping: ClassVar[frozenset[str]] = frozenset()  # of the settings that all share, those that change its data
    variants: ClassVar[frozenset[str]] = frozenset()  # the columns of the paper's table: any value is its protocol
    # (preset, number of seeds) or (preset, number of seeds, settings changed) to record, most valuable first
    campaign: ClassVar[tuple[tuple, ...]] = ()
    deviations: ClassVar[tuple[str, ...]] = ()  # ids of book/deviations.md that apply
    # of those, the ones of some runs or metrics only: whether (record, metric) is without
    free: ClassVar[dict[str, Callable[[Any, str], bool]]] = {}
    meanings: ClassVar[dict[str, str]] = {}  # of metrics, or of parts of their names, that do not say it themselves
    # settings that there were once -> the value that they had in every record: readers leave them out
    gone: ClassVar[Mapping[str, Any]] = {"keep": "last"}
    repeatable: ClassVar[bool] = True  # whether a second run makes the same numbers; times do not

    epochs: int = setting(1, "passes over the training set", low=1)
    batch: int = setting(32, "samples per step", low=1)
    lr: float = setting(3e-4, "peak learning rate", low=1e-12, high=10)
    warmup_share: float = setting(0.1, "share of the steps in which the learning rate warms up", low=0, high=1)
    schedule: str = setting("cosine", "after the warm-up", choices=("cosine", "global-cosine"))
    optimizer: str = setting("adamw", "optimizer; muon: for the blocks' matrices", choices=("adamw", "sgd", "muon"))
    beta1: float = setting(0.9, "AdamW's first beta, or SGD's momentum (muon's own is fixed)", low=0, high=0.9999)
    beta2: float = setting(0.999, "AdamW's second beta", low=0, high=0.99999)
    weight_decay: float = setting(0.01, "weight decay, decoupled, except for sgd", low=0)
    clip: float | None = setting(1.0, "largest gradient norm, or None", low=1e-12)
    precision: str = setting("fp32", "arithmetic", choices=PRECISIONS)
    compile: bool = setting(False, "use torch.compile")
    init: str = setting(
        "torch", "how weights start: as PyTorch has them, or from a normal distribution of deviation 0.02 (D43)",
        choices=INITS, was="torch",
    )

    def __init_subclass__(cls, **options):
        super().__init_subclass__(**options)
        hidden = [name for name in vars(cls).get("__annotations__", ()) if callable(getattr(Experiment, name, None))]
        if hidden:
            raise TypeError(f"the setting {hidden[0]!r} would hide the method of that name; choose another name")

    def __post_init__(self):
        hints = _hints(type(self))
        for f in fields(self):
            value = _checked(f, hints[f.name], getattr(self, f.name))
            object.__setattr__(self, f.name, value)
        self._check_decay("lr", "weight_decay")

    def _check_decay(self, lr: str, decay: str) -> None:
        if getattr(self, lr) * getattr(self, decay) > 1:
            raise ValueError(
                f"{decay} is {getattr(self, decay)} and {lr} {getattr(self, lr)}; their product is the share of each "
                "weight that a step takes away, and must be at most 1"
            )

    def _check_size(self, name: str, read: Callable = size) -> None:
        """Of a setting that names a size: ValueError for one that is none, or that no machine holds."""
        try:
            found = read(getattr(self, name))
        except ValueError as error:
            raise ValueError(f"{name} is {getattr(self, name)!r}, but {error}") from error
        if (weights := found.depth * (4 * found.dim**2 + 2 * found.dim * found.ff)) > 1e10:
            raise ValueError(
                f"{name} is {getattr(self, name)!r}; it has {weights:.1e} weights, and at most 1e10 will do"
            )

    def replace(self, **changes) -> Self:
        """The same experiment with some settings changed. TypeError for a name that is no setting."""
        known = [f.name for f in fields(self)]
        for name in changes:
            if name not in known:
                raise TypeError(f"{name!r} is no setting of {self.name}; it has {', '.join(known)}")
        return dataclasses.replace(self, **changes)

    @classmethod
    def spelt(cls, name: str, value: Any) -> Any:
        """A setting as names of records spell it: of one that takes no words, "true", "false" and "null" are values."""
        words = {"true": True, "false": False, "null": None}
        allowed = _allowed(_hints(cls).get(name, str))
        known = type(value) is str and value in words and str not in allowed and type(words[value]) in allowed
        return words[value] if known else value

    @classmethod
    def preset(cls, name: str) -> Self:
        if type(name) is not str or name not in cls.tiers or not hasattr(cls, name):
            have = ", ".join(n for n in cls.tiers if hasattr(cls, n))
            raise ValueError(f"preset is {name!r}; {cls.name} has {have}")
        return getattr(cls, name)()

    def config(self) -> dict[str, Any]:
        return dataclasses.asdict(self)

    @classmethod
    def completed(cls, config: Mapping[str, Any]) -> dict[str, Any]:
        """A recorded config as of today: with younger settings as they were then (`setting(was=...)`), without those
        that are `gone`."""
        was = {f.name: f.metadata["was"] for f in fields(cls) if f.metadata["was"] is not dataclasses.MISSING}
        return was | {name: value for name, value in config.items() if (name, value) not in cls.gone.items()}

    @classmethod
    def protocol(cls, config: Mapping[str, Any]) -> dict[str, Any]:
        """Of a config, what makes a run another one: all settings but those that change its speed alone."""
        return {name: value for name, value in cls.completed(config).items() if name not in cls.neutral}

    def recipe(self, samples: int) -> Recipe:
        """The settings of the optimiser for a training set of so many samples."""
        steps = self.epochs * math.ceil(samples / self.batch)
        return Recipe(
            epochs=self.epochs, batch=self.batch, lr=self.lr, warmup=round(self.warmup_share * steps),
            schedule=self.schedule, optimizer=self.optimizer, betas=(self.beta1, self.beta2),
            weight_decay=self.weight_decay, clip=self.clip, precision=self.precision, compile=self.compile,
        )

    # What a subclass fills in ---------------------------------------------------------------------------------------

    def data(self, seed: int) -> Splits:
        """Training, validation and test set. Splits never share a random stream."""
        raise NotImplementedError

    def build(self, seed: int) -> nn.Module:
        """A fresh model."""
        raise NotImplementedError

    def loss(self, model: nn.Module, batch: Tokens, generator: torch.Generator) -> Tensor:
        """One training loss; masks are drawn from the generator."""
        raise NotImplementedError

    def evaluate(self, model: nn.Module, tokens: Tokens) -> dict[str, float]:
        """Metrics as plain means over the test points. The first one is the main one."""
        raise NotImplementedError

    def examine(self, model: nn.Module, data: Splits) -> dict[str, float]:
        """Further metrics of a trained model, too dear or too special for every validation."""
        return {}

    def baselines(self, tokens: Tokens) -> dict[str, float]:
        """Metrics of other predictors on the same test set."""
        return {}

    def compare(self, data: Splits) -> dict[str, float]:
        """`baselines` on the test set, and those that learn from the training set, where there are any."""
        return self.baselines(data.test)

    def order(self, train: Tokens, batch: int, generator: torch.Generator) -> Tensor:
        """The order of an epoch's samples, (n,) indices; `batch` consecutive ones make a step."""
        return torch.randperm(len(train), generator=generator)

    def arrays(self, model: nn.Module, data: Splits) -> dict[str, np.ndarray]:
        """Small arrays to keep beside the record, for figures, and those of the other predictors."""
        return self.compared(data)

    def compared(self, data: Splits) -> dict[str, np.ndarray]:
        """The arrays that take no model, but other predictors."""
        return {}

    def checkpoints(self, path: Path) -> tuple[Path, ...]:
        """The files that a run keeps until its record is written, the last stage's first: it is ``path`` itself."""
        return (path,)

    def training_set(self) -> int | None:
        """How many samples it trains on, without loading them; None where that is not known before."""
        return getattr(self, "n_train", None)

    def pretraining_set(self) -> int | None:
        """The same of the first of two stages, where that has other samples."""
        return None

    # What they share ------------------------------------------------------------------------------------------------

    def train(
        self, data: Splits, seed: int, *, checkpoint: Path | None = None, log: Callable | None = None, **options
    ) -> tuple[nn.Module, list[dict]]:
        """Build a model and fit it: (model, history). Experiments with two stages override this."""
        model = self.build(seed)
        return model, self.fit(model, data, seed, checkpoint=checkpoint, log=log, **options)

    def fit(
        self, model: nn.Module, data: Splits, seed: int, *, checkpoint: Path | None = None, log: Callable | None = None,
        **options,
    ) -> list[dict]:
        """Train what `build` has made, in place: the history. options: of `romae_lite.training.fit`, as ``stop``."""
        return fit(
            model, data.train, self.loss, self.recipe(len(data.train)), seed=seed,
            validate=lambda m: {f"valid_{k}": v for k, v in self.evaluate(m, data.valid).items()},
            checkpoint=checkpoint, log=log, settings=self.config(),
            order=lambda generator: self.order(data.train, self.batch, generator), **options,
        )


@dataclass(frozen=True, kw_only=True)
class Masked(Experiment):
    """An experiment with a masked autoencoder. Subclasses say how wide a token is and how many axes a position has."""

    patch: ClassVar[int] = 1  # P, numbers in one token
    axes: ClassVar[int] = 1  # D, dimensions of a position
    neutral = Experiment.neutral | {"fast"}

    encoder: str = setting("tiny", "size of the encoder")
    decoder: str = setting("tiny-shallow", "size of the decoder")
    cls: bool = setting(True, "use a [CLS] token")
    encoding: str = setting("rope", "position encoding", choices=PositionEncoding.KINDS)
    p: float = setting(0.75, "share of frequencies kept by p-RoPE", low=0, high=1)
    fast: bool = setting(
        False, "train in the fast form of the model (`romae_lite.fast`), where it draws nothing at random", was=False
    )

    def __post_init__(self):
        super().__post_init__()
        self._check_size("encoder")
        self._check_size("decoder")
        self.model_config()  # names what the model cannot have

    def model_config(self, **changes) -> ModelConfig:
        settings = {
            "patch": self.patch,
            "axes": self.axes,
            "encoder": size(self.encoder),
            "decoder": size(self.decoder),
            "cls": self.cls,
            "positions": PositionEncoding(kind=self.encoding, p=self.p),
            "init": self.init,
        }
        return ModelConfig(**settings | changes)

    def build(self, seed: int) -> nn.Module:
        return seeded_build(seed, lambda: RoMAE(self.model_config()))

    def fit(self, model: nn.Module, data: Splits, seed: int, **options) -> list[dict]:
        return super().fit(self.trained_form(model), data, seed, **options)

    def trained_form(self, model: nn.Module) -> nn.Module:
        """What `fit` gets of a model: itself, or with `fast` its fast form, which has the same weights."""
        return Fast(model) if self.fast else model


def weights_of(model: nn.Module) -> dict[str, np.ndarray]:
    """What a run keeps of a model beside its record: weights.<name>, in half precision."""
    return {f"weights.{name}": w.half().cpu().numpy() for name, w in model.state_dict().items()}


def numpy_rng(seed: int, *stream: int) -> np.random.Generator:
    """A numpy generator of its own for every (seed, stream)."""
    return np.random.default_rng(np.random.SeedSequence((seed, *stream)))


def _checked(f: dataclasses.Field, hint, value):
    """One setting, held against its annotation, bounds and choices; 1 becomes 1.0 where a float belongs, so that a
    record has one name only."""
    allowed = _allowed(hint)
    wide = allowed + (int,) * (float in allowed)  # 1 will do for 1.0; True is no number
    if type(value) not in wide or (isinstance(value, float) and not math.isfinite(value)):
        names = " or ".join("None" if t is type(None) else t.__name__ for t in allowed)
        raise TypeError(f"{f.name} is {value!r}; it must be {names}: {f.metadata['doc']}")
    if type(value) is int and int not in allowed:
        value = float(value)
    if type(value) is int and value > MANY:
        raise ValueError(f"{f.name} is {value}; it must be at most {MANY:,}: {f.metadata['doc']}")
    low, high, choices = (f.metadata[key] for key in ("low", "high", "choices"))
    if choices is not None and value not in choices:
        raise ValueError(f"{f.name} is {value!r}; choose one of {', '.join(map(repr, choices))}")
    if value is not None and ((low is not None and value < low) or (high is not None and value > high)):
        limits = (
            f"at least {low:g}" if high is None else f"at most {high:g}" if low is None else f"in [{low:g}, {high:g}]"
        )
        raise ValueError(f"{f.name} is {value!r}; it must be {limits}: {f.metadata['doc']}")
    return value


def _allowed(hint) -> tuple[type, ...]:
    """The types of an annotation: of "float | None" both."""
    return hint.__args__ if isinstance(hint, types.UnionType) else (hint,)


_hints = functools.cache(typing.get_type_hints)  # of a class: slow to find out, and asked for every record

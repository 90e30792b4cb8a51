"""What RoMAE costs (paper Table 9, chapter 13): ratios of interleaved races, and rates on the machine at hand.

A record is one measurement on one machine. Its data are noise, in the shapes of the paper's data sets: what is raced
does the same arithmetic whatever the values are. A ratio is the median over the rounds, with `_low` and `_high` the
extremes; above one is faster. `load` is how many processes wanted each core of the machine while it was measured.
"""

from dataclasses import dataclass

from torch import nn

from romae_lite.model import ModelConfig, RoMAE, size
from romae_lite.rope import PositionEncoding
from romae_lite.training import accelerator_for, seeded_build

from ..base import Experiment, Splits, setting
from . import work

MEASURES = ("encoding", "straightforward", "ragged", "length", "start", "inference", "roofline", "input")


SERIES = {"task": "series", "encoder": "tiny"}


@dataclass(frozen=True, kw_only=True)
class Speed(Experiment):
    """Times of training steps, forward passes, imports and matrix products.

    encoding          Table 9: a position encoding against absolute positions, in training steps and forward passes
    straightforward   epochs of training against the model as one writes it first
    ragged            real tokens per second where samples differ in length
    length            tokens per second and memory, as sequences grow
    start             time to import, and to the first step
    inference         light curves per second
    roofline          what part of the fastest matrix product a training step reaches, and where its time goes
    input             what pictures cost before the model sees them: their share of a training step, and pictures per
                      second with and without it, at the size of chapter 11's recorded runs (on a GPU: of Table 10)
    """

    name = "speed"
    chapter = 13
    repeatable = False  # times are not the same twice
    tiers = {"paper": "paper", "cpu": "reduced", "quick": "smoke"}
    variants = frozenset({"encoding", "measure", "task", "encoder"})
    # more rounds make a ratio surer, and no other ratio
    neutral = Experiment.neutral | {"rounds", "steps", "seconds"}
    campaign = (
        ("cpu", 1), ("cpu", 1, {"encoding": "quantised"}),
        ("cpu", 1, {"measure": "roofline", **SERIES}),
        ("cpu", 1, {"measure": "ragged", **SERIES, "rounds": 3}),
        ("cpu", 1, {"measure": "straightforward", **SERIES, "rounds": 3}),
        ("cpu", 1, {"measure": "start", **SERIES, "rounds": 3}),
        ("cpu", 1, {"measure": "length", **SERIES, "encoder": "tiny-shallow", "seconds": 30.0}),
        ("cpu", 1, {"measure": "inference", **SERIES, "encoder": "tiny-shallow", "rounds": 3}),
        ("cpu", 1, SERIES), ("cpu", 1, {**SERIES, "encoding": "quantised"}),
        ("cpu", 1, {"measure": "roofline"}),
        ("cpu", 1, {"measure": "inference", **SERIES, "rounds": 3}),
        ("cpu", 1, {"measure": "input"}),
        ("paper", 3), ("paper", 3, {"encoding": "quantised"}),
    )

    deviations = ("D50",)

    measure: str = setting("encoding", "what is measured", choices=MEASURES)
    encoding: str = setting("rope", "position encoding", choices=PositionEncoding.KINDS)
    task: str = setting("images", "196 patches of an image, or a series of 75 points", choices=("images", "series"))
    encoder: str = setting("small", "size of the encoder")
    decoder: str = setting("tiny-shallow", "size of the decoder")
    machine: str = setting("gpu", "where", choices=("cpu", "gpu"))
    clock: str = setting("wall", "time on the wall, or of this process alone", choices=("wall", "cpu"))
    rounds: int = setting(9, "rounds of every race", low=1, high=1000)
    steps: int = setting(50, "steps of a contender in a round", low=1, high=10_000)
    seconds: float = setting(120.0, "measure=length: as long as they last, sequences grow", low=0)

    @classmethod
    def paper(cls) -> "Speed":
        """Table 9's shapes on a GPU: RoMAE-small, 224 x 224, batch 64."""
        return cls(batch=64)

    @classmethod
    def cpu(cls) -> "Speed":
        """The same on a CPU, in smaller batches."""
        return cls(batch=8, machine="cpu", clock="cpu", rounds=5, steps=1)

    @classmethod
    def quick(cls) -> "Speed":
        """The tiny model on series, two rounds."""
        return cls.cpu().replace(task="series", encoder="tiny-shallow", rounds=2, seconds=2.0)

    def __post_init__(self):
        super().__post_init__()
        if self.precision != "fp32":
            raise ValueError(f"precision is {self.precision!r}; what is timed is computed in 'fp32'")
        self._check_size("encoder")
        self._check_size("decoder")

    @property
    def shape(self) -> dict:
        return work.IMAGE if self.task == "images" else work.SERIES

    def model_config(self, **changes) -> ModelConfig:
        settings = {
            "patch": self.shape["patch"],
            "axes": self.shape["axes"],
            "encoder": size(self.encoder),
            "decoder": size(self.decoder),
            "cls": False,
            "positions": PositionEncoding(kind=self.encoding),
        }
        return ModelConfig(**settings | changes)

    def build(self, seed: int) -> nn.Module:
        return seeded_build(seed, lambda: RoMAE(self.model_config()))

    def data(self, seed: int) -> Splits:
        """One batch of noise, three times."""
        batch = work.images(self.batch) if self.task == "images" else work.series(self.batch)
        return Splits(batch, batch, batch)

    def train(self, data: Splits, seed: int, *, device: str | None = None, **options) -> tuple[nn.Module, list[dict]]:
        """Nothing is trained for its own sake: the model that comes back has what was measured in `metrics`."""
        from . import measures

        found = accelerator_for(self.precision, device).device
        if (self.machine == "cpu") != (found.type == "cpu"):
            hint = "add --device cpu" if self.machine == "cpu" else "set machine=cpu"
            raise ValueError(f"machine is {self.machine!r}, but this would run on {found.type}; {hint}")
        model = self.build(seed).to(found)
        model.metrics, seconds = measures.taken(self, model, data.train)
        rate = round(model.metrics.get("tokens_per_second", 0))
        return model, [{"epoch": 0, "step": 0, "seconds": round(seconds, 2), "tokens_per_second": rate}]

    def evaluate(self, model: nn.Module, tokens) -> dict[str, float]:
        return model.metrics

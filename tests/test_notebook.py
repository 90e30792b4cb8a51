"""What the chapters share: parameters that are checked, source that is shown, runs that sentences speak of."""

import ast
import inspect
import re
from types import SimpleNamespace

import nbformat
import numpy as np
import pytest
from conftest import ROOT

from romae_book.experiments.base import Experiment
from romae_book.experiments.spirals.data import NOISE
from romae_book.experiments.spirals.experiment import Spirals
from romae_book.experiments.synthetic.experiment import Synthetic
from romae_book.lab import runs
from romae_book.lab.runs import first_runs_of, paired
from romae_book.notebook.parameters import Parameters
from romae_book.notebook.source import Source
from romae_lite import rope


class Chapter:
    """A notebook's first three cells and its names."""

    def __init__(self, experiment=None, **others):
        self.experiment, self.others = experiment, others
        self.names = {"__name__": "__main__", "_": "", "_ih": [], "In": []}

    def set_up(self):
        self.names |= {"np": np, "Spirals": Spirals, "NOISE": NOISE}  # what the imports of the first cell leave
        self.names["parameters"] = Parameters(self.names)

    def apply(self):
        self.names |= {"_i": "seed = 0", "_i2": "seed = 0", "_exit_code": 0}  # IPython's own
        self.names["exp"] = self.names["parameters"].apply(self.experiment or Spirals.quick(), **self.others)
        return self.names["exp"]

    def run(self, **given) -> Experiment:
        self.set_up()
        self.names |= {"seed": 0, **given}
        return self.apply()


def test_parameters_are_put_in():
    assert Chapter().run(epochs=7, compile=True) == Spirals.quick().replace(epochs=7, compile=True)
    assert Chapter(count=(int, 1, 1000), shift=(float,)).run(count=1000, shift=3) == Spirals.quick()


def test_a_preset_is_chosen_by_name():
    assert Chapter(Synthetic).run(preset="best", epochs=7) == Synthetic.best().replace(epochs=7)


def test_a_chapter_without_an_experiment_has_its_own_parameters_only():
    def apply(**given):
        names = {"np": np}
        parameters = Parameters(names)
        names |= {"seed": 0, **given}
        return parameters.apply(None, steps=(int, 20, 1000))

    assert apply(steps=40) is None
    with pytest.raises(TypeError, match="'lr' is no parameter"):  # it would be ignored
        apply(steps=40, lr=0.1)


def test_all_cells_run_again_with_another_value():
    chapter = Chapter()
    assert chapter.run(epochs=7).epochs == 7
    chapter.names |= {"clip": 3.0, "optimizer": "sgd", "lr": np.zeros(2)}  # names that the chapter uses for itself
    assert chapter.run(epochs=9) == Spirals.quick().replace(epochs=9)
    assert chapter.run(lr=0.5, optimizer="sgd") == Spirals.quick().replace(lr=0.5, optimizer="sgd")


def test_cells_run_again_from_the_parameters_on():
    """The chapter's own names, `exp` among them, are no parameters, and may hide what the set-up cell imported."""
    chapter = Chapter()
    chapter.run(epochs=7)
    chapter.names |= {"NOISE": 0.2, "rows": [], "_row": 1, "epochs": 9}
    assert chapter.apply().epochs == 9
    assert chapter.names["NOISE"] == 0.2


def test_a_wrong_parameter_can_be_mended():
    chapter = Chapter()
    for wrong in ({"epoch": 7}, {"NOISE": 0.2}):
        with pytest.raises(TypeError):
            chapter.run(**wrong)
        assert chapter.run(epochs=7).epochs == 7


REFUSED = {  # what is given, and what the message names
    "misspelt": ({"epohcs": 5}, "'epohcs' .* Did you mean 'epochs'"),
    "another library's word": ({"learning_rate": 0.1}, "'learning_rate' .* Did you mean 'lr'"),
    "another chapter's": ({"dataset": "LSST"}, "'dataset' is no parameter"),
    "a constant of the set-up cell": ({"NOISE": 0.2}, "'NOISE' is no parameter"),
    "a module of it": ({"np": 3}, "'np' is no parameter"),
    "Python's": ({"globals": 3}, "'globals' is no parameter"),
    "hidden": ({"_epochs": 3}, "'_epochs' .* Did you mean 'epochs'"),
    "a list": ({"epochs": [3]}, r"epochs is \[3\]"),
    "a dictionary": ({"encoder": {"dim": 3}}, "encoder is {'dim': 3}"),
    "ill-typed": ({"epochs": "many"}, "epochs is 'many'; it must be int"),
    "half an epoch": ({"epochs": 2.5}, "epochs is 2.5; it must be int"),
    "out of range": ({"epochs": -3}, "epochs is -3; it must be at least 1"),
    "no choice": ({"schedule": "linear"}, "schedule is 'linear'; choose one of 'cosine'"),
    "no seed": ({"seed": None}, "seed is None; it must be int, at least 0"),
    "a negative seed": ({"seed": -1}, "seed is -1"),
    "half a seed": ({"seed": 0.5}, "seed is 0.5"),
    "a true seed": ({"seed": True}, "seed is True"),
    "a seed that no generator holds": ({"seed": 2**32}, "seed is 4294967296; .* at most 4294967295"),
    "too many": ({"count": 10**12}, "count is 10{12}; it must be int, at least 1, at most 1000"),
    "no number": ({"shift": float("nan")}, "shift is nan; it must be a finite number"),
    "too large a number": ({"shift": float("inf")}, "shift is inf; it must be a finite number"),
    "no finite rate": ({"lr": float("inf")}, "lr is inf; it must be a finite number"),
    "too far": ({"shift": 1e300}, r"shift is 1e\+300; it must be float, at least -1000000.0"),
}


@pytest.mark.parametrize("given, message", REFUSED.values(), ids=REFUSED)
def test_what_is_no_parameter_is_refused_by_name(given, message):
    chapter = Chapter(count=(int, 1, 1000), shift=(float, -1e6, 1e6))
    with pytest.raises((TypeError, ValueError), match=message):
        chapter.run(**{"count": 1, "shift": 0.0, **given})


@pytest.mark.parametrize("preset", [["quick"], "quik"])
def test_a_wrong_preset_is_refused_by_name(preset):
    with pytest.raises((TypeError, ValueError), match="preset is"):
        Chapter(Synthetic).run(preset=preset)


@pytest.mark.parametrize("path", sorted((ROOT / "notebooks").glob("*.ipynb")), ids=lambda path: path.stem)
def test_nbval_compares_some_outputs_of_every_chapter(path):
    """By a tag of the cell: nbval overlooks a comment behind code. Text alone is the same on every machine."""
    cells = nbformat.read(path, as_version=4).cells
    compared = [cell for cell in cells if "nbval-check-output" in cell.metadata.get("tags", [])]
    assert compared
    for cell in compared:
        assert cell.outputs and all("image/png" not in output.get("data", {}) for output in cell.outputs)
        assert "figures.show" not in cell.source
    assert not any("NBVAL" in cell.source for cell in cells)


def test_a_listing_is_the_source():
    """Methods without the indentation of their class; nothing else is changed."""
    shown = Source(rope.rotate, Spirals.loss).text
    assert inspect.getsource(rope.rotate).rstrip() in shown and "\n\ndef loss(" in shown
    assert [line.strip() for line in inspect.getsource(Spirals.loss).splitlines()] == [
        line.strip() for line in shown.split("\n\n")[-1].splitlines()
    ]
    compile(shown, "listing", "exec")


@pytest.mark.parametrize("path", sorted((ROOT / "notebooks").glob("*.ipynb")), ids=lambda path: path.stem)
def test_stored_listings_are_the_source_of_today(path):
    """Else run `make notebooks N=notebooks/...`: a page would show code that no longer runs."""
    cells = [cell for cell in nbformat.read(path, as_version=4).cells if cell.cell_type == "code"]
    listings = [cell for cell in cells if cell.source.startswith("Source(")]
    names = {}
    if listings:
        python = re.sub(r"^( *)[%!].*$", r"\1pass", cells[0].source, flags=re.M)  # IPython's lines
        imports = [node for node in ast.parse(python).body if isinstance(node, ast.ImportFrom)]
        exec(compile(ast.Module(imports, []), path.name, "exec"), names)
    for cell in listings:
        (output,) = cell.outputs
        assert output.data["text/markdown"] == eval(cell.source, names)._repr_markdown_()


def run_of(experiment, seed: int, rmse: float, numerics: int = 2):
    return SimpleNamespace(config=experiment.config(), seed=seed, numerics=numerics, metrics={"rmse": rmse})


@pytest.fixture
def records(monkeypatch):
    """What `runs_of` finds: a list that a test fills."""
    kept = []
    monkeypatch.setattr(runs, "runs_of", lambda one: runs.Runs(r for r in kept if r.config == one.config()))
    return kept


def test_a_page_falls_back_to_the_setting_that_was_run_and_says_so(records):
    new, old = Spirals.paper(), Spirals.paper().replace(init="normal")
    records += [run_of(old, seed, 0.1 * seed) for seed in range(4)]
    found = first_runs_of(new, old)
    assert len(found) == 4 and found.note == "`init=normal` instead of `torch`"
    assert found.summary("rmse").mean == pytest.approx(0.15)
    records += [run_of(new, seed, 1.0) for seed in range(2)]
    assert len(first_runs_of(new, old)) == 4, "two are too few for an interval"
    records += [run_of(new, 2, 1.0)]
    assert len(first_runs_of(new, old)) == 3 and first_runs_of(new, old).note == ""


def test_without_records_there_is_nothing_to_summarise(records):
    found = first_runs_of(Spirals.paper(), Spirals.paper().replace(init="normal"))
    assert not found and found.note == ""
    with pytest.raises(ValueError):
        found.summary("rmse")


def test_differences_are_taken_seed_by_seed():
    """What a seed adds to both runs of a pair leaves no trace; a seed that one side lacks is left out."""
    luck = [5.0, -3.0, 11.0, 0.5]
    ours = [run_of(Spirals.paper(), seed, bad + d) for seed, bad, d in zip(range(4), luck, (1, 2, 3, 9), strict=True)]
    theirs = [run_of(Spirals.paper(), seed, luck[seed]) for seed in (2, 0, 1)]
    found = paired(ours, theirs, "rmse")
    assert (found.n, found.mean) == (3, pytest.approx(2))
    assert found.high - found.mean == pytest.approx(
        4.30265 / np.sqrt(3), rel=1e-4
    )  # t of two degrees of freedom, std 1
    assert paired(ours, [], "rmse") is None


def test_runs_of_other_arithmetic_are_no_pair():
    """Else a difference of two settings would hold what the code between them changed."""
    ours = [run_of(Spirals.paper(), seed, 1.0 + seed) for seed in range(3)]
    old = [run_of(Spirals.paper(), seed, 0.0, numerics=1) for seed in range(2)]
    assert (found := paired(ours, [*old, run_of(Spirals.paper(), 2, 0.0)], "rmse")).n == 1 and found.mean == 3.0
    assert paired(ours, old, "rmse") is None

"""Records survive whatever happens while they are written; nothing damaged is used; intervals are what they say."""

import dataclasses
import json
import math
import os
from xml.etree import ElementTree

import numpy as np
import pytest
from conftest import ROOT, made_up_record
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from romae_book.experiments import experiments
from romae_book.experiments.base import Experiment, setting
from romae_book.experiments.spirals.experiment import Spirals
from romae_book.lab import campaign, records
from romae_book.lab.planned import Planned, name, record_path, results_dir
from romae_book.lab.records import CorruptRecord, Record, load, load_all
from romae_book.lab.runs import Runs, runs_of
from romae_book.lab.summary import summarise
from romae_book.notebook.tables import Table, table
from romae_book.paper.numbers import rows


def record(**changes) -> Record:
    fields = dict(deviations=["D1"], metrics={"rmse_clean": 0.02}, history=[{"step": 1, "loss": 0.5}])
    return made_up_record(**fields | changes)


def good(**changes) -> dict:
    return dataclasses.asdict(record()) | changes


# Writing and reading back ---------------------------------------------------------------------------------------------


def test_a_record_equals_its_file(tmp_path):
    config = {"shape": (1, 2), "rate": np.float32(0.5), "n": np.int64(3)}
    written = record(config=config, metrics={"mse": np.float64(1)})
    assert load(written.save(tmp_path / "deep" / "er" / "paper-s0.json")) == written
    assert written.config == {"shape": [1, 2], "rate": 0.5, "n": 3}


numbers = st.floats(-1e150, 1e150)
plain = st.recursive(st.none() | st.booleans() | st.integers() | numbers | st.text(), lambda inner: st.lists(inner))


@settings(max_examples=25, deadline=None, derandomize=True)
@given(st.dictionaries(st.text(), plain), st.dictionaries(st.text().map("any {}".format), numbers, min_size=1))
def test_any_settings_and_metrics_come_back(tmp_path_factory, config, metrics):
    written = record(config=config, metrics=metrics)
    assert load(written.save(tmp_path_factory.mktemp("r") / "x.json")) == written


@pytest.mark.parametrize("bad", [math.nan, math.inf, -math.inf, np.float32("nan")])
def test_numbers_that_are_not_finite_are_refused_by_name(bad):
    with pytest.raises(ValueError, match=r"metrics\.mse is"):
        record(metrics={"rmse": 1.0, "mse": bad})
    with pytest.raises(ValueError, match=r"history\[1\]\.loss is"):
        record(history=[{"step": 1, "loss": 1.0}, {"step": 2, "loss": bad}])


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("tier", "best"), ("schema", 2), ("metrics", {}), ("metrics", {"mse": "low"}), ("metrics", {"mse": True}),
        ("metrics", {"mse": -5.0}), ("metrics", {"rmse_clean": -1e-9}), ("metrics", {"accuracy": 1.01}),
        ("metrics", {"f1_macro": -0.1}), ("history", [1]), ("history", [{}]), ("history", [{"step": "1"}]),
        ("history", [{"step": 1, "seconds": "1"}]), ("history", [{"step": 1, "stage": 1}]), ("deviations", ["D0"]),
        ("versions", {"numerics": "1.5"}), ("overrides", [1]), ("parameters", 1.5), ("metrics", {"mse": 2e150}),
        ("deviations", "D1"), ("deviations", ["13"]), ("deviations", [13]), ("wall_seconds", -1.0), ("processes", 0),
        ("weights", 5), ("versions", {"torch": 2}), ("config", {"path": object()}), ("config", {1: 2}),
        ("precision", "fp1"), ("created", "yesterday"), ("created", "2026-01-31T12:00:00"),
        ("created", "2026-01-31T12:00:00+02:00"), ("created", "2999-01-01T00:00:00Z"),
    ],
)
def test_wrong_values_are_refused_by_name(field, value):
    with pytest.raises((TypeError, ValueError), match=field):
        record(**{field: value})


@pytest.mark.parametrize(
    ("field", "value"),
    [("seed", "0"), ("seed", True), ("seed", -1), ("preset", ""), ("preset", "a/b"), ("experiment", "../x")],
)
def test_names_and_seeds_are_no_paths(field, value):
    with pytest.raises((TypeError, ValueError), match=field):
        Record(**good(**{field: value}))
    with pytest.raises((TypeError, ValueError), match=field):
        Planned(**{"experiment": "spirals", "preset": "paper", "seed": 0} | {field: value})


def test_paths_of_records_stay_in_their_folder():
    for wrong in (("../../etc", "p"), ("a/b", "p"), ("", "p")):
        with pytest.raises(ValueError, match="experiment is"):
            record_path(*wrong)
    for seed in ("x/../../y", -1, 1.5, True):
        with pytest.raises((ValueError, TypeError), match="seed is"):
            name("paper", seed=seed)


def test_metrics_that_may_be_negative_or_large_are_kept():
    kept = {"follows_shift": -0.3, "mse": 1e100, "qk_encoder": 7.0}
    assert record(metrics=kept).metrics == kept


def test_a_time_in_utc_may_be_written_with_z():
    assert record(created="2026-01-31T12:00:00Z").created.endswith("Z")


# Whatever happens while it is written ---------------------------------------------------------------------------------

# Damaged files --------------------------------------------------------------------------------------------------------


def test_no_pipe_is_waited_for(tmp_path):
    os.mkfifo(tmp_path / "pipe.npz")
    with pytest.raises(CorruptRecord, match="pipe.npz: cannot be read: it is a pipe"):
        records.load_arrays(tmp_path / "pipe.npz")


@pytest.mark.parametrize(
    ("file", "reason"),
    [
        ("spirals/best-copy-s0", "its file name is best-copy-s0, but its command makes best-s0"),  # copies
        ("spirals/best-cls=false-s0", "its file name is best-cls=false-s0"),
        ("spirals/best-~x-s0", "its file name is best-~x-s0"),
        ("spirals/best-s3", "its file name is best-s3"),
        ("uea/best-s0", "its folder is uea, but its command makes spirals"),
    ],
)
def test_a_record_under_another_name_is_not_used(tmp_path, file, reason):
    """What else may be wrong with one: test_damage.py."""
    whole = record(preset="best", root=tmp_path).path
    assert len(load_all(tmp_path).records) == 1
    path = tmp_path / f"{file}.json"
    path.parent.mkdir(exist_ok=True)
    whole.rename(path)
    loaded = load_all(tmp_path)
    assert not loaded.records and reason in loaded.problems[0].reason
    with pytest.raises(CorruptRecord, match=path.stem):
        records.load_sound(path)


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({}, None),
        ({"overrides": {"lr": 0.5}}, "its command is"),
        ({"overrides": {"mood": 1}}, "'mood' is no setting of spirals"),
        ({"seed": 1}, "its command is"),
        ({"command": "python -m romae_lite run spirals --preset best --seeds 0"}, "its command is"),
    ],
)
def test_a_record_that_stores_what_was_changed_needs_no_parser(tmp_path, monkeypatch, changes, reason):
    kept = {"cls": True, "epochs": 7}
    path = record(preset="best", settings=kept, overrides=kept, root=tmp_path).path
    path.write_text(json.dumps(json.loads(path.read_text()) | changes))
    with monkeypatch.context() as patched:
        patched.setattr(Planned, "of", None)
        loaded = load_all(tmp_path)
    if reason:
        assert not loaded.records and reason in loaded.problems[0].reason
    else:
        (found,) = loaded.records
        assert found.planned == Planned.of(found.command) and found.overrides == kept


def test_of_two_of_one_run_the_committed_one_counts_whatever_its_name(tmp_path):
    epochs = Spirals.paper().epochs
    loose = record(settings={"epochs": epochs}, root=tmp_path, commit="a" * 40 + "+")  # sorts before paper-s0
    sound = record(root=tmp_path, commit="a" * 40)
    assert loose.config == sound.config
    (counted,) = load_all(tmp_path).records
    assert counted.committed and counted.path.name == "paper-s0.json"


def test_baselines_of_uncommitted_code_make_a_record_of_it():
    assert record(commit="a" * 40, versions={"numpy": "2", "baselines": "b" * 40}).committed
    assert not record(commit="a" * 40, versions={"numpy": "2", "baselines": "b" * 40 + "+"}).committed


def test_a_run_counts_once_under_whatever_name(tmp_path):
    epochs = Spirals.paper().epochs
    first, again = record(root=tmp_path), record(settings={"epochs": epochs}, root=tmp_path)  # as the preset has it
    assert first.config == again.config
    loaded = load_all(tmp_path)
    assert len(loaded.records) == 1 and [p.reason for p in loaded.problems] == ["repeats paper-epochs=500-s0.json"]
    (tmp_path / "spirals" / ".paper-s0.json.x.tmp").write_text("half a reco")
    assert len(load_all(tmp_path).problems) == 1
    assert load_all(tmp_path / "nowhere") == records.Loaded((), ())
    assert load_all(tmp_path, "uea") == records.Loaded((), ())


def test_a_file_in_place_of_the_results_is_named(tmp_path):
    (tmp_path / "results").write_text("")
    with pytest.raises(NotADirectoryError, match="results is a file"):
        load_all(tmp_path / "results")


def test_every_committed_record_repeats_itself():
    loaded = load_all(ROOT / "results")
    assert loaded.problems == () and len(loaded.records) == len(list((ROOT / "results").glob("*/*.json"))) > 200


# One question for records ---------------------------------------------------------------------------------------------


def test_a_record_in_another_precision_answers_every_question_but_one(tmp_path, monkeypatch):
    """Precision is no part of a protocol, so a record in bf16 counts wherever one in fp32 does; but the paper's tables
    say FP32, so that it is of tier reduced, and the run in fp32 is still to be made."""
    monkeypatch.setenv("ROMAE_RESULTS", str(tmp_path))
    for seed in range(3):
        record(seed=seed, settings={"precision": "bf16"}, precision="bf16", root=tmp_path)
    runs_ = runs_of(Spirals.paper())
    assert [(r.seed, r.precision) for r in runs_] == [(0, "bf16"), (1, "bf16"), (2, "bf16")]
    assert runs_ == runs_of(Spirals.paper().replace(compile=True)) and not runs_of(Spirals.paper().replace(lr=1e-3))
    assert [p.seed for p in campaign.missing(["spirals"]) if p.name.startswith("paper-s")] == [0, 1, 2, 3, 4]
    row = next(r for r in rows(only=["spirals"]) if r.ours)
    assert (row.tier, row.ours.n) == ("reduced", 3) and "--set precision=bf16" in row.command
    record(seed=1, root=tmp_path)  # where both are there, float32 is taken
    assert [r.precision for r in runs_of(Spirals.paper())] == ["bf16", "fp32", "bf16"]
    np.savez(runs_[0].path.with_suffix(".npz"), a=[1.0])
    assert runs_of(Spirals.paper())[0].arrays["a"] == 1


def test_a_record_may_be_older_than_a_setting(tmp_path, monkeypatch):
    @dataclasses.dataclass(frozen=True, kw_only=True)
    class Toy(Experiment):
        name = "older"
        noise: float = setting(0.1, "what was always so, and can be chosen now", was=0.1)

        @classmethod
        def paper(cls):
            return cls()

    monkeypatch.setitem(experiments(), "older", Toy)
    now = record(experiment="older", metrics={"mse": 1.0}, root=tmp_path)
    path = tmp_path / "older" / "paper-s0.json"
    fields = json.loads(path.read_text())
    del fields["config"]["noise"], fields["processes"], fields["weights"]  # as it was written then
    assert "overrides" not in fields
    path.write_text(json.dumps(fields))
    (found,) = runs_of(Toy(), tmp_path)
    assert found == now and found.config["noise"] == 0.1
    assert not runs_of(Toy(noise=0.2), tmp_path)
    del fields["config"]["clip"]  # no setting says what it was
    path.write_text(json.dumps(fields))
    assert load_all(tmp_path).problems[0].reason == "its config lacks clip"


def test_commands_say_how_many_processes_there_were():
    two = Planned(experiment="spirals", preset="best", seed=3, processes=2, overrides=(("cls", False),))
    launch = "accelerate launch --num_processes 2 -m romae_lite run"
    assert two.command == f"{launch} spirals --preset best --seeds 3 --set cls=False"
    one = dataclasses.replace(two, processes=1)
    assert Planned.of(two.command) == two != one == Planned.of(one.command) and one.path == two.path


# Names and places -----------------------------------------------------------------------------------------------------


def test_names():
    assert name("paper", {}, 3) == "paper-s3"
    assert (
        name("paper", {"lr": 1e-3, "cls": True})
        == name("paper", {"cls": True, "lr": 1e-3})
        == "paper-cls=true-lr=0.001-s0"
    )


overrides = st.dictionaries(st.text(max_size=8), st.text(max_size=300), max_size=3)


@settings(deadline=None, derandomize=True)
@given(overrides, overrides)
def test_names_are_fit_for_any_file_system_and_differ(one, other):
    first, second = name("paper", one), name("paper", other)
    assert len(first) < 150 and not set(first) & set('<>:"/\\|?*\0\n ')
    # "~" marks a name that was changed and carries a hash. Others meet only where a value itself spells "-field=value".
    if one != other and "~" in first + second:
        assert first != second


def test_results_dir(tmp_path, monkeypatch):
    monkeypatch.setenv("ROMAE_RESULTS", str(tmp_path))
    assert results_dir() == tmp_path
    assert record_path("uea", "quick", {"epochs": 2}, 7) == tmp_path / "uea" / "quick-epochs=2-s7.json"
    monkeypatch.delenv("ROMAE_RESULTS")
    assert results_dir() == ROOT / "results"


def test_runs_are_chosen_by_fields_and_settings():
    every = Runs([
        record(seed=2), record(seed=1), record(seed=0, preset="best", settings={"cls": False}),
        record(experiment="uea"), record(seed=4, settings={"cls": True}), record(seed=3, config={"cls": False}),
    ])
    seeds = lambda *settings, **fields: [r.seed for r in every.where(*settings, **fields)]  # noqa: E731
    assert seeds(experiment="spirals") == [2, 1, 0, 4, 3] and seeds() == [2, 1, 0, 0, 4, 3]
    assert seeds(experiment="spirals", tier="paper") == [2, 1, 3] and seeds(tier="reduced") == [4]
    assert seeds(preset="best") == [0]
    assert seeds({"cls": False}, experiment="spirals") == [2, 1, 0, 3]
    assert seeds({"cls": False, "batch": 32.0}, experiment="spirals") == [2, 1, 0]  # 32.0 is 32; record 3 has no batch
    with pytest.raises(AttributeError, match="teir"):
        seeds(teir="paper")


def test_runs_of_one_setting_differ_in_seed_and_speed_alone():
    fp32, bf16, second = record(), record(settings={"precision": "bf16"}, precision="bf16"), record(seed=1)
    other = record(settings={"epochs": 7})
    groups = Runs([second, other, fp32, bf16]).by_setting()
    assert list(groups.values()) == [(bf16, fp32, second), (other,)]
    assert list(groups) == [fp32.setting, other.setting] == [second.planned.setting, other.planned.setting]
    assert Runs([second, other, fp32, bf16]).of(Spirals.paper().replace(compile=True)) == (second, fp32, bf16)


# Arrays ---------------------------------------------------------------------------------------------------------------


def test_arrays_come_back(tmp_path):
    grid = np.arange(6).reshape(2, 3)
    path = records.save_arrays(tmp_path / "paper-s0.npz", a=grid, b=np.array([0.1, 0.2]), c=[True])
    found = records.load_arrays(path)
    assert found["a"].tolist() == [[0, 1, 2], [3, 4, 5]] and found["c"].tolist() == [True]
    assert found["b"].dtype == np.float32
    np.testing.assert_array_equal(found["b"], np.float32([0.1, 0.2]))
    again = path.read_bytes()
    assert records.save_arrays(path, **found).read_bytes() == again  # the same arrays, the same bytes: quiet diffs


def test_arrays_that_are_too_large_or_no_numbers_are_refused(tmp_path):
    path = records.save_arrays(tmp_path / "x.npz", a=[1])
    with pytest.raises(ValueError, match="x.npz would take"):
        records.save_arrays(path, a=np.random.default_rng(0).random(100_000))
    for bad in (np.array([object()]), np.array(["text"]), np.array([1j])):
        with pytest.raises(TypeError, match="a has dtype"):
            records.save_arrays(path, a=bad)
    assert records.load_arrays(path)["a"].tolist() == [1]


def test_damaged_arrays_are_named(tmp_path):
    path = records.save_arrays(tmp_path / "x.npz", a=np.random.default_rng(0).random(500))
    whole = path.read_bytes()
    flipped = bytearray(whole)
    flipped[len(whole) // 2] ^= 0xFF
    np.savez(tmp_path / "pickled.npz", a=np.array([{}], dtype=object))
    pickled = (tmp_path / "pickled.npz").read_bytes()
    for damage in (b"", b"nonsense", whole[:100], whole[: len(whole) // 2], bytes(flipped), pickled):
        path.write_bytes(damage)
        with pytest.raises(CorruptRecord, match="x.npz"):
            records.load_arrays(path)
    with pytest.raises(FileNotFoundError):
        records.load_arrays(tmp_path / "none.npz")


# Several seeds, one number --------------------------------------------------------------------------------------------


def test_interval_is_students():
    values = [1.0, 2.0, 4.0, 8.0]
    found = summarise(values)
    mean, std, n = np.mean(values), np.std(values, ddof=1), len(values)
    assert (found.mean, found.std, found.n) == (mean, pytest.approx(std), n)
    assert (found.low, found.high) == pytest.approx(stats.t.interval(0.95, n - 1, mean, std / math.sqrt(n)))


@pytest.mark.parametrize("n", [3, 5, 20])
def test_interval_covers_the_mean_as_often_as_it_says(n):
    rng = np.random.default_rng(n)
    trials = 2000
    hits = sum(s.low <= 0 <= s.high for s in (summarise(rng.normal(size=n)) for _ in range(trials)))
    # 95 % of 2000 is 1900, with a standard deviation of 9.7; three of these each way
    assert 1870 <= hits <= 1930


@settings(max_examples=30, deadline=None, derandomize=True)
@given(st.lists(st.floats(-1e6, 1e6), min_size=2, max_size=8), st.randoms())
def test_a_summary_is_the_same_every_time_and_in_any_order(values, random):
    shuffled = values.copy()
    random.shuffle(shuffled)
    one, other = summarise(values), summarise(shuffled)
    assert (one.mean, one.low, one.high) == (other.mean, other.low, other.high)


def test_one_or_two_runs_have_no_interval_and_none_no_summary():
    one, two = summarise([0.5]), summarise([1.0, 3.0])
    assert (one.mean, one.low, one.high, one.std, one.n) == (0.5, None, None, None, 1)
    assert (two.mean, two.low, two.high, two.std) == (2.0, None, None, pytest.approx(math.sqrt(2)))
    assert one.text() == f"{one}" == "0.500"
    for bad in ([], [1.0, math.nan]):
        with pytest.raises(ValueError, match="values"):
            summarise(bad)


def test_table_shows_means_and_escapes():
    shown = table(
        {"<ours>": [record(seed=s, metrics={"mse": 0.001 * (s + 1)}) for s in range(3)], "paper": {"mse": 0.0025}},
        {"mse": "MSE", "other": "a|b"}, label="who", scale=1e-3, decimals=2, caption="Errors",
    )
    assert [row[0] for row in shown.rows] == ["<ours>", "paper"]
    assert shown.rows[0][1].startswith("2.00 [") and shown.rows[0][3] == "3"
    assert shown.rows[1][1:] == ("2.50", "–", "")
    page = shown._repr_html_()
    assert "&lt;ours&gt;" in page and "<ours>" not in page and "Errors" in page
    assert "#" not in page and "rgb" not in page  # no colour of its own: it must do in the dark too
    assert str(shown) == repr(shown)
    with pytest.raises(ValueError, match="2 columns"):
        Table(("a", "b"), (("c",),))


def test_a_long_table_waits_to_be_asked():
    shown = Table(("a",), [["b"]] * 40, folded="All 40 <rows>")
    page = ElementTree.fromstring(shown._repr_html_())
    assert page.tag == "details" and "open" not in page.attrib
    assert page.find("summary").text == "All 40 <rows>" and len(page.findall(".//tbody/tr")) == 40
    assert "All 40" not in str(shown), "a terminal has nothing to press"


def test_a_cell_of_fewer_runs_than_its_row_has_says_so():
    runs = [made_up_record(seed=i, metrics={"mse": 1.0, "mae": 2.0} if i < 2 else {"mse": 1.0}) for i in range(3)]
    assert table({"ours": runs}, ("mse", "mae")).rows[0][1:] == ("1.00 [1.00, 1.00]", "2.00 (of 2)", "3")


@pytest.mark.parametrize(
    ("values", "decimals", "text"),
    [
        ((0.02, 0.021, 0.0226), 1, "0.02 [0.02, 0.02]"),  # not 0.0, which would look like touching it
        ((-0.02, -0.021, -0.0226), 1, "-0.02 [-0.02, -0.02]"),
        ((-0.001, 0.0, 0.0009), 2, "0.00 [0.00, 0.00]"),  # holds 0, and a zero has no sign
    ],
)
def test_no_rounding_moves_an_end_of_an_interval_onto_zero(values, decimals, text):
    assert summarise(values).text(decimals=decimals) == text


def test_a_summary_prints_itself_with_signs_decimals_and_n():
    found = summarise([0.02, 0.021, 0.0226])
    assert f"{found:.4}" == found.text(decimals=4) == "0.0212 [0.0179, 0.0245]"
    assert f"{found:+.3n}".replace("\N{NO-BREAK SPACE}", " ") == "+0.021 [+0.018, +0.024], n = 3"
    assert f"{summarise([-1.0]):+.1}" == "-1.0"
    with pytest.raises(ValueError, match="format is '5d'"):
        f"{found:5d}"


def test_one_run_of_a_seed_counts_and_uncommitted_ones_only_where_others_are_few():
    made = lambda seed, **changes: made_up_record(seed=seed, metrics={"mse": 1.0}, **changes)  # noqa: E731
    counted = lambda *given: list(Runs(given).counted())  # noqa: E731
    whole, half = made(1), made(1, settings={"precision": "bf16"}, precision="bf16")
    others, changed = [made(3), made(4)], made(0, commit="abcdef0+")
    assert counted(*others, half, changed, whole) == [whole, *others]
    assert counted(others[0], changed, whole) == [changed, whole, others[0]]  # two have no interval
    assert counted(half, whole) == counted(whole, half) == [whole]
    assert counted(half, made(1, commit="abcdef0+")) == [half]
    assert counted(changed) == [changed] and counted() == []

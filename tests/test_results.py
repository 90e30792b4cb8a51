"""Records survive whatever happens while they are written; nothing damaged is used; intervals are what they say."""

import errno
import json
import math
import os
import subprocess
import sys

import numpy as np
import pytest
from conftest import ROOT, made_up_record
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from romae_lite.lab import records
from romae_lite.lab.records import CorruptRecord, Record, load, load_all, select
from romae_lite.lab.summary import summarise
from romae_lite.page.tables import Table, cost, table


def record(**changes) -> Record:
    fields = dict(
        experiment="spirals", tier="paper", config={"epochs": 5, "cls": False, "clip": None}, deviations=["D1"],
        metrics={"rmse_clean": 0.02}, history=[{"step": 1, "loss": 0.5}],
    )  # fmt: skip
    return made_up_record(**fields | changes)


def good() -> dict:
    return {field: getattr(record(), field) for field in Record.__dataclass_fields__}


# Writing and reading back ---------------------------------------------------------------------------------------------


def test_a_record_equals_its_file(tmp_path):
    config = {"shape": (1, 2), "rate": np.float32(0.5), "n": np.int64(3)}
    written = record(config=config, metrics={"mse": np.float64(1)})
    assert load(written.save(tmp_path / "deep" / "er" / "paper-s0.json")) == written
    assert written.config == {"shape": [1, 2], "rate": 0.5, "n": 3}


numbers = st.floats(allow_nan=False, allow_infinity=False)
plain = st.recursive(st.none() | st.booleans() | st.integers() | numbers | st.text(), lambda inner: st.lists(inner))


@settings(max_examples=50, deadline=None)
@given(st.dictionaries(st.text(), plain), st.dictionaries(st.text(), numbers, min_size=1))
def test_any_settings_and_metrics_come_back(tmp_path_factory, config, metrics):
    written = record(config=config, metrics=metrics)
    assert load(written.save(tmp_path_factory.mktemp("r") / "x.json")) == written


@pytest.mark.parametrize("bad", [math.nan, math.inf, -math.inf, np.float32("nan")])
def test_numbers_that_are_not_finite_are_refused_by_name(bad):
    with pytest.raises(ValueError, match=r"metrics\.mse is"):
        record(metrics={"rmse": 1.0, "mse": bad})
    with pytest.raises(ValueError, match=r"history\[1\]\.loss is"):
        record(history=[{"loss": 1.0}, {"loss": bad}])


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("seed", "0"), ("seed", True), ("seed", -1), ("tier", "best"), ("schema", 2), ("metrics", {}),
        ("metrics", {"mse": "low"}), ("metrics", {"mse": True}), ("history", [1]), ("deviations", "D1"), ("preset", ""),
        ("wall_seconds", -1.0), ("versions", {"torch": 2}), ("config", {"path": object()}), ("config", {1: 2}),
        ("created", "yesterday"), ("created", "2026-01-31T12:00:00"), ("created", "2026-01-31T12:00:00+02:00"),
    ],
)  # fmt: skip
def test_wrong_values_are_refused_by_name(field, value):
    with pytest.raises((TypeError, ValueError), match=field):
        record(**{field: value})


def test_a_time_in_utc_may_be_written_with_z():
    assert record(created="2026-01-31T12:00:00Z").created.endswith("Z")


# Whatever happens while it is written ---------------------------------------------------------------------------------

KILLED_AT_EVERY_LINE = """
import json, os, signal, sys
from romae_lite.lab import records

path, fields = sys.argv[1], json.loads(sys.argv[2])
old, new = (records.Record(**fields | {"parameters": n}) for n in (0, 1))
write, lines, outcomes = records.atomic_write, 0, []


def traced(*arguments):  # counts every line of Python that runs while the file is written, the library's too
    sys.settrace(lambda *event: tick())
    write(*arguments)
    sys.settrace(None)


def tick():
    global lines
    lines += 1
    if lines == last:
        os.kill(os.getpid(), signal.SIGKILL)
    return lambda *event: tick()


for last in range(1, 10_000):
    records.atomic_write = write
    if not outcomes or outcomes[-1]:
        old.save(path)
    records.atomic_write = traced
    child = os.fork()
    if child == 0:
        new.save(path)
        os._exit(0)
    _, status = os.waitpid(child, 0)
    outcomes.append(records.load(path).parameters)  # raises where the file is not whole
    if status == 0:
        break
print(json.dumps(outcomes))
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_kill_at_any_moment_leaves_the_old_record_or_the_new_one(tmp_path):
    path = tmp_path / "spirals" / "paper-s0.json"
    done = subprocess.run(
        [sys.executable, "-c", KILLED_AT_EVERY_LINE, str(path), json.dumps(good())],
        cwd=ROOT, capture_output=True, text=True, env=os.environ | {"PYTHONPATH": str(ROOT)}, timeout=120,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    outcomes = json.loads(done.stdout)
    assert outcomes == sorted(outcomes) and set(outcomes) == {0, 1}  # old up to some line, new from there on
    loaded = load_all(tmp_path)  # what the kills left behind is neither record nor problem
    assert loaded.paths == (path,) and not loaded.problems


def test_a_full_disk_keeps_the_old_record_and_leaves_no_litter(tmp_path, monkeypatch):
    path = record().save(tmp_path / "paper-s0.json")
    before = path.read_bytes()

    class FullFile:
        def __init__(self, file):
            self.file = file

        def __enter__(self):
            return self

        def __exit__(self, *_):
            self.file.close()

        def __getattr__(self, name):
            return getattr(self.file, name)

        def write(self, data):
            raise OSError(errno.ENOSPC, "No space left on device")

    fdopen = os.fdopen
    monkeypatch.setattr(os, "fdopen", lambda *a, **k: FullFile(fdopen(*a, **k)))
    with pytest.raises(OSError, match="paper-s0.json") as caught:
        record(seed=1).save(path)
    monkeypatch.undo()
    assert caught.value.errno == errno.ENOSPC
    assert path.read_bytes() == before
    assert os.listdir(tmp_path) == ["paper-s0.json"]


# Damaged files --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "not JSON"),
        ("\x00" * 40, "not JSON"),
        ("[1, 2]", "holds a list"),
        (json.dumps(good())[:-30], "not JSON"),
        (json.dumps(good() | {"metrics": {"mse": math.nan}}), "NaN is no JSON number"),
        (json.dumps(good()).replace("0.02", "1e999"), r"metrics\.rmse_clean is inf"),
        (json.dumps({k: v for k, v in good().items() if k != "seed"}), "lacks seed"),
        (json.dumps(good() | {"mood": 1}), "unknown fields mood"),
        (json.dumps(good() | {"schema": 9}), "schema is 9"),
        (json.dumps(good() | {"seed": "0"}), "seed is '0'"),
        ("[" * 100_000, "not JSON"),
    ],
)
def test_a_damaged_record_is_named_and_never_used(tmp_path, text, reason):
    folder = tmp_path / "spirals"
    record(seed=1).save(folder / "paper-s1.json")
    (folder / "paper-s0.json").write_text(text)
    with pytest.raises(CorruptRecord, match=reason) as caught:
        load(folder / "paper-s0.json")
    assert "paper-s0.json" in str(caught.value)
    loaded = load_all(tmp_path)
    assert [r.seed for r in loaded.records] == [1] and loaded.paths == (folder / "paper-s1.json",)
    assert [p.path.name for p in loaded.problems] == ["paper-s0.json"]


def test_bytes_that_are_no_text_are_a_corrupt_record(tmp_path):
    (tmp_path / "x.json").write_bytes(b'{"\xff\xfe": 1}')
    with pytest.raises(CorruptRecord, match="x.json"):
        load(tmp_path / "x.json")


def test_a_record_counts_once_and_in_its_own_place(tmp_path):
    record().save(tmp_path / "spirals" / "paper-s0.json")
    record().save(tmp_path / "spirals" / "paper-s1.json")  # a copy under another seed's name
    record().save(tmp_path / "uea" / "paper-s0.json")  # a copy in another experiment's folder
    record().save(tmp_path / "spirals" / "paper-epochs=5-s0.json")  # fine: an override in the name
    (tmp_path / "spirals" / ".paper-s0.json.x.tmp").write_text("half a reco")
    loaded = load_all(tmp_path)
    assert {p.name for p in loaded.paths} == {"paper-s0.json", "paper-epochs=5-s0.json"}
    assert {(p.path.parent.name, p.path.name) for p in loaded.problems} == {
        ("spirals", "paper-s1.json"), ("uea", "paper-s0.json")
    }  # fmt: skip
    assert load_all(tmp_path / "nowhere") == records.Loaded((), (), ())
    assert len(load_all(tmp_path, "uea").problems) == 1


# Names and places -----------------------------------------------------------------------------------------------------


def test_names():
    assert records.name("paper", {}, 3) == "paper-s3"
    assert records.name("paper", {"lr": 1e-3, "cls": True}, 0) == records.name("paper", {"cls": True, "lr": 1e-3}, 0)
    assert records.name("paper", {"lr": 1e-3, "cls": True}, 0) == "paper-cls=true-lr=0.001-s0"


overrides = st.dictionaries(st.text(max_size=8), st.text(max_size=300), max_size=3)


@settings(deadline=None, derandomize=True)
@given(overrides, overrides)
def test_names_are_fit_for_any_file_system_and_differ(one, other):
    first, second = records.name("paper", one), records.name("paper", other)
    assert len(first) < 150 and not set(first) & set('<>:"/\\|?*\0\n ')
    # "~" marks a name that was changed and carries a hash. Others meet only where a value itself spells "-field=value".
    if one != other and "~" in first + second:
        assert first != second


def test_results_dir(tmp_path, monkeypatch):
    monkeypatch.setenv("ROMAE_RESULTS", str(tmp_path))
    assert records.results_dir() == tmp_path
    assert records.record_path("uea", "quick", {"epochs": 2}, 7) == tmp_path / "uea" / "quick-epochs=2-s7.json"
    monkeypatch.delenv("ROMAE_RESULTS")
    assert records.results_dir() == ROOT / "results"


def test_select():
    all_of_them = [
        record(seed=2), record(seed=1), record(seed=0, tier="own", preset="best"), record(experiment="uea"),
        record(seed=4, config={"epochs": 5, "cls": True}), record(seed=3, config={"cls": False}),
    ]  # fmt: skip
    seeds = lambda **how: [r.seed for r in select(all_of_them, "spirals", **how)]  # noqa: E731
    assert seeds() == [0, 1, 2, 3, 4]
    assert seeds(tier="paper") == [1, 2, 3, 4]
    assert seeds(preset="best") == [0]
    assert seeds(where={"cls": False}) == [0, 1, 2, 3]
    assert seeds(where={"cls": False, "epochs": 5.0}) == [0, 1, 2]  # 5.0 is 5; record 3 has no epochs
    with pytest.raises(ValueError, match="tier is 'papr'"):
        seeds(tier="papr")


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


@settings(max_examples=30, deadline=None)
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
    assert one.text() == "0.500"
    for bad in ([], [1.0, math.nan]):
        with pytest.raises(ValueError, match="values is"):
            summarise(bad)


def test_table_shows_means_and_escapes():
    shown = table(
        {"<ours>": [record(seed=s, metrics={"mse": 0.001 * (s + 1)}) for s in range(3)], "paper": {"mse": 0.0025}},
        {"mse": "MSE", "other": "a|b"}, label="who", scale=1e-3, decimals=2, caption="Errors",
    )  # fmt: skip
    assert [row[0] for row in shown.rows] == ["<ours>", "paper"]
    assert shown.rows[0][1].startswith("2.00 [") and shown.rows[0][3] == "3"
    assert shown.rows[1][1:] == ("2.50", "–", "")
    page = shown._repr_html_()
    assert "&lt;ours&gt;" in page and "<ours>" not in page and "Errors" in page
    assert "#" not in page and "rgb" not in page  # no colour of its own: it must do in the dark too
    assert str(shown) == repr(shown)
    with pytest.raises(ValueError, match="2 columns"):
        Table(("a", "b"), (("c",),))


def test_cost_of_runs():
    history = [{"step": 5, "stage": "pretrain"}, {"step": 10, "stage": "pretrain"}, {"step": 7, "stage": "fine-tune"}]
    two_stages = [
        record(history=history, wall_seconds=60.0 * minutes, peak_memory_mb=memory, tokens_per_second=speed)
        for minutes, memory, speed in ((1, 9.0, 1000.0), (3, 5.0, 3000.0))
    ]
    shown = cost({"ours": two_stages, "short": iter([record(device="gpu", precision="bf16")]), "none": []})
    assert shown.columns[1:7] == (
        "runs", "parameters", "steps", "minutes per run", "tokens per second", "peak memory, MB",
    )  # fmt: skip
    assert shown.rows == (
        ("ours", "2", "10", "17", "2.0", "2,000", "9", "cpu"),
        ("short", "1", "10", "1", "0.025", "3", "2", "gpu, bf16"),
    )  # fmt: skip
    assert "upper bound" in shown.caption
    assert cost({"none": []}).caption == "No record yet."

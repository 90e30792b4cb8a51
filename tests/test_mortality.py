"""Deaths in intensive care: what is not known, and what the rivals are given, against slow references."""

from argparse import Namespace
from collections import Counter

import numpy as np
import pytest
import torch

from romae_book.experiments.classification import auroc
from romae_book.experiments.data import DataError, NotHere
from romae_book.experiments.physionet import data as icu
from romae_book.experiments.physionet import outcomes
from romae_book.experiments.physionet.mortality import LESS, Mortality


@pytest.fixture(scope="module")
def records() -> icu.Records:
    return icu.simulated(12, np.random.default_rng(0))


def rows(records: icu.Records, i: int) -> list[tuple[int, int, float]]:
    part = slice(records.start[i], records.start[i + 1])
    return [(int(m), int(c), float(v)) for m, c, v in
            zip(records.minute[part], records.channel[part], records.value[part], strict=True)]


def test_summaries_equal_a_loop(records):
    table = outcomes.summaries(records).reshape(len(records), len(icu.CHANNELS), -1)
    when = outcomes.summaries(records, values=False).reshape(len(records), len(icu.CHANNELS), -1)
    assert np.array_equal(when, table[..., :4], equal_nan=True)
    for i in range(len(records)):
        for c in range(len(icu.CHANNELS)):
            mine = sorted((m, v) for m, channel, v in rows(records, i) if channel == c)
            if not mine:
                assert table[i, c, 0] == 0 and np.isnan(table[i, c, 1:]).all()
                continue
            t, v = np.array(mine, float).T
            slope = np.polyfit(t, v, 1)[0] if len(set(t)) > 1 else np.nan
            gap = np.diff(t).max() if len(t) > 1 else 0
            truth = [len(t), t[0], t[-1], gap, v.mean(), v.std(), v.min(), v.max(), v[0], v[-1], slope]
            assert table[i, c] == pytest.approx(truth, rel=1e-6, abs=1e-8, nan_ok=True)  # polyfit's rounding


def test_what_is_not_known_is_gone_and_nothing_else(records):
    rng = np.random.default_rng(0)
    assert outcomes.informed(records, "all", rng) is records
    blind = outcomes.informed(records, "times", rng)
    assert not blind.value.any() and np.array_equal(blind.minute, records.minute)
    ranks = outcomes.informed(records, "ranks", rng)
    shuffled = outcomes.informed(records, "shuffled", rng)
    moved = 0
    for i in range(len(records)):
        before, after, mixed = (rows(one, i) for one in (records, ranks, shuffled))
        assert [(c, v) for _, c, v in before] == [(c, v) for _, c, v in after]
        old, new = sorted({m for m, *_ in before}), sorted({m for m, *_ in after})
        assert [old.index(m) for m, *_ in before] == [new.index(m) for m, *_ in after]
        assert new[0] == 0 and new[-1] == icu.HORIZON and np.ptp(np.diff(new)) <= 1  # minutes are whole
        assert Counter((c, v) for _, c, v in mixed) == Counter((c, v) for _, c, v in before)
        assert [(m, c) for m, c, _ in mixed] == [(m, c) for m, c, _ in before]
        moved += mixed != before
    assert moved == len(records)


def test_chosen_records_are_those(records):
    few = outcomes.chosen(records, np.array([5, 2]))
    assert [rows(few, 0), rows(few, 1)] == [rows(records, 5), rows(records, 2)]
    assert list(few.ids) == [records.ids[5], records.ids[2]]


def test_auroc_is_that_of_scikit_learn():
    metrics = pytest.importorskip("sklearn.metrics")
    rng = np.random.default_rng(0)
    for _ in range(20):
        truth, score = rng.random(40) < 0.3, rng.integers(0, 6, 40).astype(float)  # with ties
        assert auroc(truth, score) == pytest.approx(metrics.roc_auc_score(truth, score))
    assert auroc(np.ones(3, bool), np.arange(3.0)) == 0.5


@pytest.mark.parametrize("information", LESS)
def test_the_model_is_told_as_much_as_the_trees(information):
    """Positions and values of its tokens, and the patients of each part, which no information changes."""
    exp = Mortality.quick()
    whole, less = exp.data(1), exp.replace(information=information).data(1)
    for a, b in zip(whole, less, strict=True):
        assert torch.equal(a.aux["index"], b.aux["index"]) and torch.equal(a.aux["label"], b.aux["label"])
        assert torch.equal(a.positions, b.positions) == (information != "ranks")
        assert torch.equal(a.values, b.values) == (information == "ranks")
        assert torch.equal(a.values[..., 1], b.values[..., 1])  # channels are known whatever else is not
    if information == "times":
        assert not less.train.values[..., 0].any()


def test_folds_meet_every_patient_once_and_share_deaths_evenly():
    exp = Mortality.quick()
    parts = [exp.data(seed) for seed in range(5)]
    tested = torch.cat([part.test.aux["index"] for part in parts])
    assert sorted(tested.tolist()) == list(range(200))
    for train, valid, test in parts:
        index = [set(part.aux["index"].tolist()) for part in (train, valid, test)]
        assert sum(map(len, index)) == len(set.union(*index)) == 200
        assert int(test.aux["label"].sum()) == 12  # three tenths of the forty


def test_outcomes_are_counted(tmp_path, data_script):
    pytest.raises(NotHere, outcomes.load, tmp_path).match("Outcomes-a.txt does not exist; .*--outcomes")
    head = "RecordID,SAPS-I,SOFA,Length_of_stay,Survival,In-hospital_death\n"
    for name, (n, died), first in zip(outcomes.FILES, outcomes.SUMS, (1, 5001), strict=True):
        text = head + "".join(f"{first + i},6,1,5,-1,{int(i < died)}\n" for i in range(n))
        (tmp_path / name).write_text(text)
    found = outcomes.load(tmp_path)
    assert len(found) == 8000 and found[1] and not found[4000] and found[5001]
    out = tmp_path / "out"
    out.mkdir()
    data_script("physionet").prepare_outcomes(Namespace(source=tmp_path, out=out))
    assert outcomes.load(out) == found
    (tmp_path / "Outcomes-b.txt").write_text(head + "5001,6,1,5,-1,1\n")
    pytest.raises(DataError, outcomes.load, tmp_path).match("has 1 patients of whom 1 died; it should be 4000 and 568")
    (tmp_path / "Outcomes-b.txt").write_text(head + "5001,6,1,5,-1,2\n")
    pytest.raises(DataError, outcomes.load, tmp_path).match("is no table of outcomes")


def test_trees_learn_what_the_label_is_made_of():
    pytest.importorskip("lightgbm")
    exp = Mortality.quick().replace(method="trees", patients=120)  # of fewer than a hundred to learn from: one trial
    data = exp.data(0)
    model, _ = exp.train(data, 0)
    found = exp.evaluate(model, data.test)
    assert found["auroc"] > 0.8  # 0.5 by chance; of 8 and 16 patients its deviation is about 0.13

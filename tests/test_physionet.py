"""PhysioNet: the tokens, the two masks, the metric and the baselines, against slow references."""

import dataclasses
import io
import tarfile

import numpy as np
import pytest
import torch

from romae_book.experiments.physionet import data as icu
from romae_book.experiments.physionet import rivals as predictors
from romae_book.experiments.physionet.experiment import PhysioNet, hide_rows
from romae_book.experiments.speed.measures import padding_share
from romae_lite.batching import by_length
from romae_lite.tokens import Tokens
from romae_lite.training import seeded

TINY = {"encoder": "16x2x1x32", "decoder": "16x2x1x32", "patients": 40, "epochs": 1, "batch": 8}
HR, TEMP, PH = (icu.CHANNELS.index(name) for name in ("HR", "Temp", "pH"))


@pytest.fixture(scope="module")
def records() -> icu.Records:
    return icu.simulated(40, np.random.default_rng(3))


@pytest.fixture(scope="module")
def exp() -> PhysioNet:
    return PhysioNet.quick().replace(**TINY)


@pytest.fixture(scope="module")
def data(exp):
    return exp.data(0)


# Records ------------------------------------------------------------------------------------------------------------


def test_channels():
    assert len(icu.CHANNELS) == len(set(icu.CHANNELS)) == 41  # 42 parameters, less RecordID
    assert set(icu.RANGES) <= set(icu.CHANNELS)


def test_parse():
    text = "Time,Parameter,Value\n00:00,RecordID,7\n00:00,Age,54\n00:00,Height,-1\n48:00,HR,73\n00:07,Temp,-1\n"
    age = icu.CHANNELS.index("Age")
    # an unknown height is left out; a measured -1 is a measurement
    assert icu.parse(text, "set-a/7.txt") == (7, [(0, age, 54.0), (7, TEMP, -1.0), (2880, HR, 73.0)])


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("00:07,HR", "line 3"), ("0:07,HR,70", "line 3"), ("48:01,HR,70", "line 3"), ("00:07,Mood,70", "line 3"),
        ("00:07,HR,seventy", "line 3"), ("00:07,HR,nan", "line 3"), ("00:07,HR,1e39", "line 3"),
        ("00:07,HR,1_0", "line 3"), ("00:07,HR,7\ufffd", "line 3"), ("00:00,RecordID,inf", "line 3"),
        ("00:07,HR,70,1", "line 3"), ("07:60,HR,70", "line 3"), ("-1:30,HR,70", "line 3"), ("00:7,HR,7", "line 3"),
        ("00:00,RecordID,8", "line 3: RecordID is 8, and 7 before; expected one whole number from 1 to"),
    ],
)
def test_parse_names_the_line(line, message):
    with pytest.raises(icu.DataError, match=rf"set-a/7.txt: {message}"):
        icu.parse(f"Time,Parameter,Value\n00:00,RecordID,7\n{line}\n", "set-a/7.txt")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "line 1"), ("RecordID,SAPS\n1,2\n", "line 1"), ("Time,Parameter,Value\n00:07,HR,70\n", "RecordID"),
        ("Time,Parameter,Value\n00:00,RecordID,8\n", "holds record 8"),
    ]
    + [
        (f"Time,Parameter,Value\n00:00,RecordID,{number}\n", f"line 2: RecordID is {number}; expected one whole number")
        for number in ("99999999999", "1.7", "-5", "0", "2147483648")
    ],
)
def test_parse_refuses(text, message):
    with pytest.raises(icu.DataError, match=message):
        icu.parse(text, "7.txt")


def test_save_and_load(records, tmp_path):
    records.save(tmp_path / icu.PREPARED)
    again = icu.load(tmp_path)
    assert again.fingerprint() == records.fingerprint()
    (tmp_path / icu.PREPARED).write_bytes(b"PK\x03\x04 cut off")
    with pytest.raises(icu.DataError, match="not a prepared file"):
        icu.load(tmp_path)


def test_fingerprint_sees_every_value_and_no_order(records):
    backwards = {
        int(i): sorted(zip(*(a[records.start[k] : records.start[k + 1]].tolist()
                             for a in (records.minute, records.channel, records.value)), strict=True))
        for k, i in reversed(list(enumerate(records.ids)))
    }
    assert icu.pack(backwards).fingerprint() == records.fingerprint()
    for name in ("value", "minute", "channel", "ids"):
        changed = getattr(records, name).copy()
        changed[5] += 1
        assert dataclasses.replace(records, **{name: changed}).fingerprint() != records.fingerprint()


def test_an_empty_folder_does_not_hide_an_archive(tmp_path):
    for part in icu.SETS:
        (tmp_path / part).mkdir()
    with pytest.raises(icu.DataError, match="neither a folder set-a with records nor"):
        list(icu.texts(tmp_path))
    for part in icu.SETS:
        with tarfile.open(tmp_path / f"{part}.tar.gz", "w:gz") as packed:
            member = tarfile.TarInfo(f"{part}/1.txt")
            member.size = 5
            packed.addfile(member, io.BytesIO(b"hello"))
    assert [text for _, text in icu.texts(tmp_path)] == ["hello", "hello"]


def test_simulated_cannot_pass_for_real(records):
    with pytest.raises(icu.DataError, match="8000"):
        records.verify()


def test_found_by_environment(records, tmp_path, monkeypatch):
    records.save(tmp_path / "physionet2012" / icu.PREPARED)
    monkeypatch.setenv("ROMAE_DATA", str(tmp_path))
    with pytest.raises(icu.DataError, match="8000"):  # a part of the records is no paper's run
        PhysioNet.paper().data(0)
    exp = PhysioNet.paper().replace(patients=20)
    assert sum(len(part) for part in exp.data(0)) == 20
    assert str(tmp_path) not in str(exp.config())


# Tokens -------------------------------------------------------------------------------------------------------------


def test_usable_needs_two_minutes():
    one, two = [(0, 0, 1.0), (0, HR, 2.0)], [(0, 0, 1.0), (5, HR, 2.0)]
    records = icu.pack({1: one, 2: two, 3: [], 4: two, 5: one})
    assert icu.usable(records).tolist() == [1, 3]


def test_merged_and_scaled_like_a_slow_loop(records):
    chosen = np.array([7, 2, 30])
    rows = {  # whole hours, so that many values share a minute
        int(i): sorted(zip((records.minute[part] // 60).tolist(), records.channel[part].tolist(),
                           records.value[part].tolist(), strict=True))
        for i, part in zip(records.ids, map(slice, records.start[:-1], records.start[1:]), strict=True)
    }
    doubled = icu.pack(rows)
    found = list(zip(*(a.tolist() for a in icu.merged(doubled, chosen)), strict=True))
    slow = []
    for s, i in enumerate(chosen):
        cells = {}
        for k in range(records.start[i], records.start[i + 1]):
            cells.setdefault((int(doubled.minute[k]), int(doubled.channel[k])), []).append(float(doubled.value[k]))
        slow += [(s, m, c, np.mean(v)) for (m, c), v in sorted(cells.items())]
    assert [f[:3] for f in found] == [w[:3] for w in slow] and len(slow) < np.diff(records.start)[chosen].sum()
    np.testing.assert_allclose([f[3] for f in found], [w[3] for w in slow], rtol=1e-12)  # sums of a few float64
    _, _, channel, value = icu.merged(doubled, chosen)
    mean, std = icu.scaling(channel, value)
    assert mean[HR] == pytest.approx(value[channel == HR].mean()) and std[HR] == pytest.approx(
        value[channel == HR].std()
    )
    assert std[icu.CHANNELS.index("MechVent")] == 1  # does not vary


def test_tokens_hold_the_records(records):
    chosen = np.array([4, 1])
    tokens = icu.tokens(records, chosen)
    for b, i in enumerate(chosen):
        part = slice(records.start[i], records.start[i + 1])
        real = tokens.real[b]
        assert int(real.sum()) == part.stop - part.start
        minutes = (tokens.positions[b, real, 0] * icu.HORIZON).round().numpy()
        np.testing.assert_array_equal(minutes, records.minute[part])
        np.testing.assert_array_equal(tokens.positions[b, real, 1].numpy(), records.channel[part])
        back = tokens.values[b, real, 0] * tokens.aux["std"][b, real] + tokens.aux["mean"][b, real]
        # float32 there and back: a few parts in 1e7 of the largest number involved
        np.testing.assert_allclose(back.numpy(), records.value[part], rtol=1e-5, atol=1e-4)
        np.testing.assert_array_equal(
            tokens.aux["row"][b, real].numpy(), np.unique(records.minute[part], return_inverse=True)[1]
        )
    assert tokens.aux["record"].tolist() == records.ids[chosen].tolist()


def test_splits_are_scaled_by_the_training_set(data):
    assert [len(part) for part in data] == [30, 2, 8]
    train = data.train
    heart = (train.positions[..., 1] == HR) & train.real
    values = train.values[..., 0][heart].double()
    # standardised in float64, stored in float32
    assert float(values.mean()) == pytest.approx(0, abs=1e-5) and float(values.std(unbiased=False)) == pytest.approx(
        1, abs=1e-5
    )
    test = data.test
    heart = (test.positions[..., 1] == HR) & test.real
    assert abs(float(test.values[..., 0][heart].mean())) > 1e-3  # not scaled by itself


def test_outliers():
    rows = [(0, 0, 60.0), (9, HR, 80.0), (9, PH, 735.0), (20, TEMP, -17.8), (30, HR, 70.0)]
    records = icu.without_outliers(icu.pack({1: rows, 2: rows[:3]}))
    assert records.value.tolist() == [60.0, 80.0, 70.0, 60.0, 80.0] and records.start.tolist() == [0, 3, 5]


# Masks --------------------------------------------------------------------------------------------------------------


def test_rows_are_hidden_whole(data):
    tokens = data.train
    hidden = hide_rows(tokens, 0.5, seeded(1))
    assert not (hidden & ~tokens.real).any()
    for b in range(len(tokens)):
        real, row = tokens.real[b], tokens.aux["row"][b]
        rows = {int(r): hidden[b, real & (row == r)] for r in row[real].unique()}
        assert all(part.all() or not part.any() for part in rows.values())
        n = len(rows)
        assert sum(bool(part.all()) for part in rows.values()) == n - n // 2  # HeTVAE shows int(n / 2)


def test_every_row_is_hidden_equally_often(data):
    tokens = data.train[:1]
    draws = torch.stack([hide_rows(tokens, 0.5, seeded(2, i))[0] for i in range(600)]).double().mean(0)
    rows = int(tokens.aux["row"].max()) + 1
    expected = (rows - rows // 2) / rows
    # a mean of 600 draws has a standard deviation of 0.02; 5 of them
    assert (draws[tokens.real[0]] - expected).abs().max() < 0.1 and draws[~tokens.real[0]].max() == 0


def test_token_mask_counts_values(exp, data):
    hidden = exp.replace(masking="tokens").mask(data.train, seeded(1))
    n = data.train.real.sum(1)
    assert (hidden.sum(1) == n - n // 2).all()
    row = data.train.aux["row"].long()
    split_rows = sum(
        0 < int(hidden[b, real & (row[b] == r)].sum()) < int((real & (row[b] == r)).sum())
        for b, real in enumerate(data.train.real)
        for r in range(int(row[b].max()) + 1)
    )
    assert split_rows > 0


@pytest.mark.parametrize("masking", ["rows", "tokens"])
def test_descriptors_that_are_always_observed_are_never_hidden(exp, masking):
    exp = exp.replace(masking=masking, descriptors="observed")
    train = exp.data(0).train
    descriptor = train.real & (train.positions[..., 1] < 4)
    assert descriptor.any(1).all()
    for hidden in (exp.mask(train, seeded(1, i)) for i in range(5)):
        assert not (hidden & descriptor).any()
        if masking == "tokens":  # half of the others, as before
            n = (train.real & ~descriptor).sum(1)
            assert (hidden.sum(1) == n - n // 2).all()
        for b in range(len(train) * (masking == "rows")):
            minutes = train.aux["row"][b, train.real[b] & ~descriptor[b]].unique()
            gone = train.aux["row"][b, hidden[b]].unique()
            assert len(gone) == len(minutes) - len(minutes) // 2


def test_records_need_two_minutes_to_show_and_to_hide():
    pack = icu.pack({1: [(0, 0, 60.0), (5, HR, 80.0)], 2: [(0, HR, 70.0), (5, HR, 80.0)], 3: [(0, 0, 60.0)]})
    assert icu.usable(pack).tolist() == [0, 1] and icu.usable(pack, series=True).tolist() == [1]


def test_channel_numbers_of_the_public_code(exp):
    """Latent ODE, mTAN and HeTVAE count Mg, MAP, MechVent, Na from 22; ours is the order of names there."""
    public = exp.replace(channels="public")
    names = ("Age", "ICUType", "Lactate", "Mg", "MAP", "MechVent", "Na", "WBC")
    asked = torch.tensor([[0.25, icu.CHANNELS.index(name)] for name in names], dtype=torch.float64)
    assert public.numbered(asked)[:, 1].tolist() == [0, 3, 21, 22, 23, 24, 25, 40]
    assert torch.equal(public.numbered(asked)[:, 0], asked[:, 0]) and torch.equal(exp.numbered(asked), asked)
    assert sorted(icu.PUBLIC_ORDER) == sorted(icu.CHANNELS)
    # the model gets other numbers, and says other things
    data, model = exp.data(0), exp.build(0)
    hidden = data.test.aux["hidden"]
    assert not np.allclose(public.predict(model, data.test, hidden), exp.predict(model, data.test, hidden), atol=1e-6)


# Batches ------------------------------------------------------------------------------------------------------------


def test_order_by_length_is_an_order_and_saves_padding():
    lengths = torch.randint(50, 700, (1003,), generator=seeded(0))
    order = by_length(lengths, 16, seeded(1))
    assert sorted(order.tolist()) == list(range(1003))
    plain = torch.randperm(1003, generator=seeded(2))
    slow = [int(lengths[part].max()) * len(part) for part in plain.split(16)]
    assert padding_share(lengths, 16, plain) == pytest.approx(1 - int(lengths.sum()) / sum(slow))
    # lengths are uniform: 16 random ones fill about 350 of 665 slots, sorted ones nearly all
    assert padding_share(lengths, 16, order) < 0.1 < 0.3 < padding_share(lengths, 16, plain)
    assert not torch.equal(order, by_length(lengths, 16, seeded(3)))


# Model, metric, baselines ---------------------------------------------------------------------------------------------


def test_predictions_do_not_depend_on_the_batch_nor_on_hidden_values(exp, data):
    model, test = exp.build(0), data.test
    one_by_one = exp.predict(model, test, test.aux["hidden"], batch=1)
    # float32, sums in another order
    np.testing.assert_allclose(exp.predict(model, test, test.aux["hidden"], batch=5), one_by_one, atol=1e-5)
    changed = dataclasses.replace(test, values=torch.where(test.aux["hidden"][..., None], 9.0, test.values))
    np.testing.assert_allclose(exp.predict(model, changed, test.aux["hidden"], batch=1), one_by_one, atol=1e-6)
    assert (one_by_one[~test.aux["hidden"].numpy()] == 0).all()


def test_score_is_a_plain_mean(exp, data):
    test, rng = data.test, np.random.default_rng(0)
    hidden = test.aux["hidden"].numpy()
    prediction = rng.normal(size=hidden.shape)
    score = exp.score(prediction, test)
    errors, by_channel = [], {}
    for b, n in np.argwhere(hidden):
        error = prediction[b, n] - float(test.values[b, n, 0])
        errors.append(error)
        by_channel.setdefault(icu.CHANNELS[int(test.positions[b, n, 1])], []).append(error**2)
    assert score["mse"] == pytest.approx(np.mean(np.square(errors)))
    assert score["mae"] == pytest.approx(np.mean(np.abs(errors)))
    assert {k[4:]: v for k, v in score.items() if k[4:] in icu.CHANNELS} == pytest.approx(
        {name: np.mean(e) for name, e in by_channel.items()}
    )
    assert score["mse_balanced"] == pytest.approx(np.mean([np.mean(e) for e in by_channel.values()]))


def test_score_of_plausible_values():
    rows = [(0, HR, 80.0), (9, PH, 7.4), (9, PH + 1, 150.0), (20, PH, 735.0), (30, PH, 7.3)]
    tokens = icu.tokens(icu.pack({1: rows}), np.array([0]))
    tokens.aux["hidden"] = torch.tensor([[False, False, False, True, True]])
    value = tokens.values[0, :, 0].numpy()
    score = PhysioNet.score(np.zeros((1, 5)), tokens)
    assert score["mse"] == pytest.approx((value[3] ** 2 + value[4] ** 2) / 2, rel=1e-6)
    assert score["mse_plausible"] == pytest.approx(value[4] ** 2, rel=1e-6)


def test_a_value_on_the_edge_of_its_range_is_plausible(data):
    """Standardised in float32 and back: a saturation of 100 % must not become more than the 100 that there is."""
    channel = icu.CHANNELS.index("SaO2")
    mean, std = torch.rand(2, 500, 2, generator=torch.Generator().manual_seed(0)) * 20 + 3
    values = (100 - mean.double() - 77) / std.double()
    position = torch.tensor([[0.0, channel], [1.0, channel]]).expand(500, 2, 2)
    aux = {"hidden": torch.ones(500, 2, dtype=bool), "mean": mean + 77, "std": std}
    tokens = Tokens(values=values[..., None], positions=position, aux=aux)
    score = PhysioNet.score(np.zeros((500, 2)), tokens)
    assert score["mse_plausible"] == score["mse"]


def test_baselines_like_slow_ones(data):
    test = data.test
    hidden = test.aux["hidden"].numpy()
    last, linear = predictors.last(test, hidden), predictors.linear(test, hidden)
    alone = 0
    for b, n in np.argwhere(hidden):
        t, c = test.positions[b, n].tolist()
        seen = [
            (float(test.positions[b, k, 0]), float(test.values[b, k, 0]))
            for k in range(hidden.shape[1])
            if test.real[b, k] and not hidden[b, k] and test.positions[b, k, 1] == c
        ]
        before, after = [s for s in seen if s[0] <= t], [s for s in seen if s[0] >= t]
        alone += not seen
        want_last = before[-1][1] if before else seen[0][1] if seen else 0.0
        if before and after:
            (t0, v0), (t1, v1) = before[-1], after[0]
            want = v0 if t0 == t1 else v0 + (v1 - v0) * (t - t0) / (t1 - t0)
        else:
            want = want_last
        assert last[b, n] == want_last and linear[b, n] == pytest.approx(want, abs=1e-12)
    assert alone  # the case without any visible value did occur
    assert (predictors.mean(test, hidden) == 0).all()


def test_features_and_trees(exp, data):
    pytest.importorskip("sklearn")
    test = data.test
    hidden = test.aux["hidden"].numpy()
    x, y = predictors.features(test, hidden)
    np.testing.assert_array_equal(y, test.values[..., 0].double().numpy()[hidden])
    t, c = test.positions.numpy()[hidden].T
    np.testing.assert_array_equal(x[:, 0], c)
    assert np.nanmin(x[:, [3, 5]]) >= 0  # distances
    # where the last and the next value are there, a straight line through them is the linear baseline
    w = x[:, 3] / np.maximum(x[:, 3] + x[:, 5], 1e-9)
    line, known = x[:, 2] + w * (x[:, 4] - x[:, 2]), ~np.isnan(x[:, [2, 4]]).any(1)
    # features are float32
    np.testing.assert_allclose(line[known], predictors.linear(test, hidden)[hidden][known], atol=1e-4)
    score = exp.compare(data)
    assert score["mse_boosted"] < score["mse_mean"]


def test_training_learns_and_repeats(exp):
    more = exp.replace(patients=60, epochs=4, encoder="32x2x2x64", decoder="32x2x1x64")
    splits = more.data(0)
    model, history = more.train(splits, 0, logs=6)
    again, _ = more.train(splits, 0, logs=6)
    for a, b in zip(model.parameters(), again.parameters(), strict=True):
        assert torch.equal(a, b)
    # the mean of the training set scores 1 on it
    assert history[-1]["loss"] < 0.9 * history[0]["loss"] and history[0]["valid_mse"] > 0


@pytest.mark.skipif(icu.find() is None, reason="the real records are not here; ROMAE_DATA can say where they are")
def test_the_real_records_are_the_ones_that_were_recorded():
    records = icu.load()
    records.verify()
    assert len(icu.usable(records)) == icu.RECORDS - len(icu.EMPTY)
    part = icu.tokens(records, icu.usable(records)[:50])
    assert part.values.shape[1] < 1501 and (part.positions[..., 0] <= 1).all()

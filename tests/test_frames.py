"""Tables as people have them: long and wide, pandas and polars-like, with holes, dates, doubles and no order."""

import datetime
import time

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
import torch

from romae_lite import Tokens, from_table


def table(rng: np.random.Generator, samples: int = 4, channels: tuple[str, ...] = ("T", "p")) -> pd.DataFrame:
    """Irregular measurements of several channels, in no order."""
    rows = [
        (f"s{i}", t, channel, rng.normal(20 if channel == "T" else 1000, 3 if channel == "T" else 40))
        for i in range(samples) for channel in channels for t in rng.uniform(100 * i, 100 * i + 20, rng.integers(5, 12))
    ]
    frame = pd.DataFrame(rows, columns=["who", "when", "what", "value"])
    return frame.sample(frac=1, random_state=0).reset_index(drop=True)


WHEN = dict(time="when", value="x")


def by_hand(frame: pd.DataFrame) -> dict:
    """{(sample, time, channel): value}, one row after the other."""
    return {(r.who, r.when, r.what): r.value for r in frame.itertuples()}


def back(tokens, scale) -> dict:
    """The same, from the tokens."""
    found = {}
    for b, name in enumerate(scale.ids):
        real = tokens.real[b]
        for value, position in zip(tokens.values[b, real, 0].tolist(), tokens.positions[b, real].tolist(), strict=True):
            channel = scale.channels[int(position[1]) if len(position) > 1 else 0]
            time = position[0] * scale.unit + scale.start[b]
            found[name, round(time, 6), channel] = float(scale.values(value, channel))
    return found


def test_the_unit_is_that_of_a_channel():
    """Four filters, one after the other within minutes, and again five days later: the unit is five days."""
    day = np.repeat(5.0 * np.arange(6), 4) + np.tile([0.0, 0.004, 0.007, 0.012], 6)
    frame = {"day": day, "band": np.tile(list("griz"), 6), "flux": np.arange(24.0)}
    assert from_table(frame, time="day", value="flux", channel="band")[1].unit == pytest.approx(5.0)
    assert from_table(frame, time="day", value="flux")[1].unit == pytest.approx(0.004)  # one series: the visits' own


def test_every_measurement_is_a_token_and_comes_back_in_its_unit():
    frame = table(np.random.default_rng(0))
    tokens, scale = from_table(frame, id="who", time="when", channel="what", value="value", unit=0.5)
    wanted = {(who, round(when, 6), what): value for (who, when, what), value in by_hand(frame).items()}
    found = back(tokens, scale)
    assert found.keys() == wanted.keys()
    # values travel as float32, standardised: 1e-6 of a deviation of 40
    assert all(found[key] == pytest.approx(wanted[key], abs=1e-3) for key in wanted)
    assert tokens.positions.shape[-1] == 2 and "Rows sorted by time." in scale.notes
    for b in range(len(tokens)):
        at = tokens.positions[b, tokens.real[b], 0]
        assert at[0] == 0 and (at.diff() >= 0).all()
    for c, name in enumerate(scale.channels):
        mine = torch.cat([tokens.values[b, tokens.real[b] & (tokens.positions[b, :, 1] == c), 0] for b in range(4)])
        assert mine.mean() == pytest.approx(0, abs=1e-5) and mine.std(correction=0) == pytest.approx(1, abs=1e-5), name


@pytest.mark.parametrize("index", [slice(1, 3), [2, 0], np.array([True, False, True, False]), torch.tensor([3])])
def test_tokens_carry_their_scale(index):
    """Whatever is done to tokens, what they say in the table's units stays the same."""
    tokens, scale = from_table(table(np.random.default_rng(0)), id="who", time="when", channel="what", value="value")
    assert tokens.scale is scale and tokens.to("cpu").scale is scale
    part, whole = tokens[index], back(tokens, scale)
    kept = {key: value for key, value in whole.items() if key[0] in part.scale.ids}
    assert back(part, part.scale) == kept and len(part.scale.ids) == len(part) < 4
    with pytest.raises(ValueError, match="scale is that of 4 samples"):
        Tokens(values=part.values, positions=part.positions, pad=part.pad, scale=scale)


def test_wide_is_long():
    frame = table(np.random.default_rng(1))
    wide = frame.pivot(index=["who", "when"], columns="what", values="value").reset_index()
    a, of_long = from_table(frame, id="who", time="when", channel="what", value="value")
    b, of_wide = from_table(wide, id="who", time="when", value=["T", "p"])
    assert sorted(back(a, of_long)) == sorted(back(b, of_wide)) and of_long.unit == of_wide.unit
    assert any("missing values left out" in note for note in of_wide.notes)


@pytest.mark.parametrize("make", [pa.Table.from_pandas, lambda f: {name: f[name].to_numpy() for name in f.columns}])
def test_other_frames_are_the_same_table(make):
    frame = table(np.random.default_rng(2))
    arguments = dict(id="who", time="when", channel="what", value="value")
    (a, one), (b, two) = from_table(frame, **arguments), from_table(make(frame), **arguments)
    assert torch.equal(a.values, b.values) and torch.equal(a.positions, b.positions) and one.ids == two.ids


@pytest.mark.parametrize("zone", [None, "UTC", "America/New_York"])
def test_dates_are_seconds(zone):
    when = pd.date_range("2024-03-09 22:00", periods=8, freq="90min", tz=zone)  # clocks go forward in New York
    frame = pd.DataFrame({"when": when, "x": np.arange(8.0)})
    tokens, scale = from_table(frame, time="when", value="x")
    assert scale.dates and scale.unit == 5400 and tokens.positions[0, :, 0].tolist() == list(range(8))
    asked = scale.positions(0, [datetime.datetime.fromtimestamp(when[0].timestamp() + 2700, datetime.UTC)])
    assert asked.tolist() == [[0.5]]


def test_dates_without_a_zone_are_utc_wherever_the_machine_is(monkeypatch):
    """As Python objects and as arrays, across the hour that New York skips."""
    monkeypatch.setenv("TZ", "America/New_York")
    time.tzset()
    try:
        when = [datetime.datetime(2024, 3, 10, hour) for hour in range(8)]
        objects, arrays = (
            from_table({"when": np.array(when, dtype), "x": np.arange(8.0)}, time="when", value="x")
            for dtype in (object, "datetime64[s]")
        )
        assert objects[0].positions[0, :, 0].tolist() == list(range(8)) and objects[1].unit == 3600
        assert objects[1].since == arrays[1].since == np.datetime64("2024-03-10")
        assert objects[1].positions(0, when[3:4]).tolist() == arrays[1].positions(0, when[3:4]).tolist() == [[3.0]]
    finally:
        monkeypatch.undo()
        time.tzset()


@pytest.mark.parametrize("unit, step", [("ns", 50), ("us", 1)])
@pytest.mark.parametrize("make", [np.asarray, lambda when: pd.Series(when, dtype=object)])
def test_fine_dates_stay_apart(unit, step, make):
    """float64 of seconds since 1970 has 2.4e-7 between neighbours; every time would be one of a few."""
    when = np.datetime64("2024-01-01", unit) + np.arange(50) * np.timedelta64(step, unit)
    names = np.repeat(["a", "b"], 25)
    tokens, scale = from_table({"when": make(when), "x": np.sin(np.arange(50.0)), "id": names}, id="id", **WHEN)
    np.testing.assert_allclose(tokens.positions[..., 0], np.tile(np.arange(25.0), (2, 1)), atol=1e-9)
    np.testing.assert_allclose(scale.positions(1, make(when[30:32])), [[5.0], [6.0]], atol=1e-9)
    old = from_table({"when": np.array(["1500-01-01", "1500-01-02"], "M8[us]"), "x": [1.0, 2.0]}, **WHEN)[1]
    assert (
        old.positions(0, when[:1].astype("M8[ns]")).item()
        == (datetime.date(2024, 1, 1) - datetime.date(1500, 1, 1)).days
    )


def test_times_of_a_table_with_a_zone_are_asked_with_one():
    """Midnight in New York is five o'clock in UTC: which is meant cannot be guessed. A table without a zone is in UTC,
    as is said, and may be asked by times with one."""
    when = pd.date_range("2024-03-01", periods=6, freq="h", tz="America/New_York")
    x, asked = np.arange(6.0), when[2:4]
    for column in (when, pd.Series(when), when.to_pydatetime(), pa.array(when)):
        scale = from_table({"when": column, "x": x}, **WHEN)[1]
        framed = from_table(pa.table({"when": pa.array(when), "x": x}), **WHEN)[1]
        for one in (scale, framed, from_table(pd.DataFrame({"when": when, "x": x}), **WHEN)[1]):
            for times in (asked, list(asked), asked.tz_convert("UTC"), pd.Series(asked), pa.array(asked)):
                assert one.positions(0, times).tolist() == [[2.0], [3.0]]
            for naive in (asked.tz_localize(None), asked.tz_localize(None).to_numpy(), [datetime.date(2024, 3, 1)]):
                with pytest.raises(TypeError, match="times have no time zone, those of the data have one"):
                    one.positions(0, naive)
            with pytest.raises(TypeError, match="times are numbers"):
                one.positions(0, [1.0])
    naive = from_table({"when": when.tz_convert("UTC").tz_localize(None), "x": x}, **WHEN)[1]
    assert naive.positions(0, asked).tolist() == [[2.0], [3.0]]


def test_dates_are_asked_by_dates_and_numbers_by_numbers():
    dated = from_table({"when": np.array(["2024-01-01", "2024-01-02"], "datetime64[s]"), "x": [1.0, 2.0]}, **WHEN)[1]
    with pytest.raises(TypeError, match="times are numbers; those of the data are dates"):
        dated.positions(0, [1.0])
    with pytest.raises(TypeError, match="times are dates; those of the data are numbers"):
        from_table({"when": [0.0, 1.0], "x": [1.0, 2.0]}, **WHEN)[1].positions(0, [datetime.datetime(2024, 1, 1)])


def scalars(times):
    """numpy's own, in an array of objects."""
    found = np.empty(len(times), dtype=object)
    found[:] = list(np.asarray(times))
    return found


@pytest.mark.parametrize("make", [np.asarray, list, pd.Series, scalars])
def test_durations_are_seconds(make):
    when = make(pd.to_timedelta([0, 60, 180], unit="s"))
    tokens, scale = from_table({"when": when, "x": [1.0, 2.0, 3.0]}, unit=60, **WHEN)
    assert tokens.positions[0, :, 0].tolist() == [0.0, 1.0, 3.0] and not scale.dates


@pytest.mark.parametrize("make", [np.asarray, scalars, lambda days: days.tolist()])
def test_days_are_dates(make):
    """Also as datetime.date, which has no time of day."""
    days = np.array(["2024-01-01", "2024-01-02", "2024-01-05"], "datetime64[D]")
    tokens, scale = from_table({"when": make(days), "x": [1.0, 2.0, 3.0]}, unit=86_400, **WHEN)
    assert tokens.positions[0, :, 0].tolist() == [0.0, 1.0, 4.0] and scale.dates


def test_numpy_s_own_numbers_in_columns_of_objects_are_there():
    column = np.array([np.float64(1.5), None, np.float32(2.5), 7, np.nan], dtype=object)
    frame = {"who": np.array([np.int64(3)] * 5, dtype=object), "when": np.arange(5.0), "x": column}
    tokens, scale = from_table(frame, id="who", **WHEN)
    assert scale.values(tokens.values[0, :, 0]) == pytest.approx([1.5, 2.5, 7.0])
    assert scale.ids == (3,) and type(scale.ids[0]) is int  # one asks by it


def test_holes_doubles_and_constants():
    frame = pd.DataFrame(
        {"when": [3.0, 1.0, 1.0, 2.0, 5.0], "x": [4.0, 1.0, 3.0, np.nan, 6.0], "flat": [7.0, 7.0, 7.0, 7.0, None]}
    )
    tokens, scale = from_table(frame[["when", "x"]], time="when", value="x")
    assert scale.values(tokens.values[0, :, 0]) == pytest.approx([2.0, 4.0, 6.0]) and scale.unit == 2
    text = " ".join(scale.notes)
    assert "1 missing values left out of 5." in text and "1 values at a time and channel that had one already" in text
    tokens, scale = from_table(frame, time="when", value="flat")
    assert not tokens.values.any() and "flat never varies" in " ".join(scale.notes)
    assert scale.values(tokens.values[0, :, 0]).tolist() == [7.0, 7.0, 7.0]


def test_a_constant_channel_is_one_in_a_large_table_too():
    """Of so many equal numbers the naive mean is another number, by rounding."""
    flat = np.full(100_000, 16.7)
    wave = np.sin(np.arange(100_000.0)) * 1e-6 + 16.7  # varies, by little
    scale = from_table({"when": np.arange(100_000.0), "flat": flat, "x": wave}, time="when", value=["flat", "x"])[1]
    assert scale.deviation[0] == 1 and scale.deviation[1] == pytest.approx(1e-6 / np.sqrt(2), rel=1e-3)
    assert [note for note in scale.notes if "never varies" in note] == [
        "flat never varies, and is not divided by its deviation."
    ]


def test_mixed_lists_stay_what_they_are():
    """numpy makes text of all: 'nan' of NaN, and one of 1 and '1'."""
    frame = {"when": [0, 1, 2, 3], "x": [1.0, 2.0, 3.0, 4.0], "who": ["a", 1, 2, "1"], "what": ["u", "u", "v", np.nan]}
    assert from_table(frame, id="who", **WHEN)[1].ids == ("a", 1, 2, "1")
    assert from_table(frame, id="who", label="what", **WHEN)[1].labels == ("u", "v")
    with pytest.raises(ValueError, match="what of row 3 is missing"):
        from_table(frame, channel="what", **WHEN)
    with pytest.raises(ValueError, match="who holds 'a', 1, 2, '1'; two of these have one name"):
        from_table(frame, channel="who", **WHEN)


def test_what_a_mask_hides_is_missing():
    hidden = [False, True, False]
    for column in ([1.0, -9999.0, 3.0], [1, -9999, 3]):
        scale = from_table({"when": [0, 1, 2], "x": np.ma.masked_array(column, hidden)}, **WHEN)[1]
        assert scale.mean == 2 and "1 missing values left out of 3." in scale.notes
    days = np.ma.masked_array(np.array(["2024-01-01"] * 3, "datetime64[ns]"), hidden)
    with pytest.raises(ValueError, match="when of row 1 is missing"):
        from_table({"when": days, "x": [1, 2, 3]}, **WHEN)


def test_labels_are_classes_of_samples():
    frame = table(np.random.default_rng(3))
    kinds = {"s0": "cat", "s1": "dog", "s2": "cat", "s3": "bee"}
    frame["kind"] = frame.who.map(kinds)
    tokens, scale = from_table(frame, id="who", time="when", channel="what", value="value", label="kind")
    assert scale.labels == ("bee", "cat", "dog")
    assert [scale.labels[i] for i in tokens.aux["label"]] == [kinds[name] for name in scale.ids]
    frame.loc[0, "kind"] = "eel"
    with pytest.raises(ValueError, match="kind of sample '.*' is both"):
        from_table(frame, id="who", time="when", channel="what", value="value", label="kind")


def test_properties_of_samples_travel_along():
    frame = {"who": list("aabb"), "when": [0.0, 1, 0, 1], "x": [1.0, 2, 3, 5], "age": [4, 4, 6, None], "size": [7] * 4}
    names = dict(id="who", time="when", value="x")
    tokens, _ = from_table(frame, static=["age", "size"], **names)
    assert tokens.aux["static"].tolist() == [[4, 7], [6, 7]] and tokens[[1]].aux["static"].tolist() == [[6, 7]]
    both = "age of sample 'a' is both 4.0 and 5.0"
    for age, message in (([4, 5, 6, 6], both), ([4, 4, None, None], "'b' is missing")):
        with pytest.raises(ValueError, match=message):
            from_table(frame | {"age": age}, static="age", **names)


GOOD = {"when": [0.0, 1.0], "x": [1.0, 2.0], "who": ["a", "a"]}


@pytest.mark.parametrize(
    "changes, arguments, said",
    [
        ({}, dict(time="t"), "time is 't', which is no column; the table has when, x, who"),
        ({}, dict(value="y"), "value is 'y', which is no column"),
        ({"when": [0.0, None]}, {}, "when of row 1 is missing; every row needs a time"),
        ({"when": ["noon", "dusk"]}, {}, "when of row 0 is 'noon'; it must be a number or a date"),
        ({"when": np.array(["2024-01-01", "NaT"], "datetime64[s]")}, {}, "when of row 1 is missing"),
        ({"when": np.array([pd.Timestamp("2024-01-01"), pd.NaT], dtype=object)}, {}, "when of row 1 is missing"),
        ({"x": np.array([1.0, "?"], dtype=object)}, {}, "x of row 1 is '?'"),
        ({"x": np.array(["2024-01-01"] * 2, "datetime64[ns]")}, {}, "x of row 0 is"),
        ({"x": ["1,5", "2"]}, {}, "x of row 0 is '1,5'; it must be a number"),
        ({"x": [1.0, np.inf]}, {}, "x of row 1 is inf; it must be a number"),
        ({"x": [None, np.nan]}, {}, "no value is there"),
        ({"who": ["a", None]}, dict(id="who"), "who of row 1 is missing"),
        ({"when": pd.period_range("2024-01", periods=2, freq="M")}, {}, "when of row 0 is Period("),
        ({}, dict(unit=0.0), "unit is 0.0; it must be positive"),
        ({"x": [1.0]}, {}, "x has 1 rows, who has 2 rows; they must agree"),
        ({}, dict(value=["x"], channel="who"), "a wide table needs no channel"),
        ({}, dict(value="when"), "value is 'when', which is the column of time"),
        ({}, dict(id="x"), "id is 'x', which is the column of value"),
        ({}, dict(value=["x", "x"]), "value is 'x', which is the column of value"),
        ({"x": [[1.0, 2.0], [3.0, 4.0]]}, {}, "x has shape (2, 2); a column is (n,)"),
        ({"who": np.array([["a"], ["b", "c"]], dtype=object)}, dict(id="who"), "who holds what is no name"),
        ({"x": [1e200, -1e200]}, {}, "x of row 0 is 1e+200; it must be a number, below"),
        ({"x": [1e-200, 2e-200]}, {}, "deviation is [0.0]; it must have shape (1,) and lie in (0, "),
    ],
)
def test_what_is_wrong_is_named(changes, arguments, said):
    with pytest.raises(ValueError, match=".*") as error:
        from_table(GOOD | changes, **dict(time="when", value="x") | arguments)
    assert said in str(error.value)


def test_what_is_no_table_is_refused():
    with pytest.raises(TypeError, match="table is of type int"):
        from_table(3, time="when", value="x")

"""The figures of chapter 04 against numbers computed in Python, moved by keyboard and pointer."""

import math
from itertools import combinations_with_replacement

import numpy as np
import pytest
from figures import drag, keep, press, state, until
from oracles import position_scale as oracle_position_scale
from oracles import spectrum as oracle_spectrum

from romae_book.explorables.frequencies import position_scale, sampling, spectrum
from romae_book.explorables.gallery import gallery
from romae_book.lab.summary import summarise

HERTZ, SCALES, LEVELS = (1, 5, 9, 12), (1.0, 10.0, 99.0), (0.02, 0.1, 0.3)
CASES = [(f, -1) for f in HERTZ] + list(combinations_with_replacement(HERTZ, 2))
T = 100


def arrays(scale: float) -> dict[str, np.ndarray]:
    """Made-up series with made-up predictions, laid out as `Frequencies.arrays` does; no model was asked."""
    rng, t, C = np.random.default_rng(0), np.linspace(0, 1, T), len(CASES)
    clean = np.stack([sum(rng.uniform(0.5, 1) * np.sin(2 * np.pi * f * t + rng.uniform(0, 6)) for f in row if f > 0)
                      for row in CASES])
    observed = np.stack([np.isin(np.arange(T), rng.permutation(T)[:50]) for _ in CASES])
    noisy = clean + np.array(LEVELS)[:, None, None] * rng.normal(size=(C, T))
    kept = np.exp(-((np.max(CASES, axis=1) / (3 * scale)) ** 2))[:, None]  # high frequencies go, as a model might
    guess = clean * kept + 0.05 * rng.normal(size=noisy.shape)
    half = lambda x: x.astype(np.float16)  # noqa: E731
    return dict(
        frequencies=np.array(CASES, np.int8), noise=np.array(LEVELS, np.float32), observed=observed, clean=half(clean),
        noisy=half(noisy), romae=half(np.where(observed, noisy, guess)),
        harmonic=half(clean + 0.02 * rng.normal(size=noisy.shape)),
    )


def metrics(scale: float, seed: int) -> dict[str, float]:
    rng, found = np.random.default_rng((seed, int(scale))), {}
    for f in range(25):
        found[f"mse_noisy_{f}hz"] = 0.01 + 0.3 * (1 - math.exp(-((f / (3 * scale)) ** 2))) + 0.01 * rng.random()
        found[f"mse_noisy_{f}hz_zero"], found[f"mse_noisy_{f}hz_harmonic"] = 0.3 + 0.01 * rng.random(), 0.0105
    return found


MODELS = {scale: arrays(scale) for scale in SCALES}
METRICS = {scale: [metrics(scale, seed) for seed in range(3)] for scale in SCALES}


def figure(name: str):
    if name == "spectrum":
        return spectrum.explorable(MODELS)
    return position_scale.explorable(MODELS, METRICS, paper={1: 0.015, 9: 0.06, 24: 0.31})


# --- Python -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("level", range(3))
@pytest.mark.parametrize("case", [(5, -1), (1, 12), (9, 9)])
def test_errors_are_those_of_the_arrays(case, level):
    """By the definition of the experiment's metrics, from the arrays as they were recorded."""
    data, c = spectrum.payload(MODELS), CASES.index(case)
    for m, scale in enumerate(SCALES):
        given = MODELS[scale]
        for model, name in ((m, "romae"), (None, "harmonic")):
            hidden, clean = ~given["observed"][c], np.float64(given["clean"][c])
            filled = np.where(hidden, np.float64(given[name][level, c]), np.float64(given["noisy"][level, c]))
            mse = np.mean((filled - clean)[hidden] ** 2)
            fft = np.mean(np.abs(np.fft.fft(filled - clean) / T) ** 2)
            found = oracle_spectrum.errors(data, spectrum.key(case), level, model)
            # values travel to 1/200 and come from half precision: each is off by at most 0.0025 + 0.001, so are both
            # root mean squares (the triangle inequality; Parseval for the spectrum)
            assert math.sqrt(found[0]) == pytest.approx(math.sqrt(mse), abs=0.0035)
            assert math.sqrt(T * found[1]) == pytest.approx(math.sqrt(T * fft), abs=0.0035)


def test_what_is_sent_is_what_was_recorded():
    data = spectrum.payload(MODELS)
    for c, case in enumerate(CASES):
        truth, filled, hidden = spectrum.series(data, spectrum.key(case), 1, 2)
        np.testing.assert_allclose(truth, MODELS[99.0]["clean"][c], atol=2e-3)  # half precision up to 2
        np.testing.assert_array_equal(hidden, ~MODELS[99.0]["observed"][c])
        wanted = np.where(hidden, MODELS[99.0]["romae"][1, c], MODELS[99.0]["noisy"][1, c])
        np.testing.assert_allclose(filled, wanted, atol=0.0025 + 3e-3)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda a: a.pop("romae"), "lack romae .position scale 10"),
        (lambda a: a.update(romae=a["romae"][:2]), "romae has shape .*scale 10"),
        (lambda a: a.update(romae=a["romae"] * np.nan), "romae holds .*scale 10"),
        (lambda a: a.update(clean=a["clean"] + 1), "clean differs at position scale 10"),
    ],
)
def test_misfits_are_named(change, message):
    models = {1.0: arrays(1.0), 10.0: arrays(10.0)}
    change(models[10.0])
    with pytest.raises(ValueError, match=message):
        spectrum.payload(models)


def test_other_misfits_are_named():
    with pytest.raises(ValueError, match="models is empty"):
        spectrum.payload({})
    lone = {
        name: a[:, :-1] if a.ndim == 3 else a[:-1] if len(a) == len(CASES) else a for name, a in arrays(1.0).items()
    }
    with pytest.raises(ValueError, match=r"lack the pairs 12\+12"):
        spectrum.payload({1.0: lone})
    fresh = arrays(1.0)
    fresh["noisy"] = fresh["noisy"] + np.float16(0.1) * np.array([1, -1, 1], np.float16)[:, None, None]
    with pytest.raises(ValueError, match="not one draw of noise"):
        spectrum.payload({1.0: fresh})
    with pytest.raises(ValueError, match="must agree"):
        position_scale.explorable(MODELS, {1.0: METRICS[1.0]})
    with pytest.raises(ValueError, match="metrics lack mse_noisy_3hz"):
        position_scale.explorable(
            MODELS, METRICS | {1.0: [{k: v for k, v in metrics(1, 0).items() if "_3hz" not in k}]}
        )


def test_curves_are_means_and_intervals_over_seeds():
    data = figure("position_scale").data
    for i, scale in enumerate(SCALES):
        for f in (0, 7, 24):
            found = summarise(m[f"mse_noisy_{f}hz"] for m in METRICS[scale])
            assert data["curves"][i]["mean"][f] == pytest.approx(found.mean, rel=1e-3)
            assert data["curves"][i]["low"][f] == pytest.approx(found.low, rel=1e-3)
            assert data["curves"][i]["high"][f] == pytest.approx(found.high, rel=1e-3)
    single = position_scale.explorable(MODELS, {scale: found[:1] for scale, found in METRICS.items()})
    assert single.data["curves"][0]["low"] is None  # one run allows no interval


@pytest.mark.parametrize("name", ["spectrum", "position_scale"])
def test_records_are_read(tmp_path, name):
    def run(seed: int, **settings):
        scale = settings.get("position_scale", 1.0)
        return keep(tmp_path, "frequencies", "small", arrays(scale), metrics(scale, seed), seed, **settings)

    run(0)
    assert gallery(name, root=tmp_path).data["scales"] == [1.0]
    run(0, position_scale=10.0).unlink()  # no arrays beside it: passed over, and said so
    run(1, position_scale=10.0)
    run(0, position_scale=99.0, p=0.25)  # another setting: not part of the comparison
    found = gallery(name, root=tmp_path)
    assert found.data["scales"] == [1.0, 10.0] and "position_scale=10.0-s0.npz" in found.caption
    if name == "position_scale":
        assert [curve["runs"] for curve in found.data["curves"]] == [1, 2]
        assert found.data["paper"]["24"] == pytest.approx(0.308, abs=5e-4)


# --- in the browser ---------------------------------------------------------------------------------------------------


def test_spectrum_agrees_with_python(visit):
    made = figure("spectrum")
    data, page = made.data, visit(made.html())
    first, second = page.locator("[role=slider]").all()
    for i, j, m, level in ((0, 3, 0, 0), (2, 2, 1, 1), (3, 1, 2, 2)):
        list(press(first, "Home", *["ArrowRight"] * i))
        list(press(second, "End", *["ArrowLeft"] * (3 - j)))
        page.get_by_role("button", name=f"× {SCALES[m]:g}: trained").click()
        page.locator("input[type=range]").fill(str(level))
        now, pair = state(page), sorted((HERTZ[i], HERTZ[j]))
        assert (now["frequencies"], now["scale"], now["noise"]) == (pair, SCALES[m], LEVELS[level])
        case = spectrum.key(pair)
        for name, model in (("romae", m), ("oracle", None)):
            mse, fft = oracle_spectrum.errors(data, case, level, model)
            assert now[f"mse_{name}"] == f"{mse:.4f}" and now[f"mse_{name}"] in page.locator(".sm-table").inner_text()
            assert float(now[f"fft_{name}"]) == pytest.approx(fft, rel=0.06)  # two digits are shown
        truth, filled, hidden = spectrum.series(data, case, level, None)
        assert float(now["mse_zero"]) == pytest.approx(np.mean(truth[hidden] ** 2), abs=6e-5)
        zero = np.where(hidden, 0, filled) - truth
        assert float(now["fft_zero"]) == pytest.approx(np.mean(np.abs(np.fft.fft(zero) / T) ** 2), rel=0.06)


def short(value: float) -> str:
    """As the page writes it: three digits, none behind the point from 100, a power of ten from 10,000."""
    if value >= 9995:
        mantissa, power = f"{value:.1e}".split("e")
        return f"{mantissa}e{int(power)}"
    return f"{value:.0f}" if value >= 100 else f"{value:#.3g}".rstrip(".")


def test_position_scale_agrees_with_python(visit):
    made = figure("position_scale")
    data, page = made.data, visit(made.html())
    scale = page.locator("input[type=range]")
    handle = page.locator("[role=slider]")
    for i, hz in ((0, 0), (1, 3), (2, 1)):
        scale.fill(str(i))
        *_, now = press(handle, "Home", *["ArrowRight"] * hz)
        assert (now["scale"], now["frequency"], now["runs"]) == (SCALES[i], HERTZ[hz], 3)
        for name, key in (("error", "mean"), ("low", "low"), ("high", "high")):
            assert now[name] == data["curves"][i][key][HERTZ[hz]]
        assert now["turn"] == short(SCALES[i] / 99)
        assert now["mse"] == f"{oracle_position_scale.shown_mse(data, i, HERTZ[hz]):.4f}"
        said = page.locator(".ps-said").inner_text()
        assert f"{now['turn']} rad between" in said and f"{short(SCALES[i])} rad over" in said
        assert now["mse"] in page.locator(".romae-live").inner_text()


def check_board(page) -> dict:
    """Every tone that is tried, against all its phases one by one."""
    now, data = state(page), sampling.explorable().data
    times, turn = np.array(now["times"]), 2 * np.pi
    values = np.sin(turn * (now["tone"] * times + data["phase"]))
    tried = np.arange(data["step"], data["highest"] + 1e-9, data["step"])
    phases = np.arange(data["phases"]) / data["phases"]
    waves = np.sin(turn * (tried[:, None, None] * times + phases[:, None]))  # (tones, phases, dots)
    miss = np.sqrt(((waves - values) ** 2).mean(-1)).min(1)
    np.testing.assert_allclose(now["miss"], miss, atol=3e-4)  # told with four decimals, places with six
    near = miss < data["near"]
    starts = np.flatnonzero(near & ~np.append(False, near[:-1]))  # neighbours are one tone
    assert len(now["fits"]) == len(starts) and all(near[tried == hertz].all() for hertz in now["fits"])
    assert now["tone"] in now["fits"]
    return now


def test_even_dots_allow_the_aliases_and_shaken_ones_do_not(visit):
    page = visit(sampling.explorable().html())
    now = check_board(page)
    assert now["fits"] == sorted([*range(3, 48, 8), *range(5, 48, 8)])  # the tone and its mirror, every 8 Hz
    *_, now = press(page.get_by_role("slider", name="Tone"), "ArrowRight", "ArrowRight")
    assert check_board(page)["fits"] == now["fits"] == sorted([*range(3, 48, 8), *range(5, 48, 8)])
    left = []
    for _ in range(12):
        page.get_by_role("button", name="Shake a little").press("Enter")
        left.append(len(check_board(page)["fits"]))
    assert 12 > left[0] > left[-1] == 1
    page.get_by_role("button", name="Even steps").press("Enter")
    page.get_by_role("button", name="One more").press("Enter")
    assert len(check_board(page)["times"]) == 9
    before = state(page)["times"]
    drag(page, page.get_by_role("slider", name="Dot 4"), 12)
    assert state(page)["times"][3] > before[3] and len(check_board(page)["fits"]) < 12
    for name in ("the tone", "all that fit"):
        heard = page.get_by_role("button", name=f"Hear {name}").evaluate(  # at once: on a busy machine the tone is over
            "button => { button.click(); return JSON.parse(button.closest('.romae-explorable').dataset.state); }"
        )
        assert heard["playing"]
    until(page, "now.playing === ''")

"""Frequencies: the generator against its formula, harmonic regression against brute force, metrics against loops."""

import itertools
import math

import numpy as np
import pytest
import torch

from romae_book.experiments.base import numpy_rng
from romae_book.experiments.frequencies.arrays import SHOWN, recorded
from romae_book.experiments.frequencies.data import NOISE, POWER, WAVES, draw, generate, sines
from romae_book.experiments.frequencies.experiment import LEAKED, MIXED, PAIR, PAIRED, SHAPES, SINGLE, Frequencies
from romae_book.experiments.frequencies.rivals import harmonic
from romae_book.lab.records import ARRAYS_LIMIT
from romae_book.paper.claims import CLAIMS
from romae_lite.masking import split, take
from romae_lite.tokens import Tokens
from romae_lite.training import fit

SMALL = dict(encoder="16x2x1x24", decoder="16x2x1x24", n_train=8, n_valid=4, n_test=6, per_group=2, epochs=2, batch=4)


def rng(seed: int = 0) -> np.random.Generator:
    return np.random.default_rng(seed)


# The data -------------------------------------------------------------------------------------------------------------


def test_series_follow_the_formula():
    """Point by point, with amplitudes and phases drawn again from the same generator."""
    frequencies = np.array([[3, np.nan], [5, 24], [0, 7], [4, 4]])
    found, again = sines(frequencies, rng(1), 50), rng(1)
    amplitude, phase = again.uniform(0.5, 1, (4, 2)), again.uniform(0, 2 * math.pi, (4, 2))
    for n in range(4):
        for i in range(50):
            x = 0.0
            for k in range(2):
                if not math.isnan(frequencies[n, k]):
                    x += amplitude[n, k] * math.sin(2 * math.pi * frequencies[n, k] * i / 49 + phase[n, k])
            assert found[n, i] == pytest.approx(x, abs=1e-12)


def test_every_frequency_and_both_numbers_of_sines_are_equally_likely():
    n = 20_000
    frequencies = draw(n, rng(2))
    second = frequencies[~np.isnan(frequencies[:, 1])]
    assert abs(len(second) / n - 0.5) < 4 * 0.5 / math.sqrt(n)
    for drawn in (frequencies[:, 0], second[:, 1]):
        share = np.bincount(drawn.astype(int), minlength=25) / len(drawn)
        assert len(share) == 25  # 0 to 24
        assert np.abs(share - 1 / 25).max() < 5 * math.sqrt(0.04 * 0.96 / len(drawn))  # 50 of them: 5 standard errors
    assert (second[:, 0] != second[:, 1]).all()  # drawn without replacement: one of the 24 others,
    assert abs(np.corrcoef(second.T)[0, 1] + 1 / 24) < 4 / math.sqrt(len(second))  # hence this correlation


def test_power_noise_and_signal_to_noise():
    """A ~ U(0.5, 1) has E[A^2] = 7/12, a sine half of that: 7/24; one or two sines over a noise of 0.01 give 43.75."""
    assert POWER == pytest.approx(7 / 12 / 2)
    tokens = generate(draw(8000, rng(3)), rng(4), 100)
    clean = tokens.aux["clean"].numpy()
    noise = tokens.values[..., 0].double().numpy() - clean
    assert noise.std() == pytest.approx(NOISE, rel=4 / math.sqrt(2 * noise.size))
    assert abs(noise.mean()) < 4 * NOISE / math.sqrt(noise.size)
    assert abs((noise * clean).mean()) < 4 * NOISE * clean.std() / math.sqrt(noise.size)
    second = tokens.aux["frequencies"][:, 1].numpy() >= 0
    for rows, expected in ((~second, POWER), (second, 2 * POWER)):
        power = np.square(clean[rows]).mean(1)
        assert abs(power.mean() - expected) < 4 * power.std() / math.sqrt(len(power))
    ratio = np.square(clean).mean(1) / NOISE**2
    assert abs(ratio.mean() - 43.75) < 4 * ratio.std() / math.sqrt(len(ratio))


def test_tokens():
    tokens = generate(np.array([[3, np.nan], [0, 24]]), rng(), 30)
    assert tokens.values.shape == tokens.positions.shape == (2, 30, 1)
    assert tokens.positions.dtype == torch.float64
    np.testing.assert_allclose(tokens.positions[1, :, 0], [i / 29 for i in range(30)], rtol=1e-15)
    assert tokens.aux["frequencies"].tolist() == [[3, -1], [0, 24]]
    assert torch.equal(generate(draw(3, rng(5)), rng(6), 20).values, generate(draw(3, rng(5)), rng(6), 20).values)


# Harmonic regression --------------------------------------------------------------------------------------------------


def brute_force(noisy: np.ndarray, observed: np.ndarray, noise: float, top: int) -> np.ndarray:
    """Posterior mean of one series by Gaussian-process algebra: every hypothesis is a covariance over the points."""
    length = len(noisy)
    t = np.linspace(0, 1, length)
    wave = [POWER * np.cos(2 * np.pi * f * (t[:, None] - t)) for f in range(top + 1)]  # sin sin' + cos cos'
    F, logs, means = top + 1, [], []
    hypotheses = [(0.5 / F, wave[f]) for f in range(F)]
    hypotheses += [(0.5 / F**2, wave[f] + wave[g]) for f, g in itertools.product(range(F), repeat=2)]
    for prior, covariance in hypotheses:
        seen = covariance[np.ix_(observed, observed)] + noise**2 * np.eye(observed.sum())
        solved = np.linalg.solve(seen, noisy[observed])
        logs.append(math.log(prior) - 0.5 * noisy[observed] @ solved - 0.5 * np.linalg.slogdet(seen)[1])
        means.append(covariance[:, observed] @ solved)
    weight = np.exp(np.array(logs) - max(logs))
    return weight / weight.sum() @ np.array(means)


@pytest.mark.parametrize(("top", "seen", "noise"), [(2, 4, 0.5), (3, 8, 0.1), (4, 3, 1.0)])
def test_harmonic_equals_brute_force(top, seen, noise):
    tokens = generate(draw(6, rng(7), top), rng(8), 20, noise)
    noisy = tokens.values[..., 0].double().numpy()
    observed = np.stack([np.isin(np.arange(20), rng(s).permutation(20)[:seen]) for s in range(6)])
    found = harmonic(noisy, observed, noise, top)
    for n in range(6):
        np.testing.assert_allclose(found[n], brute_force(noisy[n], observed[n], noise, top), atol=1e-8)


def test_harmonic_is_exact_without_noise():
    frequencies = np.array([[3, np.nan], [24, np.nan], [0, np.nan], [1, 2], [12, 24], [7, 7]])
    clean = sines(frequencies, rng(9), 100)
    observed = np.stack([np.isin(np.arange(100), rng(s).permutation(100)[:50]) for s in range(6)])
    # with a noise of 1e-4 assumed, the prior pulls by about (1e-4)^2 / (50 x 7/24)
    np.testing.assert_allclose(harmonic(clean, observed, 1e-4), clean, atol=1e-6)


def test_harmonic_beats_the_others():
    tokens = generate(draw(60, rng(10)), rng(11), 100)
    noisy, clean = tokens.values[..., 0].double().numpy(), tokens.aux["clean"].numpy()
    observed = np.stack([np.isin(np.arange(100), rng(s).permutation(100)[:50]) for s in range(60)])
    found = harmonic(noisy, observed)
    t = np.linspace(0, 1, 100)
    angle = 2 * np.pi * np.arange(25)[:, None] * t
    columns = np.concatenate((np.sin(angle), np.cos(angle))).T
    plain = np.stack(
        [columns @ np.linalg.lstsq(columns[o], y[o], rcond=None)[0] for o, y in zip(observed, noisy, strict=True)]
    )
    oracle = []  # told the frequencies: the best that any predictor can hope for
    for n, pair in enumerate(tokens.aux["frequencies"].numpy().astype(int)):
        index = [f + 25 * k for f in set(pair[pair >= 0]) for k in range(2)]
        oracle.append(
            columns[:, index] @ np.linalg.lstsq(columns[observed[n]][:, index], noisy[n][observed[n]], rcond=None)[0]
        )
    guesses = {"told": np.array(oracle), "harmonic": found, "all 25 frequencies": plain, "zero": 0 * clean}
    error = {name: np.square(guess - clean)[~observed].mean() for name, guess in guesses.items()}
    # 49 free numbers fitted to 50 noisy points are worse than no prediction at all
    assert error["harmonic"] < 0.01 * error["zero"] < 0.01 * error["all 25 frequencies"], error
    # it has to find the frequencies, and does; shrinkage by the prior is all that sets it apart
    assert error["harmonic"] == pytest.approx(error["told"], rel=0.1), error
    # 2 or 4 numbers (3 on average) fitted to 50 observations with noise 0.1: 0.01 x 3 / 50, a little more between them
    assert 0.9 * 6e-4 < error["harmonic"] < 1.5 * 6e-4, error


# The experiment -------------------------------------------------------------------------------------------------------


def test_groups_of_the_test_set():
    exp = Frequencies(**SMALL)
    data = exp.data(3)
    group, frequencies = data.test.aux["group"], data.test.aux["frequencies"].int()
    assert [(group == g).sum().item() for g in (MIXED, SINGLE, PAIR, LEAKED)] == [6, 50, 110, 6]
    assert frequencies[group == SINGLE].tolist() == [[f, -1] for f in range(25) for _ in range(2)]
    pairs = [[f, g] for i, f in enumerate(PAIRED) for g in PAIRED[i:] for _ in range(2)]
    assert frequencies[group == PAIR].tolist() == pairs
    leaked, train = data.test[torch.nonzero(group == LEAKED)[:, 0]], data.train[:6]
    assert torch.equal(leaked.values, train.values)
    for name in ("clean", "hidden", "frequencies"):
        assert torch.equal(leaked.aux[name], train.aux[name])
    assert (data.test.aux["hidden"].sum(1) == 50).all()
    same = exp.data(3)
    assert torch.equal(same.test.values, data.test.values) and torch.equal(
        same.test.aux["hidden"], data.test.aux["hidden"]
    )


def test_keys_are_those_of_the_claims():
    exp = Frequencies(**SMALL)
    tokens = exp.data(0).test
    found = exp.evaluate(exp.build(0), tokens)
    wanted = {claim.metric for claim in CLAIMS if claim.experiment == "frequencies"}
    assert len(wanted) > 25 and wanted <= set(found)
    floors = exp.baselines(tokens)
    errors = {key for key in found if key.startswith("mse_")}
    assert set(found) - errors == {"snr", "qk_encoder", "qk_decoder"}
    lines = {f"mse_clean_{shape}_{f}hz_straight" for shape, f in SHAPES}
    assert set(floors) == {f"{key}_{name}" for key in errors for name in ("harmonic", "zero")} | lines
    assert all(math.isfinite(value) for value in (found | floors).values())
    assert set(exp.evaluate(exp.build(0), exp.data(0).valid)) == {"mse_noisy", "mse_clean", "mse_fft", "mse_spectrum"}


def test_score_by_loops():
    exp = Frequencies(**SMALL)
    tokens = exp.data(1).test
    noisy, clean = tokens.values[..., 0].double().numpy(), tokens.aux["clean"].numpy()
    hidden, group = tokens.aux["hidden"].numpy(), tokens.aux["group"].numpy()
    frequencies = tokens.aux["frequencies"].numpy().astype(int)
    prediction = np.where(hidden, clean + rng(12).normal(0, 0.3, clean.shape), noisy)
    found = exp.score(prediction, tokens)

    def sized(series):
        """Amplitudes by least squares: of a sine and a cosine of every frequency, which are orthogonal here."""
        t = np.arange(100) / 100
        sine, cosine = (2 * f(2 * np.pi * np.arange(51)[:, None] * t) @ series / 100 for f in (np.sin, np.cos))
        found = np.hypot(sine, cosine)
        found[[0, 50]] /= 2  # a constant and an alternation are their own squares' mean, not half of it
        return found

    def by_hand(rows):
        errors = []
        for n in np.flatnonzero(rows):
            at = [i for i in range(100) if hidden[n, i]]
            assert len(at) == 50
            transform = [
                sum((prediction[n, i] - clean[n, i]) * np.exp(-2j * math.pi * k * i / 100) for i in range(100)) / 100
                for k in range(100)
            ]
            errors.append((
                sum((prediction[n, i] - noisy[n, i]) ** 2 for i in at) / 50,
                sum((prediction[n, i] - clean[n, i]) ** 2 for i in at) / 50,
                sum(abs(c) ** 2 for c in transform) / 100,
                np.mean(np.square(sized(prediction[n]) - sized(clean[n]))),
            ))
        return np.mean(errors, axis=0)

    groups = {
        "": group == MIXED,
        "_leaked": group == LEAKED,
        "_0hz": (group == SINGLE) & (frequencies[:, 0] == 0),
        "_17hz": (group == SINGLE) & (frequencies[:, 0] == 17),
        "_5hz_24hz": (group == PAIR) & (frequencies == (5, 24)).all(1),
        "_12hz_12hz": (group == PAIR) & (frequencies == (12, 12)).all(1),
    }
    for suffix, rows in groups.items():
        wanted = by_hand(rows)
        for name, value in zip(("mse_noisy", "mse_clean", "mse_fft", "mse_spectrum"), wanted, strict=True):
            assert found[name + suffix] == pytest.approx(value, rel=1e-9), name + suffix
    pairs = [found[f"mse_fft_{f}hz_{g}hz"] for i, f in enumerate(PAIRED) for g in PAIRED[i:]]
    assert found["mse_fft_pairs_mean"] == pytest.approx(sum(pairs) / 55)
    assert (found["mse_fft_pairs_min"], found["mse_fft_pairs_max"]) == (min(pairs), max(pairs))
    rows = group == MIXED
    assert found["snr"] == pytest.approx((clean[rows] ** 2).sum() / ((noisy - clean)[rows] ** 2).sum())
    # Parseval: the mean over the bins of |d / T|^2 is the mean of d^2 over T
    assert found["mse_fft"] == pytest.approx(np.square(prediction - clean)[rows].mean() / 100)


def test_shapes_have_the_power_of_their_formulas():
    """The power of a sine is a^2 / 2, of a square wave a^2; the cycloid's height has mean 3/2 and mean square 5/2."""
    exp, phase = Frequencies(**SMALL), (np.arange(4000) + 0.5) / 4000
    for shape, power in (("sine", 0.75**2 / 2), ("square", 0.75**2), ("cycloid", 5 / 2 - 1.5**2)):
        wave = WAVES[shape](phase)
        assert np.mean(wave**2) == pytest.approx(power, rel=1e-3) and abs(wave.mean()) < 1e-3
        np.testing.assert_allclose(WAVES[shape](phase + 3), wave, atol=1e-9)
    y = 1 - np.cos(2.0)  # the wheel turned by two radians
    assert WAVES["cycloid"](np.array([(2 - np.sin(2.0)) / (2 * np.pi)]))[0] == pytest.approx(y - 1.5, abs=1e-5)
    floors, again = exp.baselines(exp.data(0).test), exp.baselines(exp.data(1).test)
    for shape, f in SHAPES:  # the same series for every seed, fitted best by who knows the family
        keys = [f"mse_clean_{shape}_{f}hz_{name}" for name in ("harmonic", "straight", "zero")]
        assert [floors[key] for key in keys] == [again[key] for key in keys]
        assert floors[keys[0]] < floors[keys[2]] and floors[keys[1]] < floors[keys[2]]
    assert floors["mse_clean_sine_5hz_harmonic"] < 0.1 * floors["mse_clean_sine_5hz_straight"]


def test_norms_of_queries_and_keys_by_hand():
    exp = Frequencies(**SMALL)
    model, tokens = exp.build(0).eval(), exp.data(0).valid[:3]
    found = exp.query_key_norms(model, tokens)
    config = model.config
    assert list(found) == [
        f"{part} {i + 1}" for part in ("encoder", "decoder") for i in range(getattr(config, part).depth)
    ]
    where, first = split(tokens.aux["hidden"], tokens.real), model.encoder.stack.blocks[0]
    x = model.encoder.embed(take(tokens.values, where.visible))
    if config.cls:
        x = torch.cat((model.encoder.cls.expand(len(x), 1, -1), x), dim=1)
    q, k, _ = first.attention.qkv(first.norm1(x)).chunk(3, dim=-1)
    heads = [t.unflatten(-1, (config.encoder.heads, -1)).norm(dim=-1).mean((0, 1)) for t in (q, k)]
    np.testing.assert_allclose(found["encoder 1"], (heads[0] * heads[1]).detach().numpy(), rtol=1e-5)


def test_predictions_come_from_visible_points():
    exp = Frequencies(**SMALL)
    model, tokens = exp.build(0), exp.data(0).test
    hidden = tokens.aux["hidden"]
    out = exp.predict(model, tokens, batch=33)
    np.testing.assert_array_equal(out[~hidden.numpy()], tokens.values[..., 0].double()[~hidden])
    spoiled = Tokens(
        values=tokens.values.masked_fill(hidden[..., None], 99.0), positions=tokens.positions, aux=tokens.aux
    )
    np.testing.assert_allclose(exp.predict(model, spoiled)[hidden.numpy()], out[hidden.numpy()], atol=1e-5)
    moved = Tokens(values=tokens.values.roll(1, dims=0), positions=tokens.positions, aux=tokens.aux)
    assert not np.allclose(exp.predict(model, moved)[hidden.numpy()], out[hidden.numpy()], atol=1e-3)


def test_fixed_masks_are_those_of_the_data_and_others_change():
    data = Frequencies(**SMALL).data(0)
    for fixed in (True, False):
        exp = Frequencies(**SMALL, fixed_masks=fixed)
        model = exp.build(0).eval()
        with torch.no_grad():
            a, b = (exp.loss(model, data.train, torch.Generator().manual_seed(s)) for s in (0, 1))
        assert torch.equal(a, b) is fixed
        if fixed:
            out = exp.predict(model, data.train)
            hidden = data.train.aux["hidden"].numpy()
            square = (out - data.train.values[..., 0].double().numpy())[hidden] ** 2
            assert float(a) == pytest.approx(square.mean(), rel=1e-5)  # float32


def test_masks_of_training_show_the_number_that_they_say():
    for settings, wanted in ((dict(), 50), (dict(length=300), 100), (dict(length=40), 20), (dict(observed=7), 7)):
        exp = Frequencies(**SMALL | settings)
        assert exp.shown == wanted
        data = exp.data(0)
        assert all(((~split.aux["hidden"]).sum(1) == wanted).all() for split in data)


def test_arrays_are_the_same_series_for_every_model():
    a, b = (Frequencies(**SMALL | dict(position_scale=s)) for s in (1.0, 99.0))
    first, second = a.arrays(a.build(0), a.data(0)), b.arrays(b.build(5), b.data(5))
    assert first["romae"].shape == first["harmonic"].shape == first["noisy"].shape == (3, 44, 100)
    assert first["frequencies"].tolist() == [[f, -1] for f in SHOWN] + [
        [f, g] for i, f in enumerate(SHOWN) for g in SHOWN[i:]
    ]
    for name in ("frequencies", "noise", "observed", "clean", "noisy", "harmonic"):
        np.testing.assert_array_equal(first[name], second[name])
    assert not np.array_equal(first["romae"], second["romae"])
    seen = np.broadcast_to(first["observed"], (3, 44, 100))
    np.testing.assert_array_equal(first["romae"][seen], first["noisy"][seen])
    spread = (np.float64(first["noisy"]) - first["clean"]).std((1, 2))
    np.testing.assert_allclose(spread, first["noise"], rtol=4 / math.sqrt(2 * 4400))


def test_training_finds_slow_sines():
    """Series of 20 points with position unit one sample: 160 steps suffice to leave the prediction of zero behind."""
    settings = dict(length=20, n_train=256, epochs=40, batch=64, encoder="32x2x2x64", decoder="32x2x1x64", lr=1e-2,
                    optimizer="muon", warmup_share=0.05, position_scale=19.0)
    exp = Frequencies(**SMALL | settings)
    slow = generate(draw(512, rng(13), top=2), numpy_rng(0, 1), 20)
    hidden = torch.from_numpy(np.stack([rng(s).permutation(20) < 10 for s in range(512)]))
    slow = Tokens(values=slow.values, positions=slow.positions * 19, aux=dict(slow.aux, hidden=hidden))
    model = exp.build(0)
    fit(model, slow[:256], exp.loss, exp.recipe(256), seed=0)
    rest = slow[torch.arange(256, 512)]
    error = exp.evaluate(model, rest)["mse_clean"]
    assert error < 0.3 * float(np.square(rest.aux["clean"].numpy())[rest.aux["hidden"].numpy()].mean())


@pytest.mark.parametrize("length", [100, 300])
def test_what_is_kept_of_a_run_fits_into_a_record(length):
    """At both lengths of Appendix B.4, uncompressed at 300 and so whatever the model says."""
    exp = Frequencies.quick().replace(length=length, encoder="16x2x1x16", decoder="16x2x1x16")
    kept = recorded(exp, exp.build(0), None)
    size = sum(array.nbytes for array in kept.values())
    assert size < (1 if length == 300 else 2) * ARRAYS_LIMIT
    assert NOISE in kept["noise"].tolist() or np.isclose(kept["noise"], NOISE).any()

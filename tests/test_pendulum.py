"""The pendulum: physics against an integrator, pictures against an image library, metrics against loops."""

import math
from dataclasses import replace

import numpy as np
import pytest
import torch
from PIL import Image, ImageDraw
from scipy.integrate import solve_ivp

from romae_book.experiments.pendulum import data as world
from romae_book.experiments.pendulum import rivals as predictors
from romae_book.experiments.pendulum.experiment import Pendulum, grey, mirrored
from romae_lite.model import count_parameters
from romae_lite.training import fit, seeded

SMALL = dict(n_train=8, n_valid=4, n_test=6, epochs=2, batch=4)


def rng(seed: int = 0) -> np.random.Generator:
    return np.random.default_rng(seed)


# The world ----------------------------------------------------------------------------------------------------------


def test_motion_is_that_of_a_rod():
    """Against an adaptive integrator. The published generator's torque is m g l and its inertia m l^2 / 3, so that with
    l = 1 the equation is theta'' = -29.43 sin theta - 0.1 theta'."""
    start = np.array([0.3, 1.5, 3.0, -2.0])
    angle, velocity = start, np.zeros(4)
    for _ in range(99):
        angle, velocity = world.step(angle, velocity)
    for i, first in enumerate(start):
        exact = solve_ivp(
            lambda t, y: (y[1], -29.43 * math.sin(y[0]) - 0.1 * y[1]), (0, 0.99), (first, 0), rtol=1e-11, atol=1e-11
        ).y[:, -1]
        # the method's error per step is of order dt^5 x 29.43^2.5 / 120, 1e-8, and there are 99
        np.testing.assert_allclose((angle[i], velocity[i]), exact, rtol=0, atol=5e-6)


def test_kicks_are_random_and_of_the_stated_size(monkeypatch):
    """Without gravity and friction the velocity is a random walk, and the angle its sum."""
    monkeypatch.setattr(world, "GRAVITY", 0.0)
    monkeypatch.setattr(world, "FRICTION", 0.0)
    angles = world.swing(4000, rng())
    np.testing.assert_allclose(angles[:, 1], angles[:, 0], atol=1e-12)  # from rest
    kicks = np.diff(angles, 2, axis=1) / 0.01  # change of velocity: (4000, 98)
    assert kicks.std() == pytest.approx(0.1, rel=0.005)  # standard error 0.1 / sqrt(2 x 392,000), 0.1 %
    assert abs(np.corrcoef(kicks[:, 3], kicks[:, 4])[0, 1]) < 0.08  # 5 standard errors of 1 / sqrt(4000)
    quarters = np.histogram(angles[:, 0], 4, (-np.pi, np.pi))[0]
    assert (abs(quarters - 1000) < 140).all()  # 5 standard deviations of a binomial, 27


def test_pictures_are_those_of_an_image_library():
    """A line 8 wide on 128 x 128, made small with Lanczos: by Pillow, which draws it without soft edges."""
    alike = []
    for angle in rng(1).uniform(-np.pi, np.pi, 60):
        canvas = Image.new("F", (128, 128), 0.0)
        ends = [(64, 64), (64 + 55 * math.sin(angle), 64 + 55 * math.cos(angle))]
        ImageDraw.Draw(canvas).line(ends, fill=255.0, width=8)
        theirs = np.clip(np.asarray(canvas.resize((24, 24), Image.Resampling.LANCZOS)), 0, 255)
        alike.append(np.corrcoef(theirs.ravel(), world.pictures(np.array(angle)))[0, 1])
    # edges of whole pixels move a line by up to half of one of the 8: most of what is left is the same
    assert np.mean(alike) > 0.985 and np.min(alike) > 0.96


def test_shrinking_is_pillows_lanczos():
    picture = rng().uniform(0, 255, (128, 128)).astype(np.float32)
    theirs = np.asarray(Image.fromarray(picture, "F").resize((24, 24), Image.Resampling.LANCZOS))
    weights = world._lanczos()
    np.testing.assert_allclose(weights @ picture @ weights.T, theirs, atol=0.01)  # of 255: single precision


def test_angle_zero_hangs_and_a_quarter_turn_points_right():
    down, right = (world.pictures(np.array(a)).reshape(24, 24) for a in (0.0, np.pi / 2))
    rows, columns = np.arange(24), np.arange(24)
    assert (down.sum(1) * rows).sum() / down.sum() > 15 and (right.sum(0) * columns).sum() / right.sum() > 15
    np.testing.assert_allclose(right, down.T, atol=1.5)  # the same rod about the same corner, but for rounding
    np.testing.assert_array_equal(world.pictures(np.array(1.0)), world.pictures(np.array(1.0 + 2 * np.pi)))


def test_visibility_walks_within_its_bounds():
    share = world.visibility(3000, rng())
    assert share.min() == 0 and share.max() == 1 and (share[:, :5] == 1).all()
    # a walk's step is at most 0.2, and the narrowest band that it is stretched over is 0.75 - 0.25
    assert np.abs(np.diff(share[:, 5:])).max() <= 0.2 / 0.5 + 1e-12
    assert 0.05 < (share[:, 20:] == 0).mean() < 0.4 and 0.05 < (share[:, 20:] == 1).mean() < 0.4


def test_noise_covers_pictures_as_stated():
    """share * picture + (1 - share) * uniform: means and deviations over many frames of one angle."""
    angle, clean = np.full(4000, 0.7), np.floor(world.pictures(np.array(0.7)))
    for share in (0.0, 0.4, 1.0):
        seen = world.film(angle, np.full(4000, share), rng())
        assert seen.dtype == np.uint8
        # cutting off decimals takes a half on average; standard error of a mean (1 - share) x 74 / sqrt(4000)
        expected = share * clean + (1 - share) * 127.5 - 0.5 * (share < 1)
        np.testing.assert_allclose(seen.mean(0), expected, atol=6 * (1 - share) * 1.17 + 1.01 * (share == 1))
        np.testing.assert_allclose(seen.std(0), (1 - share) * 255 / math.sqrt(12), atol=4 * (1 - share) + 0.6)


def test_clips_hold_together():
    clips = world.generate(40, rng(), keep=50)
    numbers = clips.positions[..., 0].numpy()
    assert clips.values.shape == (40, 50, 576) and (np.diff(numbers) > 0).all() and numbers.max() <= 99
    assert (clips.values == clips.values.round()).all()  # grey levels are whole numbers
    angle = np.take_along_axis(clips.aux["angles"].numpy(), numbers.astype(int), axis=1)
    np.testing.assert_allclose(clips.aux["target"], np.stack((np.sin(angle), np.cos(angle)), -1), atol=1e-6)
    clear = clips.aux["share"].numpy() == 1
    np.testing.assert_allclose(clips.values.numpy()[clear], world.pictures(angle[clear]), atol=2.5)  # cut off, shaken
    kept = np.bincount(world.generate(2000, rng(3)).positions.int().flatten(), minlength=100)
    assert abs(kept - 1000).max() < 112  # every frame alike: 5 standard deviations of a binomial, 22


# Predictors -----------------------------------------------------------------------------------------------------------


def test_kalman_beats_every_frame_alone_and_needs_no_training():
    clips, train = world.generate(150, rng(1)), world.generate(150, rng(2))
    target, numbers = clips.aux["target"].numpy(), clips.positions[..., 0].numpy()
    smooth = predictors.kalman(clips.values.numpy(), numbers)
    alone = predictors.ridge((train.values.numpy(), train.aux["target"].numpy()), clips.values.numpy())
    errors = [float(np.mean((guess - target) ** 2)) for guess in (smooth, alone, np.zeros_like(target))]
    assert errors[0] < 0.005 < 0.1 < errors[1] < errors[2] == pytest.approx(0.5)  # sin^2 + cos^2 = 1


def test_kalman_follows_clear_clips_to_a_fraction_of_a_degree(monkeypatch):
    monkeypatch.setattr(world, "visibility", lambda n, rng: np.ones((n, world.STEPS)))
    clips = world.generate(30, rng(4))
    smooth = predictors.kalman(clips.values.numpy(), clips.positions[..., 0].numpy())
    off = np.arctan2(*np.moveaxis(smooth, -1, 0)) - np.arctan2(*np.moveaxis(clips.aux["target"].numpy(), -1, 0))
    assert np.degrees(np.abs((off + np.pi) % (2 * np.pi) - np.pi)).max() < 1


def test_kalman_recovers_a_rod_that_it_has_lost():
    """A belief that is sure of the wrong angle begins anew where the frame shows the rod. A right one stays, and so
    does any belief where the frame shows nothing."""
    truth, velocity = np.array([0.3, -2.0, 3.0]), np.array([5.0, 6.0, 7.0])
    clear = world.pictures(truth)
    noise = np.random.default_rng(0).integers(0, 256, clear.shape)
    sure = np.tile(np.diag([1e-4, 1e-2]), (3, 1, 1))
    wrong, right = (np.stack((truth + off, velocity), -1) for off in ([1.0, -2.5, 2.0], 0.03))
    for frame in (clear, 0.4 * clear + 0.6 * noise):
        state, spread = predictors._recover(frame, wrong, sure)
        off = (state[:, 0] - truth + np.pi) % (2 * np.pi) - np.pi
        assert (np.abs(off) < 2 * np.sqrt(spread[:, 0, 0])).all()  # as near as it then claims, by two deviations
        assert (np.abs(state[:, 0] - wrong[:, 0]) < np.pi).all() and (state[:, 1] == velocity).all()
        np.testing.assert_array_equal(predictors._recover(frame, right, sure)[0], right)
    np.testing.assert_array_equal(predictors._recover(noise, wrong, sure)[0], wrong)


def test_motion_matrix_is_the_derivative_of_a_step():
    angle, velocity, h = np.array([0.4, 3.0]), np.zeros(2), 1e-6
    found = predictors.motion_matrix(angle)
    for j, (da, dv) in enumerate(((h, 0), (0, h))):
        up, down = world.step(angle + da, velocity + dv), world.step(angle - da, velocity - dv)
        numeric = (np.stack(up, -1) - np.stack(down, -1)) / (2 * h)
        # linearised where the step begins; at rest what is left is of third order, (29.43 x 0.01^2)^1.5 / 6 = 3e-5 and
        # the like. Without friction or without the second order the error would be 1e-3.
        np.testing.assert_allclose(found[:, :, j], numeric, atol=3e-4)


def test_ridge_is_least_squares_with_a_penalty():
    x, y = rng().normal(size=(1, 900, 20)), rng(1).normal(size=(1, 900, 2))
    weights = np.linalg.lstsq(
        np.vstack((x[0] - x[0].mean(0), math.sqrt(7) * np.eye(20))), np.vstack((y[0] - y[0].mean(0), np.zeros((20, 2))))
    )[0]
    expected = (x[0] - x[0].mean(0)) @ weights + y[0].mean(0)
    np.testing.assert_allclose(predictors.ridge((x, y), x, penalty=7)[0], expected, atol=1e-9)


# The experiment -------------------------------------------------------------------------------------------------------


def test_parameters_by_hand():
    blocks = 2 * (4 * 60 * 60 + 2 * 60 * 30 + 2 * 60)
    shared = blocks + (576 * 60 + 60) + 60
    assert blocks == 36_240
    assert count_parameters(Pendulum.paper().build(0)) == shared + 60 + 60 * 100 + 100
    assert count_parameters(Pendulum.paper().replace(readout="frame").build(0)) == shared + 60 + 60 * 2 + 2
    assert shared + (60 + 6100) + (60 + 122) == 77_262  # the authors' script builds both heads


def test_the_data_stay_when_the_seed_changes_and_splits_differ():
    exp = Pendulum.paper().replace(**SMALL)
    assert not torch.equal(exp.data(0).train.values, exp.replace(data_seed=1).data(0).train.values)
    assert not torch.equal(exp.build(0).head[2].weight, exp.build(1).head[2].weight)


def test_pixels_are_standardised_as_they_say():
    authors, true = (Pendulum.paper().replace(pixels=p, **SMALL).data(0) for p in ("authors", "true"))
    raw = grey(authors.test)
    np.testing.assert_array_equal(raw, grey(true.test))
    assert raw.min() >= 0 and raw.max() <= 255
    np.testing.assert_allclose(authors.test.values, (raw / 255 - 0.002) / 0.0021, rtol=1e-5, atol=1e-4)
    std, mean = (t.item() for t in torch.std_mean(true.train.values))
    assert mean == pytest.approx(0, abs=1e-5) and std == pytest.approx(1, abs=1e-4)


def test_score_against_loops():
    clips = Pendulum.paper().replace(**SMALL).data(0).test
    guess = rng().normal(size=(6, 50, 2))
    total, turn, blank = 0.0, 0.0, []
    for i in range(6):
        for j in range(50):
            sine, cosine = clips.aux["target"][i, j].tolist()
            square = (guess[i, j, 0] - sine) ** 2 + (guess[i, j, 1] - cosine) ** 2
            total += square
            off = abs(math.atan2(*guess[i, j]) - math.atan2(sine, cosine))
            turn += math.degrees(min(off, 2 * math.pi - off))
            if clips.aux["share"][i, j] == 0:
                blank.append(square / 2)
    found = Pendulum.score(guess, clips)
    assert found["mse"] == pytest.approx(total / 600)
    assert found["degrees"] == pytest.approx(turn / 300)
    assert found["mse_blank"] == pytest.approx(np.mean(blank))
    # what the script prints for 1000 clips of 50 frames: the sum over all of them, times 1e-3
    assert found["mse_authors"] == pytest.approx(total / 6 * 1000 * 1e-3) == pytest.approx(100 * found["mse"])


@pytest.mark.parametrize("readout", ["cls", "frame"])
def test_what_a_readout_can_know(readout):
    """Frames in another order: from [CLS] nothing changes, so every answer goes to the wrong frame; a frame's own token
    takes its answer along."""
    exp = Pendulum.paper().replace(readout=readout, pixels="true", **SMALL)
    model, clips = exp.build(0), exp.data(0).test
    order = torch.randperm(50, generator=seeded(1))
    moved = replace(clips, values=clips.values[:, order], positions=clips.positions[:, order])
    before, after = exp.predict(model, clips), exp.predict(model, moved)
    expected = before if readout == "cls" else before[:, order.numpy()]
    np.testing.assert_allclose(after, expected, atol=1e-5)  # float32 sums in another order
    assert not np.allclose(after, before[:, order.numpy()] if readout == "cls" else before, atol=1e-3)


def test_mirror_turns_pictures_and_targets_together():
    clips = world.generate(4, rng())
    flip = torch.tensor([True, False, True, False])
    turned = mirrored(clips, flip)
    expected = np.take(clips.values[0].view(50, 24, 24).numpy(), np.arange(23, -1, -1), axis=2)
    np.testing.assert_array_equal(turned.values[0].view(50, 24, 24), expected)
    torch.testing.assert_close(turned.values[1], clips.values[1])
    torch.testing.assert_close(turned.aux["target"][2], clips.aux["target"][2] * torch.tensor([-1.0, 1.0]))
    # a clear frame, mirrored, is the picture of the opposite angle, one canvas pixel (0.19 of ours) to the side
    clear = turned.values[0, clips.aux["share"][0] == 1].numpy()
    opposite = -np.arctan2(*clips.aux["target"][0].numpy().T)[clips.aux["share"][0].numpy() == 1]
    assert np.corrcoef(clear.ravel(), world.pictures(opposite).ravel())[0, 1] > 0.97


@pytest.mark.parametrize("preset", ["paper", "best", "quick"])
def test_presets_learn_a_few_clips_by_heart(preset):
    exp = Pendulum.preset(preset).replace(
        encoder="32x2x1x32", **SMALL | {"epochs": 60, "lr": 1e-2}, pixels="true", clip=1.0
    )
    data = exp.data(0)
    model = exp.build(0)
    history = fit(model, data.train, exp.loss, exp.recipe(8), seed=0)
    assert history[-1]["loss"] < 0.3 * history[0]["loss"]


def test_arrays_and_comparisons():
    exp = Pendulum.paper().replace(**SMALL)
    data, model = exp.data(0), exp.build(0)
    found = exp.arrays(model, data)
    square = (exp.predict(model, data.test) - data.test.aux["target"].numpy()) ** 2
    number = data.test.positions[..., 0].numpy()
    for i in (0, 50, 99):
        expected = square[number == i].mean() if (number == i).any() else np.nan
        assert found["by_number"][i] == pytest.approx(expected, nan_ok=True)
    low = (data.test.aux["share"].numpy() >= 0.3) & (data.test.aux["share"].numpy() < 0.4)
    assert found["by_share"][3] == pytest.approx(square[low].mean(), nan_ok=True)
    np.testing.assert_array_equal(found["frames"], grey(data.test)[:4])
    half = replace(data.test, values=data.test.values[:, ::2], positions=data.test.positions[:, ::2])
    expected = np.mean((exp.predict(model, half) - data.test.aux["target"][:, ::2].numpy()) ** 2)
    assert found["mse_half"] == pytest.approx(expected, rel=1e-6)
    np.testing.assert_allclose(found["half"], exp.predict(model, half)[:4], atol=1e-6)
    # attention knows no order: from [CLS] the answers stay, and go to other frames; a frame's own token takes its along
    answers = [np.sort(found[key].reshape(4, -1), axis=1) for key in ("shuffled", "prediction")]
    np.testing.assert_allclose(*answers, atol=1e-5)  # sums in another order, in float32
    stays = np.abs(found["shuffled"] - found["prediction"]).max() < 1e-4
    assert stays == (exp.readout == "frame")
    compared = exp.compare(data)
    assert {"mse_mean", "mse_ridge", "mse_kalman"} <= set(compared)
    level = data.train.aux["target"].double().mean((0, 1))
    assert compared["mse_mean"] == pytest.approx(float(((data.test.aux["target"] - level) ** 2).mean()), rel=1e-5)


# The published clips --------------------------------------------------------------------------------------------------


def test_published_clips_swing_like_ours_by_another_integrator(monkeypatch):
    """Without kicks, from the same starts: Euler's error of a step of 1e-4 s over one second stays below 2e-3 rad."""
    monkeypatch.setattr(world, "KICK", 0.0)
    angles = world._published_swing(40, np.random.RandomState(42))
    start = np.random.RandomState(42).uniform(0, 2 * np.pi, 40) - np.pi
    np.testing.assert_allclose(angles[:, 0], start)
    angle, velocity = start, np.zeros(40)
    for i in range(1, 100):
        angle, velocity = world.step(angle, velocity)
        apart = (angles[:, i] - angle + np.pi) % (2 * np.pi) - np.pi
        assert np.abs(apart).max() < 2e-3


def test_published_pictures_are_ours_by_another_hand():
    angles = np.linspace(-np.pi, np.pi, 80)
    theirs, ours = world.drawn(angles).astype(float), world.pictures(angles)
    assert np.corrcoef(theirs.ravel(), ours.ravel())[0, 1] > 0.985  # a rod with hard edges, and half a pixel
    assert abs(theirs.mean() / ours.mean() - 1) < 0.1


def test_published_sets_follow_each_other_in_one_stream():
    first, second = world.published((6, 4), np.random.RandomState(42), 50, (2000, 0))
    for clips, offset in ((first, 2000), (second, 0)):
        frames = clips.positions[..., 0]
        assert (frames.diff(dim=1) > 0).all() and frames.min() >= 0 and frames.max() <= 99
        kept = np.sort(np.random.default_rng(offset + 3).choice(100, 50, replace=False))
        np.testing.assert_array_equal(frames[3], kept)
        angle = np.take_along_axis(clips.aux["angles"].numpy(), frames.long().numpy(), axis=1)
        np.testing.assert_allclose(clips.aux["target"], np.stack((np.sin(angle), np.cos(angle)), -1), atol=1e-5)
        # early frames are clean: black but for the rod, whose pictures ours resemble
        early = frames < 5
        clean = world.pictures(angle[early.numpy()])
        assert np.corrcoef(clips.values[early].numpy().ravel(), clean.ravel())[0, 1] > 0.98
    alone = world.published((4,), np.random.RandomState(42), 50, (0,))[0]
    assert not torch.equal(alone.values, second.values)


def test_the_experiment_takes_the_published_clips():
    exp = Pendulum.quick().replace(clips="published", n_train=4, n_valid=3, n_test=5)
    data, again = exp.data(0), exp.data(1)
    assert [len(part) for part in data] == [4, 3, 5] and torch.equal(data.test.values, again.test.values)
    assert not torch.equal(exp.replace(data_seed=1).data(0).test.values, data.test.values)

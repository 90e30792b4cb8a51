"""A pendulum filmed through noise (paper Sec. 5.4 and D.4; the data of Becker et al., 2019, and Schirmer et al., 2022).

A rod swings under gravity, friction and random kicks. A small camera films it, and noise covers more and less of each
picture. Half of the frames are kept; the angle in each of them is to be named, by its sine and cosine. Our own code,
after the published constants (deviation D22).
"""

from functools import cache

import numpy as np
import torch

from romae_lite.tokens import Tokens

STEPS, DT = 100, 0.01  # frames of a clip, and seconds between them
# 1/s^2, 1/s, and 1/s per step. m g l / (m l^2 / 3) with l = 1 m: a rod's inertia, and twice the torque of its weight
GRAVITY, FRICTION, KICK = 3 * 9.81, 0.1, 0.1
SHAKE = 1e-5  # radians: the camera sees the angle with this error
SIZE = 24  # pixels along a side of a picture
CANVAS, CENTRE, LENGTH, WIDTH = 128, 64, 55, 8  # the larger picture that it is drawn in, in pixels
WALK, CLEAN = 0.2, 5  # largest change of visibility per step, and frames without noise at the start
LOW, HIGH = (0.0, 0.25), (0.75, 1.0)  # ranges of the visibilities that count as nothing and as everything


def acceleration(angle: np.ndarray, velocity: np.ndarray) -> np.ndarray:
    """Of a free rod with friction, in 1/s^2; the angle is 0 where it hangs at rest."""
    return -GRAVITY * np.sin(angle) - FRICTION * velocity


def step(angle: np.ndarray, velocity: np.ndarray, dt: float = DT) -> tuple[np.ndarray, np.ndarray]:
    """One time step of the free rod, by Runge and Kutta's classical method: error about 1e-8 radians."""
    k1 = velocity, acceleration(angle, velocity)
    k2 = velocity + dt / 2 * k1[1], acceleration(angle + dt / 2 * k1[0], velocity + dt / 2 * k1[1])
    k3 = velocity + dt / 2 * k2[1], acceleration(angle + dt / 2 * k2[0], velocity + dt / 2 * k2[1])
    k4 = velocity + dt * k3[1], acceleration(angle + dt * k3[0], velocity + dt * k3[1])
    weighted = (dt / 6 * (a + 2 * b + 2 * c + d) for a, b, c, d in zip(k1, k2, k3, k4, strict=True))
    return tuple(x + change for x, change in zip((angle, velocity), weighted, strict=True))


def swing(n: int, rng: np.random.Generator) -> np.ndarray:
    """Angles (n, 100): from rest at any angle, with a random kick to the velocity after every step."""
    angle, velocity = rng.uniform(-np.pi, np.pi, n), np.zeros(n)
    angles = [angle]
    for _ in range(STEPS - 1):
        angle, velocity = step(angle, velocity)
        velocity = velocity + rng.normal(0, KICK, n)
        angles.append(angle)
    return np.stack(angles, axis=1)


def visibility(n: int, rng: np.random.Generator | np.random.RandomState) -> np.ndarray:
    """Share of the picture's contrast that the noise leaves, (n, 100) in [0, 1]: a bounded random walk, cut off below
    one random level and above another, so that some stretches are all noise and others all clear."""
    walk = np.empty((n, STEPS))
    walk[:, 0] = rng.uniform(size=n)
    for i in range(1, STEPS):
        walk[:, i] = np.clip(walk[:, i - 1] + rng.uniform(-WALK, WALK, n), 0, 1)
    low, high = rng.uniform(*LOW, (n, 1)), rng.uniform(*HIGH, (n, 1))
    share = np.clip((walk - low) / (high - low), 0, 1)
    share[:, :CLEAN] = 1
    return share


@cache
def _views(count: int = 2048) -> np.ndarray:
    """Clean pictures of the rod at `count` angles around the circle, and the first once more: (count + 1, 576) float32
    in [0, 255]. Drawn large and made small by a Lanczos filter, as an image library would."""
    x, y = np.meshgrid(np.arange(CANVAS) - CENTRE, np.arange(CANVAS) - CENTRE)  # columns to the right, rows down
    x, y = (t.astype(np.float32).ravel() for t in (x, y))
    squeeze = _lanczos()  # (24, 128)
    views = np.empty((count + 1, SIZE * SIZE), np.float32)
    for i, angle in enumerate(np.arange(count) * (2 * np.pi / count)):
        along = np.float32(np.sin(angle)) * x + np.float32(np.cos(angle)) * y
        across = np.float32(np.cos(angle)) * x - np.float32(np.sin(angle)) * y
        inside = np.minimum(WIDTH / 2 - np.abs(across), LENGTH / 2 - np.abs(along - LENGTH / 2))
        rod = np.clip(inside + 0.5, 0, 1).reshape(CANVAS, CANVAS)  # soft edges, one pixel wide
        views[i] = 255 * np.clip(squeeze @ rod @ squeeze.T, 0, 1).ravel()
    views[-1] = views[0]
    return views


def _lanczos() -> np.ndarray:
    """Weights (24, 128) float32 that shrink one side of a picture: sinc(x) sinc(x / 3) for |x| < 3, x in new pixels."""
    ratio = CANVAS / SIZE
    x = (np.arange(CANVAS) + 0.5 - (np.arange(SIZE)[:, None] + 0.5) * ratio) / ratio
    weights = np.sinc(x) * np.sinc(x / 3) * (np.abs(x) < 3)
    return (weights / weights.sum(1, keepdims=True)).astype(np.float32)


def pictures(angle: np.ndarray) -> np.ndarray:
    """Clean pictures of the rod at these angles (...,) in radians: (..., 576) float32 in [0, 255].

    Angle 0 points down, a quarter turn to the right. Interpolated between the nearest two of 2048 drawn angles.
    """
    views = _views()
    place = np.mod(angle / (2 * np.pi), 1) * (len(views) - 1)
    below = place.astype(int)
    weight = (place - below)[..., None].astype(np.float32)
    return views[below] * (1 - weight) + views[np.minimum(below + 1, len(views) - 1)] * weight


def film(angle: np.ndarray, share: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """What the camera sees: share * picture + (1 - share) * noise, uniform in [0, 255): (..., 576) uint8.

    angle in radians and share of the picture's contrast, in [0, 1], both (...,).
    """
    if angle.shape != share.shape or not np.isfinite(angle).all():
        raise ValueError(f"angle has shape {angle.shape}, share {share.shape}; they must agree, and angles be finite")
    if not ((share >= 0) & (share <= 1)).all():
        raise ValueError(f"share lies in [{share.min()}, {share.max()}]; it must lie in [0, 1]")
    clean = np.floor(pictures(angle + rng.normal(0, SHAKE, angle.shape)))
    noise = rng.random(clean.shape, np.float32) * 255
    return (share[..., None].astype(np.float32) * (clean - noise) + noise).astype(np.uint8)


def generate(n: int, rng: np.random.Generator, keep: int = 50) -> Tokens:
    """n clips, `keep` of whose 100 frames are kept, in order of time.

    Tokens: values (n, keep, 576) raw grey levels 0 to 255, positions (n, keep, 1) numbers of the frames, 0 to 99; aux:
    target (n, keep, 2) sine and cosine of the angle, share (n, keep) of the picture left by the noise, angles (n, 100).
    """
    if n < 1:
        raise ValueError(f"n is {n}; generate at least one clip")
    if not 1 <= keep <= STEPS:
        raise ValueError(f"keep is {keep}; a clip has {STEPS} frames to keep")
    angles, shares = swing(n, rng), visibility(n, rng)
    kept = np.sort(rng.random((n, STEPS)).argsort(1)[:, :keep], axis=1)  # (n, keep)
    angle, share = (np.take_along_axis(t, kept, axis=1) for t in (angles, shares))
    frames = np.empty((n, keep, SIZE * SIZE), np.float32)
    for i in range(0, n, 100):  # a few at a time, to save memory
        frames[i : i + 100] = film(angle[i : i + 100], share[i : i + 100], rng)
    return clips(frames, kept, angle, share, angles)


def clips(frames: np.ndarray, kept: np.ndarray, angle: np.ndarray, share: np.ndarray, angles: np.ndarray) -> Tokens:
    return Tokens(
        values=torch.from_numpy(frames),
        positions=torch.from_numpy(kept).double()[..., None],
        aux={
            "target": torch.from_numpy(np.stack((np.sin(angle), np.cos(angle)), axis=-1)).float(),
            "share": torch.from_numpy(share).float(),
            "angles": torch.from_numpy(angles).float(),
        },
    )


# The published clips -------------------------------------------------------------------------------------------------

EULER = 1e-4  # seconds: the published simulation's own step


def published(
    counts: tuple[int, ...], random: np.random.RandomState, keep: int, offsets: tuple[int, ...]
) -> list[Tokens]:
    """Sets of clips with the random numbers of the published generator, in its order: `Tokens` as `generate` returns.

    What is random, one set after the other: start angles; a kick for every clip after every step; the camera's errors
    (of angle and velocity); the walk of the noise, its two thresholds, and its pixels, clip by clip. The frames that
    are kept come from streams of their own, one a clip, offset by `offsets`. Pictures are drawn by Pillow, as there.
    """
    found = []
    for n, offset in zip(counts, offsets, strict=True):
        angles = _published_swing(n, random)
        seen = angles + random.normal(0, SHAKE, (n, STEPS, 2))[..., 0]
        shares = visibility(n, random)
        kept = np.stack(
            [np.sort(np.random.default_rng(offset + i).choice(STEPS, keep, replace=False)) for i in range(n)]
        )
        frames = np.empty((n, keep, SIZE * SIZE), np.float32)
        for i, at in enumerate(kept):
            noise = random.uniform(0, 255, (STEPS, SIZE * SIZE))[at]
            share = shares[i, at, None]
            frames[i] = (share * drawn(seen[i, at]) + (1 - share) * noise).astype(np.uint8)
        angle, share = (np.take_along_axis(t, kept, axis=1) for t in (angles, shares))
        found.append(clips(frames, kept, angle, share, angles))
    return found


def _published_swing(n: int, random: np.random.RandomState) -> np.ndarray:
    """Angles (n, 100), 0 where the rod hangs: by Euler's method, velocity before angle, a hundred steps a frame."""
    up, velocity = random.uniform(0, 2 * np.pi, (n, 1))[:, 0], np.zeros(n)  # there, 0 is upright
    angles = [up]
    for _ in range(STEPS - 1):
        for _ in range(round(DT / EULER)):
            velocity = velocity + EULER * (GRAVITY * np.sin(up) - FRICTION * velocity)
            up = up + EULER * velocity
        velocity = velocity + random.normal(0, KICK, n)
        up = up % (2 * np.pi)
        angles.append(up)
    return np.stack(angles, axis=1) - np.pi


def drawn(angles: np.ndarray) -> np.ndarray:
    """Clean pictures of the rod (n,) -> (n, 576) uint8, by Pillow: a line on the larger picture, made small."""
    from PIL import Image, ImageDraw

    out = np.empty((len(angles), SIZE * SIZE), np.uint8)
    for i, angle in enumerate(angles):
        large = Image.new("F", (CANVAS, CANVAS), 0.0)
        tip = CENTRE + LENGTH * np.sin(angle), CENTRE + LENGTH * np.cos(angle)
        ImageDraw.Draw(large).line([(CENTRE, CENTRE), tip], fill=1.0, width=WIDTH)
        small = np.asarray(large.resize((SIZE, SIZE), Image.Resampling.LANCZOS))
        out[i] = (255 * np.clip(small, 0, 1)).ravel()
    return out


def grey(tokens: Tokens) -> np.ndarray:
    """Grey levels as the camera gave them, whole numbers from 0 to 255: (n, N, 576) float32."""
    mean, std = tokens.aux["grey"].T[:, :, None, None]
    return ((tokens.values * std + mean) * 255).round().cpu().numpy()

"""Predictors of a filmed pendulum's angle.

frames (n, N, 576) grey levels 0 to 255, numbers (n, N) of the frames in order of time; all return (n, N, 2), the sine
and cosine of the angle.
"""

from functools import lru_cache

import numpy as np

from .data import CLEAN, DT, FRICTION, GRAVITY, KICK, STEPS, pictures, step


def ridge(train: tuple[np.ndarray, np.ndarray], frames: np.ndarray, penalty: float = 1e3) -> np.ndarray:
    """Linear regression on the pixels of each frame by itself. train: frames (m, N, 576) and targets (m, N, 2)."""
    x, y = (t.reshape(-1, t.shape[-1]).astype(np.float64) for t in train)
    middle, level = x.mean(0), y.mean(0)
    x = x - middle
    weights = np.linalg.solve(x.T @ x + penalty * np.eye(x.shape[1]), x.T @ (y - level))
    return (frames - middle) @ weights + level


def kalman(frames: np.ndarray, numbers: np.ndarray, starts: int = 64) -> np.ndarray:
    """Extended Kalman smoother that is told everything but the answer: the equation of motion, the kicks, and what the
    rod looks like. It learns nothing.

    The noise in a picture is taken for Gaussian, of the variance that its uniform noise has, so this is no bound on
    what is possible; but one that a learnt model should be compared with. Where a frame shows that it has lost the rod,
    it begins anew from there; the thresholds for that were chosen on validation clips. Where none of the clear frames
    at the start was kept, it tries `starts` angles and takes the one that explains the clip best.
    """
    start = _circle()[0][_likelihood(frames[:, 0]).argmax(1)]  # what the first frame looks like
    angles, _ = _smooth(frames, numbers, start)
    for i in np.flatnonzero(numbers[:, 0] >= CLEAN):
        copies = [np.repeat(t[i : i + 1], starts, axis=0) for t in (frames, numbers)]
        tried, fit = _smooth(*copies, np.linspace(-np.pi, np.pi, starts, endpoint=False))
        angles[i] = tried[fit.argmax()]
    return np.stack((np.sin(angles), np.cos(angles)), axis=-1)


def _smooth(frames: np.ndarray, numbers: np.ndarray, start: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """From rest at the angles `start` (n,): the angle in every frame, (n, N), and how well the frames fit, (n,)."""
    n, numbers = len(frames), numbers.astype(int)
    slot = np.full((n, STEPS), -1)
    np.put_along_axis(slot, numbers, np.arange(numbers.shape[1])[None], axis=1)
    state = np.stack((start, np.zeros(n)), axis=-1)  # (n, 2): angle, velocity
    spread = np.tile(np.diag([0.1**2, 1e-4**2]), (n, 1, 1))  # (n, 2, 2)
    fit, moved = np.zeros(n), None
    before, after = [], []  # what is believed of a moment before, and after, its frame was seen
    for t in range(STEPS):
        if t:
            moved = motion_matrix(state[:, 0])
            state = np.stack(step(*state.T), axis=-1)
            spread = moved @ spread @ moved.mT + np.diag([0.0, KICK**2])
        before.append((state, spread, moved))
        seen = np.flatnonzero(slot[:, t] >= 0)
        state, spread = state.copy(), spread.copy()
        frame = frames[seen, slot[seen, t]]
        state[seen], spread[seen], likely = _look(frame, state[seen], spread[seen])
        state[seen], spread[seen] = _recover(frame, state[seen], spread[seen])
        fit[seen] += likely
        after.append((state, spread))
    smooth = state
    angles = [smooth[:, 0]]
    for t in range(STEPS - 2, -1, -1):  # Rauch, Tung and Striebel: backwards, correct each belief by what came later
        (state, spread), (later, later_spread, moved) = after[t], before[t + 1]
        gain = spread @ moved.mT @ np.linalg.inv(later_spread)
        smooth = state + (gain @ (smooth - later)[..., None])[..., 0]
        angles.append(smooth[:, 0])
    return np.take_along_axis(np.stack(angles[::-1], axis=1), numbers, axis=1), fit


def motion_matrix(angle: np.ndarray) -> np.ndarray:
    """How small changes of angle and velocity grow in one step, to second order in its length: (n,) -> (n, 2, 2)."""
    rate = np.zeros((len(angle), 2, 2))
    rate[:, 0, 1], rate[:, 1, 0], rate[:, 1, 1] = 1, -GRAVITY * np.cos(angle), -FRICTION
    return np.eye(2) + DT * rate + DT**2 / 2 * rate @ rate


def _look(frame: np.ndarray, state: np.ndarray, spread: np.ndarray, nudge=0.02):
    """Correct angle and velocity by one frame: (n, 576), (n, 2), (n, 2, 2) -> state,
    spread, log-likelihood.

    frame = share * picture(angle) + (1 - share) * noise. The share shows in how dark
    the background is; the pixels then weigh the angle by how much they would change
    with it.
    """
    left, right = pictures(state[:, 0] - nudge), pictures(state[:, 0] + nudge)
    guess, slope = (left + right) / 2 - 127.5, (right - left) / (2 * nudge)
    share = ((frame - 127.5) * guess).sum(1) / (guess**2).sum(1)
    share = np.clip(share, 0, 0.99)
    noise = (1 - share) ** 2 * 255**2 / 12 + 1
    # information on the angle, 1 / radians^2
    strength = share**2 * (slope**2).sum(1) / noise
    rest = frame - 127.5 - share[:, None] * guess
    pull = share * (rest * slope).sum(1) / noise
    gain = spread[:, :, 0] / (1 + spread[:, 0, 0] * strength)[:, None]  # (n, 2)
    state = state + gain * pull[:, None]
    likely = -0.5 * ((rest**2).sum(1) / noise + frame.shape[1] * np.log(noise))
    less = strength[:, None, None] * gain[:, :, None] * spread[:, :1, :]
    return state, spread - less, likely


def _recover(
    frame: np.ndarray, state: np.ndarray, spread: np.ndarray, apart=0.1, surer=15.0
):
    """Begin anew from the frame alone where the belief has lost the rod: (n, 576),
    (n, 2), (n, 2, 2) -> state, spread.

    `_look` corrects by what a small turn would change, and is blind to a rod elsewhere
    in the picture. Lost is a belief where an angle more than `apart` away explains the
    frame better, by more than `surer` in log-likelihood.
    """
    circle, likely = _circle()[0], _likelihood(frame)
    believed = np.rint((state[:, 0] - circle[0]) / (circle[1] - circle[0]))
    believed = believed.astype(int) % len(circle)
    best, row = likely.argmax(1), np.arange(len(frame))
    off = (circle[best] - state[:, 0] + np.pi) % (2 * np.pi) - np.pi
    better = likely[row, best] - likely[row, believed] > surer
    lost = (np.abs(off) > apart) & better
    state, spread = state.copy(), spread.copy()
    state[lost, 0] += off[lost]
    spread[lost] = np.diag([0.05**2, 2.0**2])
    return state, spread


@lru_cache(maxsize=1)
def _circle() -> tuple[np.ndarray, np.ndarray]:
    """256 angles, and what the rod looks like there, about grey: (256,), (256, 576)."""
    circle = np.linspace(-np.pi, np.pi, 256, endpoint=False)
    return circle, pictures(circle) - 127.5


def _likelihood(frame: np.ndarray) -> np.ndarray:
    """Log-likelihood of each frame at the angles of `_circle`, with the share that suits each best: (n, 256)."""
    guess, size = _circle()[1], (_circle()[1] ** 2).sum(1)
    frame = frame - 127.5
    match = frame @ guess.T
    share = np.clip(match / size, 0, 0.99)
    noise = (1 - share) ** 2 * 255**2 / 12 + 1
    rest = (frame**2).sum(1)[:, None] - 2 * share * match + share**2 * size
    return -0.5 * (rest / noise + frame.shape[1] * np.log(noise))

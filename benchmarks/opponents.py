"""Two opponents for `benchmarks.gaps` that need packages of their own: a Kalman smoother (statsmodels) and SAITS, a
network that imputes (PyPOTS)."""

import os

import numpy as np
import pandas as pd
from scipy.optimize import minimize

# Kalman smoother -----------------------------------------------------------------------------------------------------


def transition(steps: np.ndarray, level: float, slope: float, fading: float) -> tuple[np.ndarray, np.ndarray]:
    """A level that wanders and a slope that wanders and fades, dl = s dt + sqrt(level) dW, ds = -fading s dt +
    sqrt(slope) dW': what a step of each length (n,) does to the state, (2, 2, n), and the covariance it adds."""
    left = np.exp(-fading * steps)
    gone = (1 - left) / fading  # how far a slope of 1 goes before it has faded
    moves, adds = np.zeros((2, 2, len(steps))), np.zeros((2, 2, len(steps)))
    moves[0, 0], moves[0, 1], moves[1, 1] = 1, gone, left
    both = (1 - left**2) / (2 * fading)
    adds[0, 0] = level * steps + slope / fading**2 * np.maximum(steps - 2 * gone + both, 0)
    adds[0, 1] = adds[1, 0] = slope * gone**2 / 2
    adds[1, 1] = slope * both
    return moves, adds


def smooth(t: np.ndarray, y: np.ndarray, at: np.ndarray, centre: float, spread: float) -> np.ndarray:
    """Mean and deviation (2, M) of a measurement at each of `at`, by the likeliest of these models. t rises.

    centre, spread: units of y. The four logarithms, of two variances, the fading and the noise, are drawn to -3 by a
    wide normal: a few values alone could make a variance 0. The search begins twice, at a rough and at a smooth curve.
    """
    unit = np.median(np.diff(t)) if len(t) > 1 else 1.0
    z = (y - centre) / spread
    loss = lambda logs: 0.05 * np.sum((logs + 3) ** 2) - state_space(t / unit, z, logs).loglike()  # noqa: E731
    starts = ([-2.0, -9.0, -3.0, -2.0], [-6.0, -4.0, -4.0, -3.0])
    tries = [minimize(loss, x, method="Nelder-Mead", options={"maxfev": 150, "xatol": 0.1, "fatol": 0.1})
             for x in starts]
    mean, variance = posterior(t / unit, z, at / unit, min(tries, key=lambda found: found.fun).x)
    return np.stack((centre + spread * mean, spread * np.sqrt(variance)))


def state_space(t: np.ndarray, z: np.ndarray, logs: np.ndarray):
    """statsmodels' representation of a series at times t, NaN where nothing was measured."""
    from statsmodels.tsa.statespace.mlemodel import MLEModel

    level, slope, fading, noise = np.exp(np.clip(logs, -16, 5))
    made = MLEModel(z, k_states=2, k_posdef=2)
    made["design"], made["selection"], made["obs_cov"] = np.array([[1.0, 0.0]]), np.eye(2), np.array([[noise]])
    # the last step leads nowhere
    made["transition"], made["state_cov"] = transition(np.append(np.diff(t), 1.0), level, slope, fading)
    made.ssm.initialize_known(np.zeros(2), np.diag([10.0, slope / (2 * fading)]))
    return made.ssm


def posterior(t: np.ndarray, z: np.ndarray, at: np.ndarray, logs: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Mean and variance of a measurement at each of `at`, given z at t."""
    times = np.union1d(t, at)
    seen = np.full(len(times), np.nan)
    seen[np.searchsorted(times, t)] = z
    found, place = state_space(times, seen, logs).smooth(), np.searchsorted(times, at)
    noise = np.exp(np.clip(logs[3], -16, 5))
    return found.smoothed_state[0, place], found.smoothed_state_cov[0, 0, place] + noise


# SAITS ----------------------------------------------------------------------------------------------------------------

WINDOW, PATIENCE, EPOCHS, HELD = 48, 10, 100, 0.1
SIZES = (32, 96)  # of which the validation chooses


def saits(table: pd.DataFrame, seed: int) -> np.ndarray:
    """SAITS (Du et al. 2023), fitted to a whole table, on windows of 48 rows that overlap by half.

    A row is a time of one id, with all channels; beside them a column tells how long ago the last row was. Values are
    in deviations of their series. A tenth of the visible ones is held out; by it the size is chosen and the training
    stops, and its error, one number for each channel, is the deviation of the answers. The network states none.
    """
    import torch
    from pypots.imputation import SAITS
    from pypots.optim import Adam

    torch.set_num_threads(int(os.environ.get("OMP_NUM_THREADS", "1")))
    hidden = table.value.isna().to_numpy()
    by = table.groupby(["id", "channel"]).value
    centre, scale, size = (by.transform(how) for how in ("mean", "std", "count"))
    usual = scale.groupby(table.channel).transform("median").fillna(1.0)
    scale = scale.where(size >= 20, np.fmax(scale, usual / 2)).replace(0, 1.0)
    centre = centre.fillna(table.groupby("channel").value.transform("mean"))
    wide = table.assign(z=(table.value - centre) / scale).pivot_table(
        index=["id", "time"], columns="channel", values="z", aggfunc="mean", dropna=False
    )
    wide = wide.loc[wide.index.isin(pd.MultiIndex.from_frame(table[["id", "time"]]))]
    values = wide.to_numpy()
    ids, times = (wide.index.get_level_values(i).to_numpy() for i in ("id", "time"))
    gap = np.where(np.append(False, ids[1:] == ids[:-1]), np.diff(times, prepend=times[0]), 0.0)
    since = np.arcsinh(gap / np.median(gap[gap > 0]))[:, None]

    rows = windows(ids)
    empty = rows < 0
    rng = np.random.default_rng(seed)
    out = (rng.random(values.shape) < HELD) & np.isfinite(values)
    whole = np.concatenate((values, since), axis=1)
    cut = np.concatenate((np.where(out, np.nan, values), since), axis=1)
    look = lambda x: np.where(empty[..., None], np.nan, x[rows])  # noqa: E731
    train, valid = {"X": look(cut)}, {"X": look(cut), "X_ori": look(whole)}

    found, least = None, np.inf
    for size in SIZES:
        torch.manual_seed(seed)
        net = SAITS(
            n_steps=WINDOW, n_features=whole.shape[1], n_layers=2, d_model=size, n_heads=4, d_k=size // 4,
            d_v=size // 4, d_ffn=2 * size, dropout=0.1, epochs=EPOCHS, patience=PATIENCE, batch_size=32,
            optimizer=Adam(lr=1e-3), device="cpu", verbose=False,
        )
        net.fit(train, valid)
        filled = np.asarray(net.predict({"X": look(cut)})["imputation"])[..., :-1]
        total, count = np.zeros_like(values), np.zeros(len(values))
        np.add.at(total, rows[~empty], filled[~empty])
        np.add.at(count, rows[~empty], 1)
        answer = total / count[:, None]
        error = np.where(out, (answer - values) ** 2, np.nan)
        if np.nanmean(error) < least:
            found, least, spread = answer, np.nanmean(error), np.sqrt(np.nanmean(error, axis=0))
    spread = np.where(np.isfinite(spread), spread, np.sqrt(least))
    place = wide.index.get_indexer(pd.MultiIndex.from_frame(table.loc[hidden, ["id", "time"]]))
    channel = wide.columns.get_indexer(table.channel[hidden])
    its, around = scale.to_numpy()[hidden], centre.to_numpy()[hidden]
    return np.stack((around + its * found[place, channel], its * spread[channel]))


def windows(ids: np.ndarray) -> np.ndarray:
    """Rows of one id in each window, (W, 48); -1 where it has no more."""
    found = []
    for one in pd.unique(ids):
        its = np.flatnonzero(ids == one)
        last = max(len(its) - WINDOW, 0)
        for start in sorted({*range(0, last, WINDOW // 2), last}):
            cut = its[start : start + WINDOW]
            found.append(np.pad(cut, (0, WINDOW - len(cut)), constant_values=-1))
    return np.array(found)

"""What generators, loaders' parts and rivals refuse, each naming the argument and its value."""

import re

import numpy as np
import pytest

from romae_book.experiments.elasticc import data as sky
from romae_book.experiments.frequencies import data as sines
from romae_book.experiments.pendulum import data as world
from romae_book.experiments.physionet import data as icu
from romae_book.experiments.spirals import data as spirals
from romae_book.experiments.spirals import rivals
from romae_book.experiments.synthetic import data as curves
from romae_book.experiments.tiny_imagenet import data as photographs
from romae_book.experiments.uea import data as archive


def rng() -> np.random.Generator:
    return np.random.default_rng(0)


NAN, INF, FEW = np.nan, np.inf, np.arange(75)[None] < 3
SKY = sky.simulated(4, rng())
SERIES = archive.simulated(4, rng())
NOISY = spirals.generate(1, rng()).values.double().numpy()
ANGLES = np.zeros(2)

REFUSED = [
    ("n is 0", lambda: spirals.generate(0, rng())),
    ("observed leaves 3 points of spiral 0; this fit needs 5", lambda: rivals.spline(spirals.GRID[None], NOISY, FEW)),
    ("theta does not ascend", lambda: rivals.spline(spirals.GRID[None, ::-1], NOISY, FEW | True)),
    ("observed leaves 0 points of spiral 0; this fit needs 2",
     lambda: rivals.least_squares(spirals.GRID[None], NOISY, FEW & False)),
    ("n is 0", lambda: curves.generate(0, rng())),
    ("grid is 'ours'; choose one of authors, from-zero, hetvae", lambda: curves.generate(1, rng(), "ours")),
    ("length is 1; a series needs", lambda: sines.generate([[3, NAN]], rng(), 1)),
    ("noise is -1", lambda: sines.generate([[3, NAN]], rng(), 9, -1)),
    ("noise is inf", lambda: sines.generate([[3, NAN]], rng(), 9, INF)),
    ("frequencies has shape (1, 3); it must be (n, 2)", lambda: sines.generate([[1, 2, 3]], rng(), 9)),
    ("frequencies has shape (2,); it must be (n, 2)", lambda: sines.generate([1, 2], rng(), 9)),
    ("frequencies has shape (0, 2)", lambda: sines.generate(np.empty((0, 2)), rng(), 9)),
    ("frequencies holds one that is infinite", lambda: sines.generate([[1, INF]], rng(), 9)),
    ("frequencies holds one that is infinite, or NaN in the first", lambda: sines.generate([[NAN, 1]], rng(), 9)),
    ("top 2.5", lambda: sines.draw(3, rng(), 2.5)),
    ("top -1", lambda: sines.draw(3, rng(), -1)),
    ("n is 0", lambda: sines.draw(0, rng())),
    ("shape is 'saw'; choose one of sine, square, cycloid", lambda: sines.waves("saw", 1, 1, rng(), 9)),
    ("frequency inf", lambda: sines.waves("sine", INF, 1, rng(), 9)),
    ("length is 0", lambda: sines.waves("sine", 1, 1, rng(), 0)),
    ("n is 0", lambda: world.generate(0, rng())),
    ("keep is 101", lambda: world.generate(3, rng(), 101)),
    ("keep is 0", lambda: world.generate(3, rng(), 0)),
    ("share lies in [2.0, 2.0]", lambda: world.film(ANGLES, ANGLES + 2, rng())),
    ("share lies in [-1.0, 0.0]", lambda: world.film(ANGLES, np.array([0.0, -1]), rng())),
    ("share lies in [nan, nan]", lambda: world.film(ANGLES, ANGLES + NAN, rng())),
    ("angle has shape (2,), share (1,)", lambda: world.film(ANGLES, ANGLES[:1], rng())),
    ("angles be finite", lambda: world.film(ANGLES + INF, ANGLES, rng())),
    ("n is 0", lambda: icu.simulated(0, rng())),
    ("n is -1", lambda: icu.simulated(-1, rng())),
    ("density -1", lambda: icu.simulated(1, rng(), -1)),
    ("id is 99999999999; it must be", lambda: icu.pack({99_999_999_999: []})),
    ("id is -5; it must be", lambda: icu.pack({-5: []})),
    ("id is 1.5; it must be", lambda: icu.pack({1.5: []})),
    ("minute, channel, value are [40000.0, 0.0, 1.0]", lambda: icu.pack({1: [(40_000, 0, 1.0)]})),
    ("minute, channel, value are [1.5, 0.0, 1.0]", lambda: icu.pack({1: [(0, 0, 0.0), (1.5, 0, 1.0)]})),
    ("minute, channel, value are [0.0, 41.0, 1.0]", lambda: icu.pack({1: [(0, 41, 1.0)]})),
    ("minute, channel, value are [0.0, 0.0, 1e+39]", lambda: icu.pack({1: [(0, 0, 1e39)]})),
    ("minute, channel, value are [0.0, 0.0, nan]", lambda: icu.pack({1: [(0, 0, NAN)]})),
    ("n is 0", lambda: archive.simulated(0, rng())),
    ("n is -1", lambda: archive.simulated(-1, rng())),
    ("share is 2; it must lie in [0, 1]", lambda: archive.kept(SERIES, 2, rng())),
    ("share is -1; it must lie in [0, 1]", lambda: archive.kept(SERIES, -1, rng())),
    ("share is nan; it must lie in [0, 1]", lambda: archive.kept(SERIES, NAN, rng())),
    ("length is 99; the longest case has 100 steps", lambda: archive.padded(SERIES, 99)),
    ("n is 0", lambda: photographs.simulated(0, rng())),
    ("side 0", lambda: photographs.simulated(1, rng(), side=0)),
    ("classes 11", lambda: photographs.simulated(1, rng(), classes=11)),
    ("n is 0", lambda: sky.simulated(0, rng())),
    ("most is 0", lambda: sky.thinned(SKY, 0)),
    ("most is -1", lambda: sky.thinned(SKY, -1)),
    ("origin is 'now'; choose one of mjd, first, detection", lambda: sky.tokens(SKY, origin="now")),
    ("scaling is 'Asinh'; choose one of none, asinh", lambda: sky.tokens(SKY, scaling="Asinh")),
    ("spread is 'std'; choose one of error, variance", lambda: sky.tokens(SKY, spread="std")),
    (f"object {SKY.ids[0]} has no visits", lambda: sky.tokens(SKY.keep(SKY.owner != 0))),
    ("there are no light curves", lambda: sky.tokens(SKY.take(np.arange(0)))),
]


@pytest.mark.parametrize(("words", "call"), REFUSED, ids=[f"{i}: {words}" for i, (words, _) in enumerate(REFUSED)])
def test_refused_by_name(words, call):
    with pytest.raises(ValueError, match=re.escape(words)):
        call()

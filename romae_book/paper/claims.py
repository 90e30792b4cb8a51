"""Every claim of the paper, in the order of its tables: gathered from a file for each subject."""

from . import (
    elasticc,
    esc50,
    frequencies,
    pendulum,
    physionet,
    position,
    sizes,
    speed,
    spirals,
    synthetic,
    tiny_imagenet,
    uea,
)
from .claim import TABLES

SUBJECTS = (
    elasticc, esc50, frequencies, pendulum, physionet, position, sizes, speed, spirals, synthetic, tiny_imagenet, uea,
)
CLAIMS = tuple(sorted((c for subject in SUBJECTS for c in subject.CLAIMS), key=lambda c: TABLES.index(c.table)))

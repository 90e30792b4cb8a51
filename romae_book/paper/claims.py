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
TOLD = {table: place for place, table in enumerate(TABLES)}
CLAIMS = tuple(sorted((c for s in SUBJECTS for c in s.CLAIMS), key=lambda c: TOLD.get(c.table, len(TOLD))))

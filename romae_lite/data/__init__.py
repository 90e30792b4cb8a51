"""Data sets: generated here, or loaded from what ``data_scripts/`` prepared. One file each."""

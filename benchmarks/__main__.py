"""python -m benchmarks: the same as python benchmarks/speed.py."""

from .speed import main

main()

"""romae_lite: rotary masked autoencoders, small enough to read (arXiv 2505.20535)."""

__version__ = "0.1.0"

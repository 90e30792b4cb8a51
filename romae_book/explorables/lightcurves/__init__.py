"""Measured light curves, played with (chapter 10)."""

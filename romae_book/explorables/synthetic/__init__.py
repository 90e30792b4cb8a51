"""Synthetic irregular series (chapter 06)."""

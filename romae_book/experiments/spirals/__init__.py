"""Spirals (chapter 05)."""

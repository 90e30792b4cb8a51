"""Waves read at odd times (the front page, chapters 00 and 01)."""

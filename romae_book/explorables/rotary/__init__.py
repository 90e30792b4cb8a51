"""Rotary position encoding, played with (chapter 01)."""

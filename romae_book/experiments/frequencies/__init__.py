"""Which frequencies survive (chapter 04)."""

"""PhysioNet 2012 (chapter 07)."""

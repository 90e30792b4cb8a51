"""ESC-50 (Table 3)."""

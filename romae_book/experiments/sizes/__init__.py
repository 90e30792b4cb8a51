"""Parameter counts (Table 8)."""

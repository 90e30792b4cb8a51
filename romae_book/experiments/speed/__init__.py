"""Speed (Table 9)."""

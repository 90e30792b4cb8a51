"""Tiny ImageNet (Table 2)."""

"""Its figure."""

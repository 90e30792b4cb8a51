"""The command line: python -m romae_lite."""

"""Light curves: ELAsTiCC (chapter 10)."""

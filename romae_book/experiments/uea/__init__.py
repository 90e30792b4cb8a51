"""UEA classification (chapter 09)."""

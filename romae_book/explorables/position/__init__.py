"""Positions recovered by [CLS] (chapter 03)."""

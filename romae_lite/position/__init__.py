"""Positions recovered by [CLS] (chapter 02)."""

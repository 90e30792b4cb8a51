"""Figures that answer in the page: Python computes JSON, JavaScript draws it."""

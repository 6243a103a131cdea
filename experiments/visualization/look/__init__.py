"""Colours, sizes and words that figures and pages share, and how figures are written."""

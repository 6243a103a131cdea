"""Colours, sizes, words and file formats that figures and pages share."""

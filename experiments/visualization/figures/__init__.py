"""Figures of runs for publication: one file for each kind of figure, with units and marked events."""

"""Figures of runs for publication: a file for each kind of figure, with units and marked events."""

"""Lookups of the catalogue and the layers above it: plug-ins, names and the look of figures."""

"""Lookups for the catalogue and the layers above it: plug-ins, names, and settings of figures."""

"""Experiments as data; ``experiments.catalogue.registry`` finds them by name."""

"""Experiments as data; ``experiments.catalogue.registry`` has them by name."""

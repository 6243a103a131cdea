"""The experiments: each module has an ``EXPERIMENT``; ``experiments.catalogue.registry`` knows them by name."""

"""The experiments: each module has an ``EXPERIMENT``; ``experiments.registry`` knows them by name."""

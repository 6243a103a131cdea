"""The experiments as data; ``experiments.catalogue.registry`` knows them by name."""

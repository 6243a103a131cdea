"""Experiments with the framework: disturbances, measurements, figures, and the command ``biped``.

``experiments.catalogue.registry`` has the experiments by name; this package itself imports nothing.
"""

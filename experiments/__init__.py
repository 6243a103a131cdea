"""Experiments with the framework: disturbances, measurements, figures, and the command ``biped``.

``experiments.registry`` has the experiments by name; this package itself imports nothing.
"""

"""Experiment 1 of Wendlandt 1997, section 4.3: rise and lean to the side."""

from experiments.catalogue import balancing
from experiments.catalogue.experiment import Experiment

# 15° about −X.
ORIENTATION = (0.99144486, -0.13052619, 0.0, 0.0)

EXPERIMENT = Experiment(
    name="stand-tilted",
    title="the human rises from a crouch and tilts its trunk by 15° to the side",
    source="Wendlandt 1997, 4.3, experiment 1",
    parameters=balancing.parameters((-0.01, 0.0, 1.10), ORIENTATION),
    set_up=balancing.set_up,
    figures=balancing.figures(first=3),
)

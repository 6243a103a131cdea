"""Metrics of this project, one file for each subject, in the order of tables of results."""

# isort: off
from biped.metrics.definitions import verdict
from biped.metrics.definitions import recovery
from biped.metrics.definitions import margins
from biped.metrics.definitions import feet
from biped.metrics.definitions import steps
from biped.metrics.definitions import pressure
from biped.metrics.definitions import ground_reaction
from biped.metrics.definitions import actuation
from biped.metrics.definitions import sway
from biped.metrics.definitions import solver
# isort: on

__all__ = [
    "actuation", "feet", "ground_reaction", "margins", "pressure", "recovery", "solver", "steps", "sway", "verdict",
]  # fmt: skip

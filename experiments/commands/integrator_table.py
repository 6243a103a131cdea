"""All integrators and what each can do, as their classes say."""

from collections.abc import Iterable
from typing import Any

from biped.integrators import INTEGRATORS
from biped.lagrangian import LAGRANGIAN_METHODS

TREES = "trees of joints"
LAGRANGIAN = "Lagrangian systems on a linear space"

#: By heading: the attribute of an integrator that the column shows.
COLUMNS = {
    "name": "name",
    "paper": "paper",
    "coordinates": "coordinates",
    "order": "order",
    "symmetric": "symmetric",
    "symplectic": "symplectic",
    "momentum": "conserves_momentum",
    "energy": "conserves_energy",
    "contact": "takes_contact",
    "moving floor": "takes_moving_floor",
    "loops": "takes_loops",
    "cost": "cost",
}
SYSTEMS = "systems"


def integrator_rows() -> list[dict[str, Any]]:
    """One row an integrator, by heading: those of trees first, then those of Lagrangian systems."""
    return [*_rows(INTEGRATORS.values(), TREES), *_rows(LAGRANGIAN_METHODS.values(), LAGRANGIAN)]


def _rows(integrators: Iterable[Any], systems: str) -> list[dict[str, Any]]:
    return [
        {heading: getattr(integrator, attribute) for heading, attribute in COLUMNS.items()} | {SYSTEMS: systems}
        for integrator in integrators
    ]

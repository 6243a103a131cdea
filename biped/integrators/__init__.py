"""Integrators of trees of bodies, chosen by name; each says what it can do."""

from biped.integrators.composition.integrator import Composition
from biped.integrators.explicit.adaptive import Adaptive
from biped.integrators.explicit.integrators import ExplicitEuler, RungeKutta4, SemiImplicitEuler
from biped.integrators.integrator import Integrator, check_fits
from biped.integrators.lee.integrators import Lee, LeeBroyden, LeeNewton, LeeRiqn, LeeSvi
from biped.integrators.maximal.integrator import Maximal
from biped.integrators.recursive import Recursive
from biped.integrators.registry import INTEGRATORS, integrator_named, settings_of

__all__ = [
    "INTEGRATORS",
    "Adaptive",
    "Composition",
    "ExplicitEuler",
    "Integrator",
    "Lee",
    "LeeBroyden",
    "LeeNewton",
    "LeeRiqn",
    "LeeSvi",
    "Maximal",
    "Recursive",
    "RungeKutta4",
    "SemiImplicitEuler",
    "check_fits",
    "integrator_named",
    "settings_of",
]

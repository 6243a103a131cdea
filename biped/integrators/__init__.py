"""Integrators of trees of bodies, chosen by name, with properties that state their abilities."""

from biped.integrators.explicit.adaptive import Adaptive
from biped.integrators.explicit.integrators import (
    ContinuousTime,
    ExplicitEuler,
    RungeKutta4,
    SemiImplicitEuler,
    buffers_for,
)
from biped.integrators.explicit.kernels.methods import Explicit
from biped.integrators.integrator import Integrator, check_fits
from biped.integrators.lee.integrators import Lee, LeeBroyden, LeeNewton, LeeRiqn
from biped.integrators.maximal.integrator import Maximal
from biped.integrators.midpoint.integrator import Midpoint, ScalableVariational
from biped.integrators.recursive import Recursive
from biped.integrators.registry import INTEGRATORS, integrator_named, register, settings_of
from biped.integrators.rigid.integrator import Rigid

__all__ = [
    "INTEGRATORS", "Adaptive", "ContinuousTime", "Explicit", "ExplicitEuler", "Integrator", "Lee",
    "LeeBroyden", "LeeNewton", "LeeRiqn", "Maximal", "Midpoint", "Recursive", "Rigid", "RungeKutta4",
    "ScalableVariational", "SemiImplicitEuler", "buffers_for", "check_fits", "integrator_named", "settings_of",
]  # fmt: skip

register(
    [
        Recursive(),
        Maximal(),
        Rigid(),
        Midpoint(),
        ScalableVariational(),
        Lee(),
        LeeRiqn(),
        LeeNewton(),
        LeeBroyden(),
        ExplicitEuler(),
        SemiImplicitEuler(),
        RungeKutta4(),
        Adaptive(),
    ]
)

from .examples import double_spherical_pendulum, rigid_body
from .integrate import Trajectory
from .methods import LAGRANGIAN_METHODS, LagrangianMethod, lagrangian_method_named
from .system import Chart, System, rate, rates

__all__ = [
    "LAGRANGIAN_METHODS", "Chart", "LagrangianMethod", "System", "Trajectory", "double_spherical_pendulum",
    "lagrangian_method_named", "rate", "rates", "rigid_body",
]  # fmt: skip

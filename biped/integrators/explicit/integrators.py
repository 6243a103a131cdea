"""Explicit integrators for comparison with the variational ones.

Forces are evaluated at the stages with the contact modes and anchors of the start of the step, which change at its end,
as in all integrators. No step is halved. The energy balance is integrated with the step, so that its residual is the
error of the method.

The floor and joint impedance are stiff and bound the step; variational integrators have no such bound. The figures in
the descriptions are for the human on the thesis's rubber floor (``tests/biped/integrators``). Under a
``JointImpedance`` with its default damping all three need 0.05 ms.
"""

from dataclasses import dataclass
from typing import ClassVar

from biped.integrators.explicit.kernels.flow import Flow, new_flow
from biped.integrators.explicit.kernels.methods import Explicit, euler, runge_kutta_4, semi_implicit_euler
from biped.integrators.explicit.stability import Propagator, longest_stable_step, runge_kutta, semi_implicit
from biped.integrators.integrator import Integrator
from biped.model import Model
from contact import Floor
from contact.arrays import Floats


@dataclass(frozen=True)
class ContinuousTime(Integrator):
    """The base class of integrators of the continuous equations of motion."""

    coordinates: ClassVar[str] = "generalized"
    cost: ClassVar[str] = "O(n)"
    takes_helical_joints: ClassVar[bool] = True


@dataclass(frozen=True)
class FixedStep(ContinuousTime):
    """The base class of explicit integrators with steps of constant length, limited by the stiffness of the floor."""

    propagate: ClassVar[Propagator]

    def stable_step(self, model: Model, q: Floats, floor: Floor) -> float:
        """Return the longest time step [s] expected to be stable while all contact points stick."""
        return longest_stable_step(model, q, floor, type(self).propagate)


@dataclass(frozen=True)
class ExplicitEuler(FixedStep):
    """Euler's method with time step h: q' = q + h v, v' = v + h v̇(q, v). It adds energy to oscillations.

    Rotations are advanced by the exponential map. The human model rises from a crouch correctly with steps of 0.05 ms.
    With steps of 0.1 ms the soles shiver, and with 0.2 ms or more the human falls.
    """

    name: ClassVar[str] = "explicit-euler"
    paper: ClassVar[str] = "Euler 1768"
    order: ClassVar[int] = 1
    propagate: ClassVar[Propagator] = staticmethod(runge_kutta(1))

    def method(self, model: Model) -> Explicit:
        """Return the method for the kernels."""
        return euler(buffers_for(model))


@dataclass(frozen=True)
class SemiImplicitEuler(FixedStep):
    """Semi-implicit Euler method with time step h: v' = v + h v̇(q, v), q' = q + h v', exponential map for rotations.

    It is symplectic only for a constant mass matrix, because it advances velocities instead of momenta: the momentum of
    a model in flight drifts. The human model rises from a crouch correctly with steps of 0.05 ms. With 0.1 and 0.2 ms
    the soles shiver, and with 0.25 ms or more the human falls.
    """

    name: ClassVar[str] = "semi-implicit-euler"
    paper: ClassVar[str] = "de Vogelaere 1956"
    order: ClassVar[int] = 1
    propagate: ClassVar[Propagator] = staticmethod(semi_implicit)

    def method(self, model: Model) -> Explicit:
        """Return the method for the kernels."""
        return semi_implicit_euler(buffers_for(model))


@dataclass(frozen=True)
class RungeKutta4(FixedStep):
    """The classical Runge–Kutta method; quaternions are integrated as four numbers and normalized after each step.

    The human model rises from a crouch correctly with steps of 0.1 ms. With 0.25 ms the soles shiver, and with 0.5 ms
    or more the human falls. While contact points slide, land or lift off, forces are not smooth: the order is lower.
    """

    name: ClassVar[str] = "rk4"
    paper: ClassVar[str] = "Kutta 1901"
    order: ClassVar[int] = 4
    propagate: ClassVar[Propagator] = staticmethod(runge_kutta(4))

    def method(self, model: Model) -> Explicit:
        """Return the method for the kernels."""
        return runge_kutta_4(buffers_for(model))


def buffers_for(model: Model) -> Flow:
    """Return the work arrays of explicit integrators for a model."""
    return new_flow(model.n, model.nq, model.nv, model.nc)

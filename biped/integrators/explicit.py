"""Explicit integrators, to compare with: what users of simulators without variational integrators know."""

from dataclasses import dataclass
from typing import ClassVar

from biped.kernels.explicit import Explicit, euler, runge_kutta_4, semi_implicit_euler
from biped.kernels.flow import Flow, new_flow
from biped.model import Model


@dataclass(frozen=True)
class _Explicit:
    """What they have in common. They have no settings."""

    coordinates: ClassVar[str] = "generalized"
    symmetric: ClassVar[bool] = False
    symplectic: ClassVar[bool] = False
    conserves_momentum: ClassVar[bool] = False
    conserves_energy: ClassVar[bool] = False
    takes_contact: ClassVar[bool] = True
    takes_loops: ClassVar[bool] = False
    cost: ClassVar[str] = "O(n)"


@dataclass(frozen=True)
class ExplicitEuler(_Explicit):
    """q' = q + h v, v' = v + h M⁻¹(τ − C), turns by the exponential. It feeds energy into whatever swings."""

    name: ClassVar[str] = "explicit-euler"
    paper: ClassVar[str] = "Euler 1768"
    order: ClassVar[int] = 1

    def method(self, model: Model) -> Explicit:
        """What the kernels step a tree by."""
        return euler(room_for(model))


@dataclass(frozen=True)
class SemiImplicitEuler(_Explicit):
    """v' = v + h M⁻¹(τ − C), q' = q + h v', turns by the exponential."""

    name: ClassVar[str] = "semi-implicit-euler"
    paper: ClassVar[str] = "de Vogelaere 1956"
    order: ClassVar[int] = 1

    def method(self, model: Model) -> Explicit:
        """What the kernels step a tree by."""
        return semi_implicit_euler(room_for(model))


@dataclass(frozen=True)
class RungeKutta4(_Explicit):
    """The classical Runge–Kutta method, turns as quaternions of four numbers, normalized at the end of a step."""

    name: ClassVar[str] = "rk4"
    paper: ClassVar[str] = "Kutta 1901"
    order: ClassVar[int] = 4

    def method(self, model: Model) -> Explicit:
        """What the kernels step a tree by."""
        return runge_kutta_4(room_for(model))


def room_for(model: Model) -> Flow:
    """Room for the flow of a model."""
    return new_flow(model.n, model.nq, model.nv, model.nc)

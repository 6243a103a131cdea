"""Methods for Lagrangian systems with holonomic constraints, by name, with what each can do.

All are one-step methods in configuration and momentum, (q, p) → (q', p'), with h the step, u = (q' − q)/h the discrete
velocity and, for the variational ones, the discrete Lagrangian 𝕃 of the paper:

    p = −h D₂𝕃(q', q) − Dᵀg(q) h λ,    g(q') = 0,    p' = h D₁𝕃(q', q)
"""

import math
from dataclasses import dataclass
from typing import ClassVar

from biped.errors import InputError

#: The most that makes sense of each.
MOST = {"max_iterations": 1000, "max_backtracks": 60}


@dataclass(frozen=True)
class LagrangianMethod:
    """What all methods share: Newton's method with a line search, to rounding.

    Attributes:
        tolerance: on a step's residual, relative to the momentum and to what rounding leaves of the constraints. What
            is left of it is carried into the next step; where rounding is coarser, as with a chart's difference
            quotients at small steps, Newton's method stops where the residual stops falling.
        max_iterations: Newton iterations before a step is given up.
        max_backtracks: halvings of a Newton step before it is given up.

    Raises:
        InputError: for a value that is out of range.
    """

    name: ClassVar[str]
    title: ClassVar[str]
    paper: ClassVar[str]
    coordinates: ClassVar[str]
    order: ClassVar[int] = 2
    symmetric: ClassVar[bool] = True
    symplectic: ClassVar[bool] = True
    conserves_momentum: ClassVar[bool] = True
    conserves_energy: ClassVar[bool] = False
    takes_contact: ClassVar[bool] = False
    takes_moving_floor: ClassVar[bool] = False
    takes_passive_joints: ClassVar[bool] = False
    takes_helical_joints: ClassVar[bool] = False
    takes_loops: ClassVar[bool] = True
    cost: ClassVar[str] = "O(n³)"

    tolerance: float = 1e-14
    max_iterations: int = 50
    max_backtracks: int = 20

    def __post_init__(self) -> None:
        if not (math.isfinite(self.tolerance) and self.tolerance > 0.0):
            raise InputError(f"tolerance = {self.tolerance!r}: it must be finite and above zero")
        for name, most in MOST.items():
            value = getattr(self, name)
            if not isinstance(value, int) or not 0 <= value <= most:
                raise InputError(f"{name} = {value!r}: it must be a whole number from 0 to {most}")


@dataclass(frozen=True)
class MidpointDVP(LagrangianMethod):
    """𝕃(q', q) = L((q' + q)/2, u) (2.23), which gives (2.28), and with forces at the same place (5.4)."""

    name: ClassVar[str] = "midpoint-dvp"
    title: ClassVar[str] = "discrete variational principle, midpoint rule"
    paper: ClassVar[str] = "Wendlandt 1997, (2.28), (5.4)"
    coordinates: ClassVar[str] = "constrained"


@dataclass(frozen=True)
class FirstOrderDVP(LagrangianMethod):
    """𝕃(q', q) = L(q', u) (2.45): of first order for a general Lagrangian, and explicit for an unconstrained (2.29)."""

    name: ClassVar[str] = "first-order-dvp"
    title: ClassVar[str] = "discrete variational principle, end of the step"
    paper: ClassVar[str] = "Wendlandt 1997, (2.45)"
    coordinates: ClassVar[str] = "constrained"
    order: ClassVar[int] = 1
    symmetric: ClassVar[bool] = False


@dataclass(frozen=True)
class GeneralizedDVP(LagrangianMethod):
    """The midpoint rule between two points of a chart, q = ψ(s): (2.41). Needs ``System.chart``."""

    name: ClassVar[str] = "generalized-dvp"
    title: ClassVar[str] = "discrete variational principle in generalized coordinates"
    paper: ClassVar[str] = "Wendlandt 1997, (2.41)"
    coordinates: ClassVar[str] = "generalized"
    takes_loops: ClassVar[bool] = False


@dataclass(frozen=True)
class Shake(LagrangianMethod):
    """SHAKE (2.32), in its velocity form: 𝕃 = (L(q, u) + L(q', u))/2. Needs a constant mass matrix."""

    name: ClassVar[str] = "shake"
    title: ClassVar[str] = "SHAKE"
    paper: ClassVar[str] = "Ryckaert et al. 1977; Wendlandt 1997, (2.32)"
    coordinates: ClassVar[str] = "constrained"


@dataclass(frozen=True)
class Rattle(LagrangianMethod):
    """RATTLE (2.33) … (2.37): SHAKE whose momenta satisfy the hidden constraints. Needs a constant mass matrix."""

    name: ClassVar[str] = "rattle"
    title: ClassVar[str] = "RATTLE"
    paper: ClassVar[str] = "Andersen 1983; Wendlandt 1997, (2.33) to (2.37)"
    coordinates: ClassVar[str] = "constrained"


@dataclass(frozen=True)
class EnergyMomentum(LagrangianMethod):
    """Gonzalez's discrete gradients of potential and constraints. Needs a constant mass matrix.

    Quadratic functions have their gradient at the middle of the step for one, which gives the algorithm that Wendlandt
    1997 prints after (2.55). Momenta are conserved if the terms of the potential that are not quadratic are written
    in invariants of the group (``System.invariants``), energy always.
    """

    name: ClassVar[str] = "energy-momentum"
    title: ClassVar[str] = "energy-momentum method by discrete gradients"
    paper: ClassVar[str] = "Gonzalez 1996; Wendlandt 1997, after (2.55)"
    coordinates: ClassVar[str] = "constrained"
    symplectic: ClassVar[bool] = False
    conserves_energy: ClassVar[bool] = True


@dataclass(frozen=True)
class RigidEnergyMomentum(LagrangianMethod):
    """The free rigid body: midpoint rule on the momentum in body axes, Cayley's map on the attitude.

    Needs ``System.inertia``, as ``formulations.lagrangian.rigid_body`` has it.
    """

    name: ClassVar[str] = "rigid-energy-momentum"
    title: ClassVar[str] = "energy-momentum method for the free rigid body"
    paper: ClassVar[str] = "Simo and Wong 1991"
    coordinates: ClassVar[str] = "quaternion"
    symplectic: ClassVar[bool] = False
    conserves_energy: ClassVar[bool] = True
    takes_loops: ClassVar[bool] = False
    cost: ClassVar[str] = "O(1)"


#: By name.
LAGRANGIAN_METHODS: dict[str, type[LagrangianMethod]] = {
    method.name: method
    for method in (MidpointDVP, FirstOrderDVP, GeneralizedDVP, Shake, Rattle, EnergyMomentum, RigidEnergyMomentum)
}


def lagrangian_method_named(name: str) -> LagrangianMethod:
    """The method of this name, with its defaults.

    Raises:
        InputError: no method has this name; the message lists those that exist.
    """
    if name not in LAGRANGIAN_METHODS:
        raise InputError(f"unknown method {name!r}; methods are {', '.join(LAGRANGIAN_METHODS)}")
    return LAGRANGIAN_METHODS[name]()

"""Integration methods for Lagrangian systems with holonomic constraints, by name, with their properties.

All are one-step methods in configuration and momentum, (q, p) → (q', p'), with h the step, u = (q' − q)/h the discrete
velocity and, for the variational ones, the discrete Lagrangian 𝕃 of Wendlandt 1997:

    p = −h D₂𝕃(q', q) − Dᵀg(q) h λ,    g(q') = 0,    p' = h D₁𝕃(q', q)

| method | step |
|---|---|
| `midpoint-dvp` | 𝕃(q', q) = L((q' + q)/2, u) (2.23), which gives (2.28), and with forces at the same place (5.4) |
| `first-order-dvp` | 𝕃(q', q) = L(q', u) (2.45): of first order, and explicit for an unconstrained system (2.29) |
| `generalized-dvp` | the midpoint rule between two points of a chart, q = ψ(s): (2.41); needs ``System.chart`` |
| `shake` | SHAKE (2.32), in its velocity form: 𝕃 = (L(q, u) + L(q', u))/2; needs a constant mass matrix |
| `rattle` | RATTLE (2.33) … (2.37): SHAKE whose momenta satisfy the hidden constraints; needs a constant mass matrix |
| `energy-momentum` | Gonzalez's discrete gradients of potential and constraints; needs a constant mass matrix |
| `rigid-energy-momentum` | the free rigid body after Simo and Wong; needs ``System.inertia`` |

``energy-momentum`` conserves energy. For quadratic functions it takes the gradient at the middle of the step, which is
the algorithm after (2.55) of Wendlandt 1997. It conserves momenta if the terms of the potential that are not quadratic
are written in invariants of the symmetry group (``System.invariants``).
"""

from dataclasses import dataclass

from biped.errors import InputError


@dataclass(frozen=True, kw_only=True)
class LagrangianMethod:
    """Integration method for Lagrangian systems, with the properties that tables of integrators show."""

    name: str
    paper: str
    coordinates: str = "constrained"
    order: int = 2
    symmetric: bool = True
    symplectic: bool = True
    conserves_momentum: bool = True
    conserves_energy: bool = False
    takes_contact: bool = False
    takes_moving_floor: bool = False
    takes_passive_joints: bool = False
    takes_helical_joints: bool = False
    takes_loops: bool = True
    cost: str = "O(n³)"


#: Integration methods by name.
LAGRANGIAN_METHODS = {
    method.name: method
    for method in (
        LagrangianMethod(name="midpoint-dvp", paper="Wendlandt 1997, (2.28), (5.4)"),
        LagrangianMethod(name="first-order-dvp", paper="Wendlandt 1997, (2.45)", order=1, symmetric=False),
        LagrangianMethod(
            name="generalized-dvp", paper="Wendlandt 1997, (2.41)", coordinates="generalized", takes_loops=False
        ),
        LagrangianMethod(name="shake", paper="Ryckaert et al. 1977; Wendlandt 1997, (2.32)"),
        LagrangianMethod(name="rattle", paper="Andersen 1983; Wendlandt 1997, (2.33) to (2.37)"),
        LagrangianMethod(
            name="energy-momentum", paper="Gonzalez 1996; Wendlandt 1997, after (2.55)", symplectic=False,
            conserves_energy=True,
        ),
        LagrangianMethod(
            name="rigid-energy-momentum", paper="Simo and Wong 1991", coordinates="quaternion", symplectic=False,
            conserves_energy=True, takes_loops=False, cost="O(1)",
        ),
    )
}  # fmt: skip


def lagrangian_method_named(name: str) -> LagrangianMethod:
    """Return the integration method of this name.

    Raises:
        InputError: no method has this name; the message lists all methods.
    """
    if name not in LAGRANGIAN_METHODS:
        raise InputError(f"unknown method {name!r}: it must be one of {', '.join(LAGRANGIAN_METHODS)}")
    return LAGRANGIAN_METHODS[name]

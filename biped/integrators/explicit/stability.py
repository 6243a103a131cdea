"""The longest stable step of an explicit method on a floor, from its stability region and the model's fastest modes.

The linearization has springs and dampers of the floor, normal and tangential, at all contact points, which stick and
share the weight equally. Gravity, controllers and joint impedance are left out: they are far slower, or bound the step
further.
"""

from collections.abc import Callable

import numpy as np

from biped.dynamics.whole_body import WholeBody
from biped.model import Model
from contact import Floor
from contact.arrays import Floats

#: Growth of a motion in a step that counts as rounding: a free body's modes neither grow nor decay.
ROUNDING = 1e-6
#: [s] Range of the search for the step, and its relative precision.
LEAST, MOST = 1e-9, 1.0
PRECISION = 1e-3

#: A function of the matrix h A of z' = A z, z = (x, v), that returns the matrix of a step.
Propagator = Callable[[Floats], Floats]


def runge_kutta(order: int) -> Propagator:
    """Return the propagator of a method with as many stages as its order, up to four: a truncated exponential."""

    def propagate(scaled: Floats) -> Floats:
        term = total = np.eye(len(scaled))
        for power in range(1, order + 1):
            term = term @ scaled / power
            total = total + term
        return total

    return propagate


def semi_implicit(scaled: Floats) -> Floats:
    """Return the matrix of a semi-implicit step: velocities first, then positions by the new velocities."""
    half = len(scaled) // 2
    step = np.eye(len(scaled)) + scaled
    step[:half] = np.eye(half, 2 * half) + scaled[:half, half:] @ step[half:]
    return step


def longest_stable_step(model: Model, q: Floats, floor: Floor, propagate: Propagator) -> float:
    """Return the longest step [s] for which no motion of the model on its contact points grows, by bisection."""
    motion = linearized(model, q, floor)
    low, high = LEAST, MOST
    while high > low * (1.0 + PRECISION):
        middle = (low * high) ** 0.5
        growth = np.abs(np.linalg.eigvals(propagate(middle * motion))).max()
        low, high = (middle, high) if growth <= 1.0 + ROUNDING else (low, middle)
    return float(low)


def linearized(model: Model, q: Floats, floor: Floor) -> Floats:
    """Return the matrix A (2 nv, 2 nv) of z' = A z about a configuration, z small displacements and velocities."""
    body = WholeBody(model, q)
    jacobian = np.vstack([body.contact_jacobian(point) for point in model.contact_names])
    inverse = np.linalg.inv(body.mass_matrix)
    stiffness, damping = floor.slopes_at(floor.sink(model.total_mass * -model.gravity[2], model.nc))
    springs, dampers = (
        inverse @ jacobian.T @ np.diag(np.tile((tangential, tangential, normal), model.nc)) @ jacobian
        for tangential, normal in ((floor.k_t, stiffness), (floor.b_t, damping))
    )
    zero, identity = np.zeros((model.nv, model.nv)), np.eye(model.nv)
    return np.asarray(np.block([[zero, identity], [-springs, -dampers]]))

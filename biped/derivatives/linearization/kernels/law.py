"""The exact derivative of a sampled law's torques by the state (q, p), from the kernels of the law itself.

By a complex step (``contact.analytic``): one evaluation of the law for each direction, with arrays of complex numbers
in place of its own. Nothing of a law's mathematics is written twice, so that every compiled law has its derivative
whose kernels are analytic where it is taken.
"""

from typing import Any, NamedTuple

import numpy as np

from biped.kernels.loop.closed_loop import control
from biped.kernels.loop.measurement import Measurement
from biped.kernels.state.status import OK
from biped.kernels.tree.dynamics import TreeData, new_tree_data, rates_from_momentum, turn_inertias
from biped.kernels.tree.factorization import new_factors, solve
from biped.kernels.tree.kinematics import Poses, new_poses, place_bodies
from biped.kernels.tree.tree import FLOATING, Tree
from biped.kernels.variational.equations import displace
from contact.arrays import Floats, Integers
from contact.piecewise import Signals
from contact.vectors import copy1
from kernelcache import Entry, Packed, addresses, call, kernel, part

#: So small that its square is nothing beside one.
REACH = 1e-20

# Places of the addresses of parts.
PLACE = 0
MOVE = 1
ASK = 2
PARTS = 3

Complexes = np.ndarray[tuple[int, ...], np.dtype[np.complex128]]


class LawDerivative(NamedTuple):
    """A law that is asked beside a state, and room for it; complex but for where the state is."""

    tree: Tree
    at_q: Floats  # (nq,) where
    at_momentum: Floats  # (nv,)
    poses: Poses  # there
    still: Floats  # (3,) zeros
    q_direction: Floats  # (nv,) unit displacements
    momentum_direction: Floats  # (nv,)
    shift: Complexes  # (3,)
    q: Complexes  # (nq,) as the law sees it, and so on
    momentum: Complexes  # (nv,)
    motion: TreeData
    measurement: Measurement
    torque: Complexes  # (nv,)
    recorded: Complexes
    derivative: Floats  # (nv, 2 nv) ∂(torques)/∂(q, p)
    parts: Integers  # (PARTS,)


def complex_room(value: Any) -> Any:
    """A law, or other named tuples, with complex arrays in place of its own: of the same numbers.

    Functions of time stay as they are, and so does a tree.
    """
    if isinstance(value, (Signals, Tree)):
        return value
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return type(value)(*(complex_room(item) for item in value))
    if isinstance(value, np.ndarray) and value.dtype == np.float64:
        return value.astype(np.complex128)
    return value


def new_law_derivative(tree: Tree, nq: int, nv: int, recorded: int) -> LawDerivative:
    """Room for the derivative of a law that records so many numbers."""
    n, nc = tree.parent.shape[0], tree.contact_body.shape[0]
    z, nan = np.zeros, np.full
    motion = complex_room(new_tree_data(n, nv, nc))
    q = z(nq, dtype=complex)
    # Its factors a law writes over; poses and rates it shares.
    own = motion._replace(factors=complex_room(new_factors(n, nv)))
    unknown = nan((nc, 3), complex(np.nan, np.nan))
    measurement = Measurement(
        tree, z(1), q, own, unknown, z(nc, dtype=np.int64), nan(nv, complex(np.nan)), nan(nv, np.nan), nan(nv, np.nan)
    )
    return LawDerivative(
        tree=tree, at_q=z(nq), at_momentum=z(nv), poses=new_poses(n, nv, nc), still=z(3), q_direction=z(nv),
        momentum_direction=z(nv), shift=z(3, dtype=complex), q=q, momentum=z(nv, dtype=complex), motion=motion,
        measurement=measurement, torque=z(nv, dtype=complex), recorded=z(recorded, dtype=complex),
        derivative=z((nv, 2 * nv)), parts=z(PARTS, dtype=np.int64),
    )  # fmt: skip


@kernel
def displace_state(D):
    """(q ⊕ iε δq, p + iε δp)."""
    step = complex(0.0, REACH)
    displace(D.tree, D.poses, D.at_q, D.still, step, D.q_direction, D.q, D.shift)
    if D.tree.kind[0] == FLOATING:
        for axis in range(3):
            D.q[axis] = D.at_q[axis] + D.shift[axis]
    add_direction(D.at_momentum, D.momentum_direction, D.momentum)


@kernel
def add_direction(at, direction, found):
    for k in range(at.shape[0]):
        found[k] = complex(at[k], REACH * direction[k])


@part
def place_part(D):
    """Poses, inertias and rates of the displaced state."""
    displace_state(D)
    place_bodies(D.tree, D.q, D.motion.poses)
    turn_inertias(D.tree, D.motion.poses, D.motion.inertia)
    rates_from_momentum(D.tree, D.momentum, D.motion)
    return OK


@part
def move_part(D):
    """The rates of another momentum in the same configuration."""
    add_direction(D.at_momentum, D.momentum_direction, D.momentum)
    solve(D.tree, D.motion.poses.motion, D.motion.poses.motion, D.momentum, D.motion.factors, D.motion.rates)
    return OK


@part
def ask_beside(law, D):
    """``control`` for the displaced state."""
    D.torque[:] = 0.0
    control(law, D.measurement, D.torque, D.recorded)
    return OK


class RatesLaw(NamedTuple):
    """A law that asks for the rates M⁻¹ p, so that they are differentiated as laws are."""

    number: int


@control.register(RatesLaw)
def show_rates(law, measurement, torque, recorded):
    copy1(measurement.motion.rates, torque)


@kernel
def point_along(D, column):
    """Displace along one of the 2 nv directions; along none for a column below zero."""
    nv = D.q_direction.shape[0]
    for dof in range(nv):
        D.q_direction[dof] = 1.0 if dof == column else 0.0
        D.momentum_direction[dof] = 1.0 if nv + dof == column else 0.0


@kernel
def take_column(D, column):
    for dof in range(D.torque.shape[0]):
        D.derivative[dof, column] = D.torque[dof].imag / REACH


@kernel
def place_real(D):
    place_bodies(D.tree, D.at_q, D.poses)


@part
def differentiate_law(D, law):
    """Fill ``derivative`` for the state at ``at_q``, ``at_momentum``."""
    place_real(D)
    nv = D.at_momentum.shape[0]
    for column in range(nv):
        point_along(D, column)
        call(D.parts[PLACE], D)
        call(D.parts[ASK], law, D)
        take_column(D, column)
    point_along(D, -1)
    call(D.parts[PLACE], D)
    for column in range(nv, 2 * nv):
        point_along(D, column)
        call(D.parts[MOVE], D)
        call(D.parts[ASK], law, D)
        take_column(D, column)
    return OK


class LawDifferentiator:
    """A law whose derivative is asked for: everything is compiled, or loaded, once it is made."""

    def __init__(self, law: Any, tree: Tree, nq: int, nv: int, recorded: int) -> None:
        self.room = new_law_derivative(tree, nq, nv, recorded)
        room, self._law = Packed(self.room), Packed(complex_room(law))
        self.room.parts[:] = addresses([(place_part, room), (move_part, room), (ask_beside, self._law, room)])
        self._differentiate = Entry(differentiate_law, room, 0)

    def at(self, q: Floats, momentum: Floats, time: float) -> Floats:
        """(nv, 2 nv) ∂(torques)/∂(q, p) there; overwritten by the next; NaN if it looks at the floor's forces."""
        self.room.at_q[:], self.room.at_momentum[:] = q, momentum
        self.room.measurement.time[0] = time
        self._differentiate(self._law.place)
        return self.room.derivative

    @property
    def torque(self) -> Floats:
        """(nv,) [N·m] what the law asked for at the last direction: the same, to rounding, at all of them."""
        return self.room.torque.real

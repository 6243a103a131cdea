"""Measured quantities, and their indices in a row of ``SimulationState.past``."""

from collections.abc import Iterable

import numpy as np

from biped.kernels.loop.measurement import FORCE, NOT_NOISY, SCALAR, TURN
from biped.model import Model
from contact.arrays import Integers


class Row:
    """Indices of the quantities in a row: configuration, velocity, ground reaction forces, contact states."""

    def __init__(self, model: Model) -> None:
        self.model, nq = model, model.nq
        places, self.motion = np.arange(nq + model.nv + 4 * model.nc), np.arange(nq + model.nv)
        coordinates, rates = places[:nq], places[nq : self.motion.size]
        root = 1 if model.is_floating else 0
        self.position, self.orientation, self.angles = np.split(coordinates, (3 * root, 7 * root))
        self.velocity, self.angular_velocity, self.rates = np.split(rates, (3 * root, 6 * root))
        self.contacts = places[self.motion.size :]
        self.forces = self.contacts[: 3 * model.nc]

    @property
    def width(self) -> int:
        """Number of columns."""
        return self.motion.size + self.contacts.size

    def of_joints(self, names: Iterable[str]) -> tuple[Integers, Integers]:
        """Return the indices of angles and rates of these joints, which have one degree of freedom."""
        model = self.model
        pairs = [(model.coordinate(name), model.nq + model.dof(name)) for name in names]
        angles, rates = np.array(pairs, dtype=np.int64).reshape(-1, 2).T
        return angles, rates

    def kinds(self) -> tuple[Integers, Integers]:
        """Return the kind of each number in a row, and its channel of random numbers, one per degree of freedom."""
        tree, nq, nv = self.model.tree, self.model.nq, self.model.nv
        kind, channel = np.full(self.width, NOT_NOISY), np.zeros(self.width, dtype=np.int64)
        kind[nq : self.motion.size], channel[nq : self.motion.size] = SCALAR, nv + np.arange(nv)
        kind[self.forces], channel[self.forces] = FORCE, 3 * nv + np.arange(self.forces.size)
        for q, dof, count in zip(tree.first_q, tree.first_v, tree.dofs, strict=True):
            scalars = (
                3 if count == 6 else count % 3
            )  # a floating root has a position and a quaternion, a ball the latter
            kind[q : q + scalars], channel[q : q + scalars] = SCALAR, dof + np.arange(scalars)
            if count >= 3:
                kind[q + scalars], channel[q + scalars] = TURN, dof + scalars
        return kind, channel

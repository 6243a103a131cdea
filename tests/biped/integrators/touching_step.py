"""A step of a tree whose contact points are in the floor, before it is solved."""

from collections.abc import Callable

import numpy as np

from biped import Model, dynamics
from biped.disturbances import compile_ground
from biped.kernels.state.pushes import new_pushes
from biped.kernels.state.simulation_state import new_simulation_state
from biped.kernels.step.step import prepare
from biped.kernels.variational.equations import new_scratch
from contact import Floor
from contact.modes import SLIDING, STICKING


class TouchingStep:
    """Points of a floating tree are 5 cm deep on average, and slide and stick in turn.

    loose: [m] of the c-th point's anchor from where it is.
    """

    def __init__(self, model: Model, q: np.ndarray, rng: np.random.Generator, loose: Callable[[int], float]) -> None:
        self.model, self.tree = model, model.tree
        self.floor = Floor(mu_s=0.5, mu_d=0.4, b_n=5.0, b_t=5.0)
        self.ground, self.pushes = compile_ground(self.floor, model), new_pushes(0)
        self.arrays = new_simulation_state(model.nq, model.nv, model.nc)
        self.scratch = new_scratch(model.n, model.nq, model.nv, model.nc)
        self.arrays.q[:] = q
        prepare(self.tree, self.arrays, self.scratch)
        contact = self.scratch.motion.poses.contact
        if model.is_floating and model.nc:
            self.arrays.q[2] = -0.05 - contact[:, 2].mean()
        for c in range(model.nc):
            self.arrays.mode[c] = (SLIDING, STICKING)[c % 2]
            self.arrays.anchor[c] = contact[c, :2] + self.arrays.q[:2] + loose(c) * rng.normal(size=2)

    def drive(self, v: np.ndarray, torque: np.ndarray, stiffness: float, damping: float) -> None:
        """Set the momentum of a velocity, torques, and impedances of joints of one degree of freedom."""
        self.arrays.momentum[:] = dynamics.mass_matrix(self.model, self.arrays.q) @ v
        self.arrays.torque[:] = torque
        one = np.repeat(self.tree.dofs == 1, self.tree.dofs)
        self.arrays.stiffness[one], self.arrays.damping[one] = stiffness, damping

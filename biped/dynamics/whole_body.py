"""Quantities of whole-body control at one state: Jacobians, biases, centroidal map, solves."""

from __future__ import annotations

from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from biped.dynamics import Momentum, checked
from biped.errors import InputError
from biped.kernels.tree import dynamics, whole_body
from biped.kernels.tree.dynamics import new_tree_data, set_tree_data
from biped.kernels.tree.factorization import new_factors
from biped.kernels.variational.equations import reference_point
from biped.model import Model
from biped.model.geometry import Vector3
from contact.arrays import Floats

CENTRE: Vector3 = (0.0, 0.0, 0.0)


class WholeBody:
    """Kinematics and dynamics of a model at the configuration q and velocity v; ``Model`` documents both.

    Give a point by its ``body`` and its position ``point`` (3,) [m] from the body's centre of mass, in the body's axes.
    Results are in world axes, linear before angular parts. The mass matrix M, bias forces h, joint torques τ and a
    force f at a point with Jacobian J satisfy M v̇ + h = τ + Jᵀ f. Do not write to the arrays: they are computed once.

    Attributes:
        model: the model, a tree of bodies.
        q: (nq,) configuration.
        v: (nv,) velocity; at rest if not given.

    Raises:
        InputError: an array has a wrong length or is not finite.
        ModelError: a method is called with an unknown body or contact point.
    """

    def __init__(self, model: Model, q: ArrayLike, v: ArrayLike | None = None) -> None:
        self.model = model
        self.q, self.v = checked(q, model.nq, "q"), checked(v, model.nv, "v")
        self._motion = new_tree_data(model.n, model.nv, model.nc)
        set_tree_data(model.tree, self.q, self.v, self._motion)
        whole_body.drift(model.tree, self._motion)
        self._origin = np.array(reference_point(model.tree, self.q))

    # --- points of bodies ---

    def orientation(self, body: str) -> Floats:
        """Return the rotation matrix (3, 3) of a body, body to world."""
        return self._motion.poses.rotation[self.model.body_index(body)].reshape(3, 3)

    def position(self, body: str, point: ArrayLike = CENTRE) -> Floats:
        """Return the position (3,) [m] of a point."""
        return self._origin + self._arm(self.model.body_index(body), point)

    def velocity(self, body: str, point: ArrayLike = CENTRE) -> Floats:
        """Return the velocity (6,) of a point [m/s] and angular velocity of its body [rad/s]: J v."""
        i = self.model.body_index(body)
        return np.array(whole_body.velocity_at(self._motion, i, tuple(self._arm(i, point).tolist())))

    def jacobian(self, body: str, point: ArrayLike = CENTRE) -> Floats:
        """Return the Jacobian J (6, nv) of a point: ``velocity`` = J v."""
        i = self.model.body_index(body)
        return self._jacobian(i, self._arm(i, point))

    def bias(self, body: str, point: ArrayLike = CENTRE) -> Floats:
        """Return J̇ v (6,) [m/s², rad/s²]: the acceleration of a point and of its body at constant v."""
        i = self.model.body_index(body)
        return self._bias(i, self._arm(i, point))

    def contact_position(self, name: str) -> Floats:
        """Return the position (3,) [m] of a contact point."""
        return self._origin + self._motion.poses.contact[self.model.contact_index(name)]

    def contact_jacobian(self, name: str) -> Floats:
        """Return the Jacobian J (3, nv) of a contact point: its velocity is J v, and its force f [N] gives Jᵀ f."""
        c = self.model.contact_index(name)
        return self._jacobian(int(self.model.tree.contact_body[c]), self._motion.poses.contact[c])[:3]

    def contact_bias(self, name: str) -> Floats:
        """Return J̇ v (3,) [m/s²] of a contact point, its acceleration at constant v."""
        c = self.model.contact_index(name)
        return self._bias(int(self.model.tree.contact_body[c]), self._motion.poses.contact[c])[:3]

    # --- the whole tree ---

    @cached_property
    def com(self) -> Floats:
        """Centre of mass, (3,) [m]."""
        return self._origin + dynamics.centre_of_mass(self.model.tree, self._motion.poses)

    @property
    def com_velocity(self) -> Floats:
        """Velocity of the centre of mass, (3,) [m/s]."""
        return self.com_jacobian @ self.v

    @property
    def com_jacobian(self) -> Floats:
        """Jacobian J (3, nv) of the centre of mass, whose velocity is J v."""
        return self.centroidal_map[:3] / self.model.total_mass

    @property
    def com_bias(self) -> Floats:
        """J̇ v of the centre of mass, (3,) [m/s²]: its acceleration at constant v."""
        return self.centroidal_bias[:3] / self.model.total_mass

    @cached_property
    def centroidal_map(self) -> Floats:
        """Centroidal map A (6, nv): (linear momentum, angular momentum about the centre of mass) = A v."""
        result = np.empty((6, self.model.nv))
        whole_body.centroidal_map(self.model.tree, self._motion, result)
        return result

    @cached_property
    def centroidal_bias(self) -> Floats:
        """Ȧ v (6,) [N, N·m]: the rates of the centroidal momenta at constant v."""
        return np.array(whole_body.centroidal_bias(self.model.tree, self._motion))

    @property
    def momentum(self) -> Momentum:
        """Linear momentum, and angular momentum about the centre of mass."""
        both = self.centroidal_map @ self.v
        return Momentum(both[:3], both[3:])

    @cached_property
    def mass_matrix(self) -> Floats:
        """Mass matrix M(q), (nv, nv)."""
        result = np.empty((self.model.nv, self.model.nv))
        dynamics.mass_matrix(self.model.tree, self.q, self._motion, result)
        return result

    @cached_property
    def bias_forces(self) -> Floats:
        """Bias forces h = C(q, v) v + g(q), (nv,): the generalized forces that keep v constant."""
        torque = np.empty(self.model.nv)
        whole_body.bias_forces(self.model.tree, self._motion, torque)
        return torque

    @cached_property
    def gravity_forces(self) -> Floats:
        """Gravity forces g(q), (nv,): the generalized forces that hold the model at rest."""
        torque = np.empty(self.model.nv)
        whole_body.gravity_forces(self.model.tree, self._motion, torque)
        return torque

    def solve(self, load: ArrayLike) -> Floats:
        """Return M⁻¹ ``load`` for (nv,) or the columns of (nv, k); M is factored once, in O(n), and never inverted.

        Raises:
            InputError: ``load`` has a wrong number of rows or is not finite.
        """
        given = np.asarray(load, dtype=float)
        nv = self.model.nv
        if given.ndim not in (1, 2) or given.shape[0] != nv or not np.isfinite(given).all():
            raise InputError(f"load has shape {given.shape}; it must be ({nv},) or ({nv}, k) finite numbers")
        columns = np.ascontiguousarray(given.reshape(nv, -1).T)
        solution = np.empty_like(columns)
        for column, result in zip(columns, solution, strict=True):
            whole_body.solve_factored(self.model.tree, self._factored, column, result)
        return solution.T.reshape(given.shape)

    # --- in what follows, arms are measured from the reference point of the kernels ---

    @cached_property
    def _factored(self) -> dynamics.TreeData:
        """The motion with the mass matrix M factored, in a separate workspace."""
        motion = self._motion._replace(factors=new_factors(self.model.n, self.model.nv))
        whole_body.factorize(self.model.tree, motion)
        return motion

    def _arm(self, i: int, point: ArrayLike) -> Floats:
        poses = self._motion.poses
        return poses.com[i] + poses.rotation[i].reshape(3, 3) @ checked(point, 3, "point")

    def _jacobian(self, i: int, arm: Floats) -> Floats:
        result = np.empty((6, self.model.nv))
        whole_body.point_jacobian(self.model.tree, self._motion.poses, i, tuple(arm.tolist()), result)
        return result

    def _bias(self, i: int, arm: Floats) -> Floats:
        return np.array(whole_body.bias_at(self._motion, i, tuple(arm.tolist())))

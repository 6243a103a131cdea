"""The recursive algorithms for a model: kinematics, inverse and forward dynamics, energy, momentum.

Configurations q and velocities v are those of ``Model``. Positions are those of the bodies' centres of mass in the
inertial frame; velocities are in world axes. Algorithms 3.1 to 3.3 of Wendlandt 1997, in O(n).
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from biped.errors import InputError
from biped.kernels.tree import dynamics as kernels
from biped.kernels.tree.dynamics import TreeData, new_tree_data
from biped.kernels.variational.equations import reference_point
from biped.model import Model
from biped.model.geometry import quaternion_matrix
from contact.arrays import Floats
from contact.capsules import capsule_gap


@dataclass(frozen=True)
class BodyMotion:
    """Poses, velocities and accelerations of the bodies, one row each in the order of ``model.body_names``.

    Attributes:
        position: (n, 3) [m] centres of mass.
        orientation: (n, 4) unit quaternions, scalar first, body to world.
        velocity: (n, 3) [m/s] velocities of the centres of mass.
        angular_velocity: (n, 3) [rad/s] angular velocities, in world axes.
        acceleration: (n, 3) [m/s²] accelerations of the centres of mass.
        angular_acceleration: (n, 3) [rad/s²] angular accelerations, in world axes.
        contact: (nc, 3) [m] positions of the contact points.
    """

    position: Floats
    orientation: Floats
    velocity: Floats
    angular_velocity: Floats
    acceleration: Floats
    angular_acceleration: Floats
    contact: Floats


@dataclass(frozen=True)
class Energy:
    """Kinetic and potential energy [J]; potential energy is zero if the centre of mass is at the world's origin."""

    kinetic: float
    potential: float

    @property
    def total(self) -> float:
        """Sum of kinetic and potential energy [J]."""
        return self.kinetic + self.potential


@dataclass(frozen=True)
class Momentum:
    """Momentum of the whole model: linear (3,) [N·s], angular (3,) [N·m·s] about its centre of mass; in world axes."""

    linear: Floats
    angular: Floats


def forward_kinematics(
    model: Model, q: ArrayLike, v: ArrayLike | None = None, acceleration: ArrayLike | None = None
) -> BodyMotion:
    """Return poses, velocities and accelerations of all bodies (Wendlandt 1997, Algorithm 3.1).

    Args:
        model: the model, a tree of bodies.
        q: (nq,) configuration.
        v: (nv,) velocity; at rest if not given.
        acceleration: (nv,) rate of change of v; zero if not given.

    Raises:
        InputError: an array has a wrong length or is not finite.
    """
    motion = _moving(model, q, v)
    kernels.accelerate_tree(model.tree, motion, checked(acceleration, model.nv, "acceleration"))
    origin = np.asarray(reference_point(model.tree, checked(q, model.nq, "q")))
    arm, spin, turn = motion.poses.com, motion.velocity[:, 3:], motion.acceleration[:, 3:]
    velocity = motion.velocity[:, :3] + np.cross(spin, arm)
    return BodyMotion(
        position=origin + arm,
        orientation=motion.poses.quaternion,
        velocity=velocity,
        angular_velocity=spin,
        acceleration=motion.acceleration[:, :3] + np.cross(turn, arm) + np.cross(spin, velocity),
        angular_acceleration=turn,
        contact=origin + motion.poses.contact,
    )


def joint_place(model: Model, placed: BodyMotion, body: int) -> Floats:
    """Return the world position (3,) [m] of the joint that carries body number ``body``, for the poses ``placed``."""
    place: Floats = placed.position[body] - quaternion_matrix(placed.orientation[body]) @ model.bodies[body].com
    return place


def body_gaps(model: Model, q: ArrayLike) -> dict[tuple[str, str], float]:
    """Return the gap [m] of each pair of bodies that may touch (``Model.touching``), negative if they overlap.

    Raises:
        InputError: q has a wrong length or is not finite.
    """
    solids: dict[str, list[Any]] = {name: [] for name in model.body_names}
    poses = _moving(model, q, None).poses
    for capsule in model.capsules:
        i = model.body_index(capsule.body)
        turn = poses.rotation[i].reshape(3, 3)
        center = poses.com[i] + turn @ np.subtract(capsule.center, model.bodies[i].com)
        solids[capsule.body].append((center, turn @ capsule.half, capsule.radius))
    return {
        (first, second): min((capsule_gap(*pair)[0] for pair in product(solids[first], solids[second])), default=np.inf)
        for first, second in model.touching
    }


def inverse_dynamics(
    model: Model, q: ArrayLike, v: ArrayLike, acceleration: ArrayLike, external: ArrayLike | None = None
) -> Floats:
    """Return the generalized forces (nv,) that cause an acceleration (Wendlandt 1997, Algorithm 3.2).

    Args:
        model: the model, a tree of bodies.
        q: (nq,) configuration.
        v: (nv,) velocity.
        acceleration: (nv,) rate of change of v.
        external: (n, 6) forces [N] and moments [N·m] on bodies, at their centres of mass, besides gravity; None: zero.

    Raises:
        InputError: an array has a wrong length or is not finite.
    """
    torque = np.zeros(model.nv)
    arrays = checked(q, model.nq, "q"), checked(v, model.nv, "v"), checked(acceleration, model.nv, "acceleration")
    kernels.inverse_dynamics(model.tree, *arrays, _wrenches(model, external), _buffers(model), torque)
    return torque


def forward_dynamics(
    model: Model, q: ArrayLike, v: ArrayLike, torque: ArrayLike, external: ArrayLike | None = None
) -> Floats:
    """Return the acceleration (nv,) caused by generalized forces ``torque`` (nv,) (Wendlandt 1997, Algorithm 3.3).

    The effort is O(n) for n bodies. See ``inverse_dynamics`` for the other arguments.

    Raises:
        InputError: an array has a wrong length or is not finite.
        ModelError: the model has joints that close loops, whose forces would be missing.
    """
    model.check_tree("forward dynamics")
    acceleration = np.zeros(model.nv)
    arrays = checked(q, model.nq, "q"), checked(v, model.nv, "v"), checked(torque, model.nv, "torque")
    kernels.forward_dynamics(model.tree, *arrays, _wrenches(model, external), _buffers(model), acceleration)
    return acceleration


def mass_matrix(model: Model, q: ArrayLike) -> Floats:
    """Return the mass matrix M(q), (nv, nv)."""
    matrix = np.zeros((model.nv, model.nv))
    kernels.mass_matrix(model.tree, checked(q, model.nq, "q"), _buffers(model), matrix)
    return matrix


def energy(model: Model, q: ArrayLike, v: ArrayLike) -> Energy:
    """Return kinetic and potential energy at configuration q (nq,) and velocity v (nv,)."""
    motion = _moving(model, q, v)
    origin = reference_point(model.tree, checked(q, model.nq, "q"))
    kinetic = kernels.kinetic_energy(model.tree, motion)
    return Energy(float(kinetic), float(kernels.potential_energy(model.tree, motion.poses, origin)))


def momentum(model: Model, q: ArrayLike, v: ArrayLike) -> Momentum:
    """Return linear and angular momentum of the whole model at configuration q (nq,) and velocity v (nv,)."""
    motion = _moving(model, q, v)
    linear, angular = kernels.momentum_about_reference(model.tree, motion)
    com = kernels.centre_of_mass(model.tree, motion.poses)
    return Momentum(np.array(linear), np.array(angular) - np.cross(com, linear))


def centre_of_mass(model: Model, q: ArrayLike) -> Floats:
    """Return the centre of mass (3,) [m] of the whole model at configuration q (nq,)."""
    motion = _moving(model, q, None)
    origin = reference_point(model.tree, checked(q, model.nq, "q"))
    return np.add(origin, kernels.centre_of_mass(model.tree, motion.poses))


def _buffers(model: Model) -> TreeData:
    return new_tree_data(model.n, model.nv, model.nc)


def _moving(model: Model, q: ArrayLike, v: ArrayLike | None) -> TreeData:
    motion = _buffers(model)
    kernels.set_tree_data(model.tree, checked(q, model.nq, "q"), checked(v, model.nv, "v"), motion)
    return motion


def _wrenches(model: Model, external: ArrayLike | None) -> Floats:
    if external is None:
        return np.zeros((model.n, 6))
    wrenches = np.ascontiguousarray(external, dtype=float)
    if wrenches.shape != (model.n, 6) or not np.all(np.isfinite(wrenches)):
        what = "force [N] on each body and moment [N·m] about its centre of mass, world axes"
        raise InputError(f"external: it must be ({model.n}, 6) finite numbers: {what}")
    return wrenches


def checked(value: ArrayLike | None, length: int, what: str) -> Floats:
    """Return ``value`` as an array (length,) of finite numbers; zeros for None.

    Raises:
        InputError: the value has a wrong length or is not finite; the message calls the value ``what``.
    """
    if value is None:
        return np.zeros(length)
    array = np.ascontiguousarray(value, dtype=float)
    if array.shape != (length,):
        raise InputError(f"{what} has shape {array.shape}; it must be ({length},)")
    if not np.all(np.isfinite(array)):
        raise InputError(f"{what} has numbers that are not finite")
    return array

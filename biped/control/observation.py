"""Observations: the simulated system as a controller sees it, and the numbers that a controller records."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple

import numpy as np

from biped.dynamics.whole_body import WholeBody
from biped.errors import InputError
from biped.kernels.loop.measurement import Measurement
from biped.model import Model
from biped.model.errors import unknown
from biped.model.geometry import matrix_rpy, quaternion_matrix
from contact.arrays import Floats, Integers


class JointPlaces(NamedTuple):
    """Indices of the joints with one degree of freedom, in the order of ``model.joint_names``, and of all joints."""

    coordinates: Integers  # indices in a configuration
    dofs: Integers  # indices in a velocity
    driven: Integers  # indices in a velocity, with spherical joints: all but a floating root's


def joint_places(model: Model) -> JointPlaces:
    """Return the indices of a model's joints in its vectors, computed once."""
    return model.once(_places)


def _places(model: Model) -> JointPlaces:
    coordinates, dofs = ([of(name) for name in model.joint_names] for of in (model.coordinate, model.dof))
    driven = np.arange(model.root.joint.nv if model.is_floating else 0, model.nv, dtype=np.int64)
    return JointPlaces(np.array(coordinates, dtype=np.int64), np.array(dofs, dtype=np.int64), driven)


def torque_places(model: Model, torques: Floats, whose: str) -> Integers:
    """Return the indices of ``torques`` in a vector of all degrees of freedom.

    Raises:
        InputError: the number of torques is neither that of ``dofs`` nor that of ``driven`` in ``JointPlaces``.
    """
    _, dofs, driven = joint_places(model)
    if torques.shape == driven.shape:
        return driven
    if torques.shape == dofs.shape:
        return dofs
    shapes = f"({len(dofs)},), one torque for each joint"
    if len(driven) != len(dofs):
        shapes += f" of one degree of freedom, or ({len(driven)},), one for each degree of freedom"
    raise InputError(f"{whose} torques have shape {torques.shape}; it must be {shapes}")


class Recorder:
    """The numbers that a controller records; ``columns`` maps names to indices of ``numbers``."""

    def __init__(self, names: Mapping[str, str], numbers: Floats) -> None:
        self.columns = {name: place for place, name in enumerate(names)}
        self.numbers = numbers

    def put(self, name: str, value: float) -> None:
        """Record ``value`` under a name.

        Raises:
            InputError: the name is unknown, or the value is not a number.
        """
        place = self.columns.get(name)
        if place is None:
            raise InputError(
                f"{unknown('recorded number', name, self.columns)}: the controller's `recorded` names them"
            )
        try:
            self.numbers[place] = value
        except (TypeError, ValueError):
            raise InputError(f"record({name}={value!r}): it must be one number") from None


@dataclass(frozen=True)
class Observation:
    """The simulated system as a controller sees it; all arrays are copies.

    Configuration, velocity and contacts are sensor values (``biped.Sensors``). Torques are exact; in an observation
    made by hand they are empty unless given.

    Attributes:
        model: the model as the controller knows it, without the loads of ``biped.Load``.
        time: [s] simulated time.
        q: (nq,) configuration; see ``Model``.
        v: (nv,) velocity; see ``Model``.
        contact_forces: (nc, 3) [N] ground reaction force on each contact point in the last time step, world axes, in
            the order of ``model.contact_names``.
        contact_modes: (nc,) state of each contact point at the end of the last time step, a ``contact.ContactState``.
        torques: (joints,) [N·m] or [N] torques of the actuators since the last control tick; with spherical joints, one
            for each degree of freedom of all joints.
        recorder: object in which ``record`` stores values; None outside of a run.
    """

    model: Model
    time: float
    q: Floats
    v: Floats
    contact_forces: Floats = field(default_factory=lambda: np.zeros((0, 3)))
    contact_modes: Integers = field(default_factory=lambda: np.zeros(0, dtype=np.int64))
    torques: Floats = field(default_factory=lambda: np.zeros(0))
    recorder: Recorder | None = field(default=None, repr=False, compare=False)

    @classmethod
    def of(cls, model: Model, measurement: Measurement, recorder: Recorder | None) -> "Observation":
        """Return copies of the kernels' measurement as an observation."""
        held = measurement.held[joint_places(model).driven]
        q, v = measurement.q.copy(), measurement.motion.rates.copy()
        forces, modes = measurement.force[: model.nc].copy(), measurement.contact_state[: model.nc].copy()
        return cls(model, float(measurement.time[0]), q, v, forces, modes, held, recorder)

    @property
    def position(self) -> Floats:
        """Position of the centre of mass of a floating root, (3,) [m], world axes."""
        return self.q[0:3]

    @property
    def orientation(self) -> Floats:
        """Unit quaternion of a floating root, (4,), scalar first, body to world."""
        return self.q[3:7]

    @property
    def velocity(self) -> Floats:
        """Velocity of a floating root's centre of mass, (3,) [m/s], world axes."""
        return self.v[0:3]

    @property
    def angular_velocity(self) -> Floats:
        """Angular velocity of a floating root, (3,) [rad/s], world axes."""
        return self.v[3:6]

    @property
    def angles(self) -> Floats:
        """Coordinates of the joints with one degree of freedom, in the order of ``model.joint_names`` [rad or m]."""
        return self.q[joint_places(self.model).coordinates]

    @property
    def rates(self) -> Floats:
        """Rates of the joints' coordinates, in the order of ``angles`` [rad/s or m/s]."""
        return self.v[joint_places(self.model).dofs]

    @property
    def rpy(self) -> Floats:
        """Roll, pitch and yaw of a floating root, (3,) [rad]: turns about the fixed axes x, y and z, in this order."""
        return np.array(matrix_rpy(quaternion_matrix(self.orientation).tolist()))

    @property
    def com(self) -> Floats:
        """Centre of mass of the whole model, (3,) [m], world axes."""
        return self.whole_body.com

    @property
    def com_velocity(self) -> Floats:
        """Velocity of the centre of mass of the whole model, (3,) [m/s], world axes."""
        return self.whole_body.com_velocity

    @property
    def centre_of_pressure(self) -> Floats | None:
        """Centre of pressure on a level floor, (3,) [m]; None without vertical ground reaction force.

        It is the mean of the contact points, weighted by their vertical forces in the last time step.
        """
        normal = np.maximum(self.contact_forces[:, 2], 0.0)
        if not normal.any():
            return None
        points = np.array([self.whole_body.contact_position(name) for name in self.model.contact_names])
        mean: Floats = normal @ points / normal.sum()
        return mean

    @cached_property
    def whole_body(self) -> WholeBody:
        """Jacobians, biases, centroidal map, mass matrix and solves of this state, each computed at first use."""
        return WholeBody(self.model, self.q, self.v)

    def record(self, **numbers: float) -> None:
        """Record numbers in the run's rows until the next call; without effect outside of a run.

        Raises:
            InputError: a name is not in the controller's ``recorded``, or a value is not a number.
        """
        if self.recorder is not None:
            for name, value in numbers.items():
                self.recorder.put(name, value)

"""Terms of a policy's observation, with the names of Isaac Lab and mjlab."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from biped.control.observation import Observation
from biped.model.geometry import quaternion_matrix
from contact.arrays import Floats
from contact.vectors import cross


class Imu(NamedTuple):
    """Inertial measurement unit: a body and a point of it, from its centre of mass in its axes [m]."""

    body: str
    point: Floats


class Gait(NamedTuple):
    """Clock of a gait: phases of the legs, in periods."""

    period: float  # [s]
    offsets: Floats  # (legs,) phases at the start
    standing: Floats | None  # (legs,) phases while no motion is commanded; None: the clock runs always

    def stands(self, command: Floats) -> bool:
        """Return True if the clock stands still at this commanded velocity."""
        return self.standing is not None and math.hypot(*command) < 0.01


@dataclass(frozen=True)
class TermInputs:
    """Inputs of the terms of an observation, at one time."""

    observation: Observation
    time: float  # [s] since the start of the policy
    imu: Imu
    gait: Gait | None
    command: Floats  # (3,) velocity forward and to the left [m/s], turn rate [rad/s]
    angles: Floats  # (n,) [rad] of the policy's joints, minus its default posture
    rates: Floats  # (n,) [rad/s]
    action: Floats  # (n,) last output of the network

    @cached_property
    def axes(self) -> Floats:
        """Rotation from the IMU's axes to world axes, (3, 3)."""
        if self.is_on_root:
            return quaternion_matrix(self.observation.orientation)
        return self.observation.whole_body.orientation(self.imu.body)

    @property
    def is_on_root(self) -> bool:
        """True if the IMU is on the root, whose motion needs no kinematics."""
        return self.imu.body == self.observation.model.root.name

    @cached_property
    def phases(self) -> Floats:
        """Phases of the legs, (legs,) [rad]."""
        gait = self.gait
        assert gait is not None
        if gait.standing is not None and gait.stands(self.command):
            return 2.0 * np.pi * gait.standing
        return 2.0 * np.pi * (self.time / gait.period + gait.offsets)

    def linear_velocity(self) -> Floats:
        """Return the velocity of the IMU in its axes, (3,) [m/s]."""
        if self.is_on_root:
            turning = cross(self.angular_velocity().tolist(), self.imu.point.tolist())  # much faster than np.cross
            return self.axes.T @ self.observation.velocity + turning
        return self.axes.T @ self.observation.whole_body.velocity(self.imu.body, self.imu.point)[:3]

    def angular_velocity(self) -> Floats:
        """Return the angular velocity of the IMU in its axes, (3,) [rad/s]."""
        if self.is_on_root:
            return self.axes.T @ self.observation.angular_velocity
        return self.axes.T @ self.observation.whole_body.velocity(self.imu.body)[3:]


TERMS: dict[str, Callable[[TermInputs], Floats]] = {
    "base_lin_vel": TermInputs.linear_velocity,
    "base_ang_vel": TermInputs.angular_velocity,
    "projected_gravity": lambda seen: -seen.axes[2],
    "command": lambda seen: seen.command,
    "command_lin_vel": lambda seen: seen.command[:2],
    "command_ang_vel": lambda seen: seen.command[2:],
    "joint_pos": lambda seen: seen.angles,
    "joint_vel": lambda seen: seen.rates,
    "last_action": lambda seen: seen.action,
    "phase_cos": lambda seen: np.cos(seen.phases),
    "phase_sin": lambda seen: np.sin(seen.phases),
}
#: Other names of terms, of mjlab, Isaac Lab and holosoma.
ALIASES = {
    "actions": "last_action", "velocity_commands": "command", "twist": "command", "joint_pos_rel": "joint_pos",
    "joint_vel_rel": "joint_vel", "dof_pos": "joint_pos", "dof_vel": "joint_vel", "sin_phase": "phase_sin",
    "cos_phase": "phase_cos",
}  # fmt: skip


class Term(NamedTuple):
    """A term of the observation."""

    name: str
    scale: Floats  # one factor, or one for each number
    history: int  # number of values, of the last calls; oldest first

"""Stance of a person as a posture of a model: knee flexion, stance width, foot angle and lean.

The terms and signs are those of the field. The lean of the body is the angle from the vertical of the line from the
midpoint of the ankles to the centre of mass, anterior positive. The foot angle is the outward rotation of each foot
(toe-out).
"""

import math
from dataclasses import dataclass

import numpy as np

from biped.dynamics import forward_kinematics, joint_place
from biped.dynamics.whole_body import WholeBody
from biped.errors import InputError
from biped.inputs.checks import is_finite
from biped.model import Model
from biped.model.geometry import quaternion_matrix, rotation_about
from biped.runs.postures import has_human_legs, with_loops_closed
from biped.runs.state import State
from contact import RUBBER, Floor
from contact.arrays import Floats

#: [rad] Default knee flexion: almost straight legs that can still extend.
KNEES = math.radians(10.0)
#: [rad] Default lean; the human's centre of mass is then 5 cm in front of its ankles.
LEAN = math.radians(3.0)
#: Joints of a leg whose angles are equal on both sides, and joints whose angles have opposite signs.
_PITCH = ("hip_pitch", "knee_pitch", "ankle_pitch")
_MIRRORED = ("hip_roll", "hip_yaw", "ankle_roll")
#: Newton's method: number of iterations, and tolerance [m or rad].
_ITERATIONS, _TOLERANCE = 50, 1e-12
#: [rad or m] Step of the finite differences in the Jacobian.
_DIFFERENCE = 1e-6


@dataclass(frozen=True)
class Stance:
    """A symmetric posture: trunk upright, soles flat on the floor, equal knee flexion.

    Attributes:
        knees: [rad] flexion of the knees, 0 for straight legs.
        width: [m] lateral distance between the ankle centres; None: as in the home configuration.
        foot_angle: [rad] angle of each foot from the forward direction, toe-out positive.
        lean: [rad] angle from the vertical of the line from the midpoint of the ankles to the centre of mass, anterior
            positive.

    Raises:
        InputError: a number is not finite, or outside of the human's range of motion.
    """

    knees: float = KNEES
    width: float | None = None
    foot_angle: float = 0.0
    lean: float = LEAN

    def __post_init__(self) -> None:
        most = {"knees": (1e-3, 2.0), "foot_angle": (-0.8, 0.8), "lean": (-0.5, 0.5)}
        for name, (low, high) in most.items():
            value = getattr(self, name)
            if not (is_finite(value) and low <= value <= high):
                least, greatest = math.degrees(low), math.degrees(high)
                raise InputError(f"stance.{name} = {value!r} rad: it must be from {least:.2g}° to {greatest:.0f}°")
        if self.width is not None and not (is_finite(self.width) and self.width > 0.0):
            raise InputError(f"stance.width = {self.width!r}: the distance between the ankles must be above zero [m]")

    def state(self, model: Model, floor: Floor = RUBBER) -> State:
        """Return the model at rest in this stance: ankles' midpoint as at home, soles pressed down by the weight.

        Raises:
            InputError: the model has legs other than the human's, the legs do not reach the stance, or the centre of
                mass would not be over the feet.
        """
        return State.at(model, self.configuration(model, floor))

    def configuration(self, model: Model, floor: Floor = RUBBER) -> Floats:
        """Return the configuration (nq,) of the stance; raise the errors of ``state``."""
        return model.once(_configuration, self, floor).copy()


def _configuration(model: Model, stance: Stance, floor: Floor) -> Floats:
    if not has_human_legs(model):
        raise InputError(
            f"model {model.name!r} has other legs than human(): give its posture by "
            "State.at(model, model.configuration(position, orientation, angles))"
        )
    legs = _Legs(model, stance, floor)
    x = legs.guess()
    for _ in range(_ITERATIONS):
        missed = legs.missed(x)
        if np.abs(missed).max() < _TOLERANCE:
            break
        columns = [(legs.missed(x + step) - missed) / _DIFFERENCE for step in _DIFFERENCE * np.eye(len(x))]
        change = np.linalg.solve(np.array(columns).T, missed)
        x = x - np.clip(change, -0.3, 0.3)
    else:
        raise InputError(f"the legs of {model.name!r} do not reach this stance: {stance}")
    q = legs.configuration(x)
    _check_over_feet(model, q, stance)
    return with_loops_closed(model, q)


class _Legs:
    """Equations of a stance: errors of the left foot's pose and of the lean; the right leg mirrors the left."""

    def __init__(self, model: Model, stance: Stance, floor: Floor) -> None:
        self.model, self.stance = model, stance
        self.foot = model.body_index("left_foot")
        self.ahead, self.aside = np.array(model.facing), np.array(model.left)
        home = self._ankle(model.configuration())
        sunk = floor.sink(model.total_mass * -model.gravity[2], model.nc)
        self.middle = home - (home @ self.aside) * self.aside - np.array([0.0, 0.0, sunk])
        width = 2.0 * float(home @ self.aside) if stance.width is None else stance.width
        self.ankle = self.middle + width / 2.0 * self.aside
        self.turn = np.reshape(rotation_about((0.0, 0.0, 1.0), stance.foot_angle), (3, 3))
        self.splay = width / 2.0 - float(home @ self.aside)

    def guess(self) -> Floats:
        """Return (7,) hip, ankle pitch; hip roll, hip yaw, ankle roll; forward position of the trunk and its height."""
        knee, height = self.stance.knees, float(self.model.home_positions[0][2])
        leg = float(self.model.home_positions[self.model.body_index("left_thigh")][2])
        roll = math.copysign(math.asin(min(abs(self.splay) / leg, 0.9)), self.splay)
        return np.array([knee / 2, knee / 2, roll, self.stance.foot_angle, -roll, 0.0, height])

    def configuration(self, x: Floats) -> Floats:
        """Return the configuration (nq,) for the unknowns ``x`` (7,)."""
        pitch = (x[0], -self.stance.knees, x[1])
        angles = {f"{side}_{joint}": float(angle) for side in ("left", "right")
                  for joint, angle in zip(_PITCH, pitch, strict=True)}  # fmt: skip
        for side, sign in (("left", 1.0), ("right", -1.0)):
            angles |= {f"{side}_{joint}": sign * float(angle) for joint, angle in zip(_MIRRORED, x[2:5], strict=True)}
        place = x[5] * self.ahead + np.array([0.0, 0.0, x[6]])
        return self.model.configuration(tuple(place), angles=angles)

    def missed(self, x: Floats) -> Floats:
        """Return the errors (7,) [m, rad]."""
        q = self.configuration(x)
        placed = forward_kinematics(self.model, q)
        R = quaternion_matrix(placed.orientation[self.foot]) @ self.turn.T
        com = WholeBody(self.model, q).com - self.middle
        tilt = math.atan2(float(com @ self.ahead), float(com[2])) - self.stance.lean
        return np.array([*(self._ankle(q) - self.ankle), R[2, 1], R[0, 2], R[1, 0], tilt])

    def _ankle(self, q: Floats) -> Floats:
        """Return the position (3,) [m] of the left ankle."""
        return joint_place(self.model, forward_kinematics(self.model, q), self.foot)


def _check_over_feet(model: Model, q: Floats, stance: Stance) -> None:
    ahead = np.array(model.facing)
    along = forward_kinematics(model, q).contact @ ahead
    at = float(WholeBody(model, q).com @ ahead)
    if not along.min() < at < along.max():
        end = "in front of the toes" if at > 0.0 else "behind the heels"
        raise InputError(
            f"stance.lean = {math.degrees(stance.lean):.3g}°: the centre of mass would be {end}: use a smaller lean"
        )

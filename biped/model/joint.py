"""Joints between a body and its parent."""

import math
from dataclasses import dataclass
from typing import Literal, get_args

from biped.kernels.tree import tree
from biped.model.errors import ModelError, unknown
from biped.model.geometry import Vector3, name_of, number, number_or_infinite, unit, vector3

Kind = Literal["revolute", "prismatic", "helical", "spherical", "floating", "fixed"]

KINDS: tuple[str, ...] = get_args(Kind)

_ZERO: Vector3 = (0.0, 0.0, 0.0)
_CODES = {
    "revolute": tree.REVOLUTE,
    "prismatic": tree.PRISMATIC,
    "helical": tree.REVOLUTE,  # a hinge that has a pitch
    "spherical": tree.SPHERICAL,
    "floating": tree.FLOATING,
}
_COORDINATES = {"revolute": 1, "prismatic": 1, "helical": 1, "spherical": 4, "floating": 7, "fixed": 0}
#: Properties of a joint in addition to its geometry, with the values that mean none.
PASSIVE = {
    "lower": -math.inf, "upper": math.inf, "max_velocity": math.inf, "max_effort": math.inf,
    "damping": 0.0, "friction": 0.0, "armature": 0.0,
}  # fmt: skip
_DOFS = {"revolute": 1, "prismatic": 1, "helical": 1, "spherical": 3, "floating": 6, "fixed": 0}


@dataclass(frozen=True)
class Joint:
    """A joint that connects a body to its parent or to the ground.

    Attributes:
        name: name, unique among the joints of a model.
        kind: ``"revolute"``, ``"prismatic"``, ``"helical"``, ``"spherical"``, ``"floating"`` or ``"fixed"``.
        axis: axis of a revolute, prismatic or helical joint, in the inertial frame in the home configuration (all
            joints at zero); normalized. Zero for other kinds.
        position: [m] position of the joint in the parent's link frame, which has its origin at the parent's joint and
            is parallel to the inertial frame in the home configuration. Without a parent: in the inertial frame.
        lower: [rad or m] lower limit of the position; −∞: none. Beyond a limit, a spring and a damper act; they yield
            by 1° or 1 mm under ``max_effort`` or, if it is infinite, the model's weight (for hinges, times 0.1 m).
        upper: [rad or m] upper limit of the position; ∞: none.
        max_velocity: [rad/s or m/s] speed limit in both directions; ∞: none. A damper brakes faster motion, at 1.05
            times the limit with ``max_effort`` or, if it is infinite, the weight (for hinges, times 0.1 m).
        max_effort: [N·m or N] largest torque or force of the joint's actuator in either direction; ∞: unlimited.
        damping: [N·m·s/rad or N·s/m] viscous damping of the joint's bearings.
        friction: [N·m or N] dry friction of the joint's bearings.
        armature: [kg m² or kg] inertia of the motor's rotor times the square of the gear ratio.
        pitch: [m/rad] pitch of a helical joint along its axis; its sign gives the handedness of the screw. Zero for
            other kinds.

    Raises:
        ModelError: the kind is unknown; the axis is missing or zero; a number is invalid; ``lower`` exceeds ``upper``;
            an axis, limits, damping, friction, armature or a pitch are not supported by this kind, or a helical joint
            has no pitch.
    """

    name: str
    kind: Kind
    axis: Vector3 = _ZERO
    position: Vector3 = _ZERO
    lower: float = -math.inf
    upper: float = math.inf
    max_velocity: float = math.inf
    max_effort: float = math.inf
    damping: float = 0.0
    friction: float = 0.0
    armature: float = 0.0
    pitch: float = 0.0

    def __post_init__(self) -> None:
        name_of(self.name, "a joint")
        if self.kind not in KINDS:
            raise unknown("joint kind", self.kind, KINDS)
        object.__setattr__(self, "axis", self._checked_axis())
        object.__setattr__(self, "position", vector3(self.position, f"joint {self.name!r}: position"))
        self._check_passive()
        self._check_pitch()

    def _checked_axis(self) -> Vector3:
        what = f"joint {self.name!r}: axis"
        if self.has_axis:
            return unit(self.axis, what)
        if vector3(self.axis, what) != _ZERO:
            raise ModelError(f"{what} {self.axis!r} must be left out: a {self.kind} joint has no axis")
        return _ZERO

    def _check_passive(self) -> None:
        for field, default in PASSIVE.items():
            value = number_or_infinite(getattr(self, field), f"joint {self.name!r}: {field}")
            if not self.has_axis and value != default:
                raise ModelError(f"joint {self.name!r}: a {self.kind} joint does not support {field}; leave it out")
            if default == 0.0 and not 0.0 <= value < math.inf:
                raise ModelError(f"joint {self.name!r}: {field} must be a finite number, zero or above, got {value!r}")
            if field in ("max_velocity", "max_effort") and not value > 0.0:
                raise ModelError(f"joint {self.name!r}: {field} must be above zero, got {value!r}")
            object.__setattr__(self, field, value)
        if self.lower > self.upper:
            raise ModelError(f"joint {self.name!r}: lower must not exceed upper, got {self.lower!r} > {self.upper!r}")

    def _check_pitch(self) -> None:
        pitch = number(self.pitch, f"joint {self.name!r}: pitch")
        if (self.kind == "helical") != (pitch != 0.0):
            raise ModelError(
                f"joint {self.name!r}: pitch = {pitch!r}: helical joints need a pitch, all others pitch = 0"
            )
        object.__setattr__(self, "pitch", pitch)

    @property
    def has_axis(self) -> bool:
        """True for a revolute, prismatic or helical joint: one degree of freedom, one scalar coordinate."""
        return self.turns or self.kind == "prismatic"

    @property
    def turns(self) -> bool:
        """True if the coordinate is an angle, for a hinge or a screw."""
        return self.kind in ("revolute", "helical")

    @property
    def is_limited(self) -> bool:
        """True if the joint has a limit of position, velocity or effort."""
        limits = ("lower", "upper", "max_velocity", "max_effort")
        return any(getattr(self, name) != PASSIVE[name] for name in limits)

    @property
    def nq(self) -> int:
        """Number of coordinates: 1, 1, 1, 4, 7, 0 in the order of ``KINDS``."""
        return _COORDINATES[self.kind]

    @property
    def nv(self) -> int:
        """Number of degrees of freedom: 1, 1, 1, 3, 6, 0 in the order of ``KINDS``."""
        return _DOFS[self.kind]

    @property
    def code(self) -> int:
        """Number of the kind in the kernels; models contain no fixed joints, as they merge the bodies."""
        return _CODES[self.kind]


def revolute(name: str, axis: Vector3, position: Vector3 = _ZERO) -> Joint:
    """Return a hinge about ``axis``, whose coordinate is the angle [rad]; see `Joint` for the frames."""
    return Joint(name, "revolute", axis, position)


def prismatic(name: str, axis: Vector3, position: Vector3 = _ZERO) -> Joint:
    """Return a sliding joint along ``axis``, whose coordinate is the displacement [m]; see `Joint` for the frames."""
    return Joint(name, "prismatic", axis, position)


def helical(name: str, axis: Vector3, pitch: float, position: Vector3 = _ZERO) -> Joint:
    """Return a screw joint about ``axis`` with a ``pitch`` [m/rad]; its coordinate is the angle [rad]."""
    return Joint(name, "helical", axis, position, pitch=pitch)


def spherical(name: str, position: Vector3 = _ZERO) -> Joint:
    """Return a ball joint; its coordinates are the unit quaternion (w, x, y, z) of the child relative to the parent."""
    return Joint(name, "spherical", position=position)


def floating(name: str, position: Vector3 = _ZERO) -> Joint:
    """Return the joint of a floating root; ``position`` [m] is its link frame's origin in the home configuration."""
    return Joint(name, "floating", position=position)


def fixed(name: str, position: Vector3 = _ZERO) -> Joint:
    """Return a fixed joint: `Model` merges the body that it carries into the parent."""
    return Joint(name, "fixed", position=position)

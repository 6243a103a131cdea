"""Holonomic constraints (section IV-D of Johnson & Murphey 2009).

All constraints are in metres or radians, so that their multipliers are forces [N] or moments [N·m]. The multiplier of
a constraint called NAME is the column ``multiplier_NAME`` of a motion.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import zip_longest
from typing import ClassVar

import numpy as np

from biped.inputs.checks import above_zero
from biped.model.geometry import unit
from formulations.mechanism.compilation import Builder
from formulations.mechanism.component import Constraint, CoordinateName, FrameName, Vector, finite, several
from formulations.mechanism.errors import MechanismError
from formulations.mechanism.frames import WORLD


@dataclass(frozen=True)
class Distance(Constraint):
    """Constraint of a rod or taut wire of length L between the origins p₁, p₂ of two frames.

    It is (‖p₁ − p₂‖² − L²) / 2L = 0, equation (37) of Johnson & Murphey 2009 divided by 2L.

    Attributes:
        first, second: names of the frames.
        length: [m] L, above zero (zero: use ``Coincident``), or the name of a configuration variable, as for a winch.
        name: name of the multiplier [N], which is negative in tension; default: made of the frames' names.
    """

    word: ClassVar[str] = "distance-constraint"
    first: FrameName
    second: FrameName
    length: float | CoordinateName
    name: str | None = None

    def add_to(self, builder: Builder) -> None:
        """Add the constraint's row of h."""
        length = self.length
        if not isinstance(length, str):
            above_zero(length, "length")
            length = float(length)
        builder.add_distance(self.first, self.second, length, self.name or f"{self.first}_{self.second}")


@dataclass(frozen=True)
class PointAlong(Constraint):
    """Constraint that keeps the origins p₁, p₂ of two frames at a distance c along a direction n: n · (p₁ − p₂) = c.

    Attributes:
        first, second: names of the frames.
        direction: n, a vector of any length but zero; it is normalized.
        axes: name of any frame, to which n is fixed and in whose axes n is given.
        offset: [m] distance c, which may be negative.
        name: name of the multiplier [N]; default: made of the frames' names.
    """

    word: ClassVar[str] = "point-constraint"
    first: FrameName
    second: FrameName
    direction: Vector
    name: str | None = None
    axes: FrameName = WORLD
    offset: float = 0.0

    def add_to(self, builder: Builder) -> None:
        """Add the constraint's row of h."""
        n = unit(self.direction, "direction")
        label = self.name or f"{self.first}_{self.second}"
        builder.add_along(self.first, self.second, n, self.axes, label, finite(self.offset, "offset"))


@dataclass(frozen=True)
class PointOnPlane(Constraint):
    """Constraint that keeps a frame's origin in a plane fixed to another frame.

    Attributes:
        plane: frame to which the plane is fixed.
        normal: normal of the plane, in the axes of the frame ``plane``.
        point: frame whose origin stays in the plane.
        name: name of the multiplier [N]; default: made of the frames' names.
        offset: [m] distance of the plane from the origin of the frame ``plane``, along the normal.
    """

    word: ClassVar[str] = "point-on-plane"
    plane: FrameName
    normal: Vector
    point: FrameName
    name: str | None = None
    offset: float = 0.0

    def add_to(self, builder: Builder) -> None:
        """Add the constraint's row of h."""
        n = unit(self.normal, "normal")
        label = self.name or f"{self.point}_{self.plane}"
        builder.add_along(self.point, self.plane, n, self.plane, label, finite(self.offset, "offset"))


@dataclass(frozen=True)
class PointOnLine(Constraint):
    """Constraint that keeps a frame's origin on a line fixed to another frame: two equations, across the line.

    Attributes:
        line: frame to which the line is fixed; the line goes through the frame's origin.
        direction: direction of the line, in the axes of the frame ``line``.
        point: frame whose origin stays on the line.
        name: NAME of the multipliers [N], ``NAME_1`` and ``NAME_2``; default: made of the frames' names.
    """

    word: ClassVar[str] = "point-on-line"
    line: FrameName
    direction: Vector
    point: FrameName
    name: str | None = None

    def add_to(self, builder: Builder) -> None:
        """Add the constraint's two rows of h."""
        label = self.name or f"{self.point}_{self.line}"
        for k, n in enumerate(_across(unit(self.direction, "direction")), 1):
            builder.add_along(self.point, self.line, n, self.line, f"{label}_{k}")


def _across(direction: tuple[float, float, float]) -> list[tuple[float, float, float]]:
    """Return two unit vectors perpendicular to a direction and to each other, along axes if possible."""
    d = np.array(direction)
    first = np.cross(d, np.eye(3)[int(np.argmin(np.abs(d)))])
    first /= np.linalg.norm(first)
    x, y = first.tolist(), np.cross(d, first).tolist()
    return [(x[0], x[1], x[2]), (y[0], y[1], y[2])]


@dataclass(frozen=True)
class Coincident(Constraint):
    """Constraint that two frames' origins coincide (one equation per direction): a ball joint, or a pin in a plane.

    Attributes:
        first, second: names of the frames.
        directions: world axes along which the origins coincide, such as "xz" for a mechanism in the plane of x and z,
            in which a constraint along y would be redundant.
        name: NAME of the multipliers [N], ``NAME_x``, ``NAME_y`` and ``NAME_z``; default: made of the frames' names.
    """

    word: ClassVar[str] = "coincident"
    first: FrameName
    second: FrameName
    directions: str = "xyz"
    name: str | None = None

    def add_to(self, builder: Builder) -> None:
        """Add a row of h for each direction."""
        axes = self.directions
        if not axes or set(axes) - set("xyz") or len(set(axes)) != len(axes):
            raise MechanismError(f"directions = {axes!r}: it must be one to three of the letters x, y and z")
        label = self.name or f"{self.first}_{self.second}"
        for axis in axes:
            n = (float(axis == "x"), float(axis == "y"), float(axis == "z"))
            builder.add_along(self.first, self.second, n, WORLD, f"{label}_{axis}")


@dataclass(frozen=True)
class Screw(Constraint):
    """Screw: rotation q_θ and translation q_d along an axis with p q_θ − q_d = 0 (Johnson & Murphey 2009, eq. (39)).

    Attributes:
        angle: configuration variable of the rotation.
        shift: configuration variable of the translation.
        pitch: [m/rad] pitch p, the translation per angle.
        name: name of the multiplier [N]; default: made of the variables' names.
    """

    word: ClassVar[str] = "screw"
    angle: CoordinateName
    shift: CoordinateName
    pitch: float
    name: str | None = None

    def add_to(self, builder: Builder) -> None:
        """Add the constraint's row of h."""
        pitch = finite(self.pitch, "pitch")
        builder.add_linear(
            builder.coordinate(self.angle), builder.coordinate(self.shift), (pitch, -1.0, 0.0),
            self.name or f"{self.angle}_{self.shift}", "N",
        )  # fmt: skip


@dataclass(frozen=True)
class Cam(Constraint):
    """Cam that turns by q_θ and moves a follower to q_d = s(q_θ), the cam's profile (Johnson & Murphey 2009, III-A).

    The profile is s(θ) = mean + a₁ cos θ + b₁ sin θ + a₂ cos 2θ + b₂ sin 2θ + …. The follower never leaves the cam: the
    multiplier's sign shows where a real follower would lift off.

    Attributes:
        angle: configuration variable of the cam's rotation.
        follower: configuration variable of the follower, a translation or an angle.
        cosines: [m or rad] coefficients a₁, a₂, ….
        sines: [m or rad] coefficients b₁, b₂, ….
        mean: [m or rad] mean of s.
        name: name of the multiplier [N or N·m]; default: made of the variables' names.
    """

    word: ClassVar[str] = "cam"
    angle: CoordinateName
    follower: CoordinateName
    cosines: tuple[float, ...] = ()
    sines: tuple[float, ...] = ()
    mean: float = 0.0
    name: str | None = None

    def add_to(self, builder: Builder) -> None:
        """Add the constraint's row of h."""
        cosines, sines = (several(getattr(self, what), what) for what in ("cosines", "sines"))
        if not cosines + sines:
            raise MechanismError("the cam is a circle about its axis and moves nothing: give cosines or sines")
        builder.add_cam(
            builder.coordinate(self.angle), builder.coordinate(self.follower), finite(self.mean, "mean"),
            list(zip_longest(cosines, sines, fillvalue=0.0)), self.name or f"{self.angle}_{self.follower}",
        )  # fmt: skip


@dataclass(frozen=True)
class Gear(Constraint):
    """Gear pair: two configuration variables with r q₁ − q₂ = c (Johnson & Murphey 2009, section III-A).

    Attributes:
        first, second: names of the variables q₁ and q₂.
        ratio: gear ratio r; negative for gears that turn in opposite directions.
        offset: [rad or m] constant c.
        name: name of the multiplier [N·m or N]; default: made of the variables' names.
    """

    word: ClassVar[str] = "gear"
    first: CoordinateName
    second: CoordinateName
    ratio: float
    offset: float = 0.0
    name: str | None = None

    def add_to(self, builder: Builder) -> None:
        """Add the constraint's row of h."""
        numbers = finite(self.ratio, "ratio"), -1.0, finite(self.offset, "offset")
        second = builder.coordinate(self.second)
        builder.add_linear(
            builder.coordinate(self.first), second, numbers,
            self.name or f"{self.first}_{self.second}", builder.force_unit(second),
        )  # fmt: skip

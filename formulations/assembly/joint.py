"""Joints as a constraint of translations and a constraint of turns (Brüdigam et al. 2024, appendix B).

The constraints hold translations of the outboard body's point, and turns of the outboard body, relative to an axis that
is fixed in the inboard body:

| translation | held | | turn | held |
|---|---|---|---|---|
| `point` | all three | | `fixed` | all three |
| `line` | across the axis: it slides along it | | `axis` | across the axis: it turns about it |
| `plane` | along the axis: it moves across it | | `cardan` | the angle of the axis with the second one, 90° |
| `free` | none | | `homokinetic` | about the axis: it bends, and does not twist |
| | | | `free` | none |

All twenty combinations are possible; most have a name (``KINDS``). A helical joint couples slide and turn.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import get_args

import numpy as np
from numpy.typing import ArrayLike

from biped.inputs.checks import is_finite
from biped.kernels.tree import row_kinds as kinds
from biped.model.geometry import Quaternion, Vector3, name_of, quaternion, quaternion_matrix, unit, vector3
from biped.model.joint_rows import KINDS, JointOptions, Row, Translation, Turn, across, checked_second_axis, held_rows
from contact.arrays import Floats
from formulations.assembly.errors import AssemblyError

_ZERO: Vector3 = (0.0, 0.0, 0.0)
_X: Vector3 = (1.0, 0.0, 0.0)
_Z: Vector3 = (0.0, 0.0, 1.0)
_NO_TURN: Quaternion = (1.0, 0.0, 0.0, 0.0)


@dataclass(frozen=True)
class Freedom:
    """Spring, damper and limits along one coordinate of a joint.

    Attributes:
        stiffness: [N/m or N·m/rad] stiffness k of the spring. Each time step of length h uses the spring force at its
            start, so h² k must be less than the moving mass or inertia.
        rest: [m or rad] coordinate at which the spring has no force.
        damping: [N·s/m or N·m·s/rad] damping constant of the damper.
        lower: [m or rad] rigid lower limit of the coordinate; −∞: no limit.
        upper: [m or rad] rigid upper limit of the coordinate; ∞: no limit.

    Raises:
        AssemblyError: a number is not finite, stiffness or damping is negative, or ``lower`` is not below ``upper``.
    """

    stiffness: float = 0.0
    rest: float = 0.0
    damping: float = 0.0
    lower: float = -math.inf
    upper: float = math.inf

    def __post_init__(self) -> None:
        for name in ("stiffness", "rest", "damping"):
            value = getattr(self, name)
            if not is_finite(value) or (name != "rest" and value < 0.0):
                least = "" if name == "rest" else ", zero or above"
                raise AssemblyError(f"{name} = {value!r}: it must be a finite number{least}")
        if not self.lower < self.upper:
            raise AssemblyError(f"limits: lower = {self.lower!r} must be below upper = {self.upper!r}")

    @property
    def is_soft(self) -> bool:
        """True if there is a damper or a limit, whose impulse depends on the end of the step."""
        return self.damping > 0.0 or self.limits > 0

    @property
    def limits(self) -> int:
        """Number of limits."""
        return int(self.lower > -math.inf) + int(self.upper < math.inf)


@dataclass(frozen=True)
class Joint:
    """Joint between two bodies, or between a body and the ground.

    Attributes:
        name: name, unique among the joints of an assembly.
        inboard: name of the body in whose axes the joint's axes are given; None: the ground, with world axes.
        outboard: name of the body that moves relative to ``inboard``.
        translation: free translations: ``point`` (none), ``line`` (along ``axis``), ``plane`` (across it), ``free``.
        turn: free rotations: ``fixed`` (none), ``axis`` (about it), ``cardan`` (two axes), ``homokinetic`` (bending
            without twist), ``free``.
        axis: (3,) axis of the joint, in inboard axes; its length does not matter.
        second_axis: axis of a cardan joint that is fixed in the outboard body, perpendicular to ``axis``, given in
            inboard axes at joint position zero; its length does not matter.
        inboard_point: (3,) [m] position of the joint on the inboard body, from its centre of mass, in its axes; on the
            ground: position in the world.
        outboard_point: (3,) [m] position of the joint on the outboard body, from its centre of mass, in its axes.
        alignment: unit quaternion, scalar first, from outboard to inboard axes at joint position zero.
        pitch: [m/rad] pitch of a helical joint (translation ``line`` and turn ``axis``); 0 for all other joints.
        freedoms: springs, dampers and limits: one `Freedom` for all or one for each of ``coordinate_names``; (): none.

    Raises:
        AssemblyError: a kind is unknown, or a pitch, a second axis or freedoms are missing, superfluous or invalid.
        ModelError: an axis is zero, or a vector is not finite.
    """

    name: str
    inboard: str | None
    outboard: str
    translation: Translation
    turn: Turn
    axis: Vector3 = _Z
    second_axis: Vector3 | None = None
    inboard_point: Vector3 = _ZERO
    outboard_point: Vector3 = _ZERO
    alignment: Quaternion = _NO_TURN
    pitch: float = 0.0
    freedoms: tuple[Freedom, ...] = ()

    def __post_init__(self) -> None:
        name_of(self.name, "a joint")
        what = f"joint {self.name!r}:"
        for field, choices in (("translation", get_args(Translation)), ("turn", get_args(Turn))):
            if getattr(self, field) not in choices:
                raise AssemblyError(f"{what} {field} = {getattr(self, field)!r}: it must be one of {choices}")
        if self.inboard == self.outboard:
            raise AssemblyError(f"{what} inboard = outboard = {self.inboard!r}: give two bodies (None: the ground)")
        for field in ("inboard_point", "outboard_point"):
            object.__setattr__(self, field, vector3(getattr(self, field), f"{what} {field}"))
        object.__setattr__(self, "axis", unit(self.axis, f"{what} axis"))
        object.__setattr__(self, "alignment", quaternion(self.alignment, f"{what} alignment"))
        second = checked_second_axis(self.turn, self.axis, self.second_axis, what, AssemblyError)
        object.__setattr__(self, "second_axis", second)
        self._check_pitch(what)
        count = len(self.free_rows)
        given = tuple(self.freedoms)
        if len(given) == 1:
            given *= count
        elif len(given) not in (0, count):
            raise AssemblyError(f"{what} freedoms has {len(given)} items; it must have 0, 1 (for all) or {count}")
        object.__setattr__(self, "freedoms", given or (Freedom(),) * count)

    def _check_pitch(self, what: str) -> None:
        if not is_finite(self.pitch):
            raise AssemblyError(f"{what} pitch = {self.pitch!r}: it must be a finite number [m/rad]")
        if self.pitch != 0.0 and (self.translation, self.turn) != ("line", "axis"):
            raise AssemblyError(f"{what} a pitch needs translation = 'line' and turn = 'axis': set both, or pitch = 0")

    # --- rows ---

    @property
    def is_helical(self) -> bool:
        """True if slide and turn are coupled to one freedom by a pitch."""
        return self.pitch != 0.0

    @property
    def rigid_rows(self) -> tuple[Row, ...]:
        """Constraints, which are rows held at zero: translations, then turns."""
        outboard = self._outboard(self._second) if self.turn == "cardan" else None
        return tuple(held_rows(JointOptions(self.translation, self.turn), self.axis, outboard, self.pitch))

    @property
    def free_rows(self) -> tuple[Row, ...]:
        """Rows whose values are the joint's minimal coordinates: translations, then turns."""
        along, sides, everything = (self.axis,), across(self.axis), (_X, (0.0, 1.0, 0.0), _Z)
        shifts = {"point": (), "line": along, "plane": sides, "free": everything}[self.translation]
        rows = [] if self.is_helical else [Row(kinds.TRANSLATION, axis) for axis in shifts]
        if self.turn == "axis":
            rows.append(Row(kinds.ANGLE, self.axis))
        elif self.turn == "cardan":
            second = self._outboard(self._second)
            rows.append(Row(kinds.AZIMUTH, self.axis, second, self._second))
            rows.append(Row(kinds.COUNTER_AZIMUTH, self.axis, second, self._outboard(self.axis)))
        elif self.turn != "fixed":
            rows += [Row(kinds.TWIST, axis) for axis in (sides if self.turn == "homokinetic" else everything)]
        return tuple(rows)

    @property
    def _second(self) -> Vector3:
        return self.second_axis or _X

    def _outboard(self, axis: Vector3) -> Vector3:
        """Return an axis, given in inboard axes, in outboard axes at joint position zero."""
        return _vector(quaternion_matrix(self.alignment).T @ axis)

    # --- coordinates ---

    @property
    def coordinate_names(self) -> tuple[str, ...]:
        """Names of the coordinates: the joint's name; with several freedoms, plus ``_slide_1``, ``_turn_1``, …"""
        rows = self.free_rows
        if len(rows) == 1:
            return (self.name,)
        groups = ["slide" if row.kind == kinds.TRANSLATION else "turn" for row in rows]
        return tuple(
            f"{self.name}_{group}" if groups.count(group) == 1 else f"{self.name}_{group}_{groups[:k].count(group) + 1}"
            for k, group in enumerate(groups)
        )

    @property
    def units(self) -> tuple[str, ...]:
        """Units of the coordinates; a twist, twice the sine of half an angle, counts as an angle [rad]."""
        return tuple("m" if row.kind == kinds.TRANSLATION else "rad" for row in self.free_rows)

    def relative_pose(self, coordinates: Sequence[float]) -> tuple[Floats, Floats]:
        """Return the displacement (3,) [m] from inboard to outboard point, and the rotation (4,) from position zero.

        Args:
            coordinates: [m or rad] a number for each freedom.

        Raises:
            AssemblyError: the length of the twists is more than 2, which is half a turn.
        """
        way, turn = np.zeros(3), np.array(_NO_TURN)
        vector = np.zeros(3)
        for row, x in zip(self.free_rows, coordinates, strict=True):
            if row.kind == kinds.TRANSLATION:
                way += x * np.array(row.axis)
            elif row.kind == kinds.TWIST:
                vector += 0.5 * x * np.array(row.axis)
            else:
                about = self._second if row.kind == kinds.COUNTER_AZIMUTH else row.axis
                turn = quaternion_product(turn, np.array([math.cos(0.5 * x), *(math.sin(0.5 * x) * np.array(about))]))
                way += self.pitch * x * np.array(row.axis)
        if self.turn in ("homokinetic", "free"):
            size = float(vector @ vector)
            if size > 1.0:
                raise AssemblyError(f"joint {self.name!r}: coordinates {tuple(coordinates)}: more than half a turn")
            turn = np.array([math.sqrt(1.0 - size), *vector])
        return way, turn


def quaternion_product(a: ArrayLike, b: ArrayLike) -> Floats:
    """Return the product a b of two quaternions."""
    (w, x, y, z), (s, i, j, k) = np.asarray(a), np.asarray(b)
    return np.array([
        w * s - x * i - y * j - z * k, w * i + s * x + y * k - z * j, w * j + s * y + z * i - x * k,
        w * k + s * z + x * j - y * i,
    ])  # fmt: skip


def _vector(value: Floats) -> Vector3:
    x, y, z = (float(part) for part in value)
    return x, y, z


def joint(
    kind: str,
    name: str,
    inboard: str | None,
    outboard: str,
    axis: ArrayLike = _Z,
    *,
    second_axis: ArrayLike | None = None,
    inboard_point: ArrayLike = _ZERO,
    outboard_point: ArrayLike = _ZERO,
    alignment: ArrayLike = _NO_TURN,
    pitch: float = 0.0,
    freedoms: Sequence[Freedom] = (),
) -> Joint:
    """Return a joint of a kind in ``KINDS``, such as ``revolute``; the other arguments are fields of `Joint`.

    Raises:
        AssemblyError: the kind is unknown, a pitch is missing or not allowed, or `Joint` raises it.
        ModelError: an axis is zero, or a vector is not finite.
    """
    if kind not in KINDS:
        raise AssemblyError(f"unknown kind of joint {kind!r}: it must be one of {', '.join(KINDS)}")
    if (kind == "helical") != (pitch != 0.0):
        raise AssemblyError(f"joint {name!r}: pitch = {pitch!r}: it must be nonzero if helical, else zero")
    what = f"joint {name!r}:"
    return Joint(
        name, inboard, outboard, *KINDS[kind], axis=vector3(axis, f"{what} axis"),
        second_axis=None if second_axis is None else vector3(second_axis, f"{what} second_axis"),
        inboard_point=vector3(inboard_point, f"{what} inboard_point"),
        outboard_point=vector3(outboard_point, f"{what} outboard_point"),
        alignment=quaternion(alignment, f"{what} alignment"), pitch=pitch, freedoms=tuple(freedoms),
    )  # fmt: skip

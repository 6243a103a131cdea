"""Joints of two generic constraints, one of translations and one of turns (Brüdigam et al. 2024, appendix B).

Which of the outboard point's translations, and which turns, a joint leaves free, each about or along one axis of the
inboard body:

| translation | held | | turn | held |
|---|---|---|---|---|
| `point` | all three | | `fixed` | all three |
| `line` | across the axis: it slides along it | | `axis` | across the axis: it turns about it |
| `plane` | along the axis: it moves across it | | `cardan` | the angle of the axis with the second one, 90° |
| `free` | none | | `homokinetic` | about the axis: it bends, and does not twist |
| | | | `free` | none |

All twenty pairs are joints, most of them with a name of their own; and a helical joint couples slide and turn.
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
    """Spring, damper and limits along one freedom of a joint.

    Attributes:
        stiffness: [N/m or N·m/rad] of a spring. Its force is that at the start of a step, so that h² k must stay below
            the moving mass or inertia.
        rest: [m or rad] rest position of the spring.
        damping: [N·s/m or N·m·s/rad]
        lower: [m or rad] the least coordinate; −∞ without limit. A limit is rigid.
        upper: [m or rad] the greatest.

    Raises:
        AssemblyError: a number is not finite, stiffness or damping is negative, or ``lower`` exceeds ``upper``.
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
                raise AssemblyError(f"{name} of a freedom = {value!r}: it must be a finite number{least}")
        if not self.lower < self.upper:
            raise AssemblyError(f"limits of a freedom: lower = {self.lower!r} must be below upper = {self.upper!r}")

    @property
    def is_soft(self) -> bool:
        """True with a damper or limits: the impulse then depends on the end of the step."""
        return self.damping > 0.0 or self.limits > 0

    @property
    def limits(self) -> int:
        """Number of limits."""
        return int(self.lower > -math.inf) + int(self.upper < math.inf)


@dataclass(frozen=True)
class Joint:
    """Joint between two bodies, or between a body and the ground.

    Attributes:
        name: unique among the joints of an assembly.
        inboard: body whose axes are the joint's axes; None: the ground, with world axes.
        outboard: body that moves relative to ``inboard``.
        translation: of the outboard point, see the table of this module.
        turn: of the outboard body.
        axis: in inboard axes; made unit.
        second_axis: of a cardan joint, across ``axis``: that of the outboard body, in inboard axes where the joint is
            at zero; made unit.
        inboard_point: (3,) [m] from the inboard body's centre of mass, its axes; on the ground from the origin.
        outboard_point: (3,) [m] from the outboard body's centre of mass, its axes.
        alignment: unit quaternion from outboard to inboard axes at joint position zero.
        pitch: [m/rad] of a helical joint, which has translation ``line`` and turn ``axis``; 0 of all others.
        freedoms: `Freedom` of each freedom, translations first: none, one for all, or one for each.

    Raises:
        AssemblyError: an unknown kind, a pitch or second axis that the kind does not have, or a wrong number of
            freedoms.
        ModelError: a vector is zero where it must not be, or not finite.
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
            raise AssemblyError(f"{what} it holds body {self.outboard!r} to itself; inboard must be another, or None")
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
            raise AssemblyError(f"{what} {len(given)} freedoms were given; it has {count}: give none, one, or {count}")
        object.__setattr__(self, "freedoms", given or (Freedom(),) * count)

    def _check_pitch(self, what: str) -> None:
        if not is_finite(self.pitch):
            raise AssemblyError(f"{what} pitch = {self.pitch!r}: it must be a finite number of metres a radian")
        if self.pitch != 0.0 and (self.translation, self.turn) != ("line", "axis"):
            raise AssemblyError(f"{what} a pitch needs translation 'line' and turn 'axis', which it couples")

    # --- rows ---

    @property
    def is_helical(self) -> bool:
        """True if slide and turn are one freedom."""
        return self.pitch != 0.0

    @property
    def rigid_rows(self) -> tuple[Row, ...]:
        """Rows held at zero: translations, then turns."""
        outboard = self._outboard(self._second) if self.turn == "cardan" else None
        return tuple(held_rows(JointOptions(self.translation, self.turn), self.axis, outboard, self.pitch))

    @property
    def free_rows(self) -> tuple[Row, ...]:
        """Rows of the minimal coordinates: translations, then turns."""
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
        """Return an axis given in inboard axes in outboard axes, at joint position zero."""
        return _vector(quaternion_matrix(self.alignment).T @ axis)

    # --- coordinates ---

    @property
    def coordinate_names(self) -> tuple[str, ...]:
        """Names of the coordinates: the joint's; with several freedoms also ``_slide`` or ``_turn`` and a number."""
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
        """Units of the coordinates. A twist (twice the sine of half an angle) counts as an angle."""
        return tuple("m" if row.kind == kinds.TRANSLATION else "rad" for row in self.free_rows)

    def relative_pose(self, coordinates: Sequence[float]) -> tuple[Floats, Floats]:
        """Return the displacement (3,) [m] from inboard to outboard point, and the rotation ρ (4,) from zero.

        Args:
            coordinates: one for each freedom.

        Raises:
            AssemblyError: a twist is beyond 2, half a turn.
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
                raise AssemblyError(f"joint {self.name!r}: the twists {tuple(coordinates)} are beyond half a turn")
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
    """Return a joint of one of ``KINDS``; the other arguments are those of `Joint`.

    Raises:
        AssemblyError: the kind is unknown, a helical joint has no pitch, or as `Joint` raises it.
        ModelError: as `Joint`.
    """
    if kind not in KINDS:
        raise AssemblyError(f"unknown kind of joint {kind!r}; kinds are {', '.join(KINDS)}")
    if (kind == "helical") != (pitch != 0.0):
        raise AssemblyError(f"joint {name!r}: a helical joint, and no other, has a pitch that is not zero: {pitch!r}")
    what = f"joint {name!r}:"
    return Joint(
        name, inboard, outboard, *KINDS[kind], axis=vector3(axis, f"{what} axis"),
        second_axis=None if second_axis is None else vector3(second_axis, f"{what} second_axis"),
        inboard_point=vector3(inboard_point, f"{what} inboard_point"),
        outboard_point=vector3(outboard_point, f"{what} outboard_point"),
        alignment=quaternion(alignment, f"{what} alignment"), pitch=pitch, freedoms=tuple(freedoms),
    )  # fmt: skip

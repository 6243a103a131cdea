"""Coordinate frames, which form the tree of a mechanism (Johnson & Murphey 2009, section III).

A frame is placed in its parent by one of six basic transforms (the paper's R1), a translation along or a rotation about
the parent's x, y or z, or by a general twist about and along any axis, which the paper leaves open. The transform's
parameter is a constant, or the one configuration variable that moves the frame (R2). The parent of frames at the top
is the world. A frame may carry a mass, centred at its origin, with the frame's axes as principal axes.
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple, get_args

import numpy as np
from numpy.typing import NDArray

from formulations.mechanism.errors import MechanismError

Basic = Literal["tx", "ty", "tz", "rx", "ry", "rz"]
#: The six basic transformations, R1.
TRANSFORMS: tuple[str, ...] = get_args(Basic)
#: Transform of a general twist.
TWIST = "twist"
Transform = Basic | Literal["twist"]

#: Name of the root frame; reserved.
WORLD = "world"

#: Mass [kg] and principal moments of inertia [kg m²] about the frame's x, y and z.
Mass = tuple[float, float, float, float]


@dataclass(frozen=True)
class Kinematic:
    """Configuration variable with a prescribed motion, which forces do not change.

    Attributes:
        name: name of the variable, unique among the configuration variables.
    """

    name: str

    def __post_init__(self) -> None:
        _check_name(self.name, "a kinematic configuration variable")


Parameter = float | str | Kinematic
#: A twist ξ = (v, ω) in the parent's axes: a motion by q is exp(ξ̂ q).
Twist = tuple[float, float, float, float, float, float]

# Tolerance of ‖ω‖ = 1 of a twist, and its rounding error.
_UNIT, _ROUNDING = 1e-9, 1e-15


@dataclass(frozen=True, eq=False, repr=False)
class Frame:
    """Immutable coordinate frame with its children, made by `tx`, `ty`, `tz`, `rx`, `ry`, `rz`, `twist` or `screw`.

    Attributes:
        transform: kind of transform from the parent: one of ``TRANSFORMS``, or "twist".
        parameter: [m or rad] size of the transform: a number, the name of a configuration variable, or a `Kinematic`.
        children: frames whose parent is this frame.
        name: name, unique among the frames; None if no component refers to the frame.
        mass: (m, Ixx, Iyy, Izz) [kg, kg m²] of a body centred at the frame's origin; None: no mass.
        twist: (v, ω) of a "twist": six numbers with ‖ω‖ = 1, or ω = 0 and ‖v‖ = 1; None for other transforms.

    Raises:
        MechanismError: the transform is unknown, a number is not finite, a mass or a moment is negative, a name is
            empty, a child is not a frame, or ``twist`` is missing, not of unit length, or given for a basic transform.
    """

    transform: Transform
    parameter: Parameter
    children: tuple["Frame", ...] = ()
    name: str | None = None
    mass: Mass | None = None
    twist: Twist | None = None

    def __post_init__(self) -> None:
        if self.transform not in (*TRANSFORMS, TWIST):
            raise MechanismError(f"unknown transform {self.transform!r}: it must be {', '.join(TRANSFORMS)} or twist")
        if self.transform == TWIST:
            object.__setattr__(self, "twist", _checked_twist(self.twist))
        elif self.twist is not None:
            raise MechanismError(f"transform {self.transform!r} does not use twist: leave out twist = {self.twist!r}")
        object.__setattr__(self, "parameter", _checked_parameter(self.parameter, self.transform))
        if self.name is not None:
            _check_name(self.name, f"frame {self.label}")
        object.__setattr__(self, "children", tuple(_listed(self.children, f"each child of {self.label}")))
        if self.mass is not None:
            object.__setattr__(self, "mass", checked_mass(self.mass, f"the mass of {self.label}"))

    @property
    def coordinate(self) -> str | None:
        """Configuration variable that moves the frame, prescribed or not; None for a constant transformation."""
        if isinstance(self.parameter, Kinematic):
            return self.parameter.name
        return self.parameter if isinstance(self.parameter, str) else None

    @property
    def is_kinematic(self) -> bool:
        """True if the configuration variable is prescribed."""
        return isinstance(self.parameter, Kinematic)

    @property
    def is_rotation(self) -> bool:
        """True for a rotation about an axis, including a screw; False for a translation along an axis."""
        return self.transform[0] == "r" if self.twist is None else any(self.twist[3:])

    @property
    def direction(self) -> NDArray[np.float64]:
        """Unit direction (3,) of the frame's axis, in the parent's axes."""
        if self.twist is None:
            return np.eye(3)["xyz".index(self.transform[1])]
        return np.array(self.twist[3:] if self.is_rotation else self.twist[:3])

    @property
    def origin(self) -> NDArray[np.float64]:
        """Point (3,) [m] of a rotation's axis nearest to the parent's origin, in the parent's axes; else zero."""
        if self.twist is None or not self.is_rotation:
            return np.zeros(3)
        return np.cross(self.twist[3:], self.twist[:3])

    @property
    def pitch(self) -> float:
        """Pitch [m/rad] of a screw: translation per angle; zero for other transforms."""
        return 0.0 if self.twist is None or not self.is_rotation else float(np.dot(self.twist[:3], self.twist[3:]))

    @property
    def label(self) -> str:
        """Name of the frame in error messages."""
        return repr(self.name) if self.name else f"{self.transform}({_shown(self.parameter)})"

    def matrix(self, value: float | None = None) -> NDArray[np.float64]:
        """Return the transform (4, 4) from this frame to its parent at a ``value`` [m or rad] of its variable.

        Raises:
            MechanismError: the transform has a variable, and ``value`` is None.
        """
        if value is None:
            if not isinstance(self.parameter, float):
                raise MechanismError(f"frame {self.label} moves with {self.coordinate!r}: give its value")
            value = self.parameter
        return primitive(self.transform, value) if self.twist is None else exponential(self.twist, value)

    def __eq__(self, other: object) -> bool:
        """Return whether both are equal trees; not recursive, as a chain may exceed Python's recursion limit."""
        if not isinstance(other, Frame):
            return NotImplemented
        return _flat(self) == _flat(other)

    def __hash__(self) -> int:
        return hash((self.transform, self.parameter, self.name, self.mass, len(self.children)))

    def __repr__(self) -> str:
        extra = f", name={self.name!r}" if self.name else ""
        extra += f", mass={self.mass}" if self.mass else ""
        below = f", <{len(self.children)} children>" if self.children else ""
        along = f", {self.twist}" if self.twist else ""
        return f"{self.transform}({_shown(self.parameter)}{along}{below}{extra})"


class Node(NamedTuple):
    """Frame in a tree of frames: ``parent`` is the index of its parent's node, −1 for the world."""

    frame: Frame
    parent: int


def primitive(transform: str, value: float) -> NDArray[np.float64]:
    """Return the matrix (4, 4) of a basic transform by ``value`` [m or rad], section III-D."""
    g = np.eye(4)
    i = "xyz".index(transform[1])
    if transform[0] == "t":
        g[i, 3] = value
    else:
        j, k = (i + 1) % 3, (i + 2) % 3
        cosine, sine = _cosine_and_sine(value)
        g[j, j] = g[k, k] = cosine
        g[j, k], g[k, j] = -sine, sine
    return g


def exponential(twist: Twist, value: float) -> NDArray[np.float64]:
    """Return exp(ξ̂ q) (4, 4) of a unit twist; ``value`` [rad or m] is q."""
    v, axis = np.array(twist[:3]), np.array(twist[3:])
    g = np.eye(4)
    if not axis.any():
        g[:3, 3] = value * v
        return g
    cosine, sine = _cosine_and_sine(value)
    turn = hat(twist)[:3, :3]
    g[:3, :3] += sine * turn + (1.0 - cosine) * turn @ turn
    g[:3, 3] = value * v + (1.0 - cosine) * turn @ v + (value - sine) * turn @ turn @ v
    return g


def hat(twist: Sequence[float] | NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the matrix ξ̂ (4, 4) of a twist (v, ω)."""
    x, y, z, a, b, c = twist
    return np.array([[0.0, -c, b, x], [c, 0.0, -a, y], [-b, a, 0.0, z], [0.0, 0.0, 0.0, 0.0]])


def _cosine_and_sine(angle: float) -> tuple[float, float]:
    """Return cosine and sine of an angle, exact for multiples of a right angle."""
    quarters = angle / (0.5 * math.pi)
    if quarters == round(quarters):
        return ((1.0, 0.0), (0.0, 1.0), (-1.0, 0.0), (0.0, -1.0))[round(quarters) % 4]
    return math.cos(angle), math.sin(angle)


def tree_of(frames: Iterable[Frame]) -> tuple[Node, ...]:
    """Return all frames below the world, depth first, parents before children, siblings in order.

    Raises:
        MechanismError: an item is not a frame, a frame is in the tree twice, two frames have the same name, or two
            transforms have the same configuration variable.
    """
    nodes = _walk(_listed(frames, "each of the frames"))
    _check_unique((node.frame.name for node in nodes), "frames are named", "give each its own name")
    for node in nodes:
        if node.frame.name == WORLD:
            raise MechanismError(f"a frame is named {WORLD!r}: this name is reserved; choose another")
    _check_unique(
        (node.frame.coordinate for node in nodes),
        "frames are moved by configuration variable",
        "each variable moves one frame; couple frames by a constraint",
    )
    return nodes


#: Function that makes a prescribed configuration variable, as the parameter of a frame: ``tx(kinematic("rail"))``.
kinematic = Kinematic


def tx(parameter: Parameter, *children: Frame, name: str | None = None, mass: object = None) -> Frame:
    """Return a frame translated along its parent's x axis by ``parameter``.

    Args:
        parameter: [m] a number, the name of a configuration variable, or ``kinematic(name)`` for a prescribed motion.
        children: child frames.
        name: name by which constraints, springs and forces refer to the frame.
        mass: m [kg] of a point mass, or (m, Ixx, Iyy, Izz) [kg, kg m²] with principal moments; None: no mass.

    Raises:
        MechanismError: an argument is invalid, see `Frame`.
    """
    return _frame("tx", parameter, children, name, mass)


def ty(parameter: Parameter, *children: Frame, name: str | None = None, mass: object = None) -> Frame:
    """Return a frame translated along its parent's y axis; see `tx` for arguments and errors."""
    return _frame("ty", parameter, children, name, mass)


def tz(parameter: Parameter, *children: Frame, name: str | None = None, mass: object = None) -> Frame:
    """Return a frame translated along its parent's z axis; see `tx` for arguments and errors."""
    return _frame("tz", parameter, children, name, mass)


def rx(parameter: Parameter, *children: Frame, name: str | None = None, mass: object = None) -> Frame:
    """Return a frame rotated about its parent's x axis by ``parameter`` [rad]; see `tx` for arguments and errors."""
    return _frame("rx", parameter, children, name, mass)


def ry(parameter: Parameter, *children: Frame, name: str | None = None, mass: object = None) -> Frame:
    """Return a frame rotated about its parent's y axis by ``parameter`` [rad]; see `tx` for arguments and errors."""
    return _frame("ry", parameter, children, name, mass)


def rz(parameter: Parameter, *children: Frame, name: str | None = None, mass: object = None) -> Frame:
    """Return a frame rotated about its parent's z axis by ``parameter`` [rad]; see `tx` for arguments and errors."""
    return _frame("rz", parameter, children, name, mass)


def twist(
    parameter: Parameter, along: Sequence[float], *children: Frame, name: str | None = None, mass: object = None
) -> Frame:
    """Return a frame moved by exp(ξ̂ q) with a constant twist ξ: a rotation or screw motion, or a translation.

    Args:
        parameter: q [rad; translation: m]: a number, the name of a configuration variable, or ``kinematic(name)``.
        along: twist ξ = (v, ω), six numbers in the parent's axes, with ‖ω‖ = 1, or with ω = 0 and ‖v‖ = 1.
        children: child frames.
        name: name by which constraints, springs and forces refer to the frame.
        mass: m [kg] of a point mass, or (m, Ixx, Iyy, Izz) [kg, kg m²] with principal moments; None: no mass.

    Raises:
        MechanismError: an argument is invalid, see `Frame`.
    """
    return Frame("twist", parameter, children, name, mass, along)  # type: ignore[arg-type] # checked there


def screw(
    parameter: Parameter,
    axis: Sequence[float],
    *children: Frame,
    point: Sequence[float] = (0.0, 0.0, 0.0),
    pitch: float = 0.0,
    name: str | None = None,
    mass: object = None,
) -> Frame:
    """Return a frame rotated about any axis, and translated along it by ``pitch`` times the angle.

    Args:
        parameter: the angle [rad]: a number, the name of a configuration variable, or ``kinematic(name)``.
        axis: direction of the axis, in the parent's axes, of any length but zero.
        children: child frames.
        point: [m] a point on the axis, in the parent's axes.
        pitch: [m/rad] translation per angle; zero for a hinge.
        name: name by which constraints, springs and forces refer to the frame.
        mass: m [kg] of a point mass, or (m, Ixx, Iyy, Izz) [kg, kg m²] with principal moments; None: no mass.

    Raises:
        MechanismError: the axis is zero, or another argument is invalid, see `Frame`.
    """
    given = _numbers(axis, 3, "axis of a screw")
    turn, place, length = np.array(given), np.array(_numbers(point, 3, "point of a screw")), math.hypot(*given)
    if length == 0.0:
        raise MechanismError("the axis of a screw must not be zero")
    turn /= length
    (advance,) = _numbers((pitch,), 1, "pitch of a screw")
    return twist(parameter, [*(np.cross(place, turn) + advance * turn), *turn], *children, name=name, mass=mass)


def checked_mass(value: object, what: str) -> Mass:
    """Return (m, Ixx, Iyy, Izz) from the mass [kg] of a point, or from all four numbers; ``what`` names it in errors.

    Raises:
        MechanismError: ``value`` is not one or four numbers, or a number is negative or not finite.
    """
    given = tuple(value) if isinstance(value, (tuple, list, np.ndarray)) else (value,)
    numbers = [_number(item) for item in given]
    if len(numbers) not in (1, 4) or not all(number is not None and number >= 0.0 for number in numbers):
        raise MechanismError(
            f"{what} must be m [kg], or (m, Ixx, Iyy, Izz) [kg, kg m²], finite and not below zero; got {value!r}"
        )
    m, *moments = (number for number in numbers if number is not None)
    ixx, iyy, izz = moments or (0.0, 0.0, 0.0)
    return m, ixx, iyy, izz


def _frame(
    transform: Transform, parameter: Parameter, children: tuple[Frame, ...], name: str | None, mass: object
) -> Frame:
    return Frame(transform, parameter, children, name, mass)  # type: ignore[arg-type] # checked there


def _checked_parameter(value: object, transform: str) -> Parameter:
    if isinstance(value, str):
        return _check_name(value, f"a configuration variable of {transform}")
    if isinstance(value, Kinematic):
        return value
    number = _number(value)
    if number is None:
        raise MechanismError(
            f"the parameter of {transform} must be a finite number, the name of a configuration variable, or "
            f"kinematic(name); got {value!r}"
        )
    return number


def _checked_twist(value: object) -> Twist:
    x, y, z, a, b, c = given = _numbers(value, 6, "twist (v, ω)")
    length = math.hypot(a, b, c) or math.hypot(x, y, z)
    if abs(length - 1.0) > _UNIT:
        raise MechanismError(
            f"a twist (v, ω) needs an ω of length one, or a v of length one if ω is zero; got {given}, of length "
            f"{length:.6g}: normalize it, and scale its variable instead"
        )
    if abs(length - 1.0) <= _ROUNDING:  # so that a saved twist is restored unchanged
        return x, y, z, a, b, c
    return x / length, y / length, z / length, a / length, b / length, c / length


def _numbers(value: object, count: int, what: str) -> list[float]:
    """Return ``count`` finite numbers; ``what`` names them in errors."""
    given = list(value) if isinstance(value, (tuple, list, np.ndarray)) else [value]
    numbers = [number for number in map(_number, given) if number is not None]
    if len(numbers) != count or len(given) != count:
        raise MechanismError(f"the {what} must be {count} finite numbers; got {value!r}")
    return numbers


def _number(value: object) -> float | None:
    """Return ``value`` as a float; None if it is not a finite number."""
    if isinstance(value, (bool, np.bool_)) or not isinstance(value, (int, float, np.integer, np.floating)):
        return None
    return float(value) if math.isfinite(value) else None


def _check_name(value: object, what: str) -> str:
    if not isinstance(value, str) or not value.strip():
        raise MechanismError(f"{what} needs a name, a string that is not empty; got {value!r}")
    return value


def _shown(parameter: Parameter) -> str:
    return f"kinematic({parameter.name!r})" if isinstance(parameter, Kinematic) else repr(parameter)


def _listed(frames: object, what: str) -> list[Frame]:
    """Return one or more frames as a list."""
    listed: list[Frame] = []
    for frame in frames if isinstance(frames, Iterable) else [frames]:
        if not isinstance(frame, Frame):
            raise MechanismError(f"{what} must be a frame, such as tz(-1.0, mass=1.0); got {frame!r}")
        listed.append(frame)
    return listed


def _walk(frames: Sequence[Frame]) -> tuple[Node, ...]:
    """Return every frame once, depth first; not recursive, as a chain may exceed Python's recursion limit."""
    nodes: list[Node] = []
    seen: set[int] = set()
    pending = [Node(frame, -1) for frame in reversed(frames)]
    while pending:
        node = pending.pop()
        if id(node.frame) in seen:
            raise MechanismError(
                f"frame {node.frame.label} is in the tree twice, but a frame has one parent: make another frame for "
                "the second place; to close a loop, use a constraint"
            )
        seen.add(id(node.frame))
        nodes.append(node)
        here = len(nodes) - 1
        pending.extend(Node(child, here) for child in reversed(node.frame.children))
    return tuple(nodes)


def _check_unique(names: Iterable[str | None], what: str, remedy: str) -> None:
    seen: set[str] = set()
    for name in names:
        if name is not None and name in seen:
            raise MechanismError(f"two {what} {name!r}; {remedy}")
        if name is not None:
            seen.add(name)


def _flat(frame: Frame) -> list[tuple[object, ...]]:
    return [(f.transform, f.twist, f.parameter, f.name, f.mass, parent) for f, parent in _walk([frame])]

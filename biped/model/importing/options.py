"""Options of importing a robot, beyond what its file says; the keys of a robot's TOML file are these."""

from collections.abc import Iterable, Mapping, Sequence
from fnmatch import fnmatchcase
from typing import Any, Literal, TypedDict, TypeVar

from numpy.typing import ArrayLike

from biped.model.errors import ModelError, unknown
from biped.model.geometry import not_negative, number

Points = Sequence[ArrayLike] | Mapping[str, ArrayLike]
COLLISION = "collision"
REPAIRS = ("merge", "inertia")
Value = TypeVar("Value")


class Options(TypedDict, total=False):
    """The options of `load_urdf`, `load_mjcf` and `from_pinocchio`.

    Links are named as in the file, also those that fixed joints merge into others. Where values go by joint, a name
    may hold ``*`` for several joints: ``{"arm_*": 0.0}``.

    Attributes:
        floating: whether the root link floats; else it is the ground and vanishes, and exactly one joint stands on it.
        gravity: [m/s²] instead of the file's, or of 9.81 m/s² along −Z.
        name: instead of the robot's.
        feet: the links that stand on the floor, in the order a controller takes them.
        contacts: by link: points [m] in the link's frame, in a list or by name; or ``"collision"``: the corners of
            the soles, found in the collision geometry of the feet.
        locked: by joint: the position [rad or m] at which it does not move; its links become one body.
        repair: what becomes of links that no solid body is, without mass or extent or with an inertia that no
            distribution of mass has: ``"merge"`` locks their joints, ``"inertia"`` gives them the least inertia (and
            1 g) that they can have. Without it they stay as they are where their joints are resisted all the same,
            else they are refused.
        armature: [kg m² or kg] the rotors' inertia that joints feel, by joint or for all, instead of the file's.
        damping: [N·m·s/rad or N·s/m] of the joints' bearings, likewise.
        friction: [N·m or N] dry friction of the joints' bearings, likewise.
        limits: whether joints keep the file's limits of position, velocity and effort; they do by default.
        facing: the horizontal direction in which it looks at home.
        posture: by joint: the position [rad or m] in which it stands; all others are at zero.
        floor: the floor that it stands on in experiments: ``{"mu": 0.6}``, its coefficient of friction, instead of that
            of the file's scene.
        packages: folders in which ``package://`` is looked for, beside those above the file.
    """

    floating: bool | None
    gravity: ArrayLike | None
    name: str | None
    feet: Sequence[str]
    contacts: Mapping[str, Points] | Literal["collision"]
    locked: Mapping[str, float]
    repair: Literal["merge", "inertia"] | None
    armature: float | Mapping[str, float]
    damping: float | Mapping[str, float]
    friction: float | Mapping[str, float]
    limits: bool
    facing: ArrayLike
    posture: Mapping[str, float]
    floor: Mapping[str, float]
    packages: Sequence[str]


def check_options(options: Mapping[str, Any]) -> None:
    """Refuse what is no option, or of the wrong kind.

    Raises:
        ModelError: the message says what would be right.
    """
    for name, value in options.items():
        if name not in Options.__annotations__:
            raise unknown("option", name, Options.__annotations__)
        if name in ("locked", "posture"):
            _check_table(name, value)
    repair = options.get("repair")
    if repair is not None and repair not in REPAIRS:
        raise ModelError(f"repair: {unknown('way', repair, REPAIRS)}")
    for name in ("floating", "limits"):
        if options.get(name) not in (None, True, False):
            raise ModelError(f"{name} must be true or false, got {options[name]!r}")
    floor = options.get("floor", {})
    if not isinstance(floor, Mapping) or set(floor) - {"mu"}:
        raise ModelError(f"floor must be its coefficient of friction, such as {{'mu': 0.6}}, got {floor!r}")
    for value in floor.values():
        not_negative(value, "floor: mu", "")
    for name in ("feet", "packages"):
        check_names(options.get(name, ()), name)
    _check_contacts(options.get("contacts", {}))


def check_names(value: object, what: str) -> None:
    """Refuse what is not a list of names.

    Raises:
        ModelError: it is not.
    """
    if isinstance(value, str) or not isinstance(value, Sequence) or not all(isinstance(name, str) for name in value):
        raise ModelError(f"{what} must be a list of names, got {value!r}")


def _check_table(name: str, value: object) -> None:
    if not isinstance(value, Mapping):
        raise ModelError(f"{name} must be positions by joint, such as {{'knee': 0.0}}, got {value!r}")


def _check_contacts(contacts: object) -> None:
    if isinstance(contacts, str) and contacts != COLLISION:
        raise ModelError(f"contacts: {unknown('way', contacts, [COLLISION])}; or give points by link")
    if not isinstance(contacts, (str, Mapping)):
        raise ModelError(f"contacts must be 'collision' or lists of points by link, got {contacts!r}")


def by_joint(values: Mapping[str, float], what: str, joints: Iterable[str]) -> dict[str, float]:
    """The value of each joint that ``values`` name, patterns with ``*`` spelled out; of two the later counts.

    Raises:
        ModelError: a name or a pattern fits none of ``joints``, or a value is not a finite number.
    """
    known = list(joints)
    found: dict[str, float] = {}
    for pattern, value in values.items():
        names = [joint for joint in known if fnmatchcase(joint, pattern)]
        if not names:
            raise ModelError(f"{what}: {unknown('joint', pattern, known)}")
        found |= dict.fromkeys(names, number(value, f"{what}: joint {pattern!r}"))
    return found

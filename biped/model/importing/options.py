"""Options for the import of a robot, in addition to its file; they are the keys of a robot's TOML file."""

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
    """Options of `load_urdf`, `load_mjcf` and `from_pinocchio`.

    Links have the names in the file, including links that are merged by fixed joints. In tables by joint, ``*`` in a
    name is a wildcard: ``{"arm_*": 0.0}``.

    Attributes:
        floating: True if the root link floats; otherwise it is the ground, and exactly one joint is attached to it.
        gravity: [m/s²] vector in inertial axes; None: the file's, or 9.81 m/s² along −Z if the file has none.
        name: name of the model; None: the robot's name in the file.
        feet: links that stand on the floor, in the order for controllers.
        contacts: contact points by link, as a list or by name, [m] in the link's frame; or ``"collision"`` for the
            corners of the soles in the feet's collision geometry.
        locked: positions [rad or m] of joints to lock, by joint; their links become one body.
        repair: treatment of impossible links, without mass or extent or with an inertia that no distribution of mass
            has: ``"merge"`` locks their joints, ``"inertia"`` gives them the least possible inertia (and 1 g). By
            default they are kept if their joints move other inertia, and otherwise refused.
        armature: [kg m² or kg] rotor inertia at the joints, by joint or for all joints, instead of the file's.
        damping: [N·m·s/rad or N·s/m] damping of the joints' bearings, by joint or for all, instead of the file's.
        friction: [N·m or N] dry friction of the joints' bearings, by joint or for all joints, instead of the file's.
        limits: False to remove the file's limits of position, velocity and effort.
        facing: horizontal forward direction at home.
        posture: standing positions [rad or m] by joint; all other joints are at zero.
        floor: floor in experiments: ``{"mu": 0.6}``, its coefficient of friction, instead of that in the file's scene.
        packages: folders for ``package://``, in addition to those above the file.
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
    """Refuse unknown options and values of the wrong kind.

    Raises:
        ModelError: an option is invalid; the message gives the allowed values.
    """
    for name, value in options.items():
        if name not in Options.__annotations__:
            raise unknown("option", name, Options.__annotations__)
        if name in ("locked", "posture"):
            _check_table(name, value)
    repair = options.get("repair")
    if repair is not None and repair not in REPAIRS:
        raise ModelError(f"repair: {unknown('method', repair, REPAIRS)}")
    for name in ("floating", "limits"):
        if options.get(name) not in (None, True, False):
            raise ModelError(f"{name} must be true or false, got {options[name]!r}")
    floor = options.get("floor", {})
    if not isinstance(floor, Mapping) or set(floor) - {"mu"}:
        raise ModelError(f"floor must be a table with a coefficient of friction, like {{'mu': 0.6}}, got {floor!r}")
    for value in floor.values():
        not_negative(value, "floor: mu", "")
    for name in ("feet", "packages"):
        check_names(options.get(name, ()), name)
    _check_contacts(options.get("contacts", {}))


def check_names(value: object, what: str) -> None:
    """Refuse a value that is not a list of names.

    Raises:
        ModelError: the value is not a list of names.
    """
    if isinstance(value, str) or not isinstance(value, Sequence) or not all(isinstance(name, str) for name in value):
        raise ModelError(f"{what} must be a list of names, got {value!r}")


def _check_table(name: str, value: object) -> None:
    if not isinstance(value, Mapping):
        raise ModelError(f"{name} must be a table of joint positions, like {{'knee': 0.0}}, got {value!r}")


def _check_contacts(contacts: object) -> None:
    if not isinstance(contacts, (str, Mapping)) or (isinstance(contacts, str) and contacts != COLLISION):
        raise ModelError(f"contacts must be 'collision' or a table of lists of points by link, got {contacts!r}")


def by_joint(values: Mapping[str, float], what: str, joints: Iterable[str]) -> dict[str, float]:
    """Return the value of each joint in ``values``, with patterns with ``*`` resolved; later entries take precedence.

    Raises:
        ModelError: a name or a pattern matches none of ``joints``, or a value is not a finite number.
    """
    known = list(joints)
    resolved: dict[str, float] = {}
    for pattern, value in values.items():
        names = [joint for joint in known if fnmatchcase(joint, pattern)]
        if not names:
            raise ModelError(f"{what}: {unknown('joint', pattern, known)}")
        resolved |= dict.fromkeys(names, number(value, f"{what}: joint {pattern!r}"))
    return resolved

"""Base classes of disturbances and of their parameter groups."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import fields, is_dataclass
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, Self

from biped.inputs.fields import quantity
from biped.model import Model
from biped.model.geometry import Vector3
from biped.signals import Signal
from contact import Floor

if TYPE_CHECKING:
    from biped.disturbances.push import Force, Push

#: Description of a disturbance as a JSON table, by ``described``.
Record = dict[str, Any]
#: Directions of horizontal pushes in steps of 45°, from forward to the model's left.
DIRECTIONS = (
    "forwards", "forwards and left", "to the left", "backwards and left", "backwards", "backwards and right",
    "to the right", "forwards and right",
)  # fmt: skip
#: Subclasses of ``Disturbance`` by lower-case name, as in descriptions.
KINDS: dict[str, type[Disturbance]] = {}
#: Module and class of each parameter group by name, in the order in which disturbances act; add new kinds here.
GROUPS = {
    "push": "push:PushParameters",
    "kick": "kick:Kick",
    "force": "patterns:ForceParameters",
    "platform": "floor:PlatformParameters",
    "patch": "floor:PatchParameters",
    "load": "load:Load",
    "block": "throw:BlockParameters",
    "sensors": "sensors.parameters:SensorParameters",
    "actuators": "control:Actuators",
}
#: Frame of points of a body, in titles.
BODY_AXES = "in axes fixed to the body (world axes in the home configuration)"


class Disturbance:
    """Base class of disturbances, which are frozen dataclasses that ``simulate`` accepts in any combination."""

    #: Phrase for the disturbance in metrics of its duration, such as ``a push``; empty if it has no duration.
    acts_as: ClassVar[str] = ""
    #: Template of ``in_words``, formatted with the description's entries; ``{where}`` is the direction.
    words: ClassVar[str] = "{kind}"

    def __init_subclass__(cls) -> None:
        KINDS[cls.__name__.lower()] = cls

    @property
    def begins(self) -> float:
        """Start time [s]; −∞ if the disturbance acts from the start of the run."""
        return -math.inf

    def forces(self, model: Model) -> Sequence[Push | Force]:
        """Return the forces of this disturbance on the bodies of a model without loads."""
        return ()

    @classmethod
    def in_words(cls, record: Record, facing: Vector3) -> str:
        """Return a phrase for a disturbance, from its description and the model's forward direction ``facing``."""
        where = direction_in_words(record["direction"], facing) if "direction" in record else ""
        return cls.words.format(**(record | {"where": where, "body": record.get("body", "").replace("_", " ")}))


class Place(NamedTuple):
    """Model, root position and floor of an experiment, from which parameters make disturbances."""

    model: Model
    root: Vector3  # [m] centre of mass of the root at the start
    floor: Floor


class ParameterGroup:
    """Base class of parameter groups that make disturbances: frozen dataclasses whose fields have unit and title.

    Titles and defaults may contain ``{root}``, name of the model's root, and ``{stands}``, location of its left foot.
    """

    #: Names of fields that switch the disturbance on if any of them differs from its default.
    switches: ClassVar[tuple[str, ...]] = ()
    #: Unit that replaces ``{unit}`` in units and titles of the fields.
    unit: ClassVar[str] = ""

    @classmethod
    def usual(cls, model: Model) -> Self:
        """Return the group with the default values for a model."""
        return cls()

    def disturbances(self, place: Place) -> Sequence[Disturbance]:
        """Return the disturbances of these parameters; here the group itself, or none if it is switched off."""
        off = type(self).usual(place.model)
        return (self,) if any(getattr(self, name) != getattr(off, name) for name in self.switches) else ()  # type: ignore[return-value]


@cache
def groups() -> dict[str, type[ParameterGroup]]:
    """Return the classes of parameter groups by name."""
    places = {name: place.split(":") for name, place in GROUPS.items()}
    return {name: getattr(import_module(f"biped.disturbances.{file}"), made) for name, (file, made) in places.items()}


def kind_named(name: str) -> type[Disturbance]:
    """Return the class of a disturbance by its lower-case name; the base class if the name is unknown."""
    groups()
    return KINDS.get(name, Disturbance)


def azimuth_field() -> Any:
    """Return a field ``azimuth`` for a horizontal direction."""
    return quantity("rad", "Horizontal direction in which it acts; 0: forward, 90deg: left, 180deg: backward", 0.0)


def point_field() -> Any:
    """Return a field ``point`` for a point of a body."""
    return quantity("m", f"Point of application, from the body's centre of mass, {BODY_AXES}", (0.0, 0.0, 0.0))


def heading(azimuth: float, facing: Vector3 = (-1.0, 0.0, 0.0)) -> Vector3:
    """Return the horizontal unit vector (3,) at an azimuth [rad, to the left] from the forward direction ``facing``."""
    x, y, _ = facing
    return (math.cos(azimuth) * x - math.sin(azimuth) * y, math.sin(azimuth) * x + math.cos(azimuth) * y, 0.0)


def direction_in_words(direction: Sequence[float], facing: Vector3) -> str:
    """Return a direction (3,) in world axes as words, such as ``forwards``, for a model that faces along ``facing``."""
    x, y, z = direction
    if abs(z) > math.hypot(x, y):
        return "upwards" if z > 0.0 else "downwards"
    forwards, left = x * facing[0] + y * facing[1], y * facing[0] - x * facing[1]
    angle = math.degrees(math.atan2(left, forwards)) % 360.0
    near = round(angle / 45.0) % 8
    off = angle - 45.0 * round(angle / 45.0)
    return DIRECTIONS[near] if abs(off) < 0.5 else f"at {angle:.0f}° from forwards to the left"


def described(disturbance: Disturbance) -> dict[str, Any]:
    """Return a description of a disturbance as a JSON table; signals are summarized by start, end and range."""
    return {"kind": type(disturbance).__name__.lower()} | _plain(disturbance)


def _plain(value: Any) -> Any:
    if isinstance(value, Signal):
        at_knots = value.coefficients[:, 0]
        return {
            "begins": value.begins,
            "ends": value.ends,
            "least": float(at_knots.min()),
            "most": float(at_knots.max()),
            "frequencies": list(value.frequencies),
            "fade": value.fade,
        }
    if is_dataclass(value):
        return {item.name: _plain(getattr(value, item.name)) for item in fields(value)}
    if isinstance(value, dict):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, (tuple, list)):
        return [_plain(item) for item in value]
    return "inf" if isinstance(value, float) and value == math.inf else value

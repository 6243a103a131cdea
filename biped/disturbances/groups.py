"""Groups of parameters that make disturbances: the place where a new kind is entered."""

from functools import cache
from importlib import import_module

from biped.disturbances.disturbance import KINDS, Disturbance, ParameterGroup

#: Module and class of each group, in the order in which the disturbances act.
GROUPS = {
    "push": "push:PushParameters",
    "kick": "kick:Kick",
    "force": "force:ForceParameters",
    "platform": "floor:PlatformParameters",
    "patch": "floor:PatchParameters",
    "load": "load:Load",
    "block": "throw:BlockParameters",
    "sensors": "sensors.parameters:SensorParameters",
    "actuators": "control:Actuators",
}


@cache
def groups() -> dict[str, type[ParameterGroup]]:
    """Return the groups by name."""
    places = {name: place.split(":") for name, place in GROUPS.items()}
    return {name: getattr(import_module(f"biped.disturbances.{file}"), made) for name, (file, made) in places.items()}


def kind_named(name: str) -> type[Disturbance]:
    """Return the class of a recorded disturbance; the base if it is of a kind that is not imported."""
    groups()
    return KINDS.get(name, Disturbance)

"""The disturbances of a run, sorted by what they act on."""

from collections.abc import Sequence
from dataclasses import dataclass, fields, is_dataclass
from typing import Any, TypeVar

from biped.disturbances.control import Actuators
from biped.disturbances.floor import Patch, Platform
from biped.disturbances.load import Load
from biped.disturbances.push import Force, Push
from biped.disturbances.sensors import Sensors
from biped.disturbances.sway import SwayReferenced
from biped.disturbances.throw import Throw
from biped.errors import InputError
from biped.model import Model
from biped.signals import Signal
from contact import Floor

Disturbance = Push | Force | Throw | Platform | SwayReferenced | Patch | Load | Sensors | Actuators
KINDS = (Push, Force, Throw, Platform, SwayReferenced, Patch, Load, Sensors, Actuators)

T = TypeVar("T")


@dataclass(frozen=True)
class Disturbances:
    """All disturbances of a run; of those that are single, None where there is none."""

    pushes: list[Push | Force]
    throw: Throw | None
    platform: Platform | None
    sway_referenced: SwayReferenced | None
    patches: list[Patch]
    loads: list[Load]
    sensors: Sensors | None
    actuators: Actuators | None

    @property
    def floor_moves(self) -> bool:
        """Whether it does, by itself or with the body."""
        return self.platform is not None or self.sway_referenced is not None

    def with_payload(self, model: Model) -> Model:
        """The model with its loads; the model itself where there are none."""
        for load in self.loads:
            model = load.on(model)
        return model


def sorted_disturbances(given: Sequence[Any]) -> Disturbances:
    """Sort them.

    Raises:
        InputError: one is no disturbance, or there are two where one at most makes sense.
    """
    for disturbance in given:
        if not isinstance(disturbance, KINDS):
            names = ", ".join(kind.__name__ for kind in KINDS)
            raise InputError(f"disturbance {disturbance!r}: it must be one of {names}")
    if (floors := sum(isinstance(d, (Platform, SwayReferenced)) for d in given)) > 1:
        raise InputError(f"{floors} motions of the floor: a run takes one at most")
    return Disturbances(
        pushes=[d for d in given if isinstance(d, (Push, Force))],
        throw=_single(given, Throw),
        platform=_single(given, Platform),
        sway_referenced=_single(given, SwayReferenced),
        patches=[d for d in given if isinstance(d, Patch)],
        loads=[d for d in given if isinstance(d, Load)],
        sensors=_single(given, Sensors),
        actuators=_single(given, Actuators),
    )


def begins_before(disturbance: Disturbance, end: float) -> bool:
    """Whether it acts in a run up to ``end`` [s]: a push, a force or a motion of the floor may begin later."""
    return not (isinstance(disturbance, (Push, Force, Platform)) and disturbance.begins >= end)


def check_begins(acting: Sequence[Disturbance], end: float) -> None:
    """Whether each push, force and motion of the floor begins before the end [s] of a run.

    Raises:
        InputError: one does not: however hard it is, it would be withstood.
    """
    for one in acting:
        if isinstance(one, (Push, Force, Platform)) and not begins_before(one, end):
            start = f"{type(one).__name__.lower()}.start = {one.begins:g} s"
            raise InputError(f"{start} is not before the end of the run, at {end:g} s: it would never act")


def _single(given: Sequence[Any], kind: type[T]) -> T | None:
    found = [d for d in given if isinstance(d, kind)]
    if len(found) > 1:
        plural = kind.__name__.lower().rstrip("s") + "s"
        raise InputError(f"{len(found)} {plural}: a run takes one at most")
    return found[0] if found else None


def described(disturbance: Disturbance) -> dict[str, Any]:
    """A disturbance as JSON can hold it; of a signal, when it begins and ends, and its range."""
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
    if isinstance(value, Floor) or (is_dataclass(value) and isinstance(value, KINDS)):
        return {item.name: _plain(getattr(value, item.name)) for item in fields(value)}
    if isinstance(value, dict):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, (tuple, list)):
        return [_plain(item) for item in value]
    return "inf" if isinstance(value, float) and value == float("inf") else value

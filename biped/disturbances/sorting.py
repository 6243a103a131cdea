"""Sorting of a run's disturbances by kind."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from biped.disturbances.control import Actuators
from biped.disturbances.disturbance import KINDS, Disturbance, kind_named
from biped.disturbances.floor import Patch, Platform
from biped.disturbances.load import Load
from biped.disturbances.push import Force, Push
from biped.disturbances.sensors import Sensors
from biped.disturbances.sway import SwayReferenced
from biped.disturbances.throw import Throw
from biped.errors import InputError
from biped.model import Model
from biped.model.geometry import Vector3

T = TypeVar("T")


@dataclass(frozen=True)
class Disturbances:
    """All disturbances of a run, sorted by kind; kinds that can occur only once are None if absent."""

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
        """True if the floor moves, as a platform or with the body's sway."""
        return self.platform is not None or self.sway_referenced is not None

    def with_payload(self, model: Model) -> Model:
        """Return the model with all loads attached; without loads, the model itself."""
        for load in self.loads:
            model = load.on(model)
        return model


def sorted_disturbances(given: Sequence[Any], model: Model) -> Disturbances:
    """Return the disturbances of a run, sorted by kind.

    Args:
        given: all disturbances of the run, in any order.
        model: model without loads.

    Raises:
        InputError: an item is not a disturbance, or a kind that can occur only once occurs twice.
    """
    for disturbance in given:
        if not isinstance(disturbance, Disturbance):
            names = ", ".join(kind.__name__ for kind in KINDS.values())
            raise InputError(f"disturbance {disturbance!r}: it must be one of {names}")
    if (floors := sum(isinstance(d, (Platform, SwayReferenced)) for d in given)) > 1:
        raise InputError(f"{floors} motions of the floor: a run can have at most one Platform or SwayReferenced")
    return Disturbances(
        pushes=[force for d in given for force in d.forces(model)],
        throw=_single(given, Throw),
        platform=_single(given, Platform),
        sway_referenced=_single(given, SwayReferenced),
        patches=[d for d in given if isinstance(d, Patch)],
        loads=[d for d in given if isinstance(d, Load)],
        sensors=_single(given, Sensors),
        actuators=_single(given, Actuators),
    )


def check_begins(disturbances: Sequence[Disturbance], end: float) -> None:
    """Check that no disturbance begins at or after the end [s] of a run, since it would never act.

    Raises:
        InputError: a disturbance begins too late.
    """
    for disturbance in disturbances:
        if disturbance.begins >= end:
            start = f"{type(disturbance).__name__.lower()}.start = {disturbance.begins:g} s"
            raise InputError(f"{start} is not before the end of the run, at {end:g} s: set an earlier start")


def in_words(records: Iterable[Any], facing: Vector3) -> list[str]:
    """Return phrases that describe disturbances, without repetitions, in the order of the records.

    Args:
        records: descriptions of disturbances, as in ``Run.disturbances``.
        facing: forward direction of the model, a horizontal unit vector.
    """
    phrases = (kind_named(record["kind"]).in_words(record, facing) for record in records)
    return list(dict.fromkeys(phrase for phrase in phrases if phrase))


def _single(given: Sequence[Any], kind: type[T]) -> T | None:
    matches = [d for d in given if isinstance(d, kind)]
    if len(matches) > 1:
        plural = kind.__name__.lower().rstrip("s") + "s"
        raise InputError(f"{len(matches)} {plural}: a run can have at most one")
    return matches[0] if matches else None

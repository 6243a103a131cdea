"""Parameters of sensors."""

from dataclasses import dataclass, fields, is_dataclass, replace
from typing import Any

from biped.disturbances.disturbance import ParameterGroup, Place
from biped.disturbances.sensors.sensors import PRESETS, Sensors
from biped.inputs.fields import inline, quantity
from biped.model.strength import NO_PRESET


@dataclass(frozen=True)
class SensorParameters(ParameterGroup):
    """Parameters of sensors."""

    preset: str = quantity(
        "", "Preset of human sensors; other sensor parameters override it", NO_PRESET, choices=(NO_PRESET, *PRESETS)
    )
    sensors: Sensors = inline(Sensors())

    def disturbances(self, place: Place) -> tuple[Sensors, ...]:
        """Return the sensors, or none if they are ideal; values that differ from the defaults override the preset's."""
        person = Sensors() if self.preset == NO_PRESET else Sensors.preset(self.preset)
        sensors: Sensors = _over(self.sensors, Sensors(), person)
        return () if sensors == Sensors(seed=sensors.seed, estimator=sensors.estimator) else (sensors,)


def _over(given: Any, default: Any, below: Any) -> Any:
    """Return ``given`` if it differs from ``default``, else ``below``; for dataclasses, field by field."""
    if not is_dataclass(given):
        return below if given == default else given
    names = [field.name for field in fields(given)]
    return replace(below, **{n: _over(getattr(given, n), getattr(default, n), getattr(below, n)) for n in names})

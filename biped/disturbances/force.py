"""Parameters of forces that follow signals."""

from dataclasses import dataclass
from typing import ClassVar

from biped.disturbances.disturbance import ParameterGroup, Place, azimuth_field, heading, point_field
from biped.disturbances.patterns import NO_FILE, SIGNALS, Pattern, Recorded
from biped.disturbances.push import Force, random_forces
from biped.inputs.checks import zero_or_above
from biped.inputs.fields import inline, quantity
from biped.model.geometry import Vector3
from biped.signals import Signal


@dataclass(frozen=True)
class ForceParameters(ParameterGroup):
    """Parameters of forces: one of a pattern, a recorded one, and a random one."""

    pattern: str = quantity("", "Pattern of the force", "constant", choices=("constant", *SIGNALS))
    periodic: Pattern = inline(Pattern())
    noise: float = quantity("N", "Standard deviation of a random horizontal force, each component; 0: none", 0.0)
    azimuth: float = azimuth_field()
    body: str = quantity("", "Body on which the forces act", "{root}")
    point: Vector3 = point_field()
    recorded: Recorded = inline(Recorded())

    switches: ClassVar[tuple[str, ...]] = ("size", "noise", "file")
    unit: ClassVar[str] = "N"

    def disturbances(self, place: Place) -> tuple[Force, ...]:
        """Return the forces that are set."""
        of, recorded = self.periodic, self.recorded
        zero_or_above(self.noise, "noise")
        signals = []
        if of.size and self.pattern == "constant":
            signals.append(Signal.rectangle(of.size, of.start, of.duration))
        elif of.size:
            signals.append(of.signal(self.pattern, Signal.ternary_steps))
        if recorded.file != NO_FILE:
            signals.append(recorded.signal(of.start, lambda how, one: how.force(one, recorded.column, "N")))
        direction = heading(self.azimuth, place.model.facing)
        found = tuple(Force(self.body, direction, signal, self.point) for signal in signals)
        if self.noise:
            found += random_forces(
                self.body, self.noise, of.seed, interval=of.interval, start=of.start, duration=of.duration,
                point=self.point,
            )  # fmt: skip
        return found

"""Parameters of signals for floor motion and forces: steps, sines, ternary sequences and recorded signals."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from biped.disturbances.disturbance import ParameterGroup, Place, azimuth_field, heading, point_field
from biped.disturbances.push import Force, random_forces
from biped.errors import InputError
from biped.inputs.checks import above_zero, integer, zero_or_above
from biped.inputs.fields import inline, quantity
from biped.model.geometry import Vector3
from biped.records import Preparation, Record
from biped.records.read import Reading
from biped.signals import STAGES, Signal

#: Value of the parameter ``file`` if there is no file.
NO_FILE = "none"
#: Names of the periodic patterns of ``Pattern.signal``.
SIGNALS = ("sine", "sum-of-sines", "ternary")


@dataclass(frozen=True)
class Pattern:
    """Parameters of a step, of sines, or of a pseudorandom ternary sequence."""

    size: float = quantity(
        "{unit}", "Size of a step or constant; sines: amplitude; ternary: peak (force), peak to peak (floor)", 0.0
    )
    frequency: float = quantity("Hz", "Frequency of the sine", 0.5)
    frequencies: str = quantity("Hz", "Frequencies of the sum of sines, separated by spaces", "0.1 0.3 0.7 1.1")
    stages: int = quantity("", "Ternary sequence: number n of shift-register stages; 3ⁿ − 1 intervals per cycle", 3)
    interval: float = quantity("s", "Interval between changes of a ternary or random signal", 0.05)
    seed: int = quantity("", "Seed of random force, ternary sequence and sines' phases; with 0, phases are zero", 0)
    start: float = quantity("s", "Start of the disturbance", 0.5)
    duration: float = quantity("s", "Duration of the disturbance; ternary sequence: rounded to whole cycles", 1.0)
    rise: float = quantity("s", "Rise time of a step; fade-in and fade-out time of sines", 0.5)

    def __post_init__(self) -> None:
        integer(self.seed, "seed")

    def signal(self, name: str, ternary: Callable[..., Signal]) -> Signal:
        """Return the signal of a pattern in ``SIGNALS``; ``ternary`` is the function for a ternary signal."""
        if name == "sine":
            return Signal.sine(self.size, self.frequency, self.start, self.duration, self.rise)
        return self._sum_of_sines() if name == "sum-of-sines" else self._ternary(ternary)

    def _sum_of_sines(self) -> Signal:
        """Return a sum of sines of equal size, with phases zero for seed 0 and random phases otherwise."""
        frequencies = self._frequencies()
        phases = [0.0] * len(frequencies)
        if self.seed:
            phases = np.random.default_rng(self.seed).uniform(0.0, 2.0 * math.pi, len(frequencies)).tolist()
        sizes = [self.size] * len(frequencies)
        return Signal.sum_of_sines(sizes, frequencies, phases, start=self.start, duration=self.duration, fade=self.rise)

    def _frequencies(self) -> list[float]:
        try:
            values = [float(part) for part in self.frequencies.replace(",", " ").split()]
        except ValueError:
            values = []
        if not values:
            raise InputError(f"frequencies = {self.frequencies!r}: it must be numbers [Hz] separated by spaces")
        return values

    def _ternary(self, make: Callable[..., Signal]) -> Signal:
        """Return whole cycles of a pseudorandom ternary sequence."""
        if self.stages not in STAGES:
            raise InputError(f"stages = {self.stages}: it must be one of {', '.join(map(str, STAGES))}")
        above_zero(self.interval, "interval")
        cycle = (3**self.stages - 1) * self.interval
        return make(self.size, self.interval, self.stages, self.start, max(1, round(self.duration / cycle)), self.seed)


@dataclass(frozen=True)
class Recorded:
    """Parameters of a signal that is recorded in a file."""

    file: str = quantity(
        "", "Recorded data: CSV (column time [s]), C3D, OpenSim, MATLAB file, converted to {unit}; none: off", NO_FILE
    )
    column: str = quantity("", "Recorded data: name of its column", "value")
    reading: Reading = inline(Reading())
    preparation: Preparation = inline(Preparation())

    def signal(self, start: float, make: Callable[[Preparation, Record], Signal]) -> Signal:
        """Return the signal that ``make`` makes of the record, shifted by ``start`` [s]."""
        try:
            return make(self.preparation, self.reading.read(self.file, self.column)).shifted(start)
        except InputError as error:
            reason = str(error).removeprefix(self.file).lstrip(":, ")
            raise InputError(f"file = {self.file}: {reason}") from None
        except OSError as error:
            raise InputError(f"file = {self.file}: it cannot be read ({error.strerror})") from None


@dataclass(frozen=True)
class ForceParameters(ParameterGroup):
    """Parameters of forces on a body: a force with a pattern, a recorded force, and a random force."""

    pattern: str = quantity("", "Pattern of the force over time", "constant", choices=("constant", *SIGNALS))
    periodic: Pattern = inline(Pattern())
    noise: float = quantity("N", "Standard deviation of each component of a random horizontal force; 0: none", 0.0)
    azimuth: float = azimuth_field()
    body: str = quantity("", "Body on which the forces act", "{root}")
    point: Vector3 = point_field()
    recorded: Recorded = inline(Recorded())

    switches: ClassVar[tuple[str, ...]] = ("size", "noise", "file")
    unit: ClassVar[str] = "N"

    def disturbances(self, place: Place) -> tuple[Force, ...]:
        """Return those of the three forces that are set."""
        of, recorded = self.periodic, self.recorded
        zero_or_above(self.noise, "noise")
        signals = []
        if of.size and self.pattern == "constant":
            signals.append(Signal.rectangle(of.size, of.start, of.duration))
        elif of.size:
            signals.append(of.signal(self.pattern, Signal.ternary_steps))
        if recorded.file != NO_FILE:
            signals.append(recorded.signal(of.start, lambda how, record: how.force(record, recorded.column, "N")))
        direction = heading(self.azimuth, place.model.facing)
        forces = tuple(Force(self.body, direction, signal, self.point) for signal in signals)
        if self.noise:
            forces += random_forces(
                self.body, self.noise, of.seed, interval=of.interval, start=of.start, duration=of.duration,
                point=self.point,
            )  # fmt: skip
        return forces

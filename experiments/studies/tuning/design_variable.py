"""What is varied: one number that stands for one or several numbers of an experiment's parameters."""

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from biped.errors import InputError
from experiments.catalogue.experiment import Experiment
from experiments.catalogue.parameters.parameter import Value, assembled, parameter_named, split_name

LINEAR, LOG = "linear", "log"
SCALES = (LINEAR, LOG)
DAMPING_RATIO = "damping-ratio"

_DAMPING = re.compile(r"controller\.kd_(?P<what>position|orientation)(\[\d+\])?")


def stiffness_of(damping: str) -> str:
    """The stiffness that a damping gain of the workspace controller belongs to, by their names.

    Raises:
        InputError: it is no damping gain.
    """
    if _DAMPING.fullmatch(damping) is None:
        raise InputError(f"{damping}: a damping ratio is one of controller.kd_position or controller.kd_orientation")
    return damping.replace("kd_", "kp_")


def critical_damping(damping: str, stiffness: float) -> float:
    """[1/s] the value of a damping gain with which an error dies out fastest without swinging.

    Along x, y, z the error obeys e'' + kd e' + kp e = 0 (Wendlandt 1997, 4.12), which is critically damped at
    kd = 2 √kp. About them kp multiplies the vector part of the error quaternion (4.17, 4.24), the sine of half the
    angle: for small angles the stiffness is kp / 2. The thesis's gains have ratios of 0.5 and 0.707.

    Args:
        damping: name of the gain.
        stiffness: kp [1/s²].
    """
    return 2.0 * math.sqrt(stiffness / 2.0 if "orientation" in damping else stiffness)


def number_at(name: str, values: Mapping[str, Value]) -> float | None:
    """The number of this name; None where a whole tuple is meant and its numbers differ."""
    owner, place = split_name(name)
    value = values[owner]
    if not isinstance(value, tuple):
        assert isinstance(value, (int, float)), name
        return float(value)
    if place is not None:
        return value[int(place)]
    return value[0] if len(set(value)) == 1 else None


@dataclass(frozen=True)
class Knob:
    """One number to vary.

    Attributes:
        name: what it is called in tables and figures.
        places: the numbers that it sets, all alike: ``controller.kp_position[2]``, or ``controller.kp_position`` for
            all numbers of a tuple.
        low: least value.
        high: greatest value.
        scale: ``"linear"`` or ``"log"``.
        is_ratio: whether it is a damping ratio, from which each damping gain follows with its own stiffness.

    Raises:
        InputError: for a range that is empty or, on a log scale, reaches zero; for nothing to set.
    """

    name: str
    places: tuple[str, ...]
    low: float
    high: float
    scale: str = LINEAR
    is_ratio: bool = False

    def __post_init__(self) -> None:
        if not self.places:
            raise InputError(f"parameter {self.name!r} sets nothing: name what it sets")
        if self.scale not in SCALES:
            raise InputError(f"parameter {self.name!r}: scale = {self.scale!r}: it must be one of {', '.join(SCALES)}")
        if not (math.isfinite(self.low) and math.isfinite(self.high) and self.low < self.high):
            raise InputError(f"parameter {self.name!r}: {self.low:g} … {self.high:g} is no range: from below to")
        if self.scale == LOG and self.low <= 0.0:
            raise InputError(f"parameter {self.name!r}: from {self.low:g}: on a log scale it must be above zero")
        if self.is_ratio:
            for place in self.places:
                stiffness_of(place)

    def from_unit(self, share: float) -> float:
        """The value at a share, 0 … 1, of the range."""
        share = min(max(share, 0.0), 1.0)
        if self.scale == LOG:
            value = self.low * (self.high / self.low) ** share
        else:
            value = self.low + share * (self.high - self.low)
        return min(max(value, self.low), self.high)

    def to_unit(self, value: float) -> float:
        """The share of the range at which a value lies."""
        if self.scale == LOG:
            return math.log(value / self.low) / math.log(self.high / self.low)
        return (value - self.low) / (self.high - self.low)

    def holds(self, value: float) -> bool:
        """Whether a value lies in the range."""
        return self.low <= value <= self.high

    def read(self, values: Mapping[str, Value]) -> float | None:
        """What it stands at under these values; None where the numbers that it ties together differ."""
        found = {self._read(place, values) for place in self.places}
        return found.pop() if len(found) == 1 else None

    def _read(self, place: str, values: Mapping[str, Value]) -> float | None:
        number = number_at(place, values)
        if number is None or not self.is_ratio:
            return number
        stiffness = number_at(stiffness_of(place), values)
        return number / critical_damping(place, stiffness) if stiffness else None

    def changes(self, number: float, values: Mapping[str, Value]) -> dict[str, Value]:
        """What it changes; a damping ratio with the stiffnesses that the values have."""
        return {place: self._changed(place, number, values) for place in self.places}

    def _changed(self, place: str, number: float, values: Mapping[str, Value]) -> Value:
        if self.is_ratio:
            stiffness = number_at(stiffness_of(place), values)
            if stiffness is None:
                raise InputError(f"parameter {self.name!r}: {stiffness_of(place)} are several: set {place}[0] …")
            number *= critical_damping(place, stiffness)
        whole = values[split_name(place)[0]]
        return (number,) * len(whole) if isinstance(whole, tuple) and split_name(place)[1] is None else number


def check_knobs(knobs: Sequence[Knob], experiment: Experiment) -> None:
    """Raise InputError if the experiment lacks a number, or two knobs set the same one or have the same name."""
    if not knobs:
        raise InputError("nothing is varied: give a [[parameter]] with what it sets, from and to")
    owners: dict[str, str] = {}
    names = [knob.name for knob in knobs]
    for name in names:
        if names.count(name) > 1:
            raise InputError(f"two parameters are called {name!r}: give each a name of its own")
    for knob in knobs:
        for place in knob.places:
            for number in _numbers(place, experiment):
                if number in owners:
                    raise InputError(f"{place} is set by both {owners[number]!r} and {knob.name!r}: leave one out")
                owners[number] = knob.name


def _numbers(place: str, experiment: Experiment) -> list[str]:
    """The single numbers at a place.

    Raises:
        InputError: there is no such place, or it is none of real numbers.
    """
    parameter = parameter_named(place, experiment.parameters)
    if isinstance(parameter.default, tuple):
        if not parameter.repeats:
            raise InputError(f"{place} is {len(parameter.default)} numbers: say which, such as {place}[0]")
        return [f"{place}[{entry}]" for entry in range(len(parameter.default))]
    if not isinstance(parameter.default, float):
        raise InputError(f"{place} = {parameter.default!r} cannot be varied: it must be a real number")
    return [parameter.name]


def changes_of(knobs: Sequence[Knob], point: Mapping[str, float], base: Mapping[str, Value]) -> dict[str, Value]:
    """The changes that a point of the knobs makes.

    Args:
        knobs: all of them; a damping ratio refers to the stiffness that the others make.
        point: a value for each knob, by name.
        base: the values of all parameters of the experiment.
    """
    changes: dict[str, Value] = {}
    for knob in sorted(knobs, key=lambda knob: knob.is_ratio):
        changes |= knob.changes(point[knob.name], {**base, **assembled(changes, base)})
    return {place: changes[place] for knob in knobs for place in knob.places}


def point_of(knobs: Sequence[Knob], values: Mapping[str, Value]) -> dict[str, float] | None:
    """The point at which the knobs stand under these values; None where one of them cannot stand so."""
    found = {knob.name: knob.read(values) for knob in knobs}
    point = {name: number for name, number in found.items() if number is not None}
    return point if len(point) == len(knobs) and all(knob.holds(point[knob.name]) for knob in knobs) else None

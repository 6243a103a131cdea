"""Definition of a metric, and the table of all metrics."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Literal

from biped.errors import InputError
from biped.metrics.posturography import AXES

if TYPE_CHECKING:
    from biped.metrics.measurement import Measurement

#: Number, text (``verdict``), or None if there is nothing to measure.
Value = float | int | str | None
#: Function that computes the value of a metric, or the values of several metrics by name.
Compute = Callable[["Measurement"], Value | Mapping[str, Value]]

OURS = "this project"
_EACH: tuple[Literal["JOINT", "FOOT", "FREQUENCY", "AXIS"], ...] = ("JOINT", "FOOT", "FREQUENCY", "AXIS")


@dataclass(frozen=True)
class Metric:
    """A metric: name, unit, definition, source, and the function that computes it.

    Attributes:
        name: name in a table of results. ``_JOINT``, ``_FOOT``, ``_FREQUENCY`` or ``_AXIS`` at the end stands for the
            names of the joints or feet, the indices of the frequencies (1, 2, …), or ``ap`` (anteroposterior) and
            ``ml`` (mediolateral).
        unit: unit, written as in the columns of a run; empty if the value is a text, such as a verdict.
        definition: title of a few words.
        compute: function that takes a ``Measurement`` and returns the value (a finite number, a text or None), or a
            mapping of several values by name. Metrics with the same function are computed together.
        formula: description of the computation.
        source: publication that defines the metric.
        of_whole_run: True if rows before the disturbance count too. Other metrics are None for a run without rows after
            the start of the disturbance.
    """

    name: str
    unit: str
    definition: str
    compute: Compute
    formula: str = ""
    source: str = OURS
    of_whole_run: bool = False

    @cached_property
    def per(self) -> Literal["JOINT", "FOOT", "FREQUENCY", "AXIS", ""]:
        """Kind of objects that have one value each; empty if there is one value for the whole run."""
        return next((what for what in _EACH if self.name.endswith(f"_{what}")), "")

    @cached_property
    def stem(self) -> str:
        """Name without the suffix for joint, foot, frequency or axis."""
        return self.name.removesuffix(f"_{self.per}") if self.per else self.name

    def columns(self, joints: Iterable[str], feet: Iterable[str], frequencies: int = 0) -> list[str]:
        """Return the metric's names in a table of results, for these joints and feet and this number of frequencies.

        Frequencies are numbered, so that trials with different frequencies share the columns.
        """
        each = {"JOINT": joints, "FOOT": feet, "FREQUENCY": map(str, range(1, frequencies + 1)), "AXIS": AXES}
        return [f"{self.stem}_{suffix}" for suffix in each[self.per]] if self.per else [self.name]


#: All metrics, in the order of tables of results.
METRICS: dict[str, Metric] = {}


def register(*metrics: Metric) -> None:
    """Add metrics to every run and every trial of a study.

    A metric whose function is defined again, for example in a notebook, replaces the previous metric.

    Raises:
        InputError: another metric has this name, or the name is not an identifier.
    """
    for metric in metrics:
        before = METRICS.get(metric.name)
        if before is not None and _place_of(before) != _place_of(metric):
            raise InputError(f"there is a metric {metric.name!r} already ({before.definition}): choose another name")
        if not metric.name.isidentifier():
            raise InputError(f"metric.name = {metric.name!r}: it must be a word of letters, digits and underscores")
        METRICS[metric.name] = metric


def _place_of(metric: Metric) -> tuple[str, str]:
    return metric.compute.__module__, metric.compute.__qualname__


def metric_names(joints: Iterable[str], feet: Iterable[str], frequencies: int = 0) -> list[str]:
    """Return the names of all metrics for these joints and feet, in the order of ``METRICS``.

    Args:
        joints: names of the joints.
        feet: names of the feet.
        frequencies: number of frequencies of the floor's motion.
    """
    return [name for metric in METRICS.values() for name in metric.columns(joints, feet, frequencies)]


def metric_named(name: str) -> Metric:
    """Return the metric of a column of results: ``peak_torque_JOINT`` for ``peak_torque_left_knee_pitch``.

    Raises:
        InputError: the metric is unknown.
    """
    if name in METRICS:
        return METRICS[name]
    parts = [metric for metric in METRICS.values() if metric.per and name.startswith(metric.stem + "_")]
    if not parts:
        raise InputError(f"unknown metric {name!r}; biped.metrics.METRICS lists all metrics")
    return max(parts, key=lambda metric: len(metric.stem))


def units_of(names: Iterable[str]) -> dict[str, str]:
    """Return the units of metrics, by the names of their columns.

    Raises:
        InputError: a metric is unknown.
    """
    return {name: metric_named(name).unit for name in names}

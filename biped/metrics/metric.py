"""The definition of a metric, and the one table of all metrics."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Literal

from biped.errors import InputError
from biped.metrics.posturography import AXES

if TYPE_CHECKING:
    from biped.metrics.measurement import Measurement

#: A number, a word (``verdict``), or None where there is nothing to measure.
Value = float | int | str | None
#: What computes a metric, or several at once: then it returns their values by name.
Compute = Callable[["Measurement"], Value | Mapping[str, Value]]

OURS = "this project"
_EACH: tuple[Literal["JOINT", "FOOT", "FREQUENCY", "AXIS"], ...] = ("JOINT", "FOOT", "FREQUENCY", "AXIS")


@dataclass(frozen=True)
class Metric:
    """One metric.

    Attributes:
        name: as in a table of results; of those that are there for each joint, foot, frequency or axis with ``_JOINT``,
            ``_FOOT``, ``_FREQUENCY`` or ``_AXIS`` in place of its name, of the number of the frequency, or of ``ap``
            (anteroposterior) and ``ml`` (mediolateral).
        unit: as the columns of a run have them; empty for a word.
        definition: what it is, in a few words.
        compute: from a ``Measurement`` its value: a number that is finite, or None. A mapping holds several values by
            the names that they have in a table; metrics that share such a function are computed at once.
        formula: how it is computed, in words.
        source: where the definition is from.
        of_whole_run: whether it also counts what was before the disturbance. Others are not computed of a run that
            has no rows after it.
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
        """The kind of thing that each has a value of its own; empty where there is one value for the whole run."""
        return next((what for what in _EACH if self.name.endswith(f"_{what}")), "")

    @cached_property
    def stem(self) -> str:
        """The name without what it is for."""
        return self.name.removesuffix(f"_{self.per}") if self.per else self.name

    def columns(self, joints: Iterable[str], feet: Iterable[str], frequencies: int = 0) -> list[str]:
        """The metric's names in a table of results of a model with these joints and feet, and so many frequencies.

        Frequencies are counted, not named by their values: trials that differ in them share the columns.
        """
        each = {"JOINT": joints, "FOOT": feet, "FREQUENCY": map(str, range(1, frequencies + 1)), "AXIS": AXES}
        return [f"{self.stem}_{suffix}" for suffix in each[self.per]] if self.per else [self.name]


#: All metrics, in the order in which tables of results have them.
METRICS: dict[str, Metric] = {}


def register(*metrics: Metric) -> None:
    """Let every run and every trial of a study have these metrics too.

    A function that is defined anew, as in a notebook, replaces what it computed before.

    Raises:
        InputError: there is another metric of this name, or the name is not a word that a column can have.
    """
    for metric in metrics:
        before = METRICS.get(metric.name)
        if before is not None and _place_of(before) != _place_of(metric):
            raise InputError(f"metric {metric.name!r} exists already: {before.definition}; choose another name")
        if not metric.name.isidentifier():
            raise InputError(f"metric.name = {metric.name!r}: it must be a word of letters, digits and underscores")
        METRICS[metric.name] = metric


def _place_of(metric: Metric) -> tuple[str, str]:
    return metric.compute.__module__, metric.compute.__qualname__


def metric_names(joints: Iterable[str], feet: Iterable[str], frequencies: int = 0) -> list[str]:
    """The names of all metrics of a model with these joints and feet, in the order of ``METRICS``.

    Args:
        joints: its joints' names.
        feet: its feet's.
        frequencies: at how many the floor moves.
    """
    return [name for metric in METRICS.values() for name in metric.columns(joints, feet, frequencies)]


def metric_named(name: str) -> Metric:
    """The metric of a column of results: ``peak_torque_left_knee_pitch`` is ``peak_torque_JOINT``.

    Raises:
        InputError: there is none.
    """
    if name in METRICS:
        return METRICS[name]
    parts = [metric for metric in METRICS.values() if metric.per and name.startswith(metric.stem + "_")]
    if not parts:
        raise InputError(f"unknown metric {name!r}; biped.metrics.METRICS has them all")
    return max(parts, key=lambda metric: len(metric.stem))


def units_of(names: Iterable[str]) -> dict[str, str]:
    """The unit of each of these metrics.

    Raises:
        InputError: a metric does not exist.
    """
    return {name: metric_named(name).unit for name in names}

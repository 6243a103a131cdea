"""Measurement of runs: from recorded rows to a flat table of metrics."""

import math
from collections.abc import Callable, Mapping
from functools import cached_property
from numbers import Integral, Real
from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from biped.errors import InputError
from biped.metrics.anatomical import anatomical_series
from biped.metrics.context import MeasurementContext
from biped.metrics.kernels.support import FEET, Body, Places, Scratch, fill_contacts, fill_errors, fill_series
from biped.metrics.layout import Layout
from biped.metrics.metric import METRICS, Metric, Value, metric_named
from biped.model import Model
from biped.runs.verdict import FELL, LOST_CONTROL
from contact.arrays import Floats

T = TypeVar("T")

#: [s] Times that differ by less count as equal.
ROUNDING = 1e-9


class Step(NamedTuple):
    """A recovery step of a foot."""

    foot: int  # number of the foot
    left: int  # last row on the floor
    landed: int  # first row on the floor again
    away: Floats  # (2,) [m] displacement along the floor
    beyond: float  # [m] landing distance past the extrapolated centre of mass, along the step; NaN without displacement
    clearance: float  # [m] largest height of the foot's lowest point above its height at lift-off
    speed: float  # [m/s] vertical landing speed; NaN if the foot was in the air in only one row of the log


def _step(foot: int, left: int, landed: int, middle: Floats, xcom: Floats, lowest: Floats, time: Floats) -> Step:
    away = middle[landed, :2] - middle[left, :2]
    length = math.hypot(*away)
    ahead = (middle[landed, :2] - xcom[:2]) * away
    fallen, took = lowest[landed - 2] - lowest[landed - 1], time[landed - 1] - time[landed - 2]
    return Step(
        foot,
        left,
        landed,
        away,
        float((ahead[0] + ahead[1]) / length) if length > 0.0 else math.nan,
        max(0.0, float((lowest[left:landed] - lowest[left]).max())),
        float(fallen / took) if landed - left > 2 else math.nan,
    )


class Measurement:
    """A run for computing metrics, cut off at a fall: ``run["com_x"]`` is a column of its log.

    Columns of ``biped.metrics.series``, for example ``run["cop_margin"]``, are available too.

    Attributes:
        layout: layout of the columns.
        rows: (n, columns) rows of the log.
        events: (m, ``biped.kernels.loop.log.EVENT_WIDTH``) contacts made or lost, and impacts; None: not recorded.
        context: data of the run that are not in its rows.
        first: index of the first row after the start of the disturbance; the number of rows if the run ended before.
    """

    def __init__(self, layout: Layout, rows: Floats, events: Floats | None, context: MeasurementContext) -> None:
        if rows.ndim != 2 or rows.shape[1] != len(layout.columns):
            raise InputError(f"rows have shape {rows.shape}: it must be (rows, {len(layout.columns)})")
        times = rows[:, layout.places.time]
        if context.fell_at is not None:
            rows = rows[: int(np.searchsorted(times, context.fell_at + ROUNDING, side="right"))]
        # For a compiled kernel, a read-only array is of another type.
        self.rows: Floats = np.require(rows, dtype=np.float64, requirements=("C", "W"))
        self.layout, self.events, self.context = layout, events, context
        self.first = 0 if context.start_time is None else self.row_at(context.start_time)
        self._results: dict[Callable[[Measurement], Any], Any] = {}

    def __getitem__(self, column: str) -> Floats:
        columns, series = self.layout.columns, tuple(self.layout.series)
        if column in columns:
            return self.rows[:, columns.index(column)]
        if column in series:
            return self.series[:, series.index(column)]
        if column in self.layout.anatomical:
            return self.once(anatomical_series)[column]
        known = ", ".join(dict.fromkeys((*columns, *series, *self.layout.anatomical)))
        raise InputError(f"the run has no column {column!r}; columns are {known}")

    def row_at(self, time: float) -> int:
        """Return the index of the first row at or after a time [s]; the number of rows if the run ended before."""
        times = self.rows[:, self.layout.places.time]
        return int(np.searchsorted(times, time - ROUNDING))

    @property
    def model(self) -> Model:
        """The simulated model."""
        return self.layout.model

    @property
    def start_time(self) -> float | None:
        """Start time [s] of the disturbance, or None."""
        return self.context.start_time

    @property
    def fell(self) -> bool:
        """True if a limit of a fall was reached."""
        return self.context.ending.verdict in (FELL, LOST_CONTROL) or self.context.fell_at is not None

    # --- inputs of compiled metrics ---

    @property
    def places(self) -> Places:
        """Column indices for the kernels."""
        return self.layout.places

    @cached_property
    def body(self) -> Body:
        """Description of the body for the kernels."""
        return self.layout.body(self.context.pendulum_length)

    @cached_property
    def scratch(self) -> Scratch:
        """Workspace for the kernels' points and hulls."""
        return self.layout.scratch()

    @cached_property
    def series(self) -> Floats:
        """Table (n, FEET + feet) of the columns in ``layout.series``, in order, for the kernels."""
        table = np.empty((len(self.rows), FEET + len(self.layout.feet)))
        fill_series(self.rows, self.places, self.body, self.scratch, table)
        return table

    @cached_property
    def errors(self) -> Floats:
        """Position errors of the root [m] and rotation vectors from the set point [rad], (n, 6)."""
        target = self.context.set_point
        assert target is not None
        errors = np.empty((len(self.rows), 6))
        position, orientation = np.array(target.position, dtype=float), np.array(target.orientation, dtype=float)
        fill_errors(self.rows, self.places, position, orientation, target.on_floor, errors)
        if target.with_feet:
            errors[:, :2] -= self.carried
        return errors

    @cached_property
    def carried(self) -> Floats:
        """Displacement [m] of the set point by recovery steps, (n, 2); zero if the set point does not follow them."""
        shifts, target = np.zeros((len(self.rows), 2)), self.context.set_point
        if target is not None and target.with_feet:
            for step in self.steps:
                shifts[step.landed :] += step.away / len(self.layout.feet)
        return shifts

    @cached_property
    def contacts(self) -> tuple[Floats, NDArray[np.bool_]]:
        """Positions [m] (n, nc + 2, 3) and contacts (n, nc), as filled by ``fill_contacts``."""
        where = np.empty((len(self.rows), self.model.nc + 2, 3))
        down = np.empty((len(self.rows), self.model.nc), dtype=np.bool_)
        fill_contacts(self.rows, self.places, self.series, where, down)
        return where, down

    def is_foot_down(self, foot: int) -> NDArray[np.bool_]:
        """Return a mask (n,) of the rows in which a foot, given by its number, touches the floor."""
        return np.asarray(self.contacts[1][:, self.places.foot == foot].any(axis=1))

    @cached_property
    def steps(self) -> list[Step]:
        """Recovery steps since the start of the disturbance, in the order of landing.

        A step is a landing of a foot whose middle is farther than the threshold from where it last left the floor.
        """
        steps = []
        for foot in range(len(self.layout.feet)):
            down, points = self.is_foot_down(foot), self.contacts[0][:, :-2][:, self.places.foot == foot]
            middle, left = points.sum(axis=1) / points.shape[1], self.first
            for k in np.flatnonzero(down[self.first + 1 :] != down[self.first : -1]) + self.first + 1:
                if not down[k]:
                    left = int(k) - 1
                elif np.linalg.norm(middle[k] - middle[left]) > self.context.step_threshold:
                    xcom, lowest = self.contacts[0][k, -1], points[:, :, 2].min(axis=1)
                    steps.append(_step(foot, left, int(k), middle, xcom, lowest, self.rows[:, self.places.time]))
        return sorted(steps, key=lambda step: (step.landed, step.foot))

    # --- values ---

    def once(self, compute: "Callable[[Measurement], T]") -> T:
        """Return the result of a function of this run, computed only once."""
        if compute not in self._results:
            self._results[compute] = compute(self)
        return self._results[compute]

    def value(self, name: str) -> Value:
        """Return the value of a metric of this run.

        Raises:
            InputError: no metric has this name.
        """
        return self.values(metric_named(name)).get(name)

    def values(self, metric: Metric) -> dict[str, Value]:
        """Return a metric's values by name; None where there is nothing to measure.

        Raises:
            InputError: the metric's function returns a value of the wrong type.
        """
        stimulus = self.context.stimulus
        frequencies = 0 if stimulus is None else len(stimulus.frequencies)
        names = metric.columns(self.layout.joints, self.layout.feet, frequencies)
        if self.first >= len(self.rows) and not metric.of_whole_run:
            return dict.fromkeys(names)
        result = self.once(metric.compute)
        by_name = result if isinstance(result, Mapping) else {metric.name: result}
        return {name: _checked(name, by_name.get(name)) for name in names}


def _checked(name: str, value: Any) -> Value:
    if type(value) is float:  # nearly all values, without a slow check of an abstract class
        return value if math.isfinite(value) else None
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, Integral | np.bool_):
        return int(value)
    if isinstance(value, Real):
        return float(value) if math.isfinite(value) else None
    raise InputError(f"metric {name!r} is {value!r}: its function must return a number, a text or None")


def added(values: Floats) -> Any:
    """Return the sum of values (n, …) over n, added in order: the rounding does not depend on the array's layout."""
    return np.cumsum(values, axis=0)[-1] + 0.0 if len(values) else np.zeros(values.shape[1:])[()]


def measure(
    layout: Layout, rows: Floats, events: Floats | None = None, context: MeasurementContext | None = None
) -> dict[str, Value]:
    """Return the values of all ``METRICS`` for one run.

    Several threads can call this function at once: it builds no tables, and compiled metrics release the GIL.

    Args:
        layout: ``Layout.of(model, columns)``, made once for many runs.
        rows: (n, columns) rows of the log.
        events: (m, ``biped.kernels.loop.log.EVENT_WIDTH``) contacts made or lost, and impacts; None: not recorded.
        context: data of the run that are not in its rows; None: defaults.

    Raises:
        InputError: the rows do not have these columns, or the context belongs to another model.
    """
    return measured(Measurement(layout, rows, events, MeasurementContext() if context is None else context))


def measured(run: Measurement) -> dict[str, Value]:
    """Return the values of all ``METRICS`` for a ``Measurement``; None where one is not finite, as after a blow-up."""
    with np.errstate(over="ignore", invalid="ignore"):  # a momentum of 1e174 N·m·s has no square; ``_checked`` sees it
        return {name: value for metric in METRICS.values() for name, value in run.values(metric).items()}

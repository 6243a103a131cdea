"""Metrics of recorded runs."""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from dataclasses import asdict, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from biped.kernels.loop.log import ABSENT, EVENT_WIDTH, IMPACT, LIFT, TOUCH
from biped.metrics.context import MeasurementContext
from biped.metrics.definitions.steps import steps_table
from biped.metrics.disturbance import spans_of, start_time_of, stimulus_of
from biped.metrics.layout import Layout
from biped.metrics.measurement import Measurement, measured
from biped.metrics.metric import METRICS, Value
from biped.metrics.trust import trust
from biped.model import Model
from biped.runs import run as runs
from biped.runs.events import EVENT_NUMBERS
from biped.runs.recording import Recording
from biped.runs.run import Run
from biped.runs.summary import Ending, Stepping
from biped.runs.verdict import COMPLETED, FAILED, FELL, INTERRUPTED, Limit
from contact.arrays import Floats

if TYPE_CHECKING:
    import pandas as pd

#: Number of rows of a rehearsal.
REHEARSED = 16
#: Values that a summary has on the top level, outside of its metrics.
JUDGED = ("verdict", "reason", "limit_hit")


def assemble(recording: Recording) -> Run:
    """Return a run with its metrics from the recording of a simulation."""
    measurement = measurement_of(recording)
    return runs.assemble(recording, _metrics_of(measurement), **_judged(measurement))


def rehearse(model: Model, columns: Sequence[str], context: MeasurementContext) -> None:
    """Measure rows without motion to compile the code that metrics need."""
    layout = Layout.of(model, columns)
    rows = np.zeros((REHEARSED, len(columns)))
    rows[:, layout.places.time] = np.linspace(0.0, 2.0 * (context.start_time or 0.0) + 1.0, REHEARSED)
    if layout.places.root != ABSENT:
        rows[:, layout.places.root + 3] = 1.0  # scalar part of the quaternion
    run = Measurement(layout, rows, np.zeros((0, EVENT_WIDTH)), context)
    for metric in METRICS.values():
        with contextlib.suppress(Exception):  # not all metrics exist for such rows; the results are unused
            run.values(metric)


def measure_recording(recording: Recording) -> dict[str, Value]:
    """Return the values of all ``METRICS`` for a recording; they equal the metrics of the ``Run`` made from it."""
    return measured(measurement_of(recording))


def measure_again(run: Run) -> None:
    """Compute metrics and verdict of a run again, after its events or integrator data have been changed."""
    measurement = _measurement_of_run(run)
    run.summary["metrics"] = _metrics_of(measurement)
    run.summary.update(_judged(measurement))


def _metrics_of(run: Measurement) -> dict[str, Value]:
    return {name: value for name, value in measured(run).items() if name not in JUDGED}


def _judged(run: Measurement) -> dict[str, Any]:
    """Return the judged part of a summary: verdict, reason, limit and checks."""
    limit = run.context.ending.limit
    return {
        "verdict": run.value("verdict"),
        "reason": run.value("reason"),
        "limit": limit and asdict(limit) | {"margin_of_stability": run.value("margin_of_stability_end")},
        "trust": [check.as_json() for check in run.once(trust)],
        "integrator": asdict(run.context.stepping),
    }


def measurement_of(recording: Recording) -> Measurement:
    """Return the ``Measurement`` of a recording."""
    model, arrays, counters = recording.model, recording.state.arrays, recording.counters
    context = MeasurementContext(
        ending=recording.ending, disturbance_spans=spans_of(recording.disturbances),
        start_time=start_time_of(recording.disturbances), stimulus=stimulus_of(recording.disturbances),
        set_point=recording.set_point, singular_angles=recording.singular_angles,
        unheeded_limits=recording.unheeded_limits,
        saturation={joint: float(arrays.ledger.saturated[model.dof(joint)]) for joint in model.joint_names},
        foot_slip=float(arrays.ledger.slip.max()) if model.nc else None, steps=counters.steps,
        newton_mean=counters.newton_mean, newton_max=counters.newton_max, retried_steps=counters.retried_steps,
        stepping=recording.stepping,
    )  # fmt: skip
    return Measurement(model.once(Layout.of, recording.columns.names), recording.rows, recording.events, context)


def steps(run: Run) -> pd.DataFrame:
    """Return a table with one row for each recovery step after the start of the disturbance, in the order of landing.

    The columns, with units in ``attrs["units"]``, are: foot; onset [s] after the start of the disturbance; duration [s]
    of the swing; length_ap and length_ml [m], forward and to the right; clearance [m]; landing_speed [m/s], NaN if the
    foot was in the air in only one row of the log; beyond_xcom [m], the landing distance past the extrapolated centre
    of mass along the step; margin_of_stability [m] and lean [deg] of the root at landing.
    """
    return steps_table(_measurement_of_run(run))


def measure_run(run: Run, model: Model | None = None, **changes: Any) -> dict[str, Value]:
    """Return the values of all ``METRICS`` for a recorded run.

    Args:
        run: recorded run.
        model: model of the run; None: the model of its state.
        **changes: attributes of ``MeasurementContext`` that replace those of the run, for example ``start_time`` or
            ``stimulus``.

    Raises:
        InputError: the run's columns do not fit the model.
    """
    return measured(_measurement_of_run(run, model, **changes))


def _measurement_of_run(run: Run, model: Model | None = None, **changes: Any) -> Measurement:
    layout = Layout.of(run.state.model if model is None else model, list(run.frame.columns))
    return Measurement(layout, rows_of(run), events_of(run), replace(context_of(run), **changes))


def rows_of(run: Run) -> Floats:
    """Return the rows (n, columns) of a run for the kernels."""
    return np.array(run.frame.to_numpy(dtype=np.float64), order="C")


def events_of(run: Run) -> Floats:
    """Return touches, lifts and impacts (m, EVENT_WIDTH) of a run as logged by the kernels, without subjects."""
    kinds = {"touch": TOUCH, "lift": LIFT, "impact": IMPACT}
    logged = run.events[run.events["kind"].isin(kinds)]
    events = np.full((len(logged), EVENT_WIDTH), np.nan)
    events[:, 1] = logged["kind"].map(kinds)
    events[:, [0, *range(3, EVENT_WIDTH)]] = logged[list(EVENT_NUMBERS)]
    return events


def context_of(run: Run) -> MeasurementContext:
    """Return the data of a recorded run that metrics need besides its rows: ending, disturbances, set point, …."""
    saturation = run.by_joint("saturation_time")
    counted = ("foot_slip", "steps", "newton_mean", "newton_max", "retried_steps")
    known: dict[str, Any] = {name: run.metrics[name] for name in counted}
    return MeasurementContext(
        ending=_ending_of(run),
        disturbance_spans=spans_of(run.disturbances),
        start_time=start_time_of(run.disturbances),
        stimulus=stimulus_of(run.disturbances),
        set_point=run.set_point,
        saturation=None if None in saturation.values() else saturation,
        stepping=Stepping(**run.summary.get("integrator", {})),
        **known,
    )


def _ending_of(run: Run) -> Ending:
    """Return the ending of a run's loop, before the run was judged."""
    word, fell_at, limit = run.summary["verdict"], run.metrics["fell_at"], run.summary.get("limit")
    if limit is not None:
        return Ending.by(Limit(**{name: value for name, value in limit.items() if name != "margin_of_stability"}))
    if fell_at is not None:  # in the live view, when a part lies on the floor
        return Ending(FELL, fell_at)
    return Ending(word, error=run.summary["reason"]) if word in (FAILED, INTERRUPTED, COMPLETED) else Ending()

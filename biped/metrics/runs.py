"""``measure_run``: the metrics of recorded runs."""

from dataclasses import replace
from typing import Any

import numpy as np

from biped.kernels.loop.log import EVENT_WIDTH, IMPACT, LIFT, TOUCH
from biped.metrics.context import MeasurementContext
from biped.metrics.disturbance import start_time_of, stimulus_of
from biped.metrics.layout import Layout
from biped.metrics.measurement import measure
from biped.metrics.metric import Value
from biped.model import Model
from biped.runs import run as runs
from biped.runs.events import EVENT_NUMBERS
from biped.runs.recording import Recording
from biped.runs.run import Run
from contact.arrays import Floats


def assemble(recording: Recording) -> Run:
    """A run with its metrics from what the loops left in their logs."""
    return runs.assemble(recording, measure_recording(recording))


def measure_recording(recording: Recording) -> dict[str, Value]:
    """``measure`` of what the loops left behind; the same numbers as those of the ``Run`` that is made of it."""
    model, arrays, counters = recording.model, recording.state.arrays, recording.counters
    context = MeasurementContext(
        outcome=recording.ending.outcome,
        fell_at=recording.ending.fell_at,
        start_time=start_time_of(recording.disturbances),
        stimulus=stimulus_of(recording.disturbances),
        set_point=recording.set_point,
        saturation={joint: float(arrays.ledger.saturated[model.dof(joint)]) for joint in model.joint_names},
        foot_slip=float(arrays.ledger.slip.max()) if model.nc else None,
        steps=counters.steps,
        newton_mean=counters.newton_mean,
        newton_max=counters.newton_max,
        retried_steps=counters.retried_steps,
    )
    return measure(_layout_of(model, recording.columns.names), recording.rows, recording.events, context)


def _layout_of(model: Model, columns: tuple[str, ...]) -> Layout:
    key = ("layout", columns)
    if key not in model.derived:
        model.derived[key] = Layout.of(model, columns)
    return model.derived[key]


def measure_run(run: Run, model: Model | None = None, **changes: Any) -> dict[str, Value]:
    """``measure`` of a recorded run.

    Args:
        run: the run.
        model: its model; that of its state if not given.
        **changes: attributes of ``MeasurementContext`` that the run itself does not know, such as ``start_time`` or
            ``stimulus``.

    Raises:
        InputError: as ``measure``.
    """
    layout = Layout.of(run.state.model if model is None else model, list(run.frame.columns))
    return measure(layout, rows_of(run), events_of(run), replace(context_of(run), **changes))


def rows_of(run: Run) -> Floats:
    """(n, columns) the rows of a run as kernels take them."""
    return np.array(run.frame.to_numpy(dtype=np.float64), order="C")


def events_of(run: Run) -> Floats:
    """(m, EVENT_WIDTH) touches, lifts and impacts of a run as the kernels log them; subjects are left out."""
    kinds = {"touch": TOUCH, "lift": LIFT, "impact": IMPACT}
    logged = run.events[run.events["kind"].isin(kinds)]
    events = np.full((len(logged), EVENT_WIDTH), np.nan)
    events[:, 1] = logged["kind"].map(kinds)
    events[:, [0, *range(3, EVENT_WIDTH)]] = logged[list(EVENT_NUMBERS)]
    return events


def context_of(run: Run) -> MeasurementContext:
    """What a run knows of itself."""
    saturation = run.by_joint("saturation_time")
    counted = ("fell_at", "foot_slip", "steps", "newton_mean", "newton_max", "retried_steps")
    known: dict[str, Any] = {name: run.metrics[name] for name in counted}
    return MeasurementContext(
        outcome=run.summary["outcome"],
        start_time=start_time_of(run.disturbances),
        stimulus=stimulus_of(run.disturbances),
        set_point=run.set_point,
        saturation=None if None in saturation.values() else saturation,
        **known,
    )

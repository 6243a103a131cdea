"""``measure``: rows of a run in, a flat table of metrics out."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np

from biped.errors import InputError
from biped.kernels.loop.log import IMPACT, LIFT, TOUCH
from biped.metrics.acting import first_disturbance, stimulus_of
from biped.metrics.circumstances import Circumstances, Stimulus
from biped.metrics.kernels import metrics as kernels
from biped.metrics.kernels.support import FEET, SHIFT, SWAY, TILT, fill_errors, fill_series
from biped.metrics.layout import Layout
from biped.metrics.registry import METRICS
from biped.model import Model
from biped.runs.recording import Recording
from biped.runs.run import Run
from biped.runs.summary import SETTLED_ORIENTATION, SETTLED_POSITION, saturation_of
from contact.arrays import Floats

#: A number, a word (``verdict``), or None where there is nothing to measure.
Value = float | int | str | None

_STABILITY = (
    "margin_of_stability_min",
    "margin_of_stability_end",
    "capture_margin_min",
    "capture_margin_end",
    "cop_margin_min",
    "zmp_margin_min",
    "support_area_end",
    "flight_time",
    "peak_grf",
)
_PRESSURE = (
    "cop_path_length",
    "cop_mean_velocity",
    "cop_mean_distance",
    "cop_rms_distance",
    "cop_range_x",
    "cop_range_y",
    "cop_area",
)
_RECOVERY = (
    "settling_time",
    "peak_position_error",
    "peak_orientation_error",
    "position_overshoot",
    "orientation_overshoot",
    "position_error",
    "orientation_error",
)
_NOT_OF_A_FALL = ("settling_time", "position_overshoot", "orientation_overshoot")
_OF_ALL_JOINTS = ("rms_torque", "peak_power", "positive_work", "negative_work")
_OF_A_JOINT = ("peak_torque", "rms_torque", "peak_power", "positive_work", "negative_work")
_OF_A_FOOT = ("peak_grf", "mean_grf", "impact_peak")
_BOOKS = ("ledger_residual", "momentum_defect", "angular_momentum_defect", "newton_max")
_WHOLE = frozenset({"newton_max", "footsteps", "steps", "retried_steps", "falling_at_end", "lifts"})

#: Columns of a series by channel of a stimulus: what moves, and the sway that answers it.
_CHANNELS = {
    "tilt_x": (TILT, SWAY),
    "tilt_y": (TILT + 1, SWAY + 1),
    "x": (SHIFT, SWAY + 1),
    "y": (SHIFT + 1, SWAY),
}
#: A stimulus of less than this [rad or m] is none.
LEAST_STIMULUS = 1e-9
#: [s] Two times that differ by less are the same.
ROUNDING = 1e-9


def measure(
    layout: Layout, rows: Floats, events: Floats | None = None, context: Circumstances | None = None
) -> dict[str, Value]:
    """Everything that ``METRICS`` names, of one run.

    It takes no tables, and its kernels hold no lock: studies call it from threads.

    Args:
        layout: ``Layout.of(model, columns)``, made once for many runs.
        rows: (n, columns) as the kernels log them.
        events: (m, ``biped.kernels.loop.log.EVENT_WIDTH``) touches, lifts and impacts; None where they are not kept.
        context: what else is known.

    Raises:
        InputError: the rows do not have these columns.
    """
    context = Circumstances() if context is None else context
    rows = _checked(layout, rows)
    rows = _before_the_fall(layout, rows, context)
    found: dict[str, Value] = _names(layout, context)
    if len(rows):
        _fill(found, layout, rows, context)
    found |= _of_events(events, context)
    found |= _of_context(layout, context)
    return found | {"verdict": _verdict(found, context)}


def _checked(layout: Layout, rows: Floats) -> Floats:
    if rows.ndim != 2 or rows.shape[1] != len(layout.columns):
        raise InputError(f"rows of shape {rows.shape}: they must have {len(layout.columns)} columns")
    if not rows.flags.writeable:  # to a compiled kernel that is another type of array
        return np.array(rows, dtype=np.float64, order="C")
    return np.ascontiguousarray(rows, dtype=np.float64)


def _before_the_fall(layout: Layout, rows: Floats, context: Circumstances) -> Floats:
    if context.fell_at is None:
        return rows
    return rows[: int(np.searchsorted(rows[:, layout.places.time], context.fell_at, side="right"))]


def _first_row(layout: Layout, rows: Floats, context: Circumstances) -> int:
    """The first row from ``since`` on; as many as there are rows if the run had ended by then."""
    if context.since is None:
        return 0
    times = rows[:, layout.places.time]
    return int(np.searchsorted(times, context.since - ROUNDING))


def _names(layout: Layout, context: Circumstances) -> dict[str, Value]:
    """Every metric of such a run in the order of the registry, with nothing measured yet."""
    frequencies = () if context.stimulus is None else context.stimulus.frequencies
    return dict.fromkeys(metric_names(layout.joints, layout.feet, frequencies))


@cache
def metric_names(joints: tuple[str, ...], feet: tuple[str, ...], frequencies: tuple[float, ...] = ()) -> list[str]:
    """The names of all metrics of a model with these joints and feet, in the order of ``METRICS``."""
    suffixes = tuple(map(frequency_suffix, frequencies))
    each = {"": ("",), "JOINT": joints, "FOOT": feet, "FREQUENCY": suffixes}
    names = []
    for metric in METRICS.values():
        names += [f"{metric.stem}_{suffix}" if suffix else metric.stem for suffix in each[metric.per]]
    return names


def frequency_suffix(frequency: float) -> str:
    """``0_25_hz`` for 0.25 Hz."""
    return f"{frequency:.6g}".replace(".", "_").replace("-", "m").replace("+", "") + "_hz"


def _fill(found: dict[str, Value], layout: Layout, rows: Floats, context: Circumstances) -> None:
    places, room, body = layout.places, layout.room(), layout.body(context.pendulum_length)
    table = np.empty((len(rows), FEET + len(layout.feet)))
    fill_series(rows, places, body, room, table)
    begin = _first_row(layout, rows, context)
    _keep(found, _BOOKS, kernels.measure_ledger(rows, places))
    if places.root < 0:
        found["momentum_defect"] = found["angular_momentum_defect"] = None
    if len(places.contact):
        _keep(found, ("foot_displacement", "foot_creep"), kernels.measure_displacement(rows, places))
        _keep(found, ("falling_at_end",), (kernels.is_falling(rows, places, body, table, room),))
    if begin == len(rows):
        return
    if len(places.contact):
        _keep(found, _STABILITY, kernels.measure_stability(rows, places, table, begin))
        _keep(found, _PRESSURE, kernels.measure_pressure(rows, places, table, begin))
    if places.root >= 0 and context.set_point is not None:
        _fill_recovery(found, layout, rows, context, begin)
    _fill_feet(found, layout, rows, table, context, begin)
    _fill_joints(found, layout, rows, begin)
    if context.stimulus is not None and places.platform >= 0 and not _fell(context):
        _fill_sway(found, layout, rows, table, context.stimulus, begin)


def _keep(found: dict[str, Value], names: Sequence[str], numbers: Iterable[float]) -> None:
    """Under these names, None for a number that is not there."""
    for name, number in zip(names, numbers, strict=True):
        found[name] = _value(name, float(number))


def _value(name: str, number: float) -> Value:
    if not math.isfinite(number):
        return None
    return int(number) if name in _WHOLE else number


def _fell(context: Circumstances) -> bool:
    return context.outcome == "fell" or context.fell_at is not None


def _fill_recovery(found: dict[str, Value], layout: Layout, rows: Floats, context: Circumstances, begin: int) -> None:
    assert context.set_point is not None
    errors = np.empty((len(rows), 6))
    target = context.set_point
    position, orientation = np.array(target.position, dtype=float), np.array(target.orientation, dtype=float)
    fill_errors(rows, layout.places, position, orientation, target.on_floor, errors)
    numbers = kernels.measure_recovery(rows, layout.places, errors, begin, SETTLED_POSITION, SETTLED_ORIENTATION)
    _keep(found, _RECOVERY, numbers)
    if _fell(context):
        found.update(dict.fromkeys(_NOT_OF_A_FALL))


def _fill_feet(
    found: dict[str, Value], layout: Layout, rows: Floats, table: Floats, context: Circumstances, begin: int
) -> None:
    if not layout.feet:
        return
    feet = np.empty((len(layout.feet), kernels.OF_FOOT))
    kernels.measure_feet(rows, layout.places, table, begin, context.step_threshold, feet)
    for foot, numbers in zip(layout.feet, feet.tolist(), strict=True):
        _keep(found, [f"{name}_{foot}" for name in _OF_A_FOOT], numbers[: kernels.FOOTSTEPS])
    found["footsteps"] = int(feet[:, kernels.FOOTSTEPS].sum())


def _fill_joints(found: dict[str, Value], layout: Layout, rows: Floats, begin: int) -> None:
    if not layout.joints:
        return
    joints = np.empty((len(layout.joints), kernels.OF_JOINT))
    _keep(found, _OF_ALL_JOINTS, kernels.measure_joints(rows, layout.places, begin, joints))
    for joint, numbers in zip(layout.joints, joints.tolist(), strict=True):
        _keep(found, [f"{name}_{joint}" for name in _OF_A_JOINT], numbers)
    found["peak_torque"] = float(joints[:, kernels.PEAK_TORQUE].max())


def _fill_sway(
    found: dict[str, Value], layout: Layout, rows: Floats, table: Floats, stimulus: Stimulus, begin: int
) -> None:
    """Gain and phase over the last whole cycles of the lowest frequency while the floor moves periodically."""
    time = layout.places.time
    times = rows[:, time]
    if stimulus.begin is not None:
        begin = max(begin, int(np.searchsorted(times, stimulus.begin - ROUNDING)))
    stop = len(rows) if stimulus.end is None else int(np.searchsorted(times, stimulus.end + ROUNDING))
    cycle = 1.0 / min(stimulus.frequencies)
    cycles = math.floor((times[stop - 1] - times[begin]) / cycle + 1e-9) if begin < stop else 0
    if cycles < 1:
        return
    # One row less than the window, which ends where it begins again: the transform of whole cycles.
    start = int(np.searchsorted(times, times[stop - 1] - cycles * cycle + 1e-9 * cycle))
    rows, table = rows[:stop], table[:stop]
    moves, answers = _CHANNELS[stimulus.channel]
    for frequency in stimulus.frequencies:
        support = complex(*kernels.fit_sine(rows, time, table, moves, start, frequency))
        sway = complex(*kernels.fit_sine(rows, time, table, answers, start, frequency))
        if not abs(support) > LEAST_STIMULUS:
            continue
        # a cos + b sin is the real part of (a − ib) exp(iωt).
        response = (sway / support).conjugate()
        suffix = frequency_suffix(frequency)
        found[f"sway_gain_{suffix}"] = abs(response)
        found[f"sway_phase_{suffix}"] = math.atan2(response.imag, response.real)


def _of_events(events: Floats | None, context: Circumstances) -> dict[str, Value]:
    if events is None:
        return {}
    since = -math.inf if context.since is None else context.since
    lifts = int(np.count_nonzero((events[:, 1] == LIFT) & (events[:, 0] >= since)))
    impulses = events[events[:, 1] == IMPACT, 3:6]
    return {
        "lifts": lifts,
        "impact_impulse": float(np.linalg.norm(impulses.sum(axis=0))) if len(impulses) else None,
    }


def _of_context(layout: Layout, context: Circumstances) -> dict[str, Value]:
    found: dict[str, Value] = {
        "fell_at": context.fell_at,
        "foot_slip": context.foot_slip,
        "steps": context.steps,
        "newton_mean": context.newton_mean,
        "retried_steps": context.retried_steps,
    }
    if context.saturation is not None:
        unknown = sorted(set(context.saturation) - set(layout.joints))
        if unknown:
            raise InputError(f"saturation of {', '.join(unknown)}: no such joints")
        times = {joint: float(context.saturation.get(joint, 0.0)) for joint in layout.joints}
        found |= {f"saturation_time_{joint}": time for joint, time in times.items()}
        found["saturation_time"] = max(times.values(), default=None)
    return found


def _verdict(found: Mapping[str, Value], context: Circumstances) -> str | None:
    if context.outcome == "failed":
        return "failed"
    if context.outcome == "interrupted":
        return None
    if _fell(context) or found["falling_at_end"] == 1:
        return "fell"
    moved = found["foot_displacement"]
    if not isinstance(moved, (int, float)):
        return None  # it never stood on anything
    return "stepped" if moved > context.step_threshold else "recovered"


def measure_run(run: Run, model: Model | None = None, **changes: Any) -> dict[str, Value]:
    """``measure`` of a recorded run; ``changes`` are of its ``Circumstances``, such as ``since`` or ``stimulus``.

    Args:
        run: the run.
        model: its model; that of its state if not given.
        **changes: attributes of ``Circumstances`` that the run itself does not know.

    Raises:
        InputError: as ``measure``.
    """
    layout = Layout.of(run.state.model if model is None else model, list(run.frame.columns))
    return measure(layout, rows_of(run), events_of(run), replace(circumstances_of(run), **changes))


def measure_recording(recording: Recording) -> dict[str, Value]:
    """``measure`` of what the loops left behind; the same numbers as those of the ``Run`` that is made of it."""
    model, state, counters = recording.model, recording.state, recording.counters
    context = Circumstances(
        outcome=recording.ending.outcome,
        fell_at=recording.ending.fell_at,
        since=first_disturbance(recording.disturbances),
        stimulus=stimulus_of(recording.disturbances),
        set_point=recording.set_point,
        saturation=saturation_of(model, state),
        foot_slip=float(state.arrays.ledger.slip.max()) if model.nc else None,
        steps=counters.steps,
        newton_mean=counters.newton_mean,
        retried_steps=counters.retried_steps,
    )
    layout = _layout_of(model, recording.columns.names)
    return measure(layout, recording.rows, recording.events, context)


def _layout_of(model: Model, columns: tuple[str, ...]) -> Layout:
    key = ("layout", columns)
    if key not in model.derived:
        model.derived[key] = Layout.of(model, columns)
    found: Layout = model.derived[key]
    return found


def rows_of(run: Run) -> Floats:
    """(n, columns) the rows of a run as kernels take them."""
    return np.array(run.frame.to_numpy(dtype=np.float64), order="C")


def events_of(run: Run) -> Floats:
    """(m, 12) touches, lifts and impacts of a run as the kernels log them; subjects are left out."""
    kinds = {"touch": TOUCH, "lift": LIFT, "impact": IMPACT}
    logged = run.events[run.events["kind"].isin(kinds)]
    events = np.full((len(logged), 12), np.nan)
    events[:, 0] = logged["time"]
    events[:, 1] = logged["kind"].map(kinds)
    events[:, 3:] = logged[["impulse_x", "impulse_y", "impulse_z", "x", "y", "z", *VELOCITIES]]
    return events


VELOCITIES = ("velocity_x", "velocity_y", "velocity_z")


def circumstances_of(run: Run) -> Circumstances:
    """What a run knows of itself."""
    summary, acted = run.summary, run.disturbances
    return Circumstances(
        since=first_disturbance(acted),
        stimulus=stimulus_of(acted),
        outcome=summary["outcome"],
        fell_at=summary["fell_at"],
        set_point=run.set_point,
        saturation=summary.get("saturation"),
        foot_slip=summary["foot_slip"],
        steps=summary["steps"],
        newton_mean=summary["newton_mean"],
        retried_steps=summary["retried_steps"],
    )

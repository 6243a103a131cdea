"""The clock of a run: integration steps, control ticks and recorded rows."""

import math
from dataclasses import dataclass

from biped.control.controller import Controller
from biped.errors import InputError
from biped.inputs.checks import is_finite

#: [s] Control period of a run without a controller: the 500 Hz of the thesis.
DEFAULT_PERIOD = 2e-3
#: Greatest number of steps in a control period.
MOST_STEPS = 100_000


@dataclass(frozen=True)
class Clock:
    """Time step of a run, and numbers of time steps."""

    step: float  # [s]
    steps_per_tick: int  # time steps in a control period
    stride: int  # time steps between two rows of the log
    steps: int  # time steps of the whole run


def clock_of(controller: Controller | None, step: float, duration: float, record_every: float | None) -> Clock:
    """Return the clock of a run from its integration step, duration and recording interval [s].

    Raises:
        InputError: a span is not a multiple of the time step, or out of range; the message gives the nearest values.
    """
    if not (is_finite(step) and step > 0.0):
        raise InputError(f"step = {step!r}: it must be a finite number of seconds above zero")
    if not (is_finite(duration) and duration > 0.0):
        raise InputError(f"duration = {duration!r}: it must be a finite number of seconds above zero")
    if duration < step * (1.0 - 1e-9):
        raise InputError(f"duration = {duration:g} s: it must be at least one step of {step:g} s")
    span = DEFAULT_PERIOD if controller is None else controller.period
    if not (math.isfinite(span) and span > 0.0):
        raise InputError(f"controller.period = {span!r}: it must be a finite number of seconds above zero")
    if controller is None and not _divides(step, span):
        span = step
    if span / step > MOST_STEPS:
        raise InputError(f"step = {step:g} s: the controller's period of {span:g} s has over {MOST_STEPS} steps")
    period = _steps_in(span, step, "the controller's period")
    stride = period if record_every is None else _steps_in(record_every, step, "record_every")
    return Clock(step, period, stride, round(duration / step))


def _divides(step: float, span: float) -> bool:
    return round(span / step) >= 1 and math.isclose(round(span / step) * step, span, rel_tol=1e-9)


def _steps_in(span: float, step: float, what: str) -> int:
    if not (is_finite(span) and span > 0.0):
        raise InputError(f"{what} is {span!r}: it must be a finite number of seconds above zero")
    if _divides(step, span):
        return round(span / step)
    below = max(1, math.ceil(span / step))
    nearest = sorted({span / below, span / max(1, below - 1)})
    choices = " or ".join(f"{value:.6g}" for value in nearest)
    raise InputError(f"step = {step:g} s does not divide {what} of {span:g} s; the nearest steps that do: {choices} s")

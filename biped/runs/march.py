"""Simulation of formulations that are not controlled trees: time steps in timed chunks, the `Run`, and its checks.

A formulation defines its steps (`Marcher`); the common parts of mechanisms, assemblies and Lagrangian systems are here.
"""

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Protocol, TypeVar

import numpy as np
import pandas as pd

from biped.disturbances import Force, Push
from biped.errors import InputError, IntegrationError
from biped.inputs.checks import above_zero, integer, zero_or_above
from biped.runs.events import push_records, pushes_of, table_of
from biped.runs.run import Run
from biped.runs.summary import Counters, Ending, summarize
from biped.runs.trust import ENERGY, FAILED, LEAST_ENERGY, OK, WARNING, Check, Passed
from biped.runs.verdict import COMPLETED, UNRELIABLE
from biped.runs.verdict import FAILED as NO_SOLUTION
from biped.runs.world import World
from contact.arrays import Floats

#: Callback with the finished fraction.
Progress = Callable[[float], None]
#: Callback with a line of text.
Announce = Callable[[str], None]

#: Number of steps between two reports of the progress.
CHUNK = 4096
#: [m or rad] Limits of constraint residuals: for a warning, and for a failure.
CONSTRAINTS, OFF_CONSTRAINTS = 1e-6, 1e-3
#: Largest change of a conserved quantity, over its size.
DRIFT = 0.05
#: Share of an energy, at least of a joule, within the solvers' tolerances.
ROUNDING = 1e-9

R = TypeVar("R", bound=Run, covariant=True)


def whole_steps(
    duration: float, step: float, every: int = 1, *, named: str = "record_every", error: type[InputError] = InputError
) -> int:
    """Return the number of time steps in a duration.

    Args:
        duration: [s] duration, a multiple of ``step``.
        step: [s] time step.
        every: number of time steps from one row to the next; must divide the number of steps.
        named: name of ``every`` in messages.
        error: class of the errors.

    Raises:
        InputError: (of the class ``error``) a number is out of range, or the numbers are incompatible.
    """
    above_zero(step, "step")
    zero_or_above(duration, "duration")
    integer(every, named)
    if every < 1:
        raise error(f"{named} = {every!r}: it must be one or more")
    steps = round(duration / step)
    if abs(steps * step - duration) > 1e-6 * step:
        raise error(f"duration = {duration:g} s: it must be a whole number of steps of {step:g} s")
    if steps % every:
        raise error(f"{named} = {every}: it must divide the number of steps, {steps}")
    return steps


@dataclass(frozen=True, kw_only=True)
class StepSettings:
    """Settings of a simulation by implicit time steps.

    Raises:
        InputError: (of the class ``error``) a setting is out of range; the message gives the allowed values.
    """

    duration: float  #: [s] duration, a multiple of ``step``
    step: float  #: [s] time step
    tolerance: float  #: tolerance of the equations of a time step
    max_iterations: int  #: largest number of Newton iterations in a time step
    record_every: int  #: number of time steps from one row to the next; must divide the number of steps

    error: ClassVar[type[InputError]] = InputError

    def __post_init__(self) -> None:
        whole_steps(self.duration, self.step, self.record_every, error=self.error)
        above_zero(self.tolerance, "tolerance")
        integer(self.max_iterations, "max_iterations")
        if self.max_iterations < 1:
            raise self.error(f"max_iterations = {self.max_iterations!r}: it must be one or more")

    @property
    def steps(self) -> int:
        """Number of time steps."""
        return round(self.duration / self.step)


def chunk_of(every: int, most: int = CHUNK) -> int:
    """Return the number of time steps between two reports of the progress: a multiple of ``every`` up to ``most``."""
    return every * max(1, most // every)


class Marcher(Protocol[R]):
    """A motion of a formulation, at its start."""

    @property
    def chunk(self) -> int:
        """Largest number of steps between two reports of the progress."""

    def look_ahead(self, first: int, count: int) -> None:
        """Evaluate the functions of time for ``count`` steps from ``first`` on."""

    def advance(self, first: int, count: int) -> int:
        """Take and record ``count`` steps; return 0, or the cause of a failure."""

    def finish(self, steps: int) -> int:
        """Record the end of the motion; return 0, or the cause of a failure."""

    def failure(self, cause: int) -> str:
        """Return a sentence with the kind, time and cause of a failure."""

    def recorded(self, seconds: float, failure: str) -> R:
        """Return the recorded motion, computed in ``seconds``; ``failure`` is the reason of an early end, or empty."""


def march(
    marcher: Marcher[R], steps: int, progress: Progress | None, error: type[IntegrationError] = IntegrationError
) -> R:
    """Compute all time steps of a motion.

    Raises:
        IntegrationError: (of the class ``error``) a time step has no solution; ``run`` is the motion before it.
    """
    done, seconds, cause = 0, 0.0, 0
    while done < steps and not cause:
        count = min(marcher.chunk, steps - done)
        marcher.look_ahead(done, count)
        began = time.perf_counter()
        cause = marcher.advance(done, count)
        seconds += time.perf_counter() - began
        done += count
        if progress is not None and not cause:
            progress(done / steps)
    if not cause:
        marcher.look_ahead(steps, 1)
        began = time.perf_counter()
        cause = marcher.finish(steps)
        seconds += time.perf_counter() - began
    if not cause:
        return marcher.recorded(seconds, "")
    failure = marcher.failure(cause)
    raise error(failure, marcher.recorded(seconds, failure))


def parts_of_run(
    world: World,
    times: Floats,
    columns: Mapping[str, Floats],
    units: Mapping[str, str],
    *,
    seconds: float,
    failure: str,
    metrics: Mapping[str, Any],
    checks: Sequence[Check],
    disturbances: Sequence[object] = (),
) -> dict[str, Any]:
    """Return the fields of a `Run` of a formulation that is not a tree.

    Args:
        world: simulated formulation.
        times: (rows,) [s] times of the rows.
        columns: values (rows,) by name of the column.
        units: units by name of the column.
        seconds: [s] computing time.
        failure: reason of an early end, or empty.
        metrics: metrics by name, including ``steps`` and ``newton_max``.
        checks: checks of the run.
        disturbances: disturbances whose pushes and forces become events.
    """
    units = {"time": "s"} | {name: units[name] for name in columns}
    frame = pd.DataFrame({"time": times} | dict(columns))
    failed = next((check for check in checks if check.passed == FAILED), None)
    ending = Ending(NO_SOLUTION if failure else COMPLETED, error=failure or None)
    judged: dict[str, Any] = {"limit": None, "trust": [check.as_json() for check in checks]}
    if failed is not None and not failure:
        judged |= {"verdict": UNRELIABLE, "reason": failed.text}
    counters = Counters(int(metrics["steps"]), 0, int(metrics["newton_max"]), 0, seconds)
    simulated = float(times[-1] - times[0]) if len(times) else 0.0
    pushes = [item for item in disturbances if isinstance(item, (Push, Force))]
    events = table_of(push_records(pushes, float(times[0]), float(times[-1])) if len(times) else [])
    happened: dict[str, Any] = {"impacts": [], "pushes": pushes_of(events) if len(events) else [], "edges": []}
    summary = summarize(ending, simulated, counters, happened, {"fell_at": None} | dict(metrics), **judged)
    return {"frame": frame, "units": units, "events": events, "summary": summary, "ended": world}


# --- checks ---


def energy_check(residual: Floats, kinetic: Floats, energy: Floats) -> Check:
    """Check the energy that work does not explain against the kinetic energy exchanged; (rows,) [J] each."""
    left = float(np.abs(residual).max(initial=0.0))
    exchanged = float(np.ptp(kinetic)) if len(kinetic) else 0.0
    rounding = ROUNDING * float(np.abs(energy).max(initial=1.0))
    limit = max(ENERGY * exchanged, LEAST_ENERGY * float(kinetic.max(initial=0.0)), rounding)
    text = f"{left:.3g} J that no work accounts for, of {exchanged:.3g} J exchanged"
    return Check("energy residual", left, limit, "J", OK if left <= limit else FAILED, text)


def constraint_check(residual: Floats) -> Check:
    """Check the constraints' residuals (rows, …) [m or rad]."""
    worst = float(np.abs(residual).max(initial=0.0))
    passed: Passed = OK if worst <= CONSTRAINTS else WARNING if worst <= OFF_CONSTRAINTS else FAILED
    return Check(
        "constraint residual", worst, CONSTRAINTS, "m", passed, f"constraints were off by {worst:.3g} m or rad"
    )


def drift_check(name: str, values: Floats, unit: str, scale: float | None = None) -> Check:
    """Check a conserved quantity (rows, …) relative to ``scale``, by default its own size."""
    drift = float(np.abs(values - values[:1]).max(initial=0.0))
    limit = DRIFT * (float(np.abs(values).max(initial=0.0)) if scale is None else scale) + 1e-12
    text = f"{name} changed by {drift:.3g}; it should be constant"
    return Check(name, drift, limit, unit, OK if drift <= limit else WARNING, text)

"""Motions of all worlds but trees under control: whole steps, taken in chunks and timed, as a `Run`; and its checks.

A world says how it takes steps (`Marcher`); what is alike of mechanisms, assemblies and Lagrangian systems is here.
"""

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Protocol, TypeVar

import numpy as np
import pandas as pd

from biped.disturbances import Force, Push
from biped.errors import InputError, IntegrationError
from biped.inputs.checks import above_zero, whole, zero_or_above
from biped.runs.events import push_records, pushes_of, table_of
from biped.runs.run import Run
from biped.runs.summary import Counters, Ending, summarize
from biped.runs.trust import ENERGY, FAILED, LEAST_ENERGY, OK, WARNING, Check, Passed
from biped.runs.verdict import COMPLETED, UNRELIABLE
from biped.runs.verdict import FAILED as NO_SOLUTION
from biped.runs.world import World
from contact.arrays import Floats

#: Called with the fraction that is done.
Progress = Callable[[float], None]
#: Called with a line.
Announce = Callable[[str], None]

#: Steps between two looks at the progress.
CHUNK = 4096
#: [m or rad] up to which constraints hold, and beyond which nothing can be concluded from a run.
CONSTRAINTS, OFF_CONSTRAINTS = 1e-6, 1e-3
#: The part of its size by which what is conserved may change.
DRIFT = 0.05
#: The part of an energy, of a joule at least, that solvers' tolerances leave.
ROUNDING = 1e-9

R = TypeVar("R", bound=Run, covariant=True)


def whole_steps(
    duration: float, step: float, every: int = 1, *, named: str = "record_every", error: type[InputError] = InputError
) -> int:
    """How many steps a duration is.

    Args:
        duration: [s] a whole number of steps.
        step: [s]
        every: steps from one row to the next; a whole number of times in all.
        named: what it is called in messages.
        error: what is raised.

    Raises:
        InputError: of the kind ``error`` where numbers do not fit together.
    """
    above_zero(step, "step")
    zero_or_above(duration, "duration")
    whole(every, named)
    if every < 1:
        raise error(f"{named} = {every!r}: it must be one or more")
    steps = round(duration / step)
    if abs(steps * step - duration) > 1e-6 * step:
        raise error(f"duration = {duration:g} s: it must be a whole number of steps of {step:g} s")
    if steps % every:
        raise error(f"{named} = {every}: {steps} steps are not a whole number of times as many")
    return steps


@dataclass(frozen=True, kw_only=True)
class StepSettings:
    """What every motion by implicit steps is told.

    Raises:
        InputError: of the kind ``error``; the message says what would be right.
    """

    duration: float  #: [s] a whole number of steps
    step: float  #: [s]
    tolerance: float  #: of a step's equations
    max_iterations: int  #: of Newton's method in a step
    record_every: int  #: steps from one row to the next; a whole number of times in all

    error: ClassVar[type[InputError]] = InputError

    def __post_init__(self) -> None:
        whole_steps(self.duration, self.step, self.record_every, error=self.error)
        above_zero(self.tolerance, "tolerance")
        whole(self.max_iterations, "max_iterations")
        if self.max_iterations < 1:
            raise self.error(f"max_iterations = {self.max_iterations!r}: it must be one or more")

    @property
    def steps(self) -> int:
        """How many."""
        return round(self.duration / self.step)


def chunk_of(every: int, most: int = CHUNK) -> int:
    """Steps between two looks at the progress: so many, with whole rows."""
    return every * max(1, most // every)


class Marcher(Protocol[R]):
    """One motion of a world, at its start."""

    @property
    def chunk(self) -> int:
        """Steps at most between two looks at the progress."""

    def look_ahead(self, first: int, count: int) -> None:
        """Take in the functions of time of so many steps from ``first`` on."""

    def advance(self, first: int, count: int) -> int:
        """Take and record them; 0, or the cause of why there are no more."""

    def finish(self, steps: int) -> int:
        """Record the end of the motion; 0, or why that has no solution."""

    def failure(self, cause: int) -> str:
        """A sentence: what, when, why."""

    def recorded(self, seconds: float, failure: str) -> R:
        """What there is, computed in so many seconds; ``failure`` is why it ended early, or empty."""


def march(
    marcher: Marcher[R], steps: int, progress: Progress | None, error: type[IntegrationError] = IntegrationError
) -> R:
    """All steps of a motion.

    Raises:
        IntegrationError: of the kind ``error``, where a step has no solution; its ``run`` is what was before.
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
    """The fields of a `Run` of a world that is no tree.

    Args:
        world: what moved.
        times: (rows,) [s]
        columns: (rows,) each, by name.
        units: of these.
        seconds: [s] of the computation.
        failure: why it ended early, or empty.
        metrics: numbers by name, the counts of steps and of Newton's iterations among them.
        checks: what the run was put to.
        disturbances: of which pushes and forces become events.
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
    pushes = [one for one in disturbances if isinstance(one, (Push, Force))]
    events = table_of(push_records(pushes, float(times[0]), float(times[-1])) if len(times) else [])
    happened: dict[str, Any] = {"impacts": [], "pushes": pushes_of(events) if len(events) else [], "edges": []}
    summary = summarize(ending, simulated, counters, happened, {"fell_at": None} | dict(metrics), **judged)
    return {"frame": frame, "units": units, "events": events, "summary": summary, "ended": world}


# --- checks ---


def energy_check(residual: Floats, kinetic: Floats, energy: Floats) -> Check:
    """That of the energy which no work accounts for, beside the kinetic energy exchanged; (rows,) [J] all three."""
    left = float(np.abs(residual).max(initial=0.0))
    exchanged = float(np.ptp(kinetic)) if len(kinetic) else 0.0
    rounding = ROUNDING * float(np.abs(energy).max(initial=1.0))
    limit = max(ENERGY * exchanged, LEAST_ENERGY * float(kinetic.max(initial=0.0)), rounding)
    text = f"{left:.3g} J that no work accounts for, of {exchanged:.3g} J exchanged"
    return Check("energy residual", left, limit, "J", OK if left <= limit else FAILED, text)


def constraint_check(residual: Floats) -> Check:
    """That of the constraints' residuals (rows, …) [m or rad]."""
    worst = float(np.abs(residual).max(initial=0.0))
    passed: Passed = OK if worst <= CONSTRAINTS else WARNING if worst <= OFF_CONSTRAINTS else FAILED
    return Check(
        "constraint residual", worst, CONSTRAINTS, "m", passed, f"constraints were off by {worst:.3g} m or rad"
    )


def drift_check(name: str, values: Floats, unit: str, scale: float | None = None) -> Check:
    """That of what is conserved (rows, …), beside ``scale``, its own size by default."""
    drift = float(np.abs(values - values[:1]).max(initial=0.0))
    limit = DRIFT * (float(np.abs(values).max(initial=0.0)) if scale is None else scale) + 1e-12
    text = f"{name} changed by {drift:.3g}, and is conserved"
    return Check(name, drift, limit, unit, OK if drift <= limit else WARNING, text)

"""The experiment at ever finer steps: does an engine converge, and how fast?

Each engine is compared with itself at its own finest step. That says nothing about whether it converges to the right
motion, and holds for these steps only.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby, pairwise

import numpy as np
from scipy.optimize import minimize_scalar

from biped.errors import InputError
from biped.runs.run import Run
from biped.simulation.clock import DEFAULT_PERIOD
from biped.simulation.driver import Progress
from experiments.catalogue.experiment import Experiment
from experiments.catalogue.parameters.parameter import Value
from experiments.catalogue.rollout import Rollout
from experiments.comparison.backends import Backend
from experiments.comparison.outcome import CUT_SHORT, REFUSED, distances
from experiments.comparison.table import quantity
from experiments.timing import halved

#: The fewest errors that an order is fitted to, and the range of orders that are looked for.
LEAST, ORDERS = 3, (0.1, 8.0)
#: The greatest root mean square distance of the errors from a power law, as a factor.
SCATTER = 1.5
#: [m] Distances below it are those of rounding: they show no order, and no convergence that is left to do.
ROUNDING = 1e-12


@dataclass(frozen=True)
class Refinement:
    """The experiment in an engine at a step size."""

    engine: str = quantity("", "name")
    step: float = quantity("s", "step")
    verdict: str = quantity("", "how it ended")
    simulated: float = quantity("s", "time simulated")
    peak: float | None = quantity("m", "greatest distance of the root's path from that at the finest step")
    final: float | None = quantity("m", "distance of the root from where it is at the finest step, at the end")
    failure: str = quantity("", "why it did not get to its end", "")

    @property
    def out(self) -> str:
        """The verdict of a run that did not get to its end; empty for one that did."""
        return self.verdict if self.verdict in (*CUT_SHORT, REFUSED) else ""


@dataclass(frozen=True)
class Convergence:
    """Whether an engine converges as its step is refined."""

    engine: str = quantity("", "name")
    order: float | None = quantity("1", "order of convergence of the root's path to that at its own finest step")
    scatter: float | None = quantity("1", "root mean square distance of the errors from that order, as a factor")
    text: str = quantity("", "what it does")


def step_sizes(experiment: Experiment, changes: Mapping[str, Value], count: int) -> tuple[float, ...]:
    """Return the time between two control ticks [s], a half of it, a quarter, …"""
    values = experiment.values(changes)
    return halved(values.number("controller.period") if "controller.period" in values else DEFAULT_PERIOD, count)


def run_at(
    backend: Backend, experiment: Experiment, changes: Mapping[str, Value], step: float, progress: Progress
) -> Rollout | InputError:
    try:
        return backend.run(experiment, {**changes, "run.step": step}, progress)
    except InputError as error:
        return error


def refinements_of(label: str, made: Mapping[float, Rollout | InputError]) -> list[Refinement]:
    """Return the rows of an engine, from the coarsest step on; distances are from its finest run, if that stood."""
    finest = made[min(made)]
    truth = None if isinstance(finest, InputError) or finest.run.summary["verdict"] in CUT_SHORT else finest.run
    rows = []
    for step, rollout in sorted(made.items(), reverse=True):
        if isinstance(rollout, InputError):
            rows.append(Refinement(label, step, REFUSED, 0.0, None, None, str(rollout)))
            continue
        summary = rollout.run.summary
        errors = (None, None) if step == min(made) else _errors(rollout.run, truth)
        time = float(summary["simulated_time"])
        rows.append(Refinement(label, step, summary["verdict"], time, *errors, rollout.error or ""))
    return rows


def _errors(run: Run, truth: Run | None) -> tuple[float | None, float | None]:
    if truth is None or run.summary["verdict"] in CUT_SHORT:
        return None, None
    between = distances(run, truth)
    return (float(between.max()), float(between[-1])) if len(between) > 1 else (None, None)  # more than the start


def convergence_of(label: str, rows: Sequence[Refinement]) -> Convergence:
    """Return what the errors of an engine's rows, from the coarsest step on, say of its convergence."""
    ended = groupby(sorted((row for row in rows if row.out), key=lambda row: row.out), key=lambda row: row.out)
    notes = [f"{verdict} at {', '.join(f'{1e3 * row.step:g} ms' for row in some)}" for verdict, some in ended]
    *coarser, finest = rows
    errors = [(row.step, row.peak) for row in coarser if row.peak is not None]
    clear = [(step, error) for step, error in errors if error >= ROUNDING]
    worse = next((fine for (_, before), (fine, after) in pairwise(errors) if after >= max(before, ROUNDING)), None)
    order: float | None = None
    scatter: float | None = None
    if finest.out or not errors:
        text = "nothing to compare: no run at the finest step, or none at another"
    elif not clear:
        text = "exact to rounding at all steps"
    elif worse is not None:
        text = f"no steady convergence: at {1e3 * worse:g} ms it is no closer than before"
    elif len(clear) < LEAST:
        text = f"comes closer; too few steps with an error above rounding ({len(clear)}) to tell an order"
    else:
        order, scatter = fitted_order([step for step, _ in clear], [error for _, error in clear], finest.step)
        text = f"converges with order {order:.2f}"
        if scatter > SCATTER or not ORDERS[0] * 1.01 < order < ORDERS[1] * 0.99:
            order, text = None, f"comes closer, but no order from {ORDERS[0]:g} to {ORDERS[1]:g} fits"
    return Convergence(label, order, scatter, "; ".join([text, *notes]))


def fitted_order(steps: Sequence[float], errors: Sequence[float], finest: float) -> tuple[float, float]:
    """Return the order of errors that are measured against a finest step, and their distance from it, as a factor.

    An error C hᵖ at a step h is seen as C (hᵖ − h₀ᵖ) from the finest step h₀; p and C are those of the least squares of
    logarithms.
    """
    h, e = np.asarray(steps, dtype=float), np.log(np.asarray(errors, dtype=float))

    def residuals(order: float) -> np.ndarray:
        off = e - np.log(h**order - finest**order)
        return np.asarray(off - off.mean())

    found = minimize_scalar(lambda order: float(np.sum(residuals(order) ** 2)), bounds=ORDERS, method="bounded")
    order = float(found.x)
    return order, math.exp(float(np.sqrt(np.mean(residuals(order) ** 2))))

"""The experiment at ever finer steps: does an engine converge, and how fast?

Each engine is compared with itself at its own finest step. That says nothing about whether it converges to the right
motion, and holds for these steps only.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from scipy.optimize import minimize_scalar

from biped.errors import InputError
from biped.runs.run import Run
from biped.runs.verdict import FAILED, FELL, LOST_CONTROL, UNRELIABLE
from biped.simulation.clock import DEFAULT_PERIOD
from experiments.benchmarks.comparison.backends import Backend
from experiments.benchmarks.comparison.budget import Progress
from experiments.benchmarks.comparison.outcome import CUT_SHORT, REFUSED, distances
from experiments.benchmarks.comparison.table import quantity
from experiments.benchmarks.step_sizes import halved
from experiments.catalogue.experiment import Experiment
from experiments.catalogue.parameters.parameter import Value
from experiments.catalogue.rollout import Rollout

#: The fewest errors that an order is fitted to, and the range of orders that are looked for.
LEAST, ORDERS = 3, (0.1, 8.0)
#: The greatest root mean square distance of the errors from a power law, as a factor.
SCATTER = 1.5
#: [m] Distances below it are those of rounding: they show no order, and no convergence that is left to do.
ROUNDING = 1e-12
#: How a run that did not get to its end ended, as a verb.
VERBS = {
    FELL: "falls",
    LOST_CONTROL: "loses control",
    FAILED: "fails",
    UNRELIABLE: "is unreliable",
    REFUSED: "cannot be run",
}


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
    def stood(self) -> bool:
        return self.verdict not in VERBS


@dataclass(frozen=True)
class Convergence:
    """Whether an engine converges as its step is refined."""

    engine: str = quantity("", "name")
    order: float | None = quantity("1", "order of convergence of the root's path to that at its own finest step")
    scatter: float | None = quantity("1", "root mean square distance of the errors from that order, as a factor")
    text: str = quantity("", "what it does")

    @property
    def converges(self) -> bool:
        return self.order is not None


def step_sizes(experiment: Experiment, changes: Mapping[str, Value], count: int) -> tuple[float, ...]:
    """[s] the time between two control ticks, a half of it, a quarter, …"""
    values = experiment.values(changes)
    return halved(values.number("controller.period") if "controller.period" in values else DEFAULT_PERIOD, count)


def run_at(
    backend: Backend, experiment: Experiment, changes: Mapping[str, Value], step: float, progress: Progress
) -> tuple[Rollout | None, str]:
    try:
        return backend.run(experiment, {**changes, "run.step": step}, progress), ""
    except InputError as error:
        return None, str(error)


def refinements_of(label: str, made: Mapping[float, tuple[Rollout | None, str]]) -> list[Refinement]:
    """The rows of an engine, by step; distances are from the run at the finest of all steps, if it stood."""
    finest = made[min(made)][0]
    truth = None if finest is None or finest.run.summary["verdict"] in CUT_SHORT else finest.run
    rows = []
    for step in sorted(made, reverse=True):
        rollout, why = made[step]
        if rollout is None:
            rows.append(Refinement(label, step, REFUSED, 0.0, None, None, why))
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


def convergence_of(label: str, refinements: Sequence[Refinement]) -> Convergence:
    rows = sorted(refinements, key=lambda row: -row.step)
    *coarser, finest = rows
    down = {verdict: [f"{1e3 * row.step:g} ms" for row in rows if row.verdict == verdict] for verdict in VERBS}
    besides = "; ".join(f"{VERBS[verdict]} at {', '.join(steps)}" for verdict, steps in down.items() if steps)
    if not finest.stood:
        return Convergence(label, None, None, f"{besides}: without its finest step there is nothing to compare with")
    errors = [(row.step, row.peak) for row in coarser if row.peak is not None]
    order, scatter, text = _judged(errors, finest.step)
    return Convergence(label, order, scatter, "; ".join([text, besides]) if besides else text)


def _judged(errors: Sequence[tuple[float, float]], finest: float) -> tuple[float | None, float | None, str]:
    """Order, scatter and text from steps [s] and errors [m], from the coarsest on."""
    if not errors:
        return None, None, "nothing to compare: no other step that got to the end, or no row but the start"
    if all(error < ROUNDING for _, error in errors):
        return None, None, "exact to rounding at all steps"
    for (coarse, before), (fine, after) in pairwise(errors):
        if after >= before and after >= ROUNDING:
            closer = errors[-1][1] < 0.5 * errors[0][1]
            text = "comes closer, but not steadily" if closer else "shows no convergence at these steps"
            return None, None, f"{text}: at {1e3 * fine:g} ms it is no closer than at {1e3 * coarse:g} ms"
    clear = [(step, error) for step, error in errors if error >= ROUNDING]
    if len(clear) < LEAST:
        return None, None, f"comes closer; too few steps with an error above rounding ({len(clear)}) to tell an order"
    order, scatter = fitted_order([step for step, _ in clear], [error for _, error in clear], finest)
    least, most = ORDERS
    if not least * 1.01 < order < most * 0.99:
        return None, scatter, f"comes closer, but no order from {least:g} to {most:g} fits"
    if scatter > SCATTER:
        return None, scatter, f"comes closer, but no order fits: errors are off by a factor of {scatter:.2g}"
    return order, scatter, f"converges with order {order:.2f}"


def fitted_order(steps: Sequence[float], errors: Sequence[float], finest: float) -> tuple[float, float]:
    """The order of errors that are measured against a finest step, and how far they are from it, as a factor.

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

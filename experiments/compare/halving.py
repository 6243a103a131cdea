"""What becomes of the experiment as the step is halved: does an engine converge, and how fast?

Each engine is compared with itself at its own finest step. That says nothing about whether it converges to the right
motion; but where it does not come close even to itself, its figures depend on the step.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from scipy.optimize import minimize_scalar

from biped.clock import DEFAULT_PERIOD
from biped.errors import InputError
from biped.run import Run
from experiments.compare.contestants import Contestant
from experiments.compare.effort import Progress
from experiments.compare.outcome import FAILED, FELL, distances
from experiments.compare.table import quantity
from experiments.engines.rollout import Rollout
from experiments.experiment import Experiment
from experiments.parameters.parameter import Value

#: The least errors from which an order is told, and the orders that are looked for.
LEAST, ORDERS = 3, (0.1, 8.0)
#: The greatest root mean square distance of the errors from a power law, as a factor.
SCATTER = 1.5


@dataclass(frozen=True)
class Rung:
    """The experiment in an engine at a step."""

    engine: str = quantity("", "name")
    step: float = quantity("s", "step")
    outcome: str = quantity("", "how it ended")
    simulated: float = quantity("s", "time simulated")
    peak: float | None = quantity("m", "greatest distance of the root's path from that at the finest step")
    final: float | None = quantity("m", "distance of the root from where it is at the finest step, at the end")
    failure: str = quantity("", "why it did not get to its end", "")

    @property
    def stood(self) -> bool:
        """Whether it got to its end without a fall."""
        return self.outcome not in (FELL, FAILED)


@dataclass(frozen=True)
class Convergence:
    """Whether an engine converges as its step is halved."""

    engine: str = quantity("", "name")
    order: float | None = quantity("1", "order of convergence of the root's path to that at its own finest step")
    scatter: float | None = quantity("1", "root mean square distance of the errors from that order, as a factor")
    words: str = quantity("", "what it does")

    @property
    def converges(self) -> bool:
        """Whether there is an order."""
        return self.order is not None


def ladder(experiment: Experiment, changes: Mapping[str, Value], count: int) -> tuple[float, ...]:
    """[s] steps: the time between two control ticks, a half of it, a quarter, …"""
    values = experiment.values(changes)
    period = values.number("controller.period") if "controller.period" in values else DEFAULT_PERIOD
    return tuple(period / 2**k for k in range(count))


def climb(
    contestant: Contestant,
    experiment: Experiment,
    changes: Mapping[str, Value],
    step: float,
    progress: Progress,
) -> tuple[Rollout | None, str]:
    """The experiment at a step; or None, and why."""
    try:
        return contestant.run(experiment, {**changes, "run.step": step}, progress), ""
    except InputError as error:
        return None, str(error)


def rungs_of(label: str, made: Mapping[float, tuple[Rollout | None, str]]) -> list[Rung]:
    """The rows of an engine, by step; distances are from the run at the finest of all steps, if it stood."""
    finest = made[min(made)][0]
    truth = None if finest is None or finest.run.summary["outcome"] in (FELL, FAILED) else finest.run
    rows = []
    for step in sorted(made, reverse=True):
        rollout, why = made[step]
        if rollout is None:
            rows.append(Rung(label, step, FAILED, 0.0, None, None, why))
            continue
        summary = rollout.run.summary
        peak, final = (None, None) if step == min(made) else _distances(rollout.run, truth)
        rows.append(
            Rung(
                label, step, summary["outcome"], float(summary["simulated_time"]), peak, final, rollout.error or ""
            )
        )  # fmt: skip
    return rows


def _distances(run: Run, truth: Run | None) -> tuple[float | None, float | None]:
    if truth is None or run.summary["outcome"] in (FELL, FAILED):
        return None, None
    between = distances(run, truth)
    return (float(between.max()), float(between[-1])) if len(between) else (None, None)


def convergence_of(label: str, rungs: Sequence[Rung]) -> Convergence:
    """Whether the path converges, told from the peak errors of the rungs."""
    rows = sorted(rungs, key=lambda rung: -rung.step)
    finest = rows[-1]
    down = [rung for rung in rows if not rung.stood]
    fallen = f"{'fails' if all(rung.outcome == FAILED for rung in down) else 'falls'} at {_steps(down)}"
    if not finest.stood:
        return Convergence(label, None, None, f"{fallen}, its finest step: there is nothing to converge to")
    told = [(rung.step, rung.peak) for rung in rows[:-1] if rung.peak is not None and rung.peak > 0.0]
    besides = f"; {fallen}" if down else ""
    if len(told) < LEAST:
        words = f"too few steps at which it stands ({len(told)} besides the finest) to tell an order"
        return Convergence(label, None, None, words + besides)
    for (coarse, before), (fine, after) in pairwise(told):
        if after >= before:
            closer = told[-1][1] < 0.5 * told[0][1]
            words = "comes closer, but not steadily" if closer else "does not converge"
            words += f": at {1e3 * fine:g} ms it is no closer than at {1e3 * coarse:g} ms"
            return Convergence(label, None, None, words + besides)
    order, scatter = fitted_order([step for step, _ in told], [error for _, error in told], finest.step)
    if not ORDERS[0] * 1.01 < order < ORDERS[1] * 0.99:
        words = f"comes closer, but {'slower' if order < 1.0 else 'faster'} than any power of the step"
        return Convergence(label, None, scatter, words + besides)
    if scatter > SCATTER:
        words = f"comes closer, but by no power of the step: errors are off by a factor of {scatter:.2g}"
        return Convergence(label, None, scatter, words + besides)
    return Convergence(label, order, scatter, f"converges with order {order:.2f}{besides}")


def _steps(rungs: Sequence[Rung]) -> str:
    return ", ".join(f"{1e3 * rung.step:g} ms" for rung in rungs)


def fitted_order(steps: Sequence[float], errors: Sequence[float], finest: float) -> tuple[float, float]:
    """The order of errors that are told against a finest step, and how far they are from it, as a factor.

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

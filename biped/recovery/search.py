"""The largest push that is recovered from, found by continuation: a little harder each time, from the last recovery on.

What is found is a lower bound, with the trajectory that proves it: the optimizer is local, and a recovery that is of
another kind than the last one is not looked for.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, Protocol

import numpy as np

from biped.recovery.optimizer import Cost, Iterate, improved, tracking_gains
from biped.recovery.rollout import HeldTorques, Path
from contact.arrays import Floats

#: Parts of the rise that are tried until one is worth it.
PARTS = (1.0, 0.7, 0.5, 0.35, 0.25, 0.12)
#: Torques are this much dearer in the second feedback that is tried.
GENTLER = 30.0


class Problem(Protocol):
    """A scene with a push of any size, and what counts as recovered from it."""

    @property
    def cost(self) -> Cost:
        """The cost of trajectories."""

    low: Floats  # (joints,) [N·m] least torques
    high: Floats  # (joints,) greatest
    state_weight: Floats  # (2 nv, 2 nv) of deviations from a plan, for the feedback that keeps to it
    torque_weight: Floats  # (joints, joints) of what that feedback adds

    def held(self, impulse: float) -> HeldTorques:
        """The scene with a push of so many newton-seconds."""

    def judged(self, impulse: float, held: HeldTorques, path: Path) -> Any | None:
        """A proof that the path recovers from the push; None if it does not."""


@dataclass(frozen=True)
class Settings:
    """How a search goes on.

    Attributes:
        rise: of the push, by a part of the first, to begin with.
        tolerance: the search ends when it would rise by less than this part of the first.
        worth: a trajectory that costs more to begin with is not improved: the push is raised by less.
        cheap: a recovery that costs no more is good enough to go on from.
        iterations: of the optimizer for one push at most.
        budget: of iterations altogether.
    """

    rise: float = 0.08
    tolerance: float = 0.01
    worth: float = 60.0
    cheap: float = 0.6
    iterations: int = 24
    budget: int = 200


@dataclass(frozen=True, eq=False)
class Attempt:
    """A push that was tried.

    Attributes:
        impulse: [N·s].
        path: the best trajectory.
        cost: of it.
        gains: (N, joints, nx) that meet small deviations best.
        proof: what ``Problem.judged`` gave, or None if it is not recovered from.
        iterations: of the optimizer, altogether so far.
    """

    impulse: float
    path: Path
    cost: float
    gains: Floats | None
    proof: Any | None
    iterations: int


def search(problem: Problem, impulse: float, path: Path, settings: Settings | None = None) -> Iterator[Attempt]:
    """Attempts at ever larger pushes; of those with a ``proof`` the last is the largest.

    Args:
        problem: what is pushed.
        impulse: [N·s] to begin with, from which ``path`` recovers, or nearly.
        path: a trajectory of ``problem.held(impulse)``.
        settings: how it goes on.
    """
    how = Settings() if settings is None else settings
    rise, spent, polished = how.rise * impulse, 0, False
    best = _attempted(problem, impulse, problem.held(impulse), path, how, spent)
    spent = best.iterations
    yield best
    if best.proof is None:
        return
    while spent < how.budget:
        begun = _begun(problem, best, rise, how.worth) if rise >= how.tolerance * impulse else None
        if begun is None:
            if polished:
                return
            best, polished, rise = _polished(problem, best, how), True, 0.5 * how.rise * impulse
            spent = best.iterations
            continue
        harder, held, start = begun
        tried = _attempted(problem, harder, held, start, how, spent)
        spent = tried.iterations
        yield tried
        if tried.proof is not None:
            best, polished = tried, False
        else:
            best = replace(best, iterations=spent)
            rise = 0.5 * min(rise, harder - best.impulse)


def _polished(problem: Problem, best: Attempt, how: Settings) -> Attempt:
    """A recovery from this push at a lower cost, if one is found: better to go on from."""
    held, last = problem.held(best.impulse), None
    for last in improved(held, problem.cost, best.path, problem.low, problem.high):
        if last.ended or last.count >= how.iterations:
            break
    assert last is not None
    spent = best.iterations + last.count
    proof = problem.judged(best.impulse, held, last.path) if last.cost < best.cost else None
    if proof is None:
        return replace(best, iterations=spent)
    return Attempt(best.impulse, last.path, last.cost, last.gains, proof, spent)


def _attempted(problem: Problem, impulse: float, held: HeldTorques, path: Path, how: Settings, spent: int) -> Attempt:
    """The best that is found for one push: cheap enough and recovered from, or what the iterations have brought."""
    best: tuple[Iterate, Any] | None = None
    last, most = None, min(how.iterations, max(how.budget - spent, 1))
    for last in improved(held, problem.cost, path, problem.low, problem.high):
        is_last = last.ended or last.count >= most
        if is_last or (last.cost < how.cheap and last.count >= 2):
            proof = problem.judged(impulse, held, last.path)
            if proof is not None:
                best = last, proof
            if is_last or proof is not None:
                break
        elif last.count and last.count % 8 == 0 and best is None and last.cost < 6.0 * how.cheap:
            proof = problem.judged(impulse, held, last.path)
            best = None if proof is None else (last, proof)
    assert last is not None
    found, proof = best if best is not None else (last, None)
    return Attempt(impulse, found.path, found.cost, found.gains, proof, spent + last.count)


def _begun(problem: Problem, best: Attempt, rise: float, worth: float) -> tuple[float, HeldTorques, Path] | None:
    """A harder push, and a trajectory under it that is worth improving: the last plan under one of three feedbacks."""
    tracked = [
        tracking_gains(problem.held(best.impulse), best.path, problem.state_weight, factor * problem.torque_weight)
        for factor in (1.0, GENTLER)
    ]
    anchors = best.path.anchor.shape[1]  # of which there is no feedback
    feedbacks = [np.concatenate([gains, np.zeros((*gains.shape[:2], anchors))], axis=2) for gains in tracked]
    if best.gains is not None:
        feedbacks.append(best.gains)
    limits = np.broadcast_to(problem.low, best.path.u.shape), np.broadcast_to(problem.high, best.path.u.shape)
    for part in PARTS:
        impulse = best.impulse + part * rise
        held = problem.held(impulse)
        starts = [path for gains in feedbacks if (path := held.follow(best.path, gains, limits=limits)) is not None]
        costs = [problem.cost.value(path) for path in starts]
        if costs and min(costs) < worth:
            return impulse, held, starts[int(np.argmin(costs))]
    return None

"""Times of the marionette's steps, of a process of their own: ``python -m …timed_steps STEPS REPEATS`` prints them."""

import json
import sys
import time
from collections.abc import Callable, Sequence
from typing import TypeVar

import numpy as np

from experiments.benchmarks.timing import interleaved, one_core, seconds
from experiments.papers.johnson_schultz_murphey_2014.puppet import puppet, reference

T = TypeVar("T")

STEP, LINEARIZATION, SECOND = "step", "linearization", "second-order linearization"
ONE_SUM = "second derivatives, one weighted sum"


def timed(steps: int, repeats: int) -> dict[str, list[float]]:
    """Return times of each kind of step [ms], of so many repetitions of the first steps of the motion."""
    system = puppet()
    path = reference(system, steps)
    pairs = list(zip(path.x[:-1], path.u, strict=True))
    solved = [system.linearize(x, u) for x, u in pairs]
    some, weights = solved[:: max(1, steps // 10)], np.ones(system.states)

    def per(items: Sequence[T], work: Callable[[T], object]) -> Callable[[], float]:
        """Time the work on each item; results are not kept: their megabytes would be the system's work, not ours."""

        def all_of_them() -> None:
            for item in items:
                work(item)

        return lambda: 1e3 * seconds(all_of_them, time.process_time) / len(items)

    both = "step and linearization"
    cases = {
        STEP: per(pairs, lambda pair: system.advance(*pair)),
        both: per(pairs, lambda pair: system.linearize(*pair)),
        SECOND: per(some, lambda one: one.second()),
        ONE_SUM: per(some, lambda one: one.weighted_second(weights)),
    }
    with one_core():
        taken = interleaved(cases, repeats)
    alone = [whole - step for whole, step in zip(taken.pop(both), taken[STEP], strict=True)]
    return taken | {LINEARIZATION: alone}


if __name__ == "__main__":
    print(json.dumps(timed(int(sys.argv[1]), int(sys.argv[2]))))

"""Section VIII-B: cost of a step of the marionette and of its linearizations.

As a program, ``python -m … STEPS REPEATS``, it prints their times, in a process of its own that has one thread.
"""

import json
import sys
import time
from collections.abc import Callable, Sequence
from typing import TypeVar

import numpy as np
import pandas as pd

from contact.arrays import Floats
from experiments.papers.criteria import above, stated, within
from experiments.papers.item import Outcome, Progress
from experiments.papers.johnson_schultz_murphey_2014.puppet import ASSUMPTIONS, puppet, reference
from experiments.timing import Spread, in_one_thread, interleaved, one_core, seconds
from formulations.mechanism import DiscreteMechanism

T = TypeVar("T")

STEP, LINEARIZATION, SECOND = "step", "linearization", "second-order linearization"
ONE_SUM = "second derivatives, one weighted sum"
DIFFERENCES = "first derivatives by forward differences of the step"
#: [ms] printed.
PRINTED = {STEP: 2.11, LINEARIZATION: 1.12, SECOND: 22.15}
#: Steps of the motion that each is taken at, and how often all are taken.
STEPS, QUICK_STEPS = 100, 10
REPEATS = 9


def timed(steps: int, repeats: int) -> dict[str, list[float]]:
    """Return times of each kind of step [ms], from repetitions of the first steps of the motion."""
    system = puppet()
    path = reference(system, steps)
    pairs = list(zip(path.x[:-1], path.u, strict=True))
    solved = [system.linearize(x, u) for x, u in pairs]
    some, weights = solved[:: max(1, steps // 10)], np.ones(system.states)

    def per(items: Sequence[T], work: Callable[[T], object]) -> Callable[[], float]:
        """Time the work on each item; results are not kept, so that memory allocation is not measured."""

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
        DIFFERENCES: per(pairs[:: max(1, steps // 10)], lambda pair: differences(system, *pair)),
    }
    with one_core():
        taken = interleaved(cases, repeats)
    alone = [whole - step for whole, step in zip(taken.pop(both), taken[STEP], strict=True)]
    return taken | {LINEARIZATION: alone}


def differences(system: DiscreteMechanism, x: Floats, u: Floats) -> Floats:
    """Return [A B] of a step by forward differences, (n, n + m)."""
    start, n, amount = system.advance(x, u), len(x), 1e-7
    moved = (amount * row for row in np.eye(n + len(u)))
    return np.stack([(system.advance(x + row[:n], u + row[n:]) - start) / amount for row in moved], axis=1)


def produce(quick: bool, progress: Progress) -> Outcome:
    steps = QUICK_STEPS if quick else STEPS
    times = measured(steps, REPEATS)
    progress(1.0)
    share, printed = (
        some[LINEARIZATION] / some[STEP] for some in ({what: one.median for what, one in times.items()}, PRINTED)
    )
    findings = (
        stated("time of a linearization over that of its step", printed, share,
               within(printed, 0.25),
               why="a step of ours may take the factors of the last one, its linearization needs its own"),
        stated(f"time of {DIFFERENCES} over that of a linearization", "not in the paper",
               times[DIFFERENCES].median / times[LINEARIZATION].median, above(1), kind="ours"),
    )  # fmt: skip
    assumed = (
        *ASSUMPTIONS,
        "printed for an Intel i7-2760QM at 2.40 GHz; ours, in the table, is the time of one thread, the processor's, "
        f"median of {REPEATS} repetitions of the first {steps} steps, each with what Python adds",
        "a linearization is what `linearize` takes beyond its step; the second-order one are all 80 × 98 × 98 second "
        "derivatives of a step that is solved, its first ones included; a weighted sum of them, which is all that "
        "Newton's search needs, is in the table",
    )
    return Outcome(findings, assumed, {"Times": _table(times)})


def measured(steps: int, repeats: int) -> dict[str, Spread]:
    """Measure each kind of step in a process of one thread [ms]."""
    found = in_one_thread(__name__, str(steps), str(repeats))
    return {what: Spread.of(values) for what, values in found.items()}


def _table(times: dict[str, Spread]) -> pd.DataFrame:
    return pd.DataFrame([{
        "what": what, "published [ms]": PRINTED.get(what), "ours, median [ms]": times[what].median,
        "least [ms]": times[what].least, "most [ms]": times[what].most,
    } for what in (*PRINTED, ONE_SUM, DIFFERENCES)])  # fmt: skip


if __name__ == "__main__":
    print(json.dumps(timed(int(sys.argv[1]), int(sys.argv[2]))))

"""Section VIII-B: cost of a time step of the marionette and of its linearizations.

Run as ``python -m … STEPS REPEATS``, this module prints the times, measured in a separate process with one thread.
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
#: Printed times [ms].
PRINTED = {STEP: 2.11, LINEARIZATION: 1.12, SECOND: 22.15}
#: Number of time steps of the motion that are timed, and number of repetitions.
STEPS, QUICK_STEPS = 100, 10
REPEATS = 9


def timed(steps: int, repeats: int) -> dict[str, list[float]]:
    """Return times [ms] of a step and of each linearization, for repetitions of the first steps of the motion."""
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
        SECOND: per(some, lambda linear: linear.second()),
        ONE_SUM: per(some, lambda linear: linear.weighted_second(weights)),
        DIFFERENCES: per(pairs[:: max(1, steps // 10)], lambda pair: differences(system, *pair)),
    }
    with one_core():
        taken = interleaved(cases, repeats)
    alone = [total - step for total, step in zip(taken.pop(both), taken[STEP], strict=True)]
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
        some[LINEARIZATION] / some[STEP] for some in ({what: spread.median for what, spread in times.items()}, PRINTED)
    )
    findings = (
        stated("time of a linearization / time of its step", printed, share,
               within(printed, 0.25),
               why="our steps can use the factors of the step before, a linearization needs new ones"),
        stated(f"time of {DIFFERENCES} / time of a linearization", "not in the paper",
               times[DIFFERENCES].median / times[LINEARIZATION].median, above(1), kind="ours"),
    )  # fmt: skip
    assumed = (
        *ASSUMPTIONS,
        "printed times are for an Intel i7-2760QM at 2.40 GHz; ours, in the table, are processor times of one thread, "
        f"median of {REPEATS} repetitions of the first {steps} steps, including the overhead of Python",
        "the time of a linearization is that of `linearize` minus that of its step; the second-order linearization "
        "has the first and all 80 × 98 × 98 second derivatives of a solved step; a weighted sum of these, which is all "
        "that Newton's method needs, is in the table",
    )
    return Outcome(findings, assumed, {"Times": _table(times)})


def measured(steps: int, repeats: int) -> dict[str, Spread]:
    """Return the times [ms] of a step and of each linearization, measured in a process with one thread."""
    times = in_one_thread(__name__, str(steps), str(repeats))
    return {what: Spread.of(values) for what, values in times.items()}


def _table(times: dict[str, Spread]) -> pd.DataFrame:
    return pd.DataFrame([{
        "what": what, "published [ms]": PRINTED.get(what), "ours, median [ms]": times[what].median,
        "least [ms]": times[what].least, "most [ms]": times[what].most,
    } for what in (*PRINTED, ONE_SUM, DIFFERENCES)])  # fmt: skip


if __name__ == "__main__":
    print(json.dumps(timed(int(sys.argv[1]), int(sys.argv[2]))))

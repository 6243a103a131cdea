"""Section VIII-B: what a step of the marionette and its linearizations cost."""

import time
from collections.abc import Callable

import numpy as np
import pandas as pd

from experiments.benchmarks.timing import Spread, interleaved, one_core, seconds
from experiments.papers.item import Finding, Item, Outcome, Progress
from experiments.papers.johnson_schultz_murphey_2014.puppet import ASSUMPTIONS, puppet, reference

STEP, LINEARIZATION, SECOND = "step", "linearization", "second-order linearization"
ONE_SUM = "second derivatives, one weighted sum"
#: [ms] printed.
PRINTED = {STEP: 2.11, LINEARIZATION: 1.12, SECOND: 22.15}
#: Steps of the motion that each is taken at, and how often all are taken.
STEPS, QUICK_STEPS = 100, 10
REPEATS, QUICK_REPEATS = 9, 2


def produce(quick: bool, progress: Progress) -> Outcome:
    steps, repeats = (QUICK_STEPS, QUICK_REPEATS) if quick else (STEPS, REPEATS)
    times = measured(steps, repeats, progress)
    findings = tuple(
        Finding(
            f"{what} [ms]", printed, times[what].median, "no longer than printed", times[what].median <= printed,
            f"{printed / times[what].median:.1f} times as fast as printed, on another machine",
        )
        for what, printed in PRINTED.items()
    )  # fmt: skip
    assumed = (
        *ASSUMPTIONS,
        "printed for an Intel i7-2760QM at 2.40 GHz; ours is the processor's time of one core, median of "
        f"{repeats} repetitions of the first {steps} steps, each with what Python adds",
        "a linearization is what `linearize` takes beyond its step; the second-order one are all 80 × 98 × 98 second "
        "derivatives of a step that is solved, its first ones included; a weighted sum of them, which is all that "
        "Newton's search needs, is in the table",
    )
    return Outcome(findings, assumed, {"Times": _table(times)})


def measured(steps: int, repeats: int, progress: Progress) -> dict[str, Spread]:
    """[ms] of each, one step."""
    system = puppet()
    path = reference(system, steps)
    pairs = list(zip(path.x[:-1], path.u, strict=True))
    solved = [system.linearize(x, u) for x, u in pairs]
    some, weights = solved[:: max(1, steps // 10)], np.ones(system.states)

    def per(count: int, work: Callable[[], object]) -> Callable[[], float]:
        return lambda: 1e3 * seconds(work, time.process_time) / count

    both = "step and linearization"
    cases = {
        STEP: per(steps, lambda: [system.advance(x, u) for x, u in pairs]),
        both: per(steps, lambda: [system.linearize(x, u) for x, u in pairs]),
        SECOND: per(len(some), lambda: [one.second() for one in some]),
        ONE_SUM: per(len(some), lambda: [one.weighted_second(weights) for one in some]),
    }
    with one_core():
        taken = interleaved(cases, repeats, progress=progress)
    alone = [whole - step for whole, step in zip(taken.pop(both), taken[STEP], strict=True)]
    return {what: Spread.of(values) for what, values in (taken | {LINEARIZATION: alone}).items()}


def _table(times: dict[str, Spread]) -> pd.DataFrame:
    return pd.DataFrame(
        [
            {
                "what": what,
                "published [ms]": PRINTED.get(what),
                "ours, median [ms]": times[what].median,
                "least [ms]": times[what].least,
                "most [ms]": times[what].most,
            }
            for what in (*PRINTED, ONE_SUM)
        ]
    )


ITEM = Item(
    "run-times", "a step of the marionette and its linearizations", "Johnson, Schultz and Murphey 2014, section VIII-B",
    produce,
)  # fmt: skip

"""Section VIII-B: what a step of the marionette and its linearizations cost."""

import pandas as pd

from experiments.benchmarks.threads import in_one_thread
from experiments.benchmarks.timing import Spread
from experiments.papers.criteria import no_longer, stated
from experiments.papers.item import Item, Outcome, Progress
from experiments.papers.johnson_schultz_murphey_2014 import timed_steps
from experiments.papers.johnson_schultz_murphey_2014.puppet import ASSUMPTIONS
from experiments.papers.johnson_schultz_murphey_2014.timed_steps import LINEARIZATION, ONE_SUM, SECOND, STEP

#: [ms] printed.
PRINTED = {STEP: 2.11, LINEARIZATION: 1.12, SECOND: 22.15}
#: Steps of the motion that each is taken at, and how often all are taken.
STEPS, QUICK_STEPS = 100, 10
REPEATS, QUICK_REPEATS = 9, 2


def produce(quick: bool, progress: Progress) -> Outcome:
    steps, repeats = (QUICK_STEPS, QUICK_REPEATS) if quick else (STEPS, REPEATS)
    times = measured(steps, repeats)
    progress(1.0)
    findings = tuple(
        stated(f"{what} [ms]", printed, times[what].median,
               no_longer(printed),
               f"{printed / times[what].median:.1f} times as fast as printed, on another machine")
        for what, printed in PRINTED.items()
    )  # fmt: skip
    assumed = (
        *ASSUMPTIONS,
        "printed for an Intel i7-2760QM at 2.40 GHz; ours is the time of one thread, the processor's, median of "
        f"{repeats} repetitions of the first {steps} steps, each with what Python adds",
        "a linearization is what `linearize` takes beyond its step; the second-order one are all 80 × 98 × 98 second "
        "derivatives of a step that is solved, its first ones included; a weighted sum of them, which is all that "
        "Newton's search needs, is in the table",
    )
    return Outcome(findings, assumed, {"Times": _table(times)})


def measured(steps: int, repeats: int) -> dict[str, Spread]:
    """Measure each kind of step in a process of one thread [ms]."""
    found = in_one_thread(timed_steps.__name__, str(steps), str(repeats))
    return {what: Spread.of(values) for what, values in found.items()}


def _table(times: dict[str, Spread]) -> pd.DataFrame:
    return pd.DataFrame([{
        "what": what, "published [ms]": PRINTED.get(what), "ours, median [ms]": times[what].median,
        "least [ms]": times[what].least, "most [ms]": times[what].most,
    } for what in (*PRINTED, ONE_SUM)])  # fmt: skip


ITEM = Item(
    "run-times", "a step of the marionette and its linearizations", "Johnson, Schultz and Murphey 2014, section VIII-B",
    produce,
)  # fmt: skip

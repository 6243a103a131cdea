"""Cost: what a step takes, all engines in turn on one core."""

import math
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from biped.errors import InputError
from experiments.benchmarks.comparison.backends import Contestant
from experiments.benchmarks.comparison.budget import Progress
from experiments.benchmarks.comparison.outcome import FAILED, FELL
from experiments.benchmarks.comparison.recorder import Tape
from experiments.benchmarks.comparison.table import quantity
from experiments.benchmarks.timing import Spread
from experiments.catalogue.experiment import Experiment
from experiments.catalogue.parameters.parameter import Value
from experiments.engines.rollout import Rollout

#: What is counted of ours, and of others.
OURS = "the compiled loop: steps, controller, records"
FOREIGN = "the engine's step alone, replayed in a bare loop"


@dataclass(frozen=True)
class Cost:
    """What a step of the experiment takes in an engine; ratios are to the first engine's.

    Attributes:
        samples: [s] a step, of each repeat.
    """

    engine: str = quantity("", "name")
    outcome: str = quantity("", "how the timed run ended")
    step: float = quantity("s", "step")
    per_step: float = quantity("s", "time of a step, median; of another engine in the replay")
    least: float = quantity("s", "time of a step, least")
    most: float = quantity("s", "time of a step, most")
    in_run: float = quantity("s", "time of a step within the run, median; of another engine between our books")
    ratio: float = quantity("1", "time of a step over the first engine's, median of pairs taken in turn")
    ratio_low: float = quantity("1", "the same, lower end of its interval")
    ratio_high: float = quantity("1", "the same, upper end of its interval")
    real_time: float = quantity("1", "simulated seconds a second of the whole loop")
    counted: str = quantity("", "what the time of a step counts")
    repeats: int = quantity("1", "times that it was timed")
    samples: tuple[float, ...] = field(default=(), repr=False)

    @property
    def between(self) -> tuple[float, float]:
        """[s] The interval of the median: what else ran on the machine makes single runs several times as long."""
        return interval(self.samples) if self.samples else (self.least, self.most)


@dataclass
class Taken:
    """What was timed of an engine.

    Attributes:
        outcome: how its run ended.
        per_step: [s] a step, of each repeat: in the replay of another engine, in the loop of ours.
        in_run: [s] a step within the run.
        real_time: simulated seconds a second of the whole loop.
    """

    outcome: str
    per_step: list[float] = field(default_factory=list)
    in_run: list[float] = field(default_factory=list)
    real_time: list[float] = field(default_factory=list)


def measure(
    contestants: tuple[Contestant, ...],
    experiment: Experiment,
    changes: Mapping[str, Value],
    repeats: int,
    progress: Progress,
) -> tuple[list[Cost], dict[str, str]]:
    """Time the experiment in all engines, A B C A B C …, after once each to warm up.

    Returns:
        the rows, and why those that cannot run it are left out, by label.
    """
    taken: dict[str, Taken] = {}
    tapes: dict[str, Tape] = {}
    refused: dict[str, str] = {}
    able = list(contestants)
    for turn in range(repeats + 1):
        for k, contestant in enumerate(tuple(able)):
            tape = Tape(contestant.foreign) if turn == 0 and contestant.foreign is not None else None
            who = contestant if tape is None else replace(contestant, engine=tape)
            try:
                made = who.run(experiment, changes)
            except InputError as error:
                able.remove(contestant)
                refused[contestant.label] = f"is not timed: {error}"
                continue
            if tape is not None:
                tapes[contestant.label] = tape
            if turn == 0:
                taken[contestant.label] = Taken(str(made.run.summary["outcome"]))
            else:
                _time(taken[contestant.label], made, tapes.get(contestant.label))
            progress((turn + (k + 1) / max(1, len(able))) / (repeats + 1))
    step = experiment.values(changes).number("run.step")
    return costs_of(able, taken, step), refused


def _time(taken: Taken, made: Rollout, tape: Tape | None) -> None:
    """Keep what a run took, and a replay right after it."""
    taken.in_run.append(made.per_step)
    taken.per_step.append(made.per_step if tape is None else tape.replay())
    taken.real_time.append(float(made.run.summary["real_time_factor"]))


def costs_of(contestants: list[Contestant], taken: Mapping[str, Taken], step: float) -> list[Cost]:
    """The rows."""
    rows = []
    first = taken[contestants[0].label].per_step if contestants else []
    for contestant in contestants:
        mine = taken[contestant.label]
        spread = Spread.of(mine.per_step)
        ratio = ratios(mine.per_step, first)
        low, high = interval(ratio)
        rows.append(
            Cost(
                contestant.label, mine.outcome, step, spread.median, spread.least, spread.most,
                statistics.median(mine.in_run), *(statistics.median(ratio), low, high),
                Spread.of(mine.real_time).median,
                OURS if contestant.foreign is None else FOREIGN, spread.repeats, tuple(mine.per_step),
            )
        )  # fmt: skip
    return rows


def ratios(times: Sequence[float], others: Sequence[float]) -> list[float]:
    """Of times to others, in the order in which they were taken."""
    return [mine / other for mine, other in zip(times, others, strict=True)]


def interval(values: Sequence[float]) -> tuple[float, float]:
    """Between which of the values the median lies that more of them would have, by 95 %, if there are six or more.

    The k-th least and the k-th greatest enclose it but for twice the chance of fewer than k heads in as many throws
    of a coin. With fewer values: the least and the greatest; see ``coverage``.
    """
    ranked, k = sorted(values), _left_out(len(values))
    return ranked[k], ranked[len(values) - 1 - k]


def coverage(count: int) -> float:
    """How likely the interval of so many values encloses the median."""
    return 1.0 - 2.0 * sum(math.comb(count, j) for j in range(_left_out(count) + 1)) / 2.0**count


def _left_out(n: int) -> int:
    """How many values at either end lie outside of the interval."""
    k = 0
    while k + 1 < n - 1 - k - 1 and 2.0 * sum(math.comb(n, j) for j in range(k + 2)) / 2.0**n <= 0.05:
        k += 1
    return k


def finished(cost: Cost) -> bool:
    """Whether the timed run got to its end."""
    return cost.outcome not in (FELL, FAILED)

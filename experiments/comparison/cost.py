"""Cost: what a step takes, all engines in turn on one core."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from statistics import median
from typing import Any, cast

import numpy as np

from biped.errors import InputError
from biped.simulation.driver import Progress
from contact.arrays import Floats
from experiments.catalogue.experiment import Experiment
from experiments.catalogue.parameters.parameter import Value
from experiments.comparison.backends import Backend
from experiments.comparison.outcome import CUT_SHORT
from experiments.comparison.table import quantity
from experiments.engines.engine import Applied, Case, Engine, Simulation
from experiments.engines.kernels.external import FloorState
from experiments.timing import interval, ratios, seconds
from experiments.work_precision.step_sizes import Ranked


class RecordedSimulation:
    """A simulation that remembers where it started and what each step was given."""

    def __init__(self, simulation: Simulation) -> None:
        self.simulation = simulation
        self.start: tuple[Floats, Floats, Floats] | None = None
        self.asked: list[tuple[FloorState | None, Floats, Sequence[Applied]]] = []
        self.floor: FloorState | None = None  # of the step that comes next, where it moves or has patches

    def __getattr__(self, name: str) -> Any:
        return getattr(self.simulation, name)

    def place(self, q: Floats, v: Floats, projectile: Floats) -> None:
        self.start, self.asked, self.floor = (q.copy(), v.copy(), projectile.copy()), [], None
        self.simulation.place(q, v, projectile)

    def set_floor(self, floor: FloorState) -> None:
        self.floor = FloorState._make(values.copy() for values in floor)
        self.simulation.set_floor(floor)

    def step(self, torque: Floats, forces: Sequence[Applied]) -> None:
        self.asked.append((self.floor, torque.copy(), forces))
        self.simulation.step(torque, forces)

    def replay(self) -> float:
        """Return the time of a step [s] when the recorded steps are taken again, with nothing in between."""
        assert self.start is not None
        simulation, asked = self.simulation, self.asked
        simulation.place(*(values.copy() for values in self.start))

        def steps() -> None:
            for floor, torque, forces in asked:
                if floor is not None:
                    simulation.set_floor(floor)
                simulation.step(torque, forces)

        return seconds(steps) / len(asked) if asked else np.nan


class Recorder:
    """An engine whose last simulation is recorded; in all else it is the engine itself."""

    def __init__(self, engine: Engine) -> None:
        self.engine = engine
        self.recorded: RecordedSimulation | None = None

    def __getattr__(self, name: str) -> Any:
        return getattr(self.engine, name)

    def start(self, case: Case) -> RecordedSimulation:
        self.recorded = RecordedSimulation(self.engine.start(case))
        return self.recorded

    def replay(self) -> float:
        """Return the time of a step [s] of what is recorded; NaN where nothing is."""
        return np.nan if self.recorded is None else self.recorded.replay()


#: What is counted of ours, and of external engines.
OURS = "the compiled loop: steps, controller, records"
EXTERNAL = "the engine's step alone, replayed in a bare loop"


@dataclass(frozen=True)
class Cost:
    """The time of a step of the experiment in an engine; ratios are to the first engine's."""

    engine: str = quantity("", "name")
    verdict: str = quantity("", "how the timed run ended")
    step: float = quantity("s", "step")
    per_step: float = quantity("s", "time of a step, median; of an external engine in the replay")
    least: float = quantity("s", "time of a step, least")
    most: float = quantity("s", "time of a step, most")
    in_run: float = quantity("s", "time of a step within the run, median; of an external engine between our ledger")
    ratio: float = quantity("1", "time of a step over the first engine's, median of pairs taken in turn")
    ratio_low: float = quantity("1", "the same, lower end of its interval")
    ratio_high: float = quantity("1", "the same, upper end of its interval")
    real_time: float = quantity("1", "simulated seconds a second of the whole loop")
    counted: str = quantity("", "what the time of a step counts")
    repeats: int = quantity("1", "times that it was timed")
    samples: tuple[float, ...] = field(default=(), repr=False)  # [s] a step, of each repeat

    @property
    def between(self) -> tuple[float, float]:
        """The interval of the median [s]."""
        return interval(self.samples) if self.samples else (self.least, self.most)


@dataclass
class Taken:
    """The timings of an engine, of each repeat."""

    verdict: str  # how its run ended
    per_step: list[float] = field(default_factory=list)  # [s]; of an external engine in the replay
    in_run: list[float] = field(default_factory=list)  # [s] a step within the run
    real_time: list[float] = field(default_factory=list)  # simulated seconds a second of the whole loop


def measure(
    backends: tuple[Backend, ...],
    experiment: Experiment,
    changes: Mapping[str, Value],
    repeats: int,
    progress: Progress,
) -> tuple[list[Cost], dict[str, str]]:
    """Time the experiment in all engines, A B C A B C …, after once each to warm up and to record.

    Return the rows, and by label why those that cannot run it are left out.
    """
    taken: dict[str, Taken] = {}
    recorders: dict[str, Recorder] = {}
    refused: dict[str, str] = {}
    able = list(backends)
    for turn in range(repeats + 1):
        for k, one in enumerate(tuple(able)):
            who = one
            if turn == 0 and one.external is not None:
                recorders[one.label] = Recorder(one.external)
                who = replace(one, engine=cast("Engine", recorders[one.label]))
            try:
                made = who.run(experiment, changes)
            except InputError as error:
                able.remove(one)
                refused[one.label] = f"is not timed: {error}"
                continue
            if turn == 0:
                taken[one.label] = Taken(str(made.run.summary["verdict"]))
            else:
                mine, recorder = taken[one.label], recorders.get(one.label)
                mine.in_run.append(made.per_step)
                mine.per_step.append(made.per_step if recorder is None else recorder.replay())
                mine.real_time.append(float(made.run.summary["real_time_factor"]))
            progress((turn + (k + 1) / max(1, len(able))) / (repeats + 1))
    return costs_of(able, taken, experiment.values(changes).number("run.step")), refused


def costs_of(backends: Sequence[Backend], taken: Mapping[str, Taken], step: float) -> list[Cost]:
    rows = []
    for one in backends:
        mine = taken[one.label]
        times, ratio = mine.per_step, ratios(mine.per_step, taken[backends[0].label].per_step)
        rows.append(
            Cost(
                one.label, mine.verdict, step, median(times), min(times), max(times), median(mine.in_run),
                median(ratio), *interval(ratio), median(mine.real_time), OURS if one.external is None else EXTERNAL,
                len(times), tuple(times),
            )
        )  # fmt: skip
    return rows


def ranked_costs(costs: Sequence[Cost], refused: Mapping[str, str]) -> list[Ranked]:
    """Rank steps by cost: the cheapest is the best; a tie where one is at times the cheaper and at times the dearer."""
    notes = {cost.engine: cost.verdict for cost in costs if cost.verdict in CUT_SHORT}
    notes |= {cost.engine: "has no number" for cost in costs if cost.per_step != cost.per_step}
    able = [cost for cost in costs if cost.engine not in notes]
    best = min(able, key=lambda cost: cost.per_step, default=None)
    found = []
    for cost in costs:
        if best is None or cost.engine in notes:
            found.append(Ranked(cost.engine, cost.per_step, note=notes[cost.engine]))
            continue
        pairs = ratios(cost.samples, best.samples)
        low, high = interval(pairs)
        wins = (cost is best or low <= 1.0) and len(costs) + len(refused) > 1
        found.append(Ranked(cost.engine, cost.per_step, median(pairs), low, high, best=wins))
    return [*found, *(Ranked(name, None, note=why) for name, why in refused.items())]

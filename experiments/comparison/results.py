"""All that a comparison has found so far, and its tables."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import pandas as pd

from experiments.benchmarks.comparison.backends import Backend
from experiments.benchmarks.comparison.cost import Cost
from experiments.benchmarks.comparison.flight import FlightRow, Flown
from experiments.benchmarks.comparison.outcome import Outcome
from experiments.benchmarks.comparison.standing import Creep, Drift
from experiments.benchmarks.comparison.step_refinement import Convergence, Refinement
from experiments.benchmarks.comparison.table import quantity, table_of
from experiments.benchmarks.work_precision.step_sizes import Comparison
from experiments.catalogue.experiment import Experiment
from experiments.catalogue.parameters.parameter import Value
from experiments.catalogue.rollout import Rollout

#: The same settings in all engines as far as that goes, and those that each engine's makers chose.
EQUAL, VENDOR = "equal", "vendor"
SETTINGS = {EQUAL: "equal settings", VENDOR: "vendor defaults"}
#: Titles of the stages.
RUNS = {EQUAL: "the experiment at equal settings", VENDOR: "the experiment with vendor defaults"}
STANCES = {EQUAL: "creep in stance", VENDOR: "creep in stance, vendor defaults"}
FLIGHTS, REFINEMENT, COST, PRECISION = (
    "free flight", "the experiment at refined steps", "cost of a step", "work and precision",
)  # fmt: skip
#: How a comparison may end before its end.
INTERRUPTED = "Interrupted"


@dataclass(frozen=True)
class PrecisionRow:
    """An engine at a step size of the flight for work and precision."""

    engine: str = quantity("", "name")
    step: float = quantity("s", "step")
    error: float | None = quantity("m", "distance of the bodies' centres from the reference, root mean square")
    cost_least: float | None = quantity("s/s", "engine time of a simulated second, least")
    cost_median: float | None = quantity("s/s", "engine time of a simulated second, median")
    order: float | None = quantity("1", "order of the error of all steps of the engine")
    failure: str = quantity("", "why there is none", "")


@dataclass
class Results:
    """The results of a comparison so far; whatever is not there yet is empty."""

    experiment: Experiment  # what is compared on
    changes: Mapping[str, Value]  # of its parameters
    backends: tuple[Backend, ...]  # what is compared, in order
    missing: tuple[str, ...] = ()  # a sentence about each engine that is not installed
    #: why an engine does not take a stage, by the stage's title and label
    refused: dict[str, dict[str, str]] = field(default_factory=dict)
    #: rollouts by settings and label
    runs: dict[str, dict[str, Rollout]] = field(default_factory=lambda: {name: {} for name in SETTINGS})
    #: rows of ``runs``, by settings
    outcomes: dict[str, list[Outcome]] = field(default_factory=lambda: {name: [] for name in SETTINGS})
    #: rollouts of the standing human by settings and label
    standing: dict[tuple[str, str], Rollout] = field(default_factory=dict)
    creeps: list[Creep] = field(default_factory=list)  # rows
    drifts: dict[tuple[str, str], Drift] = field(default_factory=dict)  # by settings and label
    flights: list[FlightRow] = field(default_factory=list)  # rows
    flown: dict[tuple[str, str], Flown] = field(default_factory=dict)  # by motion and label
    refinements: list[Refinement] = field(default_factory=list)  # rows
    convergences: list[Convergence] = field(default_factory=list)  # rows
    costs: list[Cost] = field(default_factory=list)  # rows
    precision: Comparison | None = None  # work and precision in flight
    #: titles of the stages that are not complete; nobody is the best at what they measure
    undone: list[str] = field(default_factory=list)
    stopped: str = INTERRUPTED  # why they are not
    seconds: dict[str, float] = field(default_factory=dict)  # [s] that each complete stage took, by title

    @property
    def able(self) -> tuple[Backend, ...]:
        refused = self.refused.get(RUNS[EQUAL], {})
        return tuple(one for one in self.backends if one.label not in refused)

    @property
    def everyone(self) -> tuple[Backend, ...]:
        """All of them, and what they have for smooth motion."""
        return tuple({other.label: other for one in self.backends for other in (one, *one.smooth)}.values())

    @property
    def titles(self) -> dict[str, str]:
        return {one.label: one.title for one in self.everyone}

    @property
    def step(self) -> float:
        """[s] of equal settings."""
        return self.experiment.values(self.changes).number("run.step")

    @property
    def common_step(self) -> float:
        """[s] the refined step at which engines are compared: the experiment's, or the nearest of them."""
        coarser = sorted({row.step for row in self.refinements})[1:] or [self.step]
        return min(coarser, key=lambda step: abs(step - self.step))

    @property
    def root(self) -> str:
        return self.experiment.build(self.changes).model.root.name.replace("_", " ")

    def refuse(self, stage: str, one: Backend, why: str) -> None:
        self.refused.setdefault(stage, {})[one.label] = why

    def tables(self) -> dict[str, pd.DataFrame]:
        """All that have rows, by name; ``attrs["units"]`` of each has its units; see ``measures`` too."""
        rows: dict[str, list[Any]] = {
            **self.outcomes,
            "creep": self.creeps,
            "flight": self.flights,
            "step_refinement": self.refinements,
            "convergence": self.convergences,
            "cost": self.costs,
            "precision": list(self.precision_rows()),
        }
        return {name: table_of(type(found[0]), found) for name, found in rows.items() if found}

    def precision_rows(self) -> Iterator[PrecisionRow]:
        if self.precision is None:
            return
        for curve in self.precision.curves:
            for m in curve.measurements:
                least, median = (None, None) if m.cost is None else (m.cost.least, m.cost.median)
                yield PrecisionRow(curve.method, m.size.step, m.error, least, median, curve.order)
            for size, why in curve.failures:
                yield PrecisionRow(curve.method, size.step, None, None, None, curve.order, why)


#: Names of all tables.
TABLES = (
    *SETTINGS, "creep", "flight", "step_refinement", "convergence", "cost", "precision", "ranking",
)  # fmt: skip

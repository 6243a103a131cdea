"""All that a comparison has found so far, its tables, and its verdicts."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import pandas as pd

from experiments.benchmarks.comparison.backends import Contestant
from experiments.benchmarks.comparison.cost import Cost
from experiments.benchmarks.comparison.flight import FlightRow, Flown
from experiments.benchmarks.comparison.outcome import Outcome
from experiments.benchmarks.comparison.standing import EQUAL, NATURAL, Creep, Drift
from experiments.benchmarks.comparison.step_refinement import Convergence, Rung
from experiments.benchmarks.comparison.table import quantity, table_of
from experiments.benchmarks.comparison.verdict import (
    Verdict,
    agreement_verdict,
    books_verdicts,
    convergence_verdict,
    cost_verdict,
    creep_verdict,
    flight_verdicts,
    precision_verdict,
    standing_verdict,
)
from experiments.benchmarks.flight_energy import MOTIONS
from experiments.benchmarks.work_precision.step_sizes import Comparison
from experiments.catalogue.experiment import Experiment
from experiments.catalogue.parameters.parameter import Value
from experiments.engines.rollout import Rollout

#: Titles of the stages.
EQUAL_RUNS, NATURAL_RUNS = "the experiment at equal settings", "the experiment in natural settings"
STANCE, NATURAL_STANCE = "creep in stance", "creep in stance, natural settings"
FLIGHTS, HALVING, COST, PRECISION = (
    "free flight",
    "the experiment at halved steps",
    "cost of a step",
    "work and precision",
)
#: How a comparison may end before its end.
INTERRUPTED = "Interrupted"


@dataclass
class Results:
    """What has been found; whatever is not there yet is empty.

    Attributes:
        experiment: what is compared on.
        changes: of its parameters.
        contestants: who is compared, in order.
        missing: a sentence about each engine that is not installed.
        refused: by label, why an engine does not take the experiment.
        refused_natural: the same, in its natural settings.
        refused_cost: the same, of the run that is timed.
        equal: rollouts by label, at equal settings.
        natural: rollouts by label, in each engine's own settings.
        outcomes: rows of ``equal``.
        natural_outcomes: rows of ``natural``.
        standing: rollouts of the standing human by settings and label.
        creeps: rows.
        drifts: by settings and label.
        flights: rows.
        flown: by motion and label.
        rungs: rows.
        orders: rows.
        costs: rows.
        precision: work and precision in flight.
        undone: titles of the stages that are not complete; there are no verdicts on them.
        stopped: why they are not, in words.
        seconds: [s] that each complete stage took, by title.
    """

    experiment: Experiment
    changes: Mapping[str, Value]
    contestants: tuple[Contestant, ...]
    missing: tuple[str, ...] = ()
    refused: dict[str, str] = field(default_factory=dict)
    refused_natural: dict[str, str] = field(default_factory=dict)
    refused_cost: dict[str, str] = field(default_factory=dict)
    equal: dict[str, Rollout] = field(default_factory=dict)
    natural: dict[str, Rollout] = field(default_factory=dict)
    outcomes: list[Outcome] = field(default_factory=list)
    natural_outcomes: list[Outcome] = field(default_factory=list)
    standing: dict[tuple[str, str], Rollout] = field(default_factory=dict)
    creeps: list[Creep] = field(default_factory=list)
    drifts: dict[tuple[str, str], Drift] = field(default_factory=dict)
    flights: list[FlightRow] = field(default_factory=list)
    flown: dict[tuple[str, str], Flown] = field(default_factory=dict)
    rungs: list[Rung] = field(default_factory=list)
    orders: list[Convergence] = field(default_factory=list)
    costs: list[Cost] = field(default_factory=list)
    precision: Comparison | None = None
    undone: list[str] = field(default_factory=list)
    stopped: str = INTERRUPTED
    seconds: dict[str, float] = field(default_factory=dict)

    @property
    def able(self) -> tuple[Contestant, ...]:
        """Those that take the experiment."""
        return tuple(one for one in self.contestants if one.label not in self.refused)

    @property
    def everyone(self) -> tuple[Contestant, ...]:
        """All of them, and what they have for smooth motion."""
        return tuple({other.label: other for one in self.contestants for other in (one, *one.smooth)}.values())

    @property
    def titles(self) -> dict[str, str]:
        """By label."""
        return {one.label: one.title for one in self.everyone}

    @property
    def step(self) -> float:
        """[s] of equal settings."""
        return self.experiment.values(self.changes).number("run.step")

    def engine_is_ours(self, label: str) -> bool:
        """Whether a contestant is an integrator of ours."""
        return any(one.label == label and one.foreign is None for one in self.contestants)

    def creeps_of(self, settings: str) -> list[Creep]:
        """The rows of creep at equal or natural settings."""
        return [row for row in self.creeps if row.settings == settings]

    @property
    def root(self) -> str:
        """The name of the root body."""
        return self.experiment.build(self.changes).model.root.name

    def tables(self) -> dict[str, pd.DataFrame]:
        """All tables that have rows, by name; ``attrs["units"]`` of each has its units."""
        rows: tuple[list[Any], ...] = (
            *(self.outcomes, self.natural_outcomes, self.creeps, self.flights, self.rungs, self.orders, self.costs),
            *(list(self.precision_rows()), list(self.verdict_rows())),
        )
        named = zip(TABLES.items(), rows, strict=True)
        return {name: table_of(kind, found) for (name, kind), found in named if found}

    def precision_rows(self) -> "Iterator[PrecisionRow]":
        """Of all rungs of the ladder of work and precision."""
        if self.precision is None:
            return
        for curve in self.precision.curves:
            for m in curve.measurements:
                least, median = (None, None) if m.cost is None else (m.cost.least, m.cost.median)
                yield PrecisionRow(curve.method, m.rung.step, m.error, least, median, curve.order)
            for rung, why in curve.failures:
                yield PrecisionRow(curve.method, rung.step, None, None, None, curve.order, why)

    def verdicts(self) -> list[Verdict]:
        """A verdict a subject, of the stages that are complete."""
        by_stage: dict[str, Callable[[], list[Verdict]]] = {
            EQUAL_RUNS: self._of_equal,
            NATURAL_RUNS: self._of_natural,
            STANCE: partial(self._of_stance, EQUAL, "equal settings"),
            NATURAL_STANCE: partial(self._of_stance, NATURAL, "natural settings"),
            FLIGHTS: self._of_flights,
            HALVING: self._of_halving,
            COST: self._of_cost,
            PRECISION: self._of_precision,
        }
        return [verdict for title, found in by_stage.items() if title not in self.undone for verdict in found()]

    def _of_equal(self) -> list[Verdict]:
        if not self.outcomes:
            return []
        return [
            standing_verdict(self.outcomes, self.titles, "equal settings"),
            *([agreement_verdict(self.outcomes, self.titles, self.root)] if len(self.outcomes) > 1 else []),
            *books_verdicts(self.outcomes, self.titles),
        ]

    def _of_natural(self) -> list[Verdict]:
        rows = self.natural_outcomes
        return [standing_verdict(rows, self.titles, "natural settings")] if rows else []

    def _of_stance(self, settings: str, words: str) -> list[Verdict]:
        rows = self.creeps_of(settings)
        return [creep_verdict(rows, self.titles, words)] if rows else []

    def _of_flights(self) -> list[Verdict]:
        return [verdict for motion in MOTIONS for verdict in flight_verdicts(self.flights, motion, self.titles)]

    def _of_halving(self) -> list[Verdict]:
        if not self.orders:
            return []
        return [convergence_verdict(self.orders, self.rungs, self.common_step, self.titles)]

    def _of_cost(self) -> list[Verdict]:
        return [cost_verdict(self.costs, self.titles, self.refused_cost)] if self.costs or self.refused_cost else []

    def _of_precision(self) -> list[Verdict]:
        return [] if self.precision is None else [precision_verdict(self.precision, self.titles)]

    @property
    def common_step(self) -> float:
        """[s] the step of the ladder at which engines are compared: the experiment's, or the nearest of them."""
        coarser = sorted({rung.step for rung in self.rungs})[1:] or [self.step]
        return min(coarser, key=lambda step: abs(step - self.step))

    def verdict_rows(self) -> "Iterator[VerdictRow]":
        """As a table has them."""
        for verdict in self.verdicts():
            yield VerdictRow(verdict.subject, " ".join(verdict.winners), verdict.sentence)


@dataclass(frozen=True)
class PrecisionRow:
    """An engine at a step of the flight for work and precision."""

    engine: str = quantity("", "name")
    step: float = quantity("s", "step")
    error: float | None = quantity("m", "distance of the bodies' centres from the reference, root mean square")
    cost_least: float | None = quantity("s/s", "engine time of a simulated second, least")
    cost_median: float | None = quantity("s/s", "engine time of a simulated second, median")
    order: float | None = quantity("1", "order of the error of all steps of the engine")
    failure: str = quantity("", "why there is none", "")


@dataclass(frozen=True)
class VerdictRow:
    """A verdict."""

    subject: str = quantity("", "what is compared")
    winners: str = quantity("", "labels of who does best; several: a tie")
    sentence: str = quantity("", "with the numbers")


#: The tables by name, and what a row of each is.
TABLES: dict[str, type] = {
    "equal": Outcome,
    "natural": Outcome,
    "creep": Creep,
    "flight": FlightRow,
    "halving": Rung,
    "convergence": Convergence,
    "cost": Cost,
    "precision": PrecisionRow,
    "verdicts": VerdictRow,
}

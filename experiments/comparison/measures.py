"""Measures by which engines are compared: one table of names, thresholds, and reasons for exclusion."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd

from experiments.comparison import stages
from experiments.comparison.flight import MOTIONS
from experiments.comparison.outcome import FORCE, REFUSED, Creep, Outcome
from experiments.comparison.stages import EQUAL, RUNS, SETTINGS, VENDOR, Results
from experiments.comparison.step_refinement import ROUNDING, Refinement
from experiments.comparison.table import quantity, scientific, table_of
from experiments.work_precision.step_sizes import ACCURACIES, Ranked, ranked, ranked_methods

#: Thresholds below which differences are rounding only: [m], [J], relative energy, relative spin, [N·s].
CREEP, JOULES, ENERGY, SPIN, MOMENTUM = 1e-6, 1e-4, 1e-11, 1e-9, 1e-9


@dataclass(frozen=True)
class Measure:
    """A quantity by which engines are compared."""

    stage: str  # stage that measures it; omitted until the stage is complete
    name: str  # a few words; ``{}`` is filled with the results
    unit: str  # SI unit
    rank: Callable[[Results], list[Ranked]]  # returns the numbers and marks the best


@dataclass(frozen=True)
class RankingRow:
    """Rank of an engine by a measure."""

    measure: str = quantity("", "what is compared")
    unit: str = quantity("", "of the value")
    engine: str = quantity("", "name of the engine")
    value: float | None = quantity("1", "value in its unit")
    ratio: float | None = quantity("1", "ratio of the value to the best one")
    best: str = quantity("", "true if no engine is better; several: a tie")
    note: str = quantity("", "reason for exclusion; or meaning of the ratio")


def by(
    number: str, rows: Callable[[Results], Sequence[Any]], floor: float = 0.0, out: Callable[[Any], str] = lambda _: ""
) -> Callable[[Results], list[Ranked]]:
    """Return a function that ranks rows by one of their numbers; ``out`` gives the reason for an exclusion."""

    def rank(results: Results) -> list[Ranked]:
        found = rows(results)
        notes = {row.engine: note for row in found if (note := out(row))}
        return ranked({row.engine: getattr(row, number) for row in found}, floor, notes)

    return rank


def _outcomes(results: Results) -> list[Outcome]:
    return results.outcomes[EQUAL]


def _ended(row: Outcome) -> str:
    return "" if row.stood else f"{row.verdict} at {row.simulated:.3g} s"


def _crept(row: Creep) -> str:
    return "" if row.creep is not None else "cannot simulate it" if row.verdict == REFUSED else row.verdict


def _at_common_step(results: Results) -> list[Refinement]:
    step = results.common_step
    found = {row.engine: row for row in results.refinements if abs(row.step - step) <= 1e-9 * step}
    nothing = {row.engine: Refinement(row.engine, step, "", 0.0, None, None) for row in results.refinements}
    return [found.get(name, none) for name, none in nothing.items()]


def _apart(results: Results) -> list[Ranked]:
    """Return the distances from the first engine's run, which are not ranked."""
    return [Ranked(row.engine, row.apart) for row in results.outcomes[EQUAL] if row.apart is not None]


def _creep(settings: str) -> Measure:
    name = f"creep in stance under {FORCE:g} N, {SETTINGS[settings]}"
    rows = by("creep", lambda results: [row for row in results.creeps if row.settings == settings], CREEP, _crept)
    return Measure(stages.STANCES[settings], name, "m", rows)


def _flights(motion: str) -> Iterator[Measure]:
    for name, number, floor in (
        ("energy error", "energy_worst", ENERGY),
        ("energy drift", "energy_drift", ENERGY),
        ("angular momentum error", "spin_change", SPIN),
    ):
        rows = by(number, lambda results: [row for row in results.flights if row.motion == motion], floor, _out)
        yield Measure(stages.FLIGHTS, f"{name}, {motion} flight", "1", rows)


def _out(row: Any) -> str:
    return str(row.out)


def _precision(accuracy: float) -> Measure:
    def rank(results: Results) -> list[Ranked]:
        return [] if results.precision is None else ranked_methods(results.precision, accuracy)

    return Measure(stages.PRECISION, f"cost of a second of flight to {accuracy:.0e} m", "s/s", rank)


MEASURES = (
    Measure(RUNS[EQUAL], f"completes the run, {SETTINGS[EQUAL]}", "s", by("simulated", _outcomes, 0.0, _ended)),
    Measure(RUNS[EQUAL], "greatest distance of the {0.root}'s path from the first engine's", "m", _apart),
    Measure(RUNS[EQUAL], "error of the energy balance", "J", by("energy_residual", _outcomes, JOULES, _ended)),
    Measure(
        RUNS[EQUAL], "error of the momentum balance", "N·s", by("momentum_defect", _outcomes, MOMENTUM, _ended)
    ),
    Measure(
        RUNS[VENDOR], f"completes the run, {SETTINGS[VENDOR]}", "s",
        by("simulated", lambda results: results.outcomes[VENDOR], 0.0, _ended),
    ),
    *(_creep(settings) for settings in SETTINGS),
    *(measure for motion in MOTIONS for measure in _flights(motion)),
    Measure(
        stages.REFINEMENT, "distance from its own finest step, at {0.common_step:g} s", "m",
        by("peak", _at_common_step, ROUNDING, _out),
    ),
    *(_precision(accuracy) for accuracy in ACCURACIES),
)  # fmt: skip


def ranking(results: Results) -> Iterator[tuple[str, str, list[Ranked]]]:
    """Return name, unit and entries of all measures whose stages are complete."""
    for measure in MEASURES:
        if measure.stage not in results.undone and (found := measure.rank(results)):
            yield measure.name.format(results), measure.unit, found


def ranking_table(results: Results) -> pd.DataFrame:
    rows = [
        RankingRow(
            name, unit, one.label, one.value, one.ratio, "best" if one.best else "",
            "; ".join(filter(None, [one.note, "at least this ratio" if one.at_least else ""])),
        )
        for name, unit, entries in ranking(results)
        for one in entries
    ]  # fmt: skip
    return table_of(RankingRow, rows)


def ranking_lines(results: Results) -> tuple[tuple[str, ...], list[tuple[str, ...]]]:
    """Return headings and rows of a table: measures down, engines across, the best with a star."""
    titles = results.titles
    lines = []
    for name, unit, entries in ranking(results):
        cells = {one.label: _cell(one) for one in entries}
        lines.append((name, "" if unit == "1" else unit, *(cells.get(label, "") for label in titles)))
    return ("measure", "unit", *titles.values()), lines


def _cell(one: Ranked) -> str:
    if one.note and not one.best:
        return one.note
    value = one.value or 0.0
    text = scientific(value) if 0.0 < abs(value) < 1e-3 else f"{value:.3g}"
    if one.best:
        return f"★ {one.note or text}"
    if one.ratio is None:
        return text
    return f"{text} (× {'≥ ' if one.at_least else ''}{one.ratio:.3g})"

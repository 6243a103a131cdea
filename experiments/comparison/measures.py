"""Quantities by which engines are compared, with their names, thresholds, and reasons for exclusion."""

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

#: Thresholds below which errors are rounding: [m], [J], relative energy, relative angular momentum, [N·s].
CREEP, JOULES, ENERGY, SPIN, MOMENTUM = 1e-6, 1e-4, 1e-11, 1e-9, 1e-9


@dataclass(frozen=True)
class Measure:
    """A quantity by which engines are compared."""

    stage: str  # stage that measures it; the quantity is omitted until the stage is complete
    name: str  # name in a few words; ``{0.…}`` is replaced by an attribute of the results
    unit: str  # SI unit
    rank: Callable[[Results], list[Ranked]]  # function that returns the engines' numbers, with the best marked


@dataclass(frozen=True)
class RankingRow:
    """Row of the ranking table: rank of an engine by a measure."""

    measure: str = quantity("", "compared quantity")
    unit: str = quantity("", "SI unit of the value")
    engine: str = quantity("", "name of the engine")
    value: float | None = quantity("1", "value of the compared quantity, in the unit of this row")
    ratio: float | None = quantity("1", "ratio of the value to the best value")
    best: str = quantity("", "best if no engine has a better value (ties: several rows), else empty")
    note: str = quantity("", "reason to exclude the engine, or remark about the ratio")


def by(
    number: str, rows: Callable[[Results], Sequence[Any]], floor: float = 0.0, out: Callable[[Any], str] = lambda _: ""
) -> Callable[[Results], list[Ranked]]:
    """Return a function that ranks rows by their field ``number``; ``out`` returns the reason to exclude a row."""

    def rank(results: Results) -> list[Ranked]:
        table = rows(results)
        notes = {row.engine: note for row in table if (note := out(row))}
        return ranked({row.engine: getattr(row, number) for row in table}, floor, notes)

    return rank


def _outcomes(results: Results) -> list[Outcome]:
    return results.outcomes[EQUAL]


def _ended(row: Outcome) -> str:
    return "" if row.stood else f"{row.verdict} at {row.simulated:.3g} s"


def _crept(row: Creep) -> str:
    return "" if row.creep is not None else "cannot simulate it" if row.verdict == REFUSED else row.verdict


def _at_common_step(results: Results) -> list[Refinement]:
    step = results.common_step
    refined = {row.engine: row for row in results.refinements if abs(row.step - step) <= 1e-9 * step}
    nothing = {row.engine: Refinement(row.engine, step, "", 0.0, None, None) for row in results.refinements}
    return [refined.get(name, none) for name, none in nothing.items()]


def _apart(results: Results) -> list[Ranked]:
    """Return the distances [m] from the first engine's run, which are not ranked."""
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
    """Yield name, unit and entries of all measures whose stages are complete."""
    for measure in MEASURES:
        if measure.stage not in results.undone and (entries := measure.rank(results)):
            yield measure.name.format(results), measure.unit, entries


def ranking_table(results: Results) -> pd.DataFrame:
    rows = [
        RankingRow(
            name, unit, entry.label, entry.value, entry.ratio, "best" if entry.best else "",
            "; ".join(filter(None, [entry.note, "at least this ratio" if entry.at_least else ""])),
        )
        for name, unit, entries in ranking(results)
        for entry in entries
    ]  # fmt: skip
    return table_of(RankingRow, rows)


def ranking_lines(results: Results) -> tuple[tuple[str, ...], list[tuple[str, ...]]]:
    """Return headings and rows of a table: measures down, engines across, the best with a star."""
    titles = results.titles
    lines = []
    for name, unit, entries in ranking(results):
        cells = {entry.label: _cell(entry) for entry in entries}
        lines.append((name, "" if unit == "1" else unit, *(cells.get(label, "") for label in titles)))
    return ("measure", "unit", *titles.values()), lines


def _cell(entry: Ranked) -> str:
    if entry.note and not entry.best:
        return entry.note
    value = entry.value or 0.0
    text = scientific(value) if 0.0 < abs(value) < 1e-3 else f"{value:.3g}"
    if entry.best:
        return f"★ {entry.note or text}"
    if entry.ratio is None:
        return text
    return f"{text} (× {'≥ ' if entry.at_least else ''}{entry.ratio:.3g})"

"""The page of a comparison."""

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import pandas as pd

from experiments.benchmarks.comparison.backends import Contestant, case_of
from experiments.benchmarks.comparison.cost import FOREIGN, OURS, coverage
from experiments.benchmarks.comparison.flight import STEP as FLIGHT_STEP
from experiments.benchmarks.comparison.flight import FlightRow
from experiments.benchmarks.comparison.outcome import Outcome
from experiments.benchmarks.comparison.results import Results
from experiments.benchmarks.comparison.standing import FORCE, Creep, friction_held
from experiments.benchmarks.comparison.table import meanings_of, units_of
from experiments.benchmarks.comparison.verdict import scientific
from experiments.benchmarks.flight_energy import MOTIONS
from experiments.catalogue.parameters.parameter import shown as as_option
from experiments.visualization.comparison.charts import drawings
from experiments.visualization.pages import Block, Bullets, Code, Image, Page, Prose, Section, Table
from experiments.visualization.pages.blocks import shown
from experiments.visualization.report.drawing import Drawing

#: Of a flight, what stands above the table.
_SAID = ("engine", "motion", "step", "duration")
_BOOKS = (
    "All runs keep the same books. Ours are exact: the works are those that the integrator's own equations contain. Of "
    "another engine only the state after each step and the forces within it are known; works are forces times the way "
    "of their points, or times the mean of the velocities before and after where these lag by half a step. What is "
    "left over is its energy error."
)
_FLIGHT = (
    f"A human without gravity and contacts, its joints free, is stepped by {1e3 * FLIGHT_STEP:g} ms from the same "
    "state in all engines; no controller is asked. Energies and angular momenta are computed by the same functions "
    "from configurations and velocities; errors are relative. Semi-implicit Euler's velocities are those of the middle "
    "of a step: taken as they are reported, they are half a step late; in phase, each is the mean of two neighbouring "
    "steps."
)
_HALVING = (
    "Each engine is compared with itself at its own finest step. That an engine comes close to itself does not prove "
    "that it comes close to the true motion; where it does not come closer, that is said of these steps only. Impacts "
    "and contacts that touch, slip and lift limit what order any method shows here."
)
_COST = (
    f"Of ours: {OURS}. Of others: {FOREIGN}: what the run gave to each step, given again from the same start with "
    "nothing in between. In the run: the same call as the engine's adapter makes it, between Python and our books; "
    "of ours, the same loop. Ratios are of the first of the two. On one core, all engines in "
    "turn; ratios are of runs that follow one another"
)
_PRECISION = (
    "Flight is smooth, and all engines solve the same equations: the error is the distance of the bodies' centres from "
    "a reference motion (the continuous equations by a method of order 8), root mean square over bodies and times, "
    "of a second of fast flight. The cost is the engine's own, without our loop around it."
)


def compare_page(results: Results, plate: bytes | None, command: str, made: Mapping[str, Any]) -> Page:
    """The page.

    Args:
        results: complete or not.
        plate: the picture, or None.
        command: what was typed.
        made: machine and versions.
    """
    charts = drawings(results)
    sections = (
        _equal(results, charts["equal"]),
        _natural(results, charts["natural"]),
        _stance(results, charts["stance"]),
        _flight(results, charts["flight"]),
        _halving(results, charts["halving"]),
        _simple("cost", "Cost of a step", _cost_text(results), _cost_table(results), charts["cost"]),
        _simple(
            "precision", "Work and precision in flight", _PRECISION, _precision_table(results), charts["precision"]
        ),
        _differences(results),
        _again(results, command),
    )
    names = [one.title for one in results.contestants]
    return Page(
        title=f"{results.experiment.name} in {len(names)} {'engine' if len(names) == 1 else 'engines'}",
        subtitle=f"{results.experiment.title}: {', '.join(names)}",
        lead=_lead(results, plate),
        sections=tuple(section for section in sections if section is not None),
        made={name: value for name, value in made.items() if value is not None},
    )


def _lead(results: Results, plate: bytes | None) -> tuple[Block, ...]:
    blocks: list[Block] = [Prose(f"Left out: {sentence}.", "bad") for sentence in results.missing]
    for refused in (results.refused, results.refused_natural, results.refused_cost):
        blocks += [Prose(f"{results.titles[name]} {why}", "bad") for name, why in refused.items()]
    if results.undone:
        text = f"{results.stopped}: {', '.join(results.undone)} not complete; there is no verdict on that."
        blocks.append(Prose(text, "bad"))
    rows = tuple((v.subject, verdict_winner(v.winners, results), v.sentence) for v in results.verdicts())
    if rows:
        blocks.append(
            Table("Verdicts, computed from the numbers below", ("subject", "best", "in numbers"), rows, fold=False)
        )
    if plate is not None:
        blocks.append(Image(plate, "The comparison in six panels. Dashed: what an engine has for smooth motion."))
    return tuple(blocks)


def verdict_winner(winners: Sequence[str], results: Results) -> str:
    """Who wins, in words."""
    return ", ".join(results.titles[name] for name in winners)


def _charts(found: Sequence[Drawing]) -> list[Block]:
    return [drawing.chart for drawing in found]


def _simple(name: str, title: str, text: str, table: Table | None, found: Sequence[Drawing]) -> Section | None:
    if table is None:
        return None
    return Section(name, title, blocks=(Prose(text, "muted"), *_charts(found), table))


def _equal(results: Results, found: Sequence[Drawing]) -> Section | None:
    if not results.outcomes:
        return None
    blocks: list[Block] = [
        _outcome_table("The same step, period and floor, as far as that goes", results.outcomes, results)
    ]
    blocks += [Prose(_BOOKS, "muted"), *_charts(found)]
    return Section("equal", "The experiment at equal settings", results.experiment.source, blocks=tuple(blocks))


def _natural(results: Results, found: Sequence[Drawing]) -> Section | None:
    if not results.natural_outcomes:
        return None
    words = [f"{one.title}: {one.natural.words}" for one in results.able if one.natural is not None]
    blocks: list[Block] = [
        Prose("Each engine as its own users know it, with its own default step; of ours, the experiment's defaults."),
        *([Bullets("Settings", tuple(words))] if words else []),
        _outcome_table("Each in its own settings", results.natural_outcomes, results),
        *_charts(found),
    ]
    return Section("natural", "The experiment in each engine's natural settings", blocks=tuple(blocks))


def _outcome_table(caption: str, rows: Sequence[Outcome], results: Results) -> Table:
    """Quantities down, engines across; those that no engine has are left out."""
    units, meanings = units_of(Outcome), meanings_of(Outcome)
    lines = []
    for name, unit in units.items():
        if name == "engine":
            continue
        values = [getattr(row, name) for row in rows]
        if any(value not in (None, "") for value in values):
            lines.append((meanings[name], _unit(unit), *(_cell(value) if unit else shown(value) for value in values)))
    return Table(caption, ("quantity", "unit", *(results.titles[row.engine] for row in rows)), tuple(lines), fold=False)


def _unit(unit: str) -> str:
    return "" if unit == "1" else unit.replace("*", "·")


def _stance(results: Results, found: Sequence[Drawing]) -> Section | None:
    if not results.creeps:
        return None
    headings = ("engine", "settings", "step [ms]", "outcome", "over [s]", "creep [mm]", "")
    rows = tuple(
        (
            results.titles[row.engine],
            row.settings,
            f"{1e3 * row.step:.4g}",
            row.outcome,
            _span(row),
            _creep(row),
            row.failure,
        )
        for row in results.creeps
    )
    held = friction_held(results.changes)
    text = (
        f"A human stands for a while under a horizontal force of {FORCE:g} N on its trunk, {FORCE / held:.0%} of what "
        f"static friction holds ({held:.3g} N)"
    )
    text += ": feet that stick should not move at all once it leans on the force." if held > FORCE else ": it slides."
    blocks = (Prose(text, "muted"), *_charts(found), Table("Creep of the soles", headings, rows, fold=False))
    return Section("stance", "Creep in stance", blocks=blocks)


def _creep(row: Creep) -> str:
    return "" if row.creep is None else _cell(1e3 * row.creep)


def _span(row: Creep) -> str:
    return "" if row.creep is None else f"{row.measured:.3g}"


def _flight(results: Results, found: Sequence[Drawing]) -> Section | None:
    if not results.flights:
        return None
    blocks: list[Block] = [Prose(_FLIGHT, "muted"), *_charts(found)]
    for motion in MOTIONS:
        mine = [row for row in results.flights if row.motion == motion]
        if mine:
            caption = f"{motion.capitalize()} flight for {mine[0].duration:g} s"
            heads = ("quantity", *(results.titles[row.engine] for row in mine))
            blocks.append(Table(caption, heads, tuple(_flight_lines(mine)), fold=False))
    return Section("flight", "Energy and angular momentum in free flight", blocks=tuple(blocks))


def _flight_lines(rows: Sequence[FlightRow]) -> Iterator[tuple[str, ...]]:
    """Quantities down, engines across."""
    meanings = meanings_of(FlightRow)
    for name, unit in units_of(FlightRow).items():
        values = [getattr(row, name) for row in rows]
        if name not in _SAID and any(value not in (None, "") for value in values):
            yield meanings[name] + (f" [{unit}]" if unit not in ("", "1") else ""), *map(_cell, values)


def _cell(value: object) -> str:
    return scientific(value) if isinstance(value, float) and 0.0 < abs(value) < 1e-3 else shown(value)


def _small(value: float | None) -> str:
    return "" if value is None or math.isnan(value) else scientific(value)


def _halving(results: Results, found: Sequence[Drawing]) -> Section | None:
    if not results.rungs:
        return None
    orders = tuple(
        (results.titles[one.engine], "" if one.order is None else f"{one.order:.2f}", one.words)
        for one in results.orders
    )
    rows = tuple(
        (
            results.titles[rung.engine], f"{1e3 * rung.step:.4g}", rung.outcome, _small(rung.peak), _small(rung.final),
            rung.failure,
        )
        for rung in results.rungs
    )  # fmt: skip
    headings = ("engine", "step [ms]", "outcome", "greatest distance on the way [m]", "at the end [m]", "")
    blocks = (
        Prose(_HALVING, "muted"),
        *_charts(found),
        Table("Does it converge?", ("engine", "order", "what it does"), orders, fold=False),
        Table("All steps", headings, rows).folded(),
    )
    return Section("halving", "As the step is halved", blocks=blocks)


def _cost_text(results: Results) -> str:
    repeats = min((row.repeats for row in results.costs), default=0)
    if repeats < 2:
        return f"{_COST}."
    by = math.floor(1e3 * coverage(repeats)) / 10.0
    return f"{_COST}, and the interval encloses their median by {by:g} % or more ({repeats} repeats)."


def _cost_table(results: Results) -> Table | None:
    if not results.costs:
        return None
    headings = (
        "engine",
        "step [ms]",
        "time of a step [µs]",
        "least … most",
        "in the run [µs]",
        "× first",
        "its interval",
        "× real time",
        "counted",
    )
    rows = tuple(
        (
            results.titles[row.engine], f"{1e3 * row.step:.4g}", f"{1e6 * row.per_step:.3g}",
            f"{1e6 * row.least:.3g} … {1e6 * row.most:.3g}", f"{1e6 * row.in_run:.3g}", f"{row.ratio:.3g}",
            f"{row.ratio_low:.3g} … {row.ratio_high:.3g}", f"{row.real_time:.3g}", row.counted,
        )
        for row in results.costs
    )  # fmt: skip
    return Table(
        "Real time: of the whole loop, with controller, records and all Python around it", headings, rows, fold=False
    )


def _precision_table(results: Results) -> Table | None:
    table = results.tables().get("precision")
    if table is None:
        return None
    units = table.attrs["units"]
    names = {name: f"{name.replace('_', ' ')} [{unit}]" for name, unit in units.items() if unit not in ("", "1")}
    return Table.of("All steps of the ladder", pd.DataFrame(table).rename(columns=names)).folded()


def _differences(results: Results) -> Section:
    blocks: list[Block] = []
    for one in results.able:
        if one.foreign is None:
            continue
        for words, who, changes in _cases(one, results):
            found = who.differences(case_of(results.experiment.build(changes)))
            if found:
                blocks.append(Bullets(f"{one.title}, {words}: what could not be made equal", found))
    rows = []
    for one in results.everyone:
        for name, value in one.settings(results.changes).items():
            rows.append((one.title, one.version or "", "equal", name, str(value)))
        if one.natural is not None:
            natural = Contestant(one.label, one.title, one.natural.engine).settings({})
            rows += [(one.title, one.version or "", "natural", name, str(value)) for name, value in natural.items()]
    headings = ("engine", "version", "settings", "setting", "value")
    blocks.append(Table("All settings and versions", headings, tuple(rows)).folded())
    return Section("differences", "What is not equal", blocks=tuple(blocks))


def _cases(one: Contestant, results: Results) -> list[tuple[str, Any, dict[str, Any]]]:
    from experiments.benchmarks.comparison.stages import natural_changes

    found = [("equal settings", one.foreign, dict(results.changes))]
    if one.natural is not None and one.label in results.natural:
        found.append(("natural settings", one.natural.engine, natural_changes(one, results)))
    return found


def _again(results: Results, command: str) -> Section:
    changes = tuple((name, as_option(value)) for name, value in results.changes.items())
    blocks: list[Block] = [Code(command)]
    if changes:
        blocks.append(Table("Parameters that differ from the defaults", ("parameter", "value"), changes, fold=False))
    if results.equal:
        folders = " ".join(f"runs/{name}" for name in results.equal)
        text = "The runs are kept; in the folder of this page, to see one, several at once, or a report of one:"
        name = next(iter(results.equal))
        blocks += [Prose(text), Code(f"biped view {folders}\nbiped report runs/{name}")]
    times = tuple((title, f"{taken:.1f}") for title, taken in results.seconds.items())
    if times:
        blocks.append(Table("How long it took", ("stage", "time [s]"), times, fold=False))
    return Section("again", "To reproduce it", blocks=tuple(blocks))

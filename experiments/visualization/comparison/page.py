"""Page of a comparison, and its interactive figures."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from experiments.catalogue.parameters.parameter import shown as as_option
from experiments.cli.quantities import unit_text
from experiments.comparison.backends import case_of
from experiments.comparison.flight import MOTIONS
from experiments.comparison.flight import STEP as FLIGHT_STEP
from experiments.comparison.measures import ranking_lines
from experiments.comparison.outcome import FORCE, friction_held
from experiments.comparison.stages import EQUAL, SETTINGS, VENDOR, Results, case_in
from experiments.comparison.table import meanings_of, scientific, units_of
from experiments.visualization.comparison import panels
from experiments.visualization.comparison.panels import Quantity, colors_of
from experiments.visualization.figures.quantities import curve, over_time
from experiments.visualization.figures.subject import subject_of
from experiments.visualization.pages import Block, Bullets, Chart, Code, Image, Page, Prose, Section, Table
from experiments.visualization.pages.blocks import shown
from experiments.visualization.panels.panel import Panel
from experiments.visualization.report.curves import time_figure

#: Factor and unit of numbers that the page shows in another unit than the tables.
_SCALES = {"step": (1e3, "ms"), "creep": (1e3, "mm")}
_LEDGER = (
    "The energy balance has the same terms for every engine. For our integrators it is exact: a work is a term of the "
    "integrator's equations. An external engine reports only the state after a step and the forces during it; work is "
    "then force times displacement of its point, or, if velocities lag by half a step, times the mean of the "
    "velocities before and after the step. The residual is the engine's energy error."
)
_FLIGHT = (
    "A human without gravity and contacts, with free joints, is simulated with steps of "
    f"{1e3 * FLIGHT_STEP:g} ms from the same state in all engines, without a controller. Energies and angular momenta "
    "are computed by the same functions from configurations and velocities; errors are relative. Semi-implicit Euler's "
    "velocities belong to the middle of a step, not to its end: each is replaced by the mean of two adjacent steps."
)
_REFINEMENT = (
    "Each engine is compared with its own motion at its finest step. Convergence to this motion does not prove "
    "convergence to the true motion, and a lack of convergence refers to these steps only. Impacts, and contacts that "
    "touch, slip and lift, limit the order of all methods here."
)
_PRECISION = (
    "Flight is smooth, and all engines solve the same equations: the error is the distance of the bodies' centres from "
    "a reference motion (the continuous equations by a method of order 8), root mean square over bodies and times, "
    "of one second of fast flight. The cost is the computation time of the engine, without our control loop."
)
_VENDOR = "Each engine has its own default step and settings; our integrators have the experiment's defaults."


#: Quantities of a rollout that depend on the engine rather than on the controller.
_OF_ENGINES = (
    "step", "period", "simulated", "penetration", "energy_residual", "momentum_defect", "angular_momentum_defect",
    "apart", "steps", "per_step", "foot_creep",
)  # fmt: skip


def compare_page(results: Results, sheet: bytes | None, command: str, made: Mapping[str, Any]) -> Page:
    """Return the page of the results so far; ``sheet``: figure sheet as PNG; ``made``: machine and versions by name."""
    charts = charts_of(results)
    sections = [
        Section(name, title, subtitle, blocks=(*before, *charts[name], *after))
        for name, title, subtitle, before, after in _parts(results)
        if after
    ]
    names = [backend.title for backend in results.backends]
    return Page(
        title=f"{results.experiment.name} in {len(names)} {'engine' if len(names) == 1 else 'engines'}",
        subtitle=f"{results.experiment.title}: {', '.join(names)}",
        lead=_lead(results, sheet),
        sections=(*sections, _differences(results), _rerun(results, command)),
        made={name: value for name, value in made.items() if value is not None},
    )


#: Name, title and subtitle of a section, blocks before its charts, and blocks after them (none: not measured).
Part = tuple[str, str, str, Sequence[Block], Sequence[Block]]


def _parts(results: Results) -> list[Part]:
    equal = _across("Equal step, period and floor, as far as possible", results, results.outcomes[EQUAL])
    vendor = _across("Each engine with its default settings", results, results.outcomes[VENDOR])
    texts = tuple(f"{b.title}: {b.vendor_defaults.text}" for b in results.usable if b.vendor_defaults is not None)
    source = results.experiment.source
    return [
        (EQUAL, "The experiment at equal settings", source, (Prose(_LEDGER, "muted"),), equal),
        (VENDOR, "The experiment with each engine's vendor defaults", "",
         (Prose(_VENDOR), *([Bullets("Settings", texts)] if texts else [])), vendor),
        ("stance", "Creep in stance", "", _stance_text(results), _down("Creep of the soles", results, results.creeps)),
        ("flight", "Energy and angular momentum in free flight", "", (Prose(_FLIGHT, "muted"),), _flights(results)),
        ("step-refinement", "Step refinement", "", (Prose(_REFINEMENT, "muted"),),
         _down("All steps", results, results.refinements)),
        ("precision", "Work and precision in flight", "", (Prose(_PRECISION, "muted"),),
         _down("All step sizes", results, list(results.precision_rows()), fold=True)),
    ]  # fmt: skip


def _lead(results: Results, sheet: bytes | None) -> tuple[Block, ...]:
    blocks: list[Block] = [Prose(f"Left out: {sentence}.", "bad") for sentence in results.missing]
    for refused in results.refused.values():
        blocks += [Prose(f"{results.titles[name]} {why}", "bad") for name, why in refused.items()]
    if results.undone:
        text = f"{results.stopped}: {', '.join(results.undone)} not complete; these have no ranking yet."
        blocks.append(Prose(text, "bad"))
    blocks += _across(
        f"Outcome of {results.experiment.who} in each engine", results, results.outcomes[EQUAL], _OF_ENGINES
    )
    headings, lines = ranking_lines(results)
    if lines:
        caption = "Best engines for each quantity (★; several: a tie); in brackets: value / best value"
        blocks.append(Table(caption, headings, tuple(lines), fold=False))
    if sheet is not None:
        blocks.append(Image(sheet, "The comparison in five panels. Dashed: an engine's settings for smooth motion."))
    return tuple(blocks)


def _cell(value: object) -> str:
    return scientific(value) if isinstance(value, float) and 0.0 < abs(value) < 1e-3 else shown(value)


def _across(caption: str, results: Results, rows: Sequence[Any], omitted: Sequence[str] = ()) -> tuple[Table, ...]:
    """Return a table with a row for each quantity that any engine has, and a column for each engine."""
    if not rows:
        return ()
    kind, lines = type(rows[0]), []
    meanings = meanings_of(kind)
    for name, unit in units_of(kind).items():
        values = [getattr(row, name) for row in rows]
        if name not in ("engine", *omitted) and any(value not in (None, "") for value in values):
            lines.append((meanings[name], unit_text(unit), *map(_cell, values)))
    headings = ("quantity", "unit", *(results.titles[row.engine] for row in rows))
    return (Table(caption, headings, tuple(lines), fold=False),)


def _down(caption: str, results: Results, rows: Sequence[Any], *, fold: bool = False) -> tuple[Table, ...]:
    """Return a table with a row for each engine, and a column for each quantity that any engine has."""
    if not rows:
        return ()
    headings, columns = [], []
    for name, unit in units_of(type(rows[0])).items():
        values = [getattr(row, name) for row in rows]
        if all(value in (None, "") for value in values):
            continue
        factor, scaled = _SCALES.get(name, (1.0, unit_text(unit)))
        headings.append(name.replace("_", " ") + (f" [{scaled}]" if scaled else ""))
        if name == "engine":
            values = [results.titles[value] for value in values]
        columns.append([_cell(factor * value if isinstance(value, float) else value) for value in values])
    return (Table(caption, tuple(headings), tuple(zip(*columns, strict=True)), fold=fold),)


def _stance_text(results: Results) -> tuple[Prose, ...]:
    if not results.creeps:
        return ()
    held = friction_held(results.changes)
    text = (
        f"A human stands for a while under a horizontal force of {FORCE:g} N on its trunk, {FORCE / held:.0%} of what "
        f"static friction holds ({held:.3g} N)"
    )
    text += ": sticking feet should not move once it leans on the force." if held > FORCE else ": the human slides."
    return (Prose(text, "muted"),)


def _flights(results: Results) -> tuple[Table, ...]:
    tables: tuple[Table, ...] = ()
    for motion in MOTIONS:
        rows = [row for row in results.flights if row.motion == motion]
        if rows:
            caption = f"{motion.capitalize()} flight for {rows[0].duration:g} s"
            tables += _across(caption, results, rows, ("motion", "step", "duration"))
    return tables


def _differences(results: Results) -> Section:
    blocks: list[Block] = []
    rows = []
    for backend in results.everyone:
        for settings, text in SETTINGS.items():
            who, changes = case_in(settings, backend, results)
            if settings == VENDOR and backend.vendor_defaults is None:
                continue
            given = results.changes if settings == EQUAL else {}
            rows += [(backend.title, backend.version or "", text, *map(str, s)) for s in who.settings(given).items()]
            if who.external is not None and backend.label in results.runs[settings]:
                remaining = who.external.differences(case_of(results.experiment.build(changes)))
                if remaining:
                    blocks.append(Bullets(f"{backend.title}, {text}: remaining differences", remaining))
    headings = ("engine", "version", "settings", "setting", "value")
    blocks.append(Table("All settings and versions", headings, tuple(rows), fold=True))
    return Section("differences", "Remaining differences", blocks=tuple(blocks))


def _rerun(results: Results, command: str) -> Section:
    changes = tuple((name, as_option(value)) for name, value in results.changes.items())
    blocks: list[Block] = [Code(command)]
    if changes:
        blocks.append(Table("Parameters that differ from the defaults", ("parameter", "value"), changes, fold=False))
    if runs := results.runs[EQUAL]:
        folders = " ".join(f"runs/{name}" for name in runs)
        text = "The runs are saved. In the folder of this page, these commands show all runs, or report on one of them:"
        blocks += [Prose(text), Code(f"biped view {folders}\nbiped report runs/{next(iter(runs))}")]
    return Section("rerun", "To reproduce this page", blocks=tuple(blocks))


_CREEP_CAPTION = "Sideways displacement of the farthest point of the soles under a constant force."
_FLIGHT_CAPTION = (
    "Largest relative energy error up to each time. Solid: equal settings; dashed: settings for smooth motion."
)
_REFINEMENT_CAPTION = (
    "Distance of the root from the engine's solution at its finest step; runs that ended in a fall are left out."
)
_PRECISION_CAPTION = (
    "Error after one second of free flight against cost, and against the step; dashed: settings for smooth motion."
)


def charts_of(results: Results) -> dict[str, list[Chart]]:
    """Return all figures that can be drawn, by section of the page."""
    return {
        EQUAL: list(_runs(results, EQUAL)),
        VENDOR: list(_runs(results, VENDOR)),
        "stance": _grid("creep", _CREEP_CAPTION, panels.creep(results)),
        "flight": _grid("flight-energy", _FLIGHT_CAPTION, panels.flights(results)),
        "step-refinement": _grid("step-refinement", _REFINEMENT_CAPTION, panels.refinements(results)),
        "precision": _grid("precision", _PRECISION_CAPTION, panels.precision(results)),
    }


def _runs(results: Results, settings: str) -> Iterator[Chart]:
    runs = panels.shown_runs(results, settings)
    if not runs:
        return
    time, titles, colors = panels.common_times(runs), results.titles, colors_of(results.backends)
    first = next(iter(runs.values()))
    marks = subject_of(first).marks

    def time_panel(quantity: Quantity) -> Panel:
        title, unit, values = quantity
        shown = {label: panels.resampled(time, run, values(run)) for label, run in runs.items()}
        return over_time(title, unit, tuple(curve(titles[label], y, colors[label]) for label, y in shown.items()))

    for name, text, quantities in (
        ("pose", "Position of the root's centre of mass, and its angle from the set point.", panels.pose(first)),
        ("torques", "Joint torques that the controller requests.", panels.torques(first)),
        ("forces", "Total ground reaction force.", panels.forces(first)),
    ):
        if quantities:
            figure = time_figure(time, [time_panel(quantity) for quantity in quantities], marks)
            yield Chart(figure, text, f"{settings}-{name}")


def _grid(name: str, text: str, shown: Sequence[Panel]) -> list[Chart]:
    """Return a chart with two panels in a row; a click on a legend entry hides its line in all panels."""
    return [Chart(shown, text, name, columns=2)] if shown else []

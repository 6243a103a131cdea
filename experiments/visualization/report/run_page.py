"""Page of a run: outcome, parameters, figures, events, metrics, and the commands that reproduce it."""

import shlex
from collections.abc import Iterator, Mapping
from typing import Any

from biped.metrics import Value as MetricValue
from biped.metrics import measure_run, metric_named, steps
from biped.runs.run import Run
from experiments.catalogue.parameters.parameter import shown as as_option
from experiments.cli.machine import stamp
from experiments.cli.quantities import unit_text
from experiments.visualization.look.words import disturbance_text
from experiments.visualization.pages import Block, Code, Page, Prose, Section, Table
from experiments.visualization.pages.blocks import shown
from experiments.visualization.report import run_facts as facts
from experiments.visualization.report.record_comparison import RecordComparison
from experiments.visualization.report.run_figures import run_charts
from experiments.visualization.report.run_source import RunSource, saved_option

#: Sections of figures: name, title, figures.
_SECTIONS = (
    ("quantities", "Quantities", ("overview",)),
    ("balance", "Balance", ("body-position", "body-orientation", "error", "position-error", "orientation-error",
                            "top-view", "support")),
    ("floor", "Floor and feet", ("floor-forces", "contact-modes", "platform")),
    ("joints", "Joints", ("joint-torques", "joint-angles", "desired-force", "desired-torque")),
    ("ledger", "Checks", ("ledger", "momentum-defect", "momentum", "newton-iterations")),
)  # fmt: skip

_TRUST = (
    "A momentum defect above 1e-8 N·s indicates an error in the program. The energy residual falls to a quarter if the "
    "step is halved; compare it with the energies that matter to you."
)


def run_page(source: RunSource, command: str, comparison: RecordComparison | None = None) -> Page:
    """Return the page of a run; ``command``: command line that made it; ``comparison``: comparison with a record."""
    run, made_by = source.run, source.experiment
    measured: dict[str, MetricValue] = {}
    if run.world is None and run.state.model.is_floating and len(run.frame) >= 2:  # other runs have no metrics
        measured = {name: value for name, value in measure_run(run).items() if value is not None}
    return Page(
        title=f"Run of {run.name}" if made_by is None else f"{made_by.name}: {disturbance_text(run) or made_by.title}",
        subtitle="" if made_by is None else made_by.source,
        lead=_lead(source),
        sections=(
            _what(source),
            *(() if comparison is None else (comparison.section(),)),
            *_figures(run),
            _events(run),
            _numbers(run, measured),
            _rerun(source, command),
        ),
        made={name: value for name, value in stamp().items() if value is not None},
    )


def _lead(source: RunSource) -> tuple[Block, ...]:
    blocks: list[Block] = [facts.headline(source.run)]
    if len(source.run.frame) < 2:
        blocks.append(Prose("Fewer than two rows are recorded: there is nothing to draw.", "bad"))
    return (*blocks, facts.facts_table([*facts.effects(source.run), *facts.more_facts(source.run)]))


def _what(source: RunSource) -> Section:
    blocks: list[Block] = []
    if source.experiment is None:
        blocks.append(Prose(f"The experiment of this run is not known: {source.unknown}."))
        rows = tuple((name, saved_option(value)) for name, value in source.values.items())
        if rows:
            blocks.append(Table("Parameters as saved", ("parameter", "value"), rows, fold=True))
        return Section("what", "Experiment", blocks=tuple(blocks))
    table = {parameter.name: parameter for parameter in source.experiment.parameters}
    if source.changes:
        changed = tuple(
            (name, as_option(value), as_option(table[name].default), table[name].unit, table[name].meaning)
            for name, value in source.changes.items()
        )
        headings = ("parameter", "value", "default", "unit", "meaning")
        blocks.append(Table("Parameters that differ from the defaults", headings, changed, fold=False))
    else:
        blocks.append(Prose("All parameters have their defaults."))
    every = tuple(
        (p.name, as_option(source.values.get(p.name, p.default)), p.unit, p.meaning, p.source)
        for p in source.experiment.parameters
    )
    blocks.append(
        Table("All parameters", ("parameter", "value", "unit", "meaning", "source of the default"), every, fold=True)
    )
    return Section("what", "Experiment", source.experiment.title, blocks=tuple(blocks))


def _figures(run: Run) -> Iterator[Section]:
    by_name = {chart.name: chart for chart in run_charts(run)}
    for name, title, names in _SECTIONS:
        charts = [by_name[figure] for figure in names if figure in by_name]
        if charts:
            before = [Prose(_TRUST, "muted")] if name == "ledger" else []
            yield Section(name, title, blocks=(*before, *charts))


def _events(run: Run) -> Section:
    """Return contacts, impacts and pushes with their impulses, and steps; touches and lifts are folded."""
    contacts = run.events[run.events["kind"].isin(["touch", "lift"])]
    blocks: list[Block] = [table for table in facts.event_tables(run) if table.rows]
    if run.metrics.get("footsteps"):
        blocks.append(_steps(run))
    if len(contacts):
        rows = tuple((f"{t:.4f}", str(k), str(s)) for t, k, s in contacts[["time", "kind", "subject"]].to_numpy())
        blocks.append(Table("Touch and lift of contact points", ("time [s]", "event", "point"), rows, fold=True))
    counts = [(len(run.summary["events"][plural]), singular, plural) for singular, plural in facts.KINDS]
    counted = ", ".join(f"{count} {singular if count == 1 else plural}" for count, singular, plural in counts if count)
    return Section("events", "Events", verdict=counted, blocks=tuple(blocks or [Prose("No impacts and no pushes.")]))


def _steps(run: Run) -> Table:
    table = steps(run)
    units = table.attrs["units"]
    names = {name: f"{name.replace('_', ' ')} [{unit_text(unit)}]" for name, unit in units.items() if unit}
    return Table.of(
        "Footsteps; onset: time after the disturbance; ap: forward; ml: to the right", table.rename(columns=names)
    )


_HEADINGS = ("name", "value", "unit", "meaning", "source")


def _numbers(run: Run, measured: Mapping[str, MetricValue]) -> Section:
    """Return a section: metrics of the whole run, metrics of each joint and foot, and the checks."""
    of_run = tuple(_metric_row(name, value) for name, value in measured.items() if not metric_named(name).per)
    each = tuple(_metric_row(name, value) for name, value in measured.items() if metric_named(name).per)
    blocks: list[Block] = []
    if of_run:
        blocks.append(Table("Metrics", _HEADINGS, of_run, fold=False))
    if each:
        blocks.append(Table("Metrics of each joint and foot", _HEADINGS, each, fold=True))
    if run.trust:
        blocks.append(facts.checks_table(run))
    return Section("numbers", "Numbers", blocks=tuple(blocks))


def _metric_row(name: str, value: MetricValue) -> tuple[str, ...]:
    metric = metric_named(name)
    return name, shown(value), unit_text(metric.unit), metric.definition, metric.source


def command_of(source: RunSource) -> str | None:
    """Return the command that reproduces a run; None if the run's experiment is unknown."""
    if source.experiment is None:
        return None
    sets = [f"--set {shlex.quote(f'{name}={exact(value)}')}" for name, value in source.changes.items()]
    experiment = source.experiment
    driven = [f"--controller {shlex.quote(str(experiment.controller))}"] if experiment.is_driven_by_another else []
    robot = [f"--robot {shlex.quote(experiment.robot)}"] if experiment.robot else []
    return " \\\n  ".join([f"biped run {shlex.quote(experiment.address)}", *robot, *driven, *sets])


def exact(value: Any) -> str:
    """Return a value for ``--set``, with all digits."""
    if isinstance(value, tuple):
        return ",".join(exact(part) for part in value)
    return repr(value) if isinstance(value, float) else str(value)


def _rerun(source: RunSource, command: str) -> Section:
    blocks: list[Block] = []
    rerun = command_of(source)
    if rerun is not None and source.experiment is not None:
        experiment = source.experiment
        names = [repr(experiment.address)]
        names += [f"controller={experiment.controller!r}"] if experiment.is_driven_by_another else []
        names += [f"robot={experiment.robot!r}"] if experiment.robot else []
        python = (
            "from experiments.catalogue.registry import experiment_named\n\n"
            f"run = experiment_named({', '.join(names)}).run({dict(source.changes)!r})"
        )
        blocks += [Prose("To repeat the run, on the command line or in Python:"), Code(rerun), Code(python)]
    blocks += [Prose("To make this page again:"), Code(command)]
    versions = tuple((name, text) for name, text in source.versions.items())
    blocks.append(Table("Software", ("", "version"), versions, fold=False))
    return Section("rerun", "To reproduce the run", blocks=tuple(blocks))

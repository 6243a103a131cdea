"""The page of a run: what came of it, what was run, its figures, its events, and how to make it again."""

import math
import shlex
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from biped.metrics import Value as MetricValue
from biped.metrics import measure_run, metric_named, steps
from biped.runs import verdict as verdicts
from biped.runs.run import Run
from experiments.catalogue.parameters.parameter import shown as as_option
from experiments.cli.machine import stamp
from experiments.cli.quantities import length, scaled, unit_text
from experiments.cli.run_report import what_was_done
from experiments.visualization.figures.labels import at_the_start, who
from experiments.visualization.pages import Block, Code, Page, Prose, Section, Table
from experiments.visualization.pages.blocks import Mood, shown
from experiments.visualization.report.beside_record import BesideRecord
from experiments.visualization.report.run_figures import run_charts
from experiments.visualization.report.run_source import RunSource, saved_option

_SENTENCES: dict[str, tuple[str, Mood]] = {
    verdicts.RECOVERED: ("{who} recovered", "good"),
    verdicts.STEPPED: ("{who} recovered", "good"),
    verdicts.COMPLETED: ("The run got to its end; there is nothing to judge", "good"),
    verdicts.FELL: ("{who} fell", "bad"),
    verdicts.LOST_CONTROL: ("{who} lost control", "bad"),
    verdicts.UNDECIDED: ("Undecided", ""),
    verdicts.UNRELIABLE: ("The run is unreliable", "bad"),
    verdicts.INTERRUPTED: ("The run was interrupted", "bad"),
    verdicts.FAILED: ("A step of the run had no solution", "bad"),
}

#: The sections of figures: name, title, and the figures that go into it.
_SECTIONS = (
    ("quantities", "Quantities", ("overview",)),
    ("balance", "Balance", ("body-position", "body-orientation", "error", "position-error", "orientation-error",
                            "top-view", "support")),
    ("floor", "Floor and feet", ("floor-forces", "contact-states", "platform")),
    ("joints", "Joints", ("joint-torques", "joint-angles", "desired-force", "desired-torque")),
    ("ledger", "Checks", ("ledger", "momentum-defect", "momentum", "newton-iterations")),
)  # fmt: skip

_TRUST = (
    "A momentum defect above 1e-8 N·s is a defect of the program. The energy left over falls by four where the step is "
    "halved; compare it with the energies that matter to you."
)


def run_page(source: RunSource, command: str, beside: BesideRecord | None = None) -> Page:
    """The page of a saved run; ``command`` is what made the page, ``beside`` what was measured."""
    run, made_by = source.run, source.experiment
    measured: dict[str, MetricValue] = {}
    if run.world is None and run.state.model.is_floating and len(run.frame) >= 2:  # there are no metrics of others
        measured = {name: value for name, value in measure_run(run).items() if value is not None}
    return Page(
        title=f"Run of {run.name}" if made_by is None else f"{made_by.name}: {what_was_done(run) or made_by.title}",
        subtitle="" if made_by is None else made_by.source,
        lead=_lead(source, measured),
        sections=(
            _what(source),
            *(() if beside is None else (beside.section(),)),
            *_figures(run),
            _events(run),
            _numbers(run, measured),
            _rerun(source, command),
        ),
        made={name: value for name, value in stamp().items() if value is not None},
    )


def verdict(run: Run) -> tuple[str, Mood]:
    """The outcome of a run in a sentence, and how it is coloured."""
    word, reason = run.summary["verdict"], run.summary["reason"]
    text, mood = _SENTENCES[word]
    joint = " " if word == verdicts.RECOVERED else ", " if word == verdicts.STEPPED else ": "
    name = who(run.state.model) if run.world is None else run.name
    return f"{at_the_start(text.format(who=name))}{joint if reason else ''}{reason}.", mood


def _lead(source: RunSource, measured: Mapping[str, MetricValue]) -> tuple[Block, ...]:
    text, mood = verdict(source.run)
    blocks: list[Block] = [Prose(text, mood)]
    if len(source.run.frame) < 2:
        blocks.append(Prose("Fewer than two rows are recorded: there is nothing to draw.", "bad"))
    blocks.append(Table("", ("quantity", "value"), tuple(_headline(source.run, measured)), fold=False))
    return tuple(blocks)


def _headline(run: Run, measured: Mapping[str, MetricValue]) -> Iterable[tuple[str, str]]:
    summary, metrics = run.summary, run.metrics
    yield "simulated", f"{summary['simulated_time']:.4g} s in {summary['steps']} steps"
    if None not in (metrics.get("position_error"), metrics.get("orientation_error")):
        settling = summary["settling_time"]
        yield "settling time, to 2 cm and 2°", "not settled" if settling is None else f"{settling:.3f} s"
        angle = math.degrees(summary["orientation_error"])
        yield "error over the last tenth", f"{length(summary['position_error'])}, {angle:.2g}°"
    torques = {} if metrics.get("peak_torque") is None else run.by_joint("peak_torque")
    if torques and None not in torques.values():
        joint, torque = max(torques.items(), key=lambda item: item[1])
        yield "peak torque", f"{torque:.1f} N·m, {joint.replace('_', ' ')}"
    for one, kind in reversed(_KINDS):
        events = summary["events"][kind]
        if events:
            total = [sum(event["impulse"][k] for event in events) for k in range(3)]
            what = f"the {one}" if len(events) == 1 else f"all {len(events)} {kind} together"
            yield f"impulse of {what}", f"{math.hypot(*total):.4g} N·s"
    margin = measured.get("margin_of_stability_min")
    if isinstance(margin, float):
        yield "least margin of stability", length(margin) if margin >= 0.0 else f"{length(-margin)} outside"
    if metrics.get("foot_slip") is not None:
        yield "longest slide of a contact point", length(summary["foot_slip"])
    if metrics.get("ledger_residual") is not None:
        yield "energy that no work accounts for", f"{scaled(summary['ledger_residual'], 'J')} at most"
    if metrics.get("momentum_defect") is not None:
        yield "momentum that no impulse accounts for", f"{summary['momentum_defect']:.1e} N·s"


def _what(source: RunSource) -> Section:
    blocks: list[Block] = []
    if source.experiment is None:
        blocks.append(
            Prose(
                "The run was not saved by an experiment of this version, or by code that has not been used here, and "
                "was not run for this page; what it was made from is not known."
            )
        )
        rows = tuple((name, saved_option(value)) for name, value in source.values.items())
        if rows:
            blocks.append(Table("Parameters as saved", ("parameter", "value"), rows, fold=True))
        return Section("what", "What was run", blocks=tuple(blocks))
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
        Table("All parameters", ("parameter", "value", "unit", "meaning", "source of the default"), every).folded()
    )
    return Section("what", "What was run", source.experiment.title, blocks=tuple(blocks))


def _figures(run: Run) -> Iterator[Section]:
    found = {chart.name: chart for chart in run_charts(run)}
    for name, title, names in _SECTIONS:
        charts = [found[one] for one in names if one in found]
        if charts:
            before = [Prose(_TRUST, "muted")] if name == "ledger" else []
            yield Section(name, title, blocks=(*before, *charts))


_KINDS = (("push", "pushes"), ("impact", "impacts"))
_EVENT_HEADINGS = (
    "time [s]", "kind", "subject", "impulse x [N·s]", "y [N·s]", "z [N·s]", "size [N·s]", "place [m]",
    "speed before [m/s]",
)  # fmt: skip


def _events(run: Run) -> Section:
    """Impacts and pushes with their impulses; steps; touches and lifts folded."""
    forceful = run.events[run.events["kind"].isin(["impact", "push"])]
    others = run.events[run.events["kind"].isin(["touch", "lift"])]
    blocks: list[Block] = []
    if len(forceful):
        rows = tuple(_event_row(event) for event in forceful.to_dict(orient="records"))
        blocks.append(Table("Impacts and pushes, with the impulse on the subject", _EVENT_HEADINGS, rows))
    else:
        blocks.append(Prose("No impacts and no pushes."))
    if run.metrics.get("footsteps"):
        blocks.append(_steps(run))
    if len(others):
        rows = tuple((f"{t:.4f}", str(k), str(s)) for t, k, s in others[["time", "kind", "subject"]].to_numpy())
        blocks.append(Table("Contact points that touch or lift", ("time [s]", "kind", "point"), rows).folded())
    counts = [(len(run.summary["events"][many]), one, many) for one, many in _KINDS]
    counted = ", ".join(f"{count} {one if count == 1 else many}" for count, one, many in counts if count)
    return Section("events", "Events", verdict=counted, blocks=tuple(blocks))


def _steps(run: Run) -> Table:
    table = steps(run)
    units = table.attrs["units"]
    names = {name: f"{name.replace('_', ' ')} [{unit_text(unit)}]" for name, unit in units.items() if unit}
    return Table.of("Steps: onset after the disturbance; forwards (ap), to the right (ml)", table.rename(columns=names))


def _event_row(event: dict[Any, Any]) -> tuple[str, ...]:
    impulse, place, velocity = (
        [float(event[f"{name}{axis}"]) for axis in "xyz"] for name in ("impulse_", "", "velocity_")
    )
    where = "" if math.isnan(place[0]) else ",\N{NO-BREAK SPACE}".join(f"{part:.3f}" for part in place)
    numbers = (*(f"{part:.6g}" for part in impulse), f"{math.hypot(*impulse):.6g}", where, shown(math.hypot(*velocity)))
    return (f"{event['time']:.4f}", event["kind"], event["subject"], *numbers)


#: Of the numbers of a summary that are no metrics: unit, and what it is.
_MEANINGS = {
    "simulated_time": ("s", "time that passed in the run"),
    "wall_time": ("s", "time that it took to compute"),
    "real_time_factor": ("", "the one by the other"),
}
_HEADINGS = ("name", "value", "unit", "meaning", "source")
_CHECK_HEADINGS = ("check", "passed", "value", "limit", "unit", "finding")


def _numbers(run: Run, measured: Mapping[str, MetricValue]) -> Section:
    """The metrics: first those of the whole run, then those of each joint and foot."""
    whole = tuple(_metric_row(name, value) for name, value in measured.items() if not metric_named(name).per)
    each = tuple(_metric_row(name, value) for name, value in measured.items() if metric_named(name).per)
    blocks: list[Block] = []
    if whole:
        blocks.append(Table("Metrics", _HEADINGS, whole, fold=False))
    if each:
        blocks.append(Table("Metrics of each joint and foot", _HEADINGS, each).folded())
    others = tuple(
        (name, shown(run.summary[name]), unit, text)
        for name, (unit, text) in _MEANINGS.items()
        if run.summary[name] is not None
    )
    blocks.append(Table("Computation", _HEADINGS[:-1], others, fold=False))
    checks = tuple((c.name, c.passed, shown(c.value), shown(c.limit), unit_text(c.unit), c.text) for c in run.trust)
    if checks:
        blocks.append(Table("Checks of the run by itself", _CHECK_HEADINGS, checks, fold=False))
    return Section("numbers", "Numbers", blocks=tuple(blocks))


def _metric_row(name: str, value: MetricValue) -> tuple[str, ...]:
    metric = metric_named(name)
    return name, shown(value), unit_text(metric.unit), metric.definition, metric.source


def command_of(source: RunSource) -> str | None:
    """The command that runs it again; None where it is of no experiment."""
    if source.experiment is None:
        return None
    sets = [f"--set {shlex.quote(f'{name}={exact(value)}')}" for name, value in source.changes.items()]
    experiment = source.experiment
    driven = [f"--controller {shlex.quote(str(experiment.controller))}"] if experiment.is_driven_by_another else []
    robot = [f"--robot {shlex.quote(experiment.robot)}"] if experiment.robot else []
    return " \\\n  ".join([f"biped run {shlex.quote(experiment.address)}", *robot, *driven, *sets])


def exact(value: Any) -> str:
    """A value as ``--set`` takes it, with all digits that it has."""
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
        blocks += [Prose("The run, on the command line and in Python:"), Code(rerun), Code(python)]
    blocks += [Prose("This page:"), Code(command)]
    versions = tuple((name, text) for name, text in source.versions.items())
    blocks.append(Table("What computed the run", ("", "version"), versions, fold=False))
    return Section("rerun", "To reproduce it", blocks=tuple(blocks))

"""Facts of a run for the terminal and its page: verdict, effects of the disturbances, and tables."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from biped.metrics import METRICS
from biped.runs.contact_changes import BRIEF, lasting_changes
from biped.runs.run import TABLE, Run
from biped.runs.trust import OK
from biped.runs.verdict import COMPLETED, FAILED, RECOVERED, STEPPED, UNRELIABLE
from experiments.catalogue.parameters.robots import HUMAN, floor_text, is_human
from experiments.catalogue.parameters.robots import NAME as ROBOT
from experiments.cli.quantities import length, scaled, unit_text
from experiments.cli.terminal import say
from experiments.lookup.figure_look import FORMATS
from experiments.visualization.document import Document, print_document
from experiments.visualization.figures.directions import XYZ, space_axes
from experiments.visualization.look.words import disturbance_text
from experiments.visualization.pages import Prose, Section, Table
from experiments.visualization.pages.blocks import Mood, shown

Facts = list[tuple[str, str]]

_MOODS: dict[str, Mood] = {RECOVERED: "good", STEPPED: "good", COMPLETED: "good", FAILED: "bad", UNRELIABLE: "bad"}
_CHECKS = ("check", "passed", "value", "limit", "unit", "finding")
#: Most rows of a table on the terminal: a block lying on the trunk has an impact in each step.
MOST = 24
#: Singular and plural of the events that have impulses.
KINDS = (("push", "pushes"), ("impact", "impacts"))


def print_report(
    run: Run, title: str, files: Sequence[Path] = (), replaced: str = "", *, verbose: bool = False
) -> None:
    """Print the verdict, the most informative numbers, all other facts if ``verbose``, and the files.

    ``replaced`` is the time of the run that was in the folder before.
    """
    facts = [*effects(run), *(more_facts(run) if verbose else ())]
    lead = [headline(run), Prose(title, "muted")]
    table = (Section("facts", "", blocks=(facts_table(facts),)),) if facts else ()
    print_document(Document(lead, (*table, *(run_sections(run) if verbose else ()))))
    if not files:
        return
    folder, names = files[0].parent, [file.name for file in files]
    drawn = [name for name in names if name.endswith(FORMATS)]
    listed = [name for name in names if name not in drawn or len(drawn) == 1]
    say(f"\n{folder}/", "cyan", f"  {', '.join(listed)}{f', {len(drawn)} figures' if len(drawn) > 1 else ''}")
    if replaced:
        say(f"replaced the run of {replaced}", "yellow")
    if TABLE in names:
        say(f"to view the motion: biped view {folder}", "dim")


def headline(run: Run) -> Prose:
    """Return the verdict and the disturbances."""
    done = disturbance_text(run)
    text = f"{run.verdict_line} ({done})" if done else run.verdict_line
    return Prose(text, _MOODS.get(run.summary["verdict"], "bad"))


def facts_table(facts: Facts) -> Table:
    moods: tuple[Mood, ...] = tuple("" if name not in ("warning", "FAILED") else "bad" for name, _ in facts)
    return Table("", ("quantity", "value"), tuple(facts), moods, fold=False)


def effects(run: Run) -> Facts:
    """Return the largest and the final effects of the disturbance, and the results of the run's checks."""
    facts: Facts = []
    metrics = run.metrics
    if not is_human(str(run.parameters.get(ROBOT, HUMAN))):
        facts.append(("floor", floor_text(run.parameters, run.state.model).removeprefix("floor: ")))
    if run.set_point is not None:
        facts += [*_sway(metrics), *_recovery(metrics)]
    if metrics.get("peak_torque"):
        peaks = run.by_joint("peak_torque")
        joint = max(peaks, key=lambda name: peaks[name] or 0.0)
        peak = f"{peaks[joint]:.3g}" if peaks[joint] < 1e3 else f"{peaks[joint]:.0f}"
        facts.append(("peak joint torque", f"{peak} N·m, {joint.replace('_', ' ')}"))
    return [*facts, *_checks(run)]


def _sway(metrics: dict[str, Any]) -> Iterator[tuple[str, str]]:
    if metrics.get("com_excursion") is not None:
        yield METRICS["com_excursion"].definition, length(metrics["com_excursion"])
    if metrics.get("sway_angle_max") is not None:
        yield METRICS["sway_angle_max"].definition, f"{math.degrees(metrics['sway_angle_max']):.2g}°"
    least, final = metrics.get("margin_of_stability_min"), metrics.get("margin_of_stability_end")
    if least is not None:
        last = "" if final is None else f", final {length(final)}"
        yield "margin of stability", f"min {length(least)}{last}"
    if metrics.get("cop_range_ap") is not None:
        ap, ml = length(metrics["cop_range_ap"]), length(metrics["cop_range_ml"])
        yield "CoP excursion", f"AP {ap}, ML {ml}"


def _recovery(metrics: dict[str, Any]) -> Facts:
    settling = metrics.get("settling_time")
    if settling is None:
        return [("time to recover", "not settled")]
    within = "to within 2 cm and 2° of the set point" if settling else "always within 2 cm and 2° of the set point"
    return [("time to recover", f"{settling:.3g} s ({within})")]


def _checks(run: Run) -> Facts:
    """Return the failed checks or, if all passed, the residuals of energy and momentum."""
    checks, metrics = run.trust, run.metrics
    beyond: Facts = [(check.passed, check.text) for check in checks if check.passed != OK]
    if beyond or not checks:
        return beyond
    parts = []
    if metrics.get("ledger_residual") is not None:
        parts.append(f"energy residual {scaled(metrics['ledger_residual'], 'J')}")
    if metrics.get("momentum_defect") is not None:
        parts.append(f"momentum residual {metrics['momentum_defect']:.1e} N·s")
    return [("checks", f"all {len(checks)} passed; {', '.join(parts)}")]


def more_facts(run: Run) -> Iterator[tuple[str, str]]:
    """Yield errors, slip, impulses, and the cost of the computation."""
    summary, metrics = run.summary, run.metrics
    if None not in (metrics.get("position_error"), metrics.get("orientation_error")):
        name = "final error" if metrics.get("settling_time") is None else "steady-state error"
        yield name, f"{length(metrics['position_error'])}, {math.degrees(metrics['orientation_error']):.2g}°"
    if run.set_point is not None and metrics.get("cop_path_length") is not None:
        yield "CoP path length", length(metrics["cop_path_length"])
    if metrics.get("foot_slip") is not None:
        yield "max foot slip", length(metrics["foot_slip"])
    if metrics.get("foot_creep") is not None:
        yield "max creep of sticking contacts", f"{length(metrics['foot_creep'])} in the run's last quarter"
    for singular, kind in reversed(KINDS):
        events = summary["events"][kind]
        if events:
            total = [sum(event["impulse"][k] for event in events) for k in range(3)]
            what = f"the {singular}" if len(events) == 1 else f"all {len(events)} {kind} together"
            yield f"impulse of {what}", f"{math.hypot(*total):.4g} N·s"
    if metrics.get("angular_momentum_defect") is not None:
        yield "angular momentum residual", f"{metrics['angular_momentum_defect']:.1e} N·m·s"
    if metrics.get("newton_mean") is not None:
        iterations = f"mean {metrics['newton_mean']:.3f}, max {metrics['newton_max']}"
        retried = metrics.get("retried_steps")  # only in runs of trees of bodies
        more = "" if retried is None else f"; {retried} of {summary['steps']} steps retried"
        yield "Newton iterations", iterations + more
    factor = summary["real_time_factor"]
    speed = "" if factor is None else f", {factor:.1f} times real time"
    yield "computed in", f"{summary['wall_time']:.3f} s for {summary['simulated_time']:.3f} s{speed}"


def run_sections(run: Run) -> list[Section]:
    """Return the tables of a run: peak torques, contacts, impacts and checks."""
    tables = (_peak_torques(run.by_joint("peak_torque")), *event_tables(run), checks_table(run))
    shown = (replace(table, rows=table.rows[:MOST], caption=f"{table.caption}{_cut(table)}") for table in tables)
    return [Section("tables", "", blocks=tuple(table for table in shown if table.rows))]


def _cut(table: Table) -> str:
    count = len(table.rows)
    return f"; the first {MOST} of {count}" if count > MOST else ""


def event_tables(run: Run) -> tuple[Table, ...]:
    """Return two tables: contacts of the feet, and impacts and pushes."""
    changes, hidden = lasting_changes(run.summary["events"]["edges"])
    brief = f"; {hidden} changes that lasted less than {1e3 * BRIEF:.0f} ms are not shown" if hidden else ""
    feet = tuple((f"{change.time:.4f}", change.edge.replace("_", " "), change.change) for change in changes)
    forceful = run.events[run.events["kind"].isin(["impact", "push"])]
    axes = space_axes(run.state.model) if run.world is None else [(name, k, 1.0) for k, name in enumerate(XYZ)]
    impulses = (f"{'' if place else 'impulse '}{name} [N·s]" for place, (name, _, _) in enumerate(axes))
    headings = ("time [s]", "kind", "subject", *impulses, "size [N·s]", "position x, y, z [m]", "speed before [m/s]")
    rows = tuple(_event_row(event, axes) for event in forceful.to_dict(orient="records"))
    return (
        Table(f"Contacts of the feet{brief}", ("time [s]", "part", "change"), feet),
        Table("Impacts and pushes, with the impulse on the subject", headings, rows),
    )


def _event_row(event: dict[Any, Any], axes: Sequence[tuple[str, int, float]]) -> tuple[str, ...]:
    impulse, place, velocity = (
        [float(event[f"{name}{axis}"]) for axis in XYZ] for name in ("impulse_", "", "velocity_")
    )
    impulse = [sign * impulse[k] for _, k, sign in axes]
    where = "" if math.isnan(place[0]) else ",\N{NO-BREAK SPACE}".join(f"{part:.3f}" for part in place)
    numbers = (*(f"{part:.6g}" for part in impulse), f"{math.hypot(*impulse):.6g}", where, shown(math.hypot(*velocity)))
    return (f"{event['time']:.4f}", event["kind"], event["subject"], *numbers)


def checks_table(run: Run) -> Table:
    rows = tuple((c.name, c.passed, shown(c.value), shown(c.limit), unit_text(c.unit), c.text) for c in run.trust)
    return Table("Automatic checks of the run", _CHECKS, rows, fold=False)


def _peak_torques(peaks: dict[str, float]) -> Table:
    rows = tuple((name.replace("_", " "), f"{peak:.1f}") for name, peak in peaks.items())
    return Table("Peak torque [N·m]", ("joint", "peak"), rows if any(peaks.values()) else ())

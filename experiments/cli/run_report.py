"""The report of a run on the terminal: its verdict, what was done, what came of it, and all else if asked for."""

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rich.console import Console, Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from biped.disturbances import in_words
from biped.metrics import METRICS
from biped.runs import trust
from biped.runs.contact_changes import BRIEF, lasting_changes
from biped.runs.run import TABLE, Run
from biped.runs.trust import OK, WARNING
from biped.runs.verdict import COMPLETED, FAILED, RECOVERED, STEPPED, UNRELIABLE
from contact import ContactState
from experiments.catalogue.parameters.robots import HUMAN, floor_text, is_human
from experiments.catalogue.parameters.robots import NAME as ROBOT
from experiments.cli.quantities import length, scaled, unit_text
from experiments.cli.terminal import terminal
from experiments.lookup.figure_look import FORMATS

_COLORS = {RECOVERED: "green", STEPPED: "green", COMPLETED: "green", FAILED: "red", UNRELIABLE: "red"}
_PASSED: dict[str, str] = {OK: "green", WARNING: "yellow", trust.FAILED: "red"}
#: Impacts below this part of the largest are only counted: a block that lies on the trunk has one a step.
SMALL_IMPACT = 0.01

Facts = list[tuple[str, str]]


@dataclass(frozen=True)
class Saved:
    """Where a run was saved.

    Attributes:
        files: all of one folder, or none.
        replaced: when the run was saved that was there before, if one was.
    """

    files: Sequence[Path] = ()
    replaced: str = ""


def print_report(
    run: Run, title: str, saved: Saved = Saved(), console: Console | None = None, *, verbose: bool = False
) -> None:
    (console or terminal()).print(report(run, title, saved, verbose=verbose))


def report(run: Run, title: str, saved: Saved = Saved(), *, verbose: bool = False) -> RenderableType:
    """The verdict, what was done, and the few numbers that tell most; all else if ``verbose``."""
    parts: list[RenderableType] = [
        _headline(run),
        _indented(Text(title, style="dim")),
        _indented(_facts(effects(run)) or ""),
    ]
    for heading, body in _sections(run) if verbose else ():
        if body is not None:
            parts += [Text(f"\n{heading}", style="bold"), _indented(body)]
    if saved.files:
        parts += [Text(""), _files(saved)]
    return Group(*parts)


def _indented(body: RenderableType) -> Padding:
    return Padding(body, (0, 0, 0, 2), expand=False)


def what_was_done(run: Run) -> str:
    """Its disturbances in words; of one that balances without any that it was undisturbed, of others nothing."""
    done = "; ".join(in_words(run.disturbances, run.state.model.facing))
    return done or ("" if run.set_point is None else "undisturbed")


def _headline(run: Run) -> Text:
    text = Text(run.verdict_line, style=f"bold {_COLORS.get(run.summary['verdict'], 'yellow')}")
    done = what_was_done(run)
    return text.append(f" ({done})" if done else "", style="default")


def effects(run: Run) -> Facts:
    """Effects of a disturbance, at its worst and in the end, and whether the numbers can be relied on."""
    facts: Facts = []
    metrics = run.metrics
    if not is_human(str(run.parameters.get(ROBOT, HUMAN))):
        facts.append(("floor", floor_text(run.parameters, run.state.model).removeprefix("floor: ")))
    if run.set_point is not None:
        facts += [*_sway(metrics), *_stability(metrics), *_recovery(metrics)]
    if metrics.get("peak_torque"):
        peaks = run.by_joint("peak_torque")
        joint = max(peaks, key=lambda name: peaks[name] or 0.0)
        peak = f"{peaks[joint]:.3g}" if peaks[joint] < 1e3 else f"{peaks[joint]:.0f}"
        facts.append(("peak joint torque", f"{peak} N·m, {joint.replace('_', ' ')}"))
    return [*facts, *_trust(run)]


def _sway(metrics: dict[str, Any]) -> Iterator[tuple[str, str]]:
    if metrics.get("com_excursion") is not None:
        yield METRICS["com_excursion"].definition, length(metrics["com_excursion"])
    if metrics.get("sway_angle_max") is not None:
        yield METRICS["sway_angle_max"].definition, f"{math.degrees(metrics['sway_angle_max']):.2g}°"


def _stability(metrics: dict[str, Any]) -> Iterator[tuple[str, str]]:
    least, final = metrics.get("margin_of_stability_min"), metrics.get("margin_of_stability_end")
    if least is not None:
        last = "" if final is None else f", final {length(final)}"
        yield "margin of stability", f"min {length(least)}{last}"
    if metrics.get("cop_range_ap") is not None:
        ap, ml = length(metrics["cop_range_ap"]), length(metrics["cop_range_ml"])
        yield "excursion of the centre of pressure", f"AP {ap}, ML {ml}"


def _recovery(metrics: dict[str, Any]) -> Facts:
    settling = metrics["settling_time"]
    if settling is None:
        return [("time to recover", "not settled")]
    within = "to 2 cm and 2° of the set point" if settling else "it stayed within 2 cm and 2° of the set point"
    return [("time to recover", f"{settling:.3g} s ({within})")]


def _trust(run: Run) -> Facts:
    """The checks that were not passed; else that all were, and what they found of the conservation laws."""
    checks, metrics = run.trust, run.metrics
    beyond: Facts = [(check.passed, check.text) for check in checks if check.passed != OK]
    if beyond or not checks:
        return beyond
    parts = []
    if metrics.get("ledger_residual") is not None:
        parts.append(f"energy residual {scaled(metrics['ledger_residual'], 'J')}")
    if metrics.get("momentum_defect") is not None:
        parts.append(f"momentum residual {metrics['momentum_defect']:.1e} N·s")
    return [("trust", f"all {len(checks)} checks passed; {', '.join(parts)}")]


def _sections(run: Run) -> list[tuple[str, RenderableType | None]]:
    """By heading; None where a model has nothing for it."""
    edges = run.summary["events"]["edges"]
    return [
        ("Set point and feet", _facts(_errors(run))),
        ("Peak torque [N·m]", _peak_torques(run.by_joint("peak_torque"))),
        ("Contacts of the feet", _feet(edges)),
        ("Contact points", None if edges else _contact_points(run)),
        ("Impacts", _impacts(run.summary["events"]["impacts"])),
        ("Checks", _checks(run)),
        ("Conservation and solver", _facts(_solver(run.summary))),
    ]


def _grid(rows: Iterable[Sequence[str | Text]], apart: int = 2) -> Table | None:
    """Rows of cells so many blanks apart; None without any."""
    table = Table.grid(padding=(0, apart))
    for row in rows:
        table.add_row(*row)
    return table if table.row_count else None


def _facts(facts: Iterable[tuple[str, str]]) -> Table | None:
    return _grid((Text(name, style=_PASSED.get(name, "dim")), value) for name, value in facts)


def _errors(run: Run) -> Iterator[tuple[str, str]]:
    summary = run.summary
    if summary["position_error"] is not None:
        name = "final error" if summary["settling_time"] is None else "steady-state error"
        angle = math.degrees(summary["orientation_error"])
        yield name, f"{length(summary['position_error'])}, {angle:.2g}°"
    if run.set_point is not None and summary["cop_path_length"] is not None:
        yield "CoP path length", length(summary["cop_path_length"])
    if summary["foot_slip"] is not None:
        yield "max foot slip", length(summary["foot_slip"])
    if summary["foot_creep"] is not None:
        yield "max creep of sticking contacts", f"{length(summary['foot_creep'])} in the last quarter"


def _peak_torques(peaks: dict[str, float]) -> Table | None:
    """A row for each joint; for each of a pair, where there are only pairs."""
    if not any(peaks.values()):
        return None
    names = list(dict.fromkeys(joint.removeprefix("left_").removeprefix("right_") for joint in peaks))
    sides = [side for side in ("left", "right") if {f"{side}_{name}" for name in names} <= set(peaks)]
    in_pairs = len(sides) == 2
    prefixes = [f"{side}_" for side in sides] if in_pairs else [""]
    heading: list[str | Text] = ["", *(Text(side, style="dim", justify="right") for side in sides)]
    rows = [heading] if in_pairs else []
    for name in names if in_pairs else peaks:
        numbers = (Text(f"{peaks[f'{prefix}{name}']:.1f}", justify="right") for prefix in prefixes)
        rows.append([Text(name.replace("_", " "), style="dim"), *numbers])
    return _grid(rows, 3)


def _feet(edges: list[dict[str, Any]]) -> RenderableType | None:
    changes, hidden = lasting_changes(edges)
    rows = [(f"{change.time:.4f} s", f"{change.edge.replace('_', ' ')} {change.change}") for change in changes]
    brief = Text(f"{hidden} changes that lasted less than {1e3 * BRIEF:.0f} ms not shown", style="dim")
    return _grid([*rows, *([("", brief)] if rows and hidden else [])])


def _contact_points(run: Run) -> Table | None:
    names = run.state.model.contact_names
    touches, rows = run.events[run.events["kind"] == "touch"], []
    for name in names if len(run.frame) else ():
        times = touches.loc[touches["subject"] == name, "time"]
        first = f"first down at {times.iloc[0]:.3f} s" if len(times) else "never down"
        if run.frame[f"contact_{name}_mode"].iloc[0] != ContactState.NONE:
            first = "down from the start"
        state = ContactState(int(run.frame[f"contact_{name}_mode"].iloc[-1]))
        rows.append((name, first, f"ends in {state.name.lower().replace('_', ' ').replace('none', 'no contact')}"))
    return _grid(rows)


def _impacts(impacts: list[dict[str, Any]]) -> Table | None:
    sizes = [math.hypot(*impact["impulse"]) for impact in impacts]
    small = [size for size in sizes if size < SMALL_IMPACT * max(sizes)]
    rows = []
    for impact, size in zip(impacts, sizes, strict=True):
        if size >= SMALL_IMPACT * max(sizes):
            x, y, z = impact["impulse"]
            rows.append((f"{impact['time']:.4f} s", impact["body"], f"impulse ({x:+.3f}, {y:+.3f}, {z:+.3f}) N·s"))
    if small:
        rows.append(("", "", f"{len(small)} smaller ones, of {sum(small):.3g} N·s together: all are in summary.json"))
    return _grid(rows)


def _checks(run: Run) -> Table | None:
    rows = []
    for check in run.trust:
        value = f"{check.value:.3g} {unit_text(check.unit)}".rstrip()
        limit = Text(f"limit {check.limit:.3g}", style="dim")
        rows.append((Text(check.passed, style=_PASSED[check.passed]), check.name, value, limit))
    return _grid(rows)


def _solver(summary: dict[str, Any]) -> Iterator[tuple[str, str]]:
    if summary["ledger_residual"] is not None:
        yield "energy residual", f"max {scaled(summary['ledger_residual'], 'J')}"
    if summary["momentum_defect"] is not None:
        linear, angular = summary["momentum_defect"], summary["angular_momentum_defect"]
        yield "momentum residual", f"max {linear:.1e} N·s, {angular:.1e} N·m·s"
    iterations = f"mean {summary['newton_mean']:.3f}, max {summary['newton_max']}"
    yield "Newton iterations", f"{iterations}; {summary['retried_steps']} of {summary['steps']} steps retried"
    factor = summary["real_time_factor"]
    speed = "" if factor is None else f", {factor:.1f} times real time"
    yield "computed in", f"{summary['wall_time']:.3f} s for {summary['simulated_time']:.3f} s{speed}"


def _files(saved: Saved) -> RenderableType:
    folder, names = saved.files[0].parent, [file.name for file in saved.files]
    drawn = [name for name in names if name.endswith(FORMATS)]
    shown = [name for name in names if name not in drawn or len(drawn) == 1]
    text = ", ".join(shown) + (f", {len(drawn)} figures" if len(drawn) > 1 else "")
    lines = [Text(f"{folder}/", style="cyan", overflow="fold").append(f"  {text}", style="dim")]
    if saved.replaced:
        lines.append(Text(f"replaced the run of {saved.replaced}", style="yellow"))
    if TABLE in names:
        lines.append(Text(f"to see it move: biped view {folder}", style="dim", overflow="fold"))
    return Group(*lines)

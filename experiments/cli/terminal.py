"""The summary of a run on the terminal."""

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from rich.console import Console, Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from biped.runs.contact_changes import BRIEF, lasting_changes
from biped.runs.run import TABLE, Run
from biped.runs.verdict import COMPLETED, FAILED, RECOVERED, STEPPED, UNRELIABLE
from contact import ContactState

_COLORS = {RECOVERED: "green", STEPPED: "green", COMPLETED: "green", FAILED: "red", UNRELIABLE: "red"}


def print_report(run: Run, title: str, files: Sequence[Path] = (), console: Console | None = None) -> None:
    (console or terminal()).print(report(run, title, files))


def terminal() -> Console:
    """The terminal; where it is a file or a pipe, a wide one, so that nothing is cut off."""
    console = Console()
    return console if console.is_terminal else Console(width=140)


#: Impacts below this part of the largest are only counted: a block that lies on the trunk has one a step.
SMALL_IMPACT = 0.01


def report(run: Run, title: str, files: Sequence[Path] = ()) -> RenderableType:
    """What a run amounts to, in sections; those that a model has nothing for are left out."""
    sections: list[tuple[str, RenderableType | None]] = [
        ("", _facts(_stability(run) + _balance(run))),
        ("Peak torque [N·m]", _peak_torques(run.by_joint("peak_torque"))),
        ("Feet", _feet(run)),
        ("Contact points", None if run.summary["events"]["edges"] else _contact_points(run)),
        ("Impacts", _impacts(run.summary["events"]["impacts"])),
        ("Checks", _facts([(check.passed, check.text) for check in run.trust if check.passed != "ok"])),
        ("Ledger and solver", _facts(_ledger(run.summary))),
        ("Files", _files(files)),
    ]
    parts: list[RenderableType] = [_headline(run, title)]
    for heading, body in sections:
        if body is not None:
            if heading:
                parts.append(Text(heading, style="bold"))
            parts.append(Padding(body, (0, 0, 1, 2), expand=False))
    return Group(*parts)


def _headline(run: Run, title: str) -> Text:
    text = Text(run.verdict_line, style=f"bold {_COLORS.get(run.summary['verdict'], 'yellow')}")
    return text.append(f"  {title}", style="default")


Facts = list[tuple[str, str]]


def _facts(facts: Facts) -> Table | None:
    if not facts:
        return None
    table = Table.grid(padding=(0, 2))
    table.add_column(style="dim")
    table.add_column()
    for name, value in facts:
        table.add_row(name, value)
    return table


def _balance(run: Run) -> Facts:
    summary = run.summary
    facts: Facts = []
    if summary["position_error"] is not None:
        settling = summary["settling_time"]
        facts.append(("settling time", "not settled" if settling is None else f"{settling:.3f} s (to 2 cm and 2°)"))
        angle = math.degrees(summary["orientation_error"])
        name = "steady-state error" if settling is not None else "error at the end"
        facts.append((name, f"{length(summary['position_error'])}, {angle:.2g}°"))
    if summary["foot_slip"] is not None:
        facts.append(("longest slide of a contact point", length(summary["foot_slip"])))
    if summary["foot_creep"] is not None:
        facts.append(("creep of those that stick", f"{length(summary['foot_creep'])} in the last quarter of the run"))
    return facts


def _stability(run: Run) -> Facts:
    facts: Facts = []
    if run.set_point is None:  # nothing balances
        return facts
    metrics = run.metrics
    if metrics.get("margin_of_stability_min") is not None:
        least, end = metrics["margin_of_stability_min"], metrics["margin_of_stability_end"]
        last = "" if end is None else f", {length(end)} at the end"
        facts.append(("margin of stability (Hof 2005)", f"{length(least)} at least{last}"))
    if metrics.get("cop_path_length") is not None:
        facts.append(("path of the centre of pressure", length(metrics["cop_path_length"])))
    return facts


def length(metres: float) -> str:
    return scaled(metres, "m")


def scaled(value: float, unit: str) -> str:
    """A number of SI units with the prefix that suits its size, down to nano."""
    for prefix, factor in (("", 1.0), ("m", 1e3), ("µ", 1e6)):
        if abs(value) * factor >= 1.0:
            return f"{value * factor:.3g} {prefix}{unit}"
    return f"{value * 1e9:.3g} n{unit}" if value else "0"


def _peak_torques(peaks: dict[str, float]) -> Table | None:
    if not peaks or None in peaks.values():
        return None
    names = list(dict.fromkeys(joint.removeprefix("left_").removeprefix("right_") for joint in peaks))
    table = Table.grid(padding=(0, 3))
    if {f"{side}_{name}" for side in ("left", "right") for name in names} != set(peaks):
        for joint, torque in peaks.items():
            table.add_row(joint, f"{torque:.1f}")
        return table
    table.add_row("", *(Text(name.replace("_", " "), style="dim", justify="right") for name in names))
    for side in ("left", "right"):
        numbers = (Text(f"{peaks[f'{side}_{name}']:.1f}", justify="right") for name in names)
        table.add_row(Text(side, style="dim"), *numbers)
    return table


def _feet(run: Run) -> RenderableType | None:
    changes, hidden = lasting_changes(run.summary["events"]["edges"])
    if not changes:
        return None
    table = Table.grid(padding=(0, 2))
    for change in changes:
        table.add_row(f"{change.time:.4f} s", f"{change.edge.replace('_', ' ')} {change.change}")
    if hidden:
        table.add_row("", Text(f"{hidden} changes that lasted less than {1e3 * BRIEF:.0f} ms not shown", style="dim"))
    return table


def _contact_points(run: Run) -> Table | None:
    names = run.state.model.contact_names
    if not names or not len(run.frame):
        return None
    table = Table.grid(padding=(0, 2))
    touches = run.events[run.events["kind"] == "touch"]
    for name in names:
        times = touches.loc[touches["subject"] == name, "time"]
        first = f"first down at {times.iloc[0]:.3f} s" if len(times) else "never down"
        if run.frame[f"contact_{name}_mode"].iloc[0] != ContactState.NONE:
            first = "down from the start"
        state = ContactState(int(run.frame[f"contact_{name}_mode"].iloc[-1]))
        table.add_row(name, first, f"ends in {state.name.lower().replace('_', ' ').replace('none', 'no contact')}")
    return table


def _impacts(impacts: list[dict[str, Any]]) -> Table | None:
    if not impacts:
        return None
    table = Table.grid(padding=(0, 2))
    sizes = [math.hypot(*impact["impulse"]) for impact in impacts]
    small = [size for size in sizes if size < SMALL_IMPACT * max(sizes)]
    for impact, size in zip(impacts, sizes, strict=True):
        if size >= SMALL_IMPACT * max(sizes):
            x, y, z = impact["impulse"]
            table.add_row(f"{impact['time']:.4f} s", impact["body"], f"impulse ({x:+.3f}, {y:+.3f}, {z:+.3f}) N·s")
    if small:
        table.add_row("", "", f"{len(small)} smaller ones, of {sum(small):.3g} N·s together: all are in summary.json")
    return table


def _ledger(summary: dict[str, Any]) -> Facts:
    facts: Facts = []
    if summary["ledger_residual"] is not None:
        facts.append(("energy no work accounts for", f"{scaled(summary['ledger_residual'], 'J')} at most"))
    if summary["momentum_defect"] is not None:
        linear, angular = summary["momentum_defect"], summary["angular_momentum_defect"]
        facts.append(("momentum no impulse accounts for", f"{linear:.1e} N·s, {angular:.1e} N·m·s"))
    iterations = f"mean {summary['newton_mean']:.3f}, most {summary['newton_max']}"
    facts.append(("Newton iterations", f"{iterations}; {summary['retried_steps']} of {summary['steps']} steps retried"))
    factor = summary["real_time_factor"]
    speed = "" if factor is None else f", {factor:.1f} times real time"
    facts.append(("computed in", f"{summary['wall_time']:.3f} s for {summary['simulated_time']:.3f} s{speed}"))
    return facts


def _files(files: Sequence[Path]) -> RenderableType | None:
    if not files:
        return None
    folders = dict.fromkeys(file.parent for file in files)
    lines = []
    for folder in folders:
        names = [file.name for file in files if file.parent == folder]
        lines.append(Text(f"{folder}/", style="cyan", overflow="fold"))
        lines.append(Text("  " + ", ".join(names), style="dim"))
        if TABLE in names:
            lines.append(Text(f"to see it move: biped view {folder}", style="dim", overflow="fold"))
    return Group(*lines)

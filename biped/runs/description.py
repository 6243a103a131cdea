"""Descriptions of runs and states: a title, and the main facts."""

import math
from collections.abc import Iterator
from typing import TYPE_CHECKING

from biped.runs.trust import OK
from contact.modes import NONE

if TYPE_CHECKING:
    from biped.runs.run import Run
    from biped.runs.state import State


def run_title(run: "Run") -> str:
    """Return a run's title: name and verdict."""
    return f"Run of {run.parameters.get('experiment', run.name)}: {run.verdict_line}"


def run_facts(run: "Run") -> Iterator[tuple[str, str]]:
    """Yield the main numbers of a run."""
    summary, metrics = run.summary, run.metrics
    step = float(run.state.arrays.clock[1]) if run.world is None else run.world.step
    yield "simulated", f"{summary['simulated_time']:g} s in steps of {1e3 * step:g} ms, {len(run.frame)} rows"
    for push in summary["events"]["pushes"]:
        yield "push", f"{math.hypot(*push['impulse']):.3g} N·s on {_words(push['body'])} at {push['time']:g} s"
    impacts = summary["events"]["impacts"]
    if impacts:
        total = math.hypot(*(sum(impact["impulse"][k] for impact in impacts) for k in range(3)))
        yield "impacts", f"{len(impacts)}, {total:.3g} N·s, the first at {impacts[0]['time']:.3g} s"
    least, last = metrics.get("margin_of_stability_min"), metrics.get("margin_of_stability_end")
    if run.set_point is not None and least is not None and last is not None:
        yield "margin of stability", f"min {1e3 * least:.1f} mm, final {1e3 * last:.1f} mm"
    if metrics.get("peak_torque"):
        torques = {joint: torque for joint, torque in run.by_joint("peak_torque").items() if torque is not None}
        joint = max(torques, key=lambda name: torques[name])
        yield "peak torque", f"{torques[joint]:.1f} N·m, {_words(joint)}"
    if metrics.get("ledger_residual") is not None:
        yield "energy residual", f"max {metrics['ledger_residual']:.2g} J"
    for check in run.trust:
        if check.passed != OK:
            yield check.passed, check.text


def state_title(state: "State") -> str:
    """Return a state's title: model, time and steps."""
    return f"State of {state.model.name} at {state.time:g} s, after {state.steps} steps"


def state_facts(state: "State") -> Iterator[tuple[str, str]]:
    """Yield the position of the root and the points that touch the floor."""
    model = state.model
    if model.is_floating:
        x, y, z = state.q[:3]
        yield "root", f"{model.root.name} at x = {x:.4g}, y = {y:.4g}, z = {z:.4g} m"
    if model.nc:
        touching = int((state.arrays.contact_state != NONE).sum())
        yield "contact", f"{touching} of {model.nc} points on the floor"


def _words(name: str) -> str:
    return name.replace("_", " ")

"""The interactive figures of a comparison."""

from collections.abc import Iterator

import numpy as np

from contact.arrays import Floats
from experiments.benchmarks.comparison.results import Results
from experiments.benchmarks.comparison.standing import EQUAL, NATURAL
from experiments.benchmarks.flight_energy import MOTIONS
from experiments.engines.rollout import Rollout
from experiments.visualization.comparison import series
from experiments.visualization.comparison.palette import colors_of, is_smooth
from experiments.visualization.figures.quantities import Curve, Panel
from experiments.visualization.figures.subject import subject_of
from experiments.visualization.report import theme
from experiments.visualization.report.curves import time_figure
from experiments.visualization.report.drawing import Drawing
from experiments.visualization.report.grid import grid_of_panels, panel, update_panel

#: [m] creep below this is drawn at it, so that the axis shows what matters.
LEAST_CREEP = 1e-10
#: Errors above this are drawn at it.
MOST_ERROR = 1e2


def drawings(results: Results) -> dict[str, list[Drawing]]:
    """All figures that there is something for, by the section of the page that they go into."""
    return {
        "equal": list(_runs(results, results.equal, "equal")),
        "natural": list(_runs(results, results.natural, "natural")),
        "stance": list(_creep(results)),
        "flight": list(_flight(results)),
        "halving": list(_halving(results)),
        "cost": list(_cost(results)),
        "precision": list(_precision(results)),
    }


def _runs(results: Results, made: dict[str, Rollout], name: str) -> Iterator[Drawing]:
    """Overlays of where the root is, of torques and of the floor's forces."""
    runs = {label: rollout.run for label, rollout in made.items() if len(rollout.run.frame) > 1}
    if not runs:
        return
    time, titles, colors = series.common_times(runs), results.titles, colors_of(results.contestants)
    first = next(iter(runs.values()))
    marks = subject_of(first).marks

    def curves(values: dict[str, Floats]) -> tuple[Curve, ...]:
        return tuple(Curve(titles[label], values[label], colors[label]) for label in runs)

    panels = [
        Panel(f"Root, {axis}", "m", curves({n: series.column(time, r, f"{r.root}_{axis}") for n, r in runs.items()}))
        for axis in "xyz"
    ]
    if first.set_point is not None:
        panels.append(Panel("Turn from the set point", "°", curves({n: series.turn(time, r) for n, r in runs.items()})))
    yield Drawing(
        f"{name}-pose",
        "Where the root's centre of mass is, and how far it is turned.",
        time_figure(time, panels, marks),
    )
    if joints := series.shown_joints(first):
        panels = [
            Panel(
                joint.replace("_", " ").capitalize(), "N·m",
                curves({n: series.column(time, run, f"torque_{joint}") for n, run in runs.items()}),
            )
            for joint in joints
        ]  # fmt: skip
        yield Drawing(f"{name}-torques", "What the controller asks of the joints.", time_figure(time, panels, marks))
    if first.state.model.nc:
        panels = [
            Panel(words, "N", curves({n: series.floor_force(time, run, axis) for n, run in runs.items()}))
            for axis, words in (("z", "Floor's force, vertical"), ("x", "Floor's force, along x"))
        ]
        yield Drawing(
            f"{name}-forces", "The floor's force on all contact points together.", time_figure(time, panels, marks)
        )


def _creep(results: Results) -> Iterator[Drawing]:
    titles, colors = results.titles, colors_of(results.contestants)
    panels, time = [], None
    for settings in (EQUAL, NATURAL):
        mine = {label: drift for (which, label), drift in results.drifts.items() if which == settings}
        if not mine:
            continue
        if time is None:
            time = next(iter(mine.values())).time
        found = tuple(
            Curve(
                titles[label],
                1e3 * np.maximum(np.interp(time, drift.time, drift.distance), LEAST_CREEP),
                colors[label],
            )
            for label, drift in mine.items()
        )
        panels.append(Panel(f"Creep, {settings} settings", "mm", found, logarithmic=True))
    if time is not None:
        text = "How far the farthest point of the soles has moved sideways, under a force that does not change."
        figure = time_figure(time, panels)
        figure.layout.meta = {}  # not the time of the experiment
        yield Drawing("creep", text, figure)


def _flight(results: Results) -> Iterator[Drawing]:
    titles, colors = results.titles, colors_of(results.contestants)
    motions = [motion for motion in MOTIONS if any(which == motion for which, _ in results.flown)]
    if not motions:
        return
    figure = grid_of_panels(["time [s]"] * len(motions), ["greatest relative error so far"] * len(motions), columns=2)
    shown: set[str] = set()
    for k, motion in enumerate(motions):
        update_panel(figure, k, y={"type": "log", "dtick": 3})
        for (which, label), flown in results.flown.items():
            if which != motion:
                continue
            smooth = is_smooth(label, results.contestants)
            lines = [(flown.in_phase, "dash" if smooth else "solid", "")]
            if flown.reported is not flown.in_phase:
                lines.append((flown.reported, "dot", ", as reported"))
            for flight, dash, words in lines:
                time, error = series.greatest_so_far(flight)
                name = titles[label] + words
                figure.add_scatter(
                    x=time, y=np.clip(error, 1e-16, MOST_ERROR), name=name, legendgroup=name, mode="lines",
                    showlegend=name not in shown, line={"color": colors[label], "dash": dash, "width": 1.6}, **panel(k),
                )  # fmt: skip
                shown.add(name)
        figure.add_annotation(
            text=f"<b>{motion.capitalize()} flight</b>", xref=f"{panel(k)['xaxis']} domain", x=0, xanchor="left",
            yref=f"{panel(k)['yaxis']} domain", y=1, yanchor="bottom", showarrow=False,
        )  # fmt: skip
    text = (
        "The greatest relative error of the energy so far. Full: in equal settings; dashed: what an engine has for "
        "smooth motion; dotted: from velocities as they are reported, half a step late."
    )
    yield Drawing("flight-energy", text, figure)


def _halving(results: Results) -> Iterator[Drawing]:
    titles, colors = results.titles, colors_of(results.contestants)
    told = [rung for rung in results.rungs if rung.peak is not None and rung.final is not None]
    if not told:
        return
    figure = grid_of_panels(
        ["step [ms]"] * 2, ["greatest distance on the way [m]", "distance at the end [m]"], [True] * 2, columns=2
    )
    for k, number in enumerate(("peak", "final")):
        steps = sorted({1e3 * rung.step for rung in told})
        ticks = {"tickvals": steps, "ticktext": [f"{step:g}" for step in steps]}
        update_panel(figure, k, x=ticks, y={"type": "log", "dtick": 1})
        for label in dict.fromkeys(rung.engine for rung in told):
            mine = [rung for rung in told if rung.engine == label]
            figure.add_scatter(
                x=[1e3 * rung.step for rung in mine], y=[max(getattr(rung, number), 1e-16) for rung in mine],
                name=titles[label], legendgroup=label, showlegend=k == 0, mode="lines+markers",
                line={"color": colors[label], "width": 1.6}, **panel(k),
            )  # fmt: skip
    text = "Distance of the root from where it is at the engine's own finest step; runs that fell are not shown."
    yield Drawing("halving", text, figure)


def _cost(results: Results) -> Iterator[Drawing]:
    if not results.costs:
        return
    titles, colors = results.titles, colors_of(results.contestants)
    figure = theme.new_figure(120 + 42 * len(results.costs), margin={"l": 170})
    rows = results.costs[::-1]
    figure.add_bar(
        x=[1e6 * row.per_step for row in rows],
        y=[titles[row.engine] for row in rows],
        orientation="h",
        marker={"color": [colors[row.engine] for row in rows]},
        error_x={
            "type": "data",
            "symmetric": False,
            "array": [1e6 * (row.between[1] - row.per_step) for row in rows],
            "arrayminus": [1e6 * (row.per_step - row.between[0]) for row in rows],
        },
        showlegend=False,
    )
    figure.add_scatter(
        x=[1e6 * row.between[1] for row in rows], y=[titles[row.engine] for row in rows], mode="text", showlegend=False,
        text=[f"  {1e6 * row.per_step:.3g} µs, × {row.ratio:.3g}" for row in rows], textposition="middle right",
        cliponaxis=False, hoverinfo="skip",
    )  # fmt: skip
    figure.update_layout(xaxis={"title": {"text": "time of a step [µs]"}, "rangemode": "tozero"})
    yield Drawing("cost", "Time of a step: median and its interval; and how many times the first engine's.", figure)


def _precision(results: Results) -> Iterator[Drawing]:
    if results.precision is None:
        return
    titles, colors = results.titles, colors_of(results.contestants)
    figure = grid_of_panels(
        ["engine time of a simulated second [ms]", "step [ms]"], ["error [m]"] * 2, [True] * 2, columns=2
    )
    for k in range(2):
        update_panel(figure, k, y={"type": "log", "dtick": 2})
        for curve in results.precision.curves:
            if not curve.measurements:
                continue
            x = [1e3 * (m.seconds if k == 0 else m.rung.step) for m in curve.measurements]
            dash = "dash" if is_smooth(curve.method, results.contestants) else "solid"
            figure.add_scatter(
                x=x, y=[m.error for m in curve.measurements], name=titles[curve.method], legendgroup=curve.method,
                showlegend=k == 0, mode="lines+markers",
                line={"color": colors[curve.method], "width": 1.6, "dash": dash}, **panel(k),
            )  # fmt: skip
    text = "Error of a second of free flight against what it costs, and against the step; dashed: for smooth motion."
    yield Drawing("precision", text, figure)

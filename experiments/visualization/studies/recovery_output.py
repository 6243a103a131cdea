"""Output of optimal recovery: lines on the terminal, a table, a map, and the strategy of each direction."""

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from biped.dynamics import forward_kinematics
from biped.model import Model
from biped.model.geometry import quaternion_matrix
from biped.recovery.plan import RecoveryPlan
from biped.runs.run import Run
from contact.arrays import Floats
from experiments.studies.limits import STANDING_LIMITS
from experiments.studies.recovery.study import PLAN, RUN, folder_of
from experiments.studies.threshold.directions import direction_text
from experiments.visualization.document import Document
from experiments.visualization.figures import style
from experiments.visualization.figures.writing import styled, write_figure
from experiments.visualization.pages import Prose, Section, Table
from experiments.visualization.panels.panel import Axis, Panel, Points, closed
from experiments.visualization.panels.with_matplotlib import write_panels
from experiments.visualization.studies.push_map_figure import LIMIT_DASHES, OPTIMAL

#: The name of the table and of the figure in the folder, and of a direction's picture in its own.
NAME, STRATEGY = "recovery", "strategy"
LAW = "whole-body law"
#: Directions from which on the curves of a map are closed.
LEAST_AROUND = 4
#: [s] from the push at which the body is drawn.
MOMENTS = (0.0, 0.1, 0.2, 0.3, 0.4, 0.55, 0.7, 0.9, 1.2, 2.0)
#: [m] between two of them.
APART = 0.75


def document(table: pd.DataFrame, folder: Path, who: str) -> Document:
    """Return a row for each direction, and the share of it that the whole-body law reaches."""
    headings = ("direction", "found [N·s]", "law [N·s]", "of it", "pendulum [N·s]", "found over it",
                "with hips [N·s]", "foot moved [mm]", "slid [mm]", "in the air [ms]")  # fmt: skip
    rows = tuple(
        (
            direction_text(row["direction"]), f"{row['impulse']:.4g}", f"{row['law']:.4g}",
            f"{row['share_of_law']:.0%}", f"{row['limit']:.4g}", f"{row['share']:.0%}", f"{row['limit_hips']:.4g}",
            f"{1e3 * row['moved']:.1f}", f"{1e3 * row['slid']:.1f}", f"{1e3 * row['in_air']:.0f}",
        )
        for row in table.to_dict("records")
    )  # fmt: skip
    least, most = table["share_of_law"].min(), table["share_of_law"].max()
    lead = Prose(f"The whole-body law reaches {least:.0%} to {most:.0%} of the largest push found.", "good")
    title = "Largest push found from which torques within limits recover without a step"
    section = Section("recovery", title, blocks=(Table("", headings, rows, fold=False),))
    drawings: dict[str, Callable[[Path], list[Path]]] = {f"{NAME}.png": partial(draw_recoveries, table, who=who)}
    for azimuth in table["direction"]:
        file = (folder_of(folder, float(azimuth)) / f"{STRATEGY}.png").relative_to(folder)
        drawings[str(file)] = partial(draw_strategy, who=who)
    return Document([lead], [section], table, {f"{NAME}.csv": table}, drawings)


def draw_recoveries(table: pd.DataFrame, path: Path, who: str) -> list[Path]:
    """Draw impulses over the direction, seen from above with the front at the top; the files."""

    def around(name: str) -> Floats:
        return closed(table[name]) if len(table) >= LEAST_AROUND else table[name].to_numpy(dtype=float)

    angles = around("direction")
    items = [Points(angles, around(name), label, style.BLACK, dash=LIMIT_DASHES[label], width=1.1)
             for name, label in STANDING_LIMITS.items()]  # fmt: skip
    items += [
        Points(angles, around("impulse"), OPTIMAL, style.RED, "circle", 3.0, dash="solid", width=1.8),
        Points(angles, around("law"), LAW, style.BLUE, "circle", 3.0, dash="solid"),
    ]
    title = f"Largest push without a step [N·s]: {who}"
    panel = Panel(tuple(items), y=Axis(low=0.0), title=title, polar=True, legend="around", columns=2)
    return write_panels(path, panel, (6.4, 6.2))


def draw_strategy(path: Path, who: str) -> list[Path]:
    """How one push is recovered from: the body at some moments, and what moves and pushes, over time."""
    plan, run = RecoveryPlan.load(path.parent / PLAN), Run.load(path.parent / RUN)
    model = run.state.model
    azimuth = float(plan.facts["azimuth"])
    along = np.cos(azimuth) * np.asarray(model.facing) + np.sin(azimuth) * np.asarray(model.left)
    with styled():
        figure = Figure(figsize=(10.4, 6.4))
        parts: Any = figure.subfigures(2, 1)
        upper, lower = parts
        _draw_bodies(upper.subplots(), model, run, plan, along)
        _draw_course(lower.subplots(1, 3), model, run, plan, along)
        degrees = np.degrees(azimuth) % 360.0
        title = f"{who}, pushed by {plan.facts['impulse']:.3g} N·s towards {degrees:g}°"
        figure.suptitle(title, x=0.01, ha="left", fontsize=11, fontweight="bold")
        return write_figure(figure, path)


def _draw_bodies(axes: Axes, model: Model, run: Run, plan: RecoveryPlan, along: Floats) -> None:
    """Seen from the side of the push, at some moments, beside one another."""
    columns = [f"{model.bodies[0].joint.name}_{part}" for part in ("x", "y", "z", "qw", "qx", "qy", "qz")]
    columns += [f"angle_{joint}" for joint in model.joint_names]
    time, rows = run.frame["time"].to_numpy(), run.frame[columns].to_numpy()
    for place, moment in enumerate(MOMENTS):
        q = rows[int(np.argmin(np.abs(time - plan.begins - moment)))]
        at = APART * place
        for line, color, width in _lines(model, q):
            axes.plot(at + line @ along, line[:, 2], "-", color=color, linewidth=width, solid_capstyle="round")
        axes.text(at, -0.16, f"{moment:g} s", ha="center", va="top", fontsize=8)
    axes.axhline(0.0, color=style.GREY, linewidth=0.8)
    axes.set_aspect("equal")
    axes.set_xlim(-0.5, APART * (len(MOMENTS) - 1) + 0.5)
    axes.set_ylim(-0.3, 1.85)
    axes.axis("off")


def _lines(model: Model, q: Floats) -> list[tuple[Floats, str, float]]:
    """Polylines (k, 3) of legs and trunk, with colour and width."""
    at = forward_kinematics(model, q)
    turns = [quaternion_matrix(tuple(row)) for row in at.orientation]
    tree = model.tree
    joints = np.array([at.position[p] + turns[p] @ tree.joint_offset[i] if p >= 0 else at.position[i]
                       for i, p in enumerate(tree.parent)])  # fmt: skip
    found: list[tuple[Floats, str, float]] = []
    points = {p.name: at.position[0] + turns[0] @ np.asarray(p.position) for p in model.body_points
              if p.body == model.root.name}  # fmt: skip
    outline = [points[name] for name in ("left_hip", "left_shoulder", "left_head", "head_top", "right_head",
                                         "right_shoulder", "right_hip", "left_hip") if name in points]  # fmt: skip
    sides = [points[name] for name in ("left_groin", "left_chest", "head_front", "head_top", "head_back", "left_back",
                                       "left_buttock", "left_groin") if name in points]  # fmt: skip
    for leg, color in (("right", style.SKY), ("left", style.BLUE)):
        chain = [joints[model.body_index(b.name)] for b in model.bodies if b.name.startswith(f"{leg}_")]
        found.append((np.array(chain), color, 2.2))
        foot = [p for p, name in zip(at.contact, model.contact_names, strict=True) if name.startswith(leg)]
        if foot:
            sole = np.array(foot)
            order = np.argsort(np.arctan2(*(sole - sole.mean(axis=0))[:, :2].T))
            found.append((sole[np.append(order, order[0])], color, 1.6))
    found += [(np.array(part), style.BLACK, 1.2) for part in (outline, sides) if part]
    return found


def _draw_course(axes: Any, model: Model, run: Run, plan: RecoveryPlan, along: Floats) -> None:
    frame = run.frame[run.frame["time"] >= plan.begins - 0.1]
    time = frame["time"].to_numpy() - plan.begins
    mass, gravity = float(model.total_mass), -float(model.tree.gravity[2])
    com = frame[["com_x", "com_y", "com_z"]].to_numpy()
    rate = np.sqrt(gravity / com[0, 2])
    momentum = frame[["momentum_px", "momentum_py", "momentum_pz"]].to_numpy()
    flat = com @ along
    divergent = flat + momentum @ along / (mass * rate)
    points = model.contact_names
    forces = frame[[f"contact_{p}_fz" for p in points]].to_numpy()
    places = np.stack([frame[[f"contact_{p}_x", f"contact_{p}_y"]].to_numpy() @ along[:2] for p in points], axis=1)
    loaded = forces.sum(axis=1) > 1.0
    pressure = np.full(len(time), np.nan)
    pressure[loaded] = (forces * places)[loaded].sum(axis=1) / forces[loaded].sum(axis=1)
    origin = flat[0]
    axes[0].axhspan(places[0].min() - origin, places[0].max() - origin, color="#D9D9D9", label="soles", linewidth=0)
    for values, color, label in ((divergent, style.RED, "divergent component"), (flat, style.BLACK, "centre of mass"),
                                 (pressure, style.BLUE, "centre of pressure")):  # fmt: skip
        axes[0].plot(time, values - origin, color=color, label=label, linewidth=1.2)
    axes[0].set_ylabel("along the push [m]")
    axis = np.cross([0.0, 0.0, 1.0], along)
    spin = frame[["momentum_lx", "momentum_ly", "momentum_lz"]].to_numpy() @ axis
    axes[1].plot(time, spin, color=style.PURPLE, label="angular momentum [kg·m²/s]")
    axes[1].plot(time, 100.0 * (com[:, 2] - com[0, 2]), color=style.GREEN, label="height of the centre of mass [cm]")
    axes[1].axhline(0.0, color=style.GREY, linewidth=0.8)
    for kind, color in zip(("hip_pitch", "hip_roll", "knee_pitch", "ankle_pitch", "ankle_roll"), style.LINES,
                           strict=False):  # fmt: skip
        names = [name for name in model.joint_names if name.endswith(kind)]
        used = np.max([np.abs(frame[f"torque_{n}"]) / plan.high[model.joint_names.index(n)] for n in names], axis=0)
        axes[2].plot(time, used, color=color, label=kind.replace("_", " "), linewidth=1.0)
    axes[2].set_ylabel("greatest torque over its limit")
    axes[2].set_ylim(0.0, None)
    for panel in axes:
        panel.axvline(plan.ends - plan.begins, color=style.GREY, linewidth=0.8, linestyle=":")
        panel.set_xlim(-0.1, 2.2)
        panel.set_xlabel("time from the push [s]")
        panel.legend(loc="best", fontsize=7)

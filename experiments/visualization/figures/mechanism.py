"""Drawings of a mechanism (links, joints, masses, constraints, springs) in a plane or in space, and its energy."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.figure import Figure

from contact.arrays import Floats
from experiments.visualization.look import style
from experiments.visualization.look.writing import styled, write_figure
from formulations.mechanism import Mechanism, Motion
from formulations.mechanism.drawing import Picture, frames_named, picture_of, poses_at

#: Largest spread across a plane / size of a mechanism that is drawn in the plane.
FLAT = 1e-6
_LINK, _GROUND = "#5C6670", "#A7AEB6"
#: [points] size of the heaviest mass.
_MASS = 13.0


def plot_mechanism(mechanism: Mechanism, q: Any = None, *, names: bool = True) -> Figure:
    """Draw a mechanism in a configuration; return the figure.

    A mechanism in a plane of two world axes is drawn in two dimensions, others in three. Links are lines from frame
    to frame, lighter if fixed to the ground; hinges are circles, sliding joints squares, masses disks. A ring marks a
    frame on which a constraint acts. Rods and wires are dashed, springs dotted.

    Args:
        mechanism: mechanism to draw.
        q: configuration, as for ``Mechanism.configuration``; None: all coordinates are zero.
        names: whether each frame is labelled with its name.

    Raises:
        MechanismError: ``q`` is not a configuration of the mechanism.
    """
    picture, places = picture_of(mechanism), np.vstack([poses_at(mechanism, q)[:, :3, 3], np.zeros(3)])
    seen = _plane(places)
    figure = Figure(figsize=(6.0, 5.0))
    axes = figure.add_subplot(projection=None if len(seen) == 2 else "3d")
    draw = _Drawing(axes, places[:, list(seen)], picture)
    draw.links()
    draw.between(frames_named(mechanism, mechanism.potentials), ":", style.GREEN)
    draw.between([pair for pair in picture.held if len(pair) == 2], "--", style.ORANGE)
    draw.joints()
    draw.masses()
    draw.held()
    if names:
        draw.names()
    _finish(axes, seen, mechanism.name)
    return figure


def draw_motion(motion: Motion, folder: Path) -> list[Path]:
    """Write figures of the mechanism at the start of a motion and of its energy over time; return the files."""
    with styled():
        picture = plot_mechanism(motion.mechanism, motion.q[0])
        return [
            *write_figure(picture, folder / "mechanism.png"),
            *write_figure(plot_energy(motion), folder / "energy.png"),
        ]


def plot_energy(motion: Motion) -> Figure:
    """Plot kinetic, potential and total energy of a motion [J], and the change of the total minus the forces' work.

    The potential energy is relative to the start.
    """
    frame, time = motion.frame, motion.frame["time"]
    figure = Figure(figsize=(7.0, 4.6))
    above, below = figure.subplots(2, sharex=True, height_ratios=(2, 1))
    zero = frame["potential_energy"].iloc[0]
    above.plot(time, frame["kinetic_energy"], color=style.ORANGE, lw=1.0, label="kinetic")
    above.plot(time, frame["potential_energy"] - zero, color=style.GREEN, lw=1.0, label="potential − start")
    above.plot(time, frame["energy"] - zero, color=style.BLUE, label="total")
    above.set_ylabel("energy [J]")
    above.legend(ncols=3, fontsize="small", loc="lower center", bbox_to_anchor=(0.5, 1.0))
    rest = frame["energy"] - frame["work"]
    below.plot(time, rest - rest.iloc[0], color=style.BLUE, lw=0.9)
    below.set_ylabel("change\n− work [J]")
    below.set_xlabel("time [s]")
    return figure


class _Drawing:
    """Lines and marks at positions (frames + 1, 2 or 3) [m]; the last one is the world's origin."""

    def __init__(self, axes: Any, places: Floats, picture: Picture) -> None:
        self.axes, self.places, self.picture = axes, places, picture

    def _line(self, rows: Sequence[int], **looks: Any) -> None:
        self.axes.plot(*self.places[list(rows)].T, **looks)

    def links(self) -> None:
        for link in self.picture.links:
            ground = link.body < 0
            self._line(
                (link.first, link.second), color=_GROUND if ground else _LINK, lw=1.2 if ground else 2.6, zorder=1
            )
        for before, after in self.picture.slides:
            self._line((before, after), color=_LINK, lw=1.2, zorder=1)

    def between(self, groups: Sequence[tuple[int, ...]], dashes: str, color: str) -> None:
        for rows in groups:
            if len(rows) == 2:
                self._line(rows, color=color, ls=dashes, lw=1.4, zorder=2)

    def joints(self) -> None:
        for i, node in enumerate(self.picture.nodes):
            if node.frame.coordinate is not None:
                mark = "o" if node.frame.is_rotation else "s"
                edge = style.PURPLE if node.frame.is_kinematic else "#333a42"
                self._line((i,), marker=mark, ms=5.5, mfc="white", mec=edge, mew=1.3, ls="", zorder=4)

    def masses(self) -> None:
        for i, node in enumerate(self.picture.nodes):
            if node.frame.mass is not None and node.frame.mass[0] > 0.0:
                size = _MASS * float(np.cbrt(node.frame.mass[0] / self.picture.heaviest))
                self._line((i,), marker="o", ms=max(size, 4.0), color=style.BLUE, ls="", zorder=3)

    def held(self) -> None:
        for row in sorted({row for rows in self.picture.held for row in rows}):
            self._line((row,), marker="o", ms=12.0, mfc="none", mec=style.ORANGE, mew=1.6, ls="", zorder=5)

    def names(self) -> None:
        named: dict[tuple[float, ...], list[str]] = {}
        for i, node in enumerate(self.picture.nodes):
            if node.frame.name:
                named.setdefault(tuple(np.round(self.places[i], 9)), []).append(node.frame.name)
        for place, names in named.items():
            if len(place) == 2:
                self.axes.annotate(", ".join(names), place, xytext=(6, 5), textcoords="offset points", fontsize="small")
            else:
                self.axes.text(*place, f" {', '.join(names)}", fontsize="small")


def _plane(places: Floats) -> tuple[int, ...]:
    """Return the two axes of the plane that contains all positions, z upwards, or all three axes if there is none."""
    spread = np.ptp(places, axis=0)
    flat = [axis for axis in (1, 0, 2) if spread[axis] <= FLAT * max(spread.max(), 1e-12)]
    if not flat:
        return 0, 1, 2
    across = flat[0]
    return tuple(axis for axis in range(3) if axis != across)


def _finish(axes: Any, seen: Sequence[int], title: str) -> None:
    labels = [f"{'xyz'[axis]} [m]" for axis in seen]
    for name, label in zip("xyz", labels, strict=False):
        getattr(axes, f"set_{name}label")(label)
    axes.set_aspect("equal")
    axes.margins(0.12)
    axes.set_title(title)

"""Files and page of a linearization, and animations of closed-loop modes with enlarged amplitudes."""

from collections.abc import Sequence
from dataclasses import Field, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter

from biped.derivatives.linearization import GainSensitivity, Linearization
from biped.derivatives.linearization.coordinates import displaced
from biped.dynamics import forward_kinematics
from biped.inputs.extras import has
from biped.model import Model
from biped.model.geometry import quaternion_matrix
from biped.runs.state import State
from contact.arrays import Floats
from experiments.visualization.document import Document, print_document
from experiments.visualization.look.style import BLUE, GREY, RED
from experiments.visualization.look.writing import styled, write_figure
from experiments.visualization.pages import Page, Prose, Section, Table
from experiments.visualization.pages.page import write_page
from experiments.visualization.viewer.scenery import scenery_of
from experiments.visualization.viewer.snapshot import Snapshot
from experiments.visualization.viewer.trajectory import PoseTrajectory, snapshot_of

#: [rad] and [m] largest rotation and largest displacement in the animation of a mode.
WIDEST_TURN, WIDEST_MOVE = 0.25, 0.15
#: Duration of an animation in time constants of its mode, and its number of rows.
CONSTANTS, ROWS = 4.0, 120
#: [s] Longest animation, for modes that hardly change.
LONGEST = 10.0
FIGURE, PAGE = "linearization", "linearization.html"


@dataclass(frozen=True)
class MovingMode:
    """Animation of a mode. A decaying mode begins at its largest amplitude, a growing mode ends at it."""

    name: str
    trajectory: PoseTrajectory
    verdict: str  # description of the mode


def shape(system: Linearization, number: int) -> tuple[Floats, Floats, complex]:
    """Return real and imaginary part (nv,) [rad, m] of a mode's enlarged displacements, and its complex rate [1/s]."""
    model, mode = system.model, system.mode_list[number]
    values, right, _ = system.eigenvectors
    k = int(np.argmin(np.abs(values - mode.eigenvalue)))
    displacements = np.zeros(len(system.states), dtype=np.complex128)
    displacements[list(system.kept)] = right[:, k]
    part = displacements[: model.nv]
    turns = np.array([unit == "rad" for unit in system.state_units[: model.nv]])
    part = part * np.exp(-1j * np.angle(part[np.argmax(np.abs(part))]))  # start at the largest amplitude
    sizes = [np.abs(part[turns]).max(initial=0.0) / WIDEST_TURN, np.abs(part[~turns]).max(initial=0.0) / WIDEST_MOVE]
    part = part / max(*sizes, 1e-300)
    return part.real.copy(), part.imag.copy(), mode.rate


def moving_mode(system: Linearization, state: State, number: int) -> MovingMode:
    """Return the animation of a mode about a state.

    Args:
        system: linearization at the state.
        state: state that the displacements are added to.
        number: index of the mode; 0 is the slowest mode.
    """
    real, imaginary, rate = shape(system, number)
    span = min(CONSTANTS / abs(rate.real), LONGEST) if rate.real else LONGEST
    times = np.linspace(0.0, span, ROWS)
    rows = []
    for t in times:
        turned = np.exp(1j * rate.imag * t + rate.real * (t if rate.real < 0.0 else t - span))
        there = state.copy()
        there.arrays.q[:] = displaced(system.model, state.q, real * turned.real - imaginary * turned.imag)
        rows.append(snapshot_of(there))
    trajectory = PoseTrajectory(system.model, scenery_of(system.model, ()), _stacked(rows, times))
    return MovingMode(f"mode {number + 1}", trajectory, f"{system.mode_list[number].words} (exaggerated)")


def _stacked(rows: list[Snapshot], times: Floats) -> Snapshot:

    def stacked(item: Field[Any], *values: Any) -> Any:
        if item.name != "support":
            return np.array(values)
        polygons = np.empty(len(values), dtype=object)  # numbers of corners differ
        polygons[:] = values
        return polygons

    return replace(Snapshot.of_each(stacked, *rows), time=times)  # type: ignore[arg-type]  # each row is a Snapshot


def write_modes_figure(system: Linearization, state: State, path: Path) -> list[Path]:
    """Write a figure of the eigenvalues and of the slowest mode's shape; return the files.

    Raises:
        OSError: a file cannot be written.
    """
    with styled():
        figure = Figure(figsize=(7.0, 3.6))
        plane, body = figure.subplots(1, 2, width_ratios=(4, 3))
        _draw_plane(system, plane)
        _draw_shape(system, state, body)
    return write_figure(figure, path, always=("png",))


def _draw_plane(system: Linearization, axes: Axes) -> None:
    """Plot the rates s = ln λ / T of all modes; modes to the right of zero grow."""
    values = system.eigenvalues
    rates = np.log(values[np.abs(values) > 0.0]) / system.period
    slow = system.mode_list[0].rate
    axes.axvline(0.0, color=GREY, linewidth=0.8)
    axes.plot(rates.real, rates.imag / (2.0 * np.pi), "x", color=BLUE)
    axes.plot(
        [slow.real] * 2, [slow.imag / (2.0 * np.pi), -slow.imag / (2.0 * np.pi)], "o", color=RED, fillstyle="none"
    )
    axes.set_xscale("symlog", linthresh=1.0)
    axes.set_yscale("symlog", linthresh=1.0)
    for axis in (axes.xaxis, axes.yaxis):
        axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}".replace("-", "−")))
    axes.set_xlabel("growth [1/s]")
    axes.set_ylabel("frequency [Hz]")
    axes.set_title("Eigenvalues")


def _draw_shape(system: Linearization, state: State, axes: Axes) -> None:
    """Draw the slowest mode in the plane, x-z or y-z, in which it moves more."""
    model, (real, _, _) = system.model, shape(system, 0)
    still = _lines(model, state.q)
    moved = [_lines(model, displaced(model, state.q, sign * real)) for sign in (1.0, -1.0)]
    across = np.ptp(np.array([[line.mean(axis=0) for line in lines] for lines in moved]), axis=0).sum(axis=0)
    axis = 0 if across[0] >= across[1] else 1
    for lines, color, width in ((moved[1], RED, 0.8), (moved[0], RED, 2.0), (still, GREY, 2.0)):
        for line in lines:
            axes.plot(line[:, axis], line[:, 2], color=color, linewidth=width, solid_capstyle="round")
    axes.set_aspect("equal", adjustable="datalim")
    axes.set_xlabel(f"{'xy'[axis]} [m]")
    axes.set_ylabel("z [m]")
    axes.set_title("Slowest mode, exaggerated")


def _lines(model: Model, q: Floats) -> list[Floats]:
    """Return lines from each body's joint to its child joints and contact points, and to the root's highest point."""
    motion, tree = forward_kinematics(model, q), model.tree
    position, rotation = (
        np.asarray(motion.position),
        [np.asarray(quaternion_matrix(turn)) for turn in motion.orientation],
    )
    joints = [position[i] - rotation[i] @ tree.com_offset[i] for i in range(model.n)]
    joints[0] = position[0]
    segments = []
    for i in range(model.n):
        ends = [joints[j] for j in range(i + 1, model.n) if tree.parent[j] == i]
        ends += [motion.contact[c] for c in range(model.nc) if tree.contact_body[c] == i]
        named = [point for point in model.body_points if model.body_index(point.body) == i]
        if i == 0 and named:
            top = max(named, key=lambda point: point.position[2])
            ends.append(position[0] + rotation[0] @ np.array(top.position))
        segments += [np.array([joints[i], end]) for end in ends]
    return segments


#: Most kinks (points where the map is not smooth) in the table.
KINKS = 10


def write_linearization(
    system: Linearization, state: State, gains: Sequence[GainSensitivity], folder: Path, title: str
) -> tuple[Path, ...]:
    """Print the findings; write NumPy, MATLAB and JSON files, table and figure of the modes, and, with jinja2, a page.

    Raises:
        OSError: a file cannot be written.
    """
    files = [system.save(folder / f"linearization.{ending}") for ending in ("npz", "mat", "json")]
    table = folder / "modes.csv"
    system.table().to_csv(table, index=False)
    figures = write_modes_figure(system, state, folder / FIGURE) if system.mode_list else []
    document = linearization_document(system, gains)
    print_document(document)
    page = Page(f"Linearization: {title}", repr(system).splitlines()[0], tuple(document.lead), tuple(document.sections))
    return (*files, table, *figures, *([write_page(page, folder / PAGE)] if has("jinja2") else []))


def linearization_document(system: Linearization, gains: Sequence[GainSensitivity]) -> Document:
    """Return a document: the modes, the effects of the gains on the slowest mode, and the nearest kinks of the map."""
    stable = "small deviations decay" if system.is_stable else "small deviations grow"
    lost = len(system.kept) - system.controllability_rank
    lead = (
        Prose(
            f"{stable.capitalize()}: largest |λ| {system.spectral_radius:.6f} over a period of {system.period:g} s, "
            f"margin {system.margin:.3g}."
        ),
        Prose(
            f"{len(system.states)} states, {len(system.kept)} of them dynamic; {len(system.inputs)} inputs, which "
            + ("control all modes." if lost == 0 else f"control all modes but {lost}.")
        ),
        Prose(f"In one period, each state drifts by at most {abs(system.moved).max():.3g} (SI units, angles in rad)."),
    )
    headings = ("λ", "|λ|", "decay [1/s]", "frequency [Hz]", "damping ratio", "main motion")
    rows = tuple(
        (
            f"{mode.eigenvalue:.6f}", f"{mode.size:.6f}", f"{mode.decay:.4g}", f"{mode.frequency:.4g}",
            f"{mode.damping:.3g}", mode.words,
        )
        for mode in system.mode_list
    )  # fmt: skip
    sections = [Section("modes", "Modes", "slowest first", blocks=(Table("", headings, rows, fold=False),))]
    if gains:
        heads = ("gain", "value", "∂|λ|/∂gain", "∂decay/∂gain", "change of decay for gain + 1 % [1/s]")
        lines = tuple(
            (g.name, f"{g.value:g}", f"{g.slope:.4g}", f"{g.decay:.4g}", f"{0.01 * g.value * g.decay:+.3g}")
            for g in sorted(gains, key=lambda g: -abs(g.decay * g.value))
        )
        block = Table("", heads, lines, fold=False)
        sections.append(Section("gains", "Effect of the gains on the slowest mode", blocks=(block,)))
    names = ("point or joint", "event", "distance", "time step")
    kinks = tuple((k.point, k.what, f"{k.value:+.4g} {k.unit}", str(k.step)) for k in system.kinks[:KINKS])
    block = Table("", names, kinks, fold=False)
    sections.append(Section("kinks", "Points where the map is not smooth", blocks=(block,)))
    return Document(lead, sections)

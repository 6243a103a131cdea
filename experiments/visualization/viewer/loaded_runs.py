"""Runs that are shown together."""

import os
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Protocol

import numpy as np

from biped.errors import InputError
from biped.inputs.modules import saved_names
from biped.model import Model
from biped.runs.row_layout import ESTIMATE
from biped.runs.run import Run
from biped.runs.world import Bodies
from biped.simulation.collapse import collapse, has_fallen
from contact.arrays import Floats
from experiments.visualization.panels.panel import Panel
from experiments.visualization.report.run_source import RunSource, run_source
from experiments.visualization.viewer import colors
from experiments.visualization.viewer.camera import FILL
from experiments.visualization.viewer.colors import Color
from experiments.visualization.viewer.model_view import PLATE, ModelView
from experiments.visualization.viewer.plots import measured_plots, plots_of
from experiments.visualization.viewer.scene import ViewerScene
from experiments.visualization.viewer.shapes import Shape, shapes_of
from experiments.visualization.viewer.snapshot import Snapshot
from experiments.visualization.viewer.surfaces import take_meshes
from experiments.visualization.viewer.trajectory import PoseTrajectory, trajectory_of

#: Number of instants at which the extent of a run is evaluated.
INSTANTS = 9
#: Largest factor by which the camera moves away to see all of a run.
FARTHEST = 3.0


class Shown(Protocol):
    """Motion over time that can be shown: a run, or a mode."""

    @property
    def name(self) -> str:
        """Label of the motion."""

    @property
    def trajectory(self) -> PoseTrajectory:
        """Poses over time."""

    @property
    def verdict(self) -> str:
        """Outcome in words."""


@dataclass(frozen=True)
class LoadedRun:
    """Run that is loaded for viewing, with its motion and plots."""

    name: str  # experiment and folder
    run: Run
    trajectory: PoseTrajectory
    measured: tuple[Panel, ...] = ()  # panels of the comparison with a record

    @cached_property
    def plots(self) -> dict[str, Panel]:
        return {plot.title: plot for plot in (*self.measured, *plots_of(self.run))}

    @property
    def times(self) -> Floats:
        """Times (rows,) [s] of plots, which end at the verdict."""
        return self.run.frame["time"].to_numpy(dtype=float)

    @property
    def verdict(self) -> str:
        """Verdict in words, with the time from which the body is limp."""
        limp = "" if self.run.after is None else f"; limp from {self.run.after.frame['time'].iloc[0]:.2f} s on"
        return f"{self.run.verdict_line}{limp}"


def color_of(number: int) -> Color:
    return colors.ghost_color(number - 1) if number else colors.FIRST


def have_ended(runs: Sequence[Shown], moment: float) -> tuple[bool, ...]:
    """Return which runs have ended at a time [s]; they stand still while others continue."""
    return tuple(moment > loaded.trajectory.ends + 1e-9 for loaded in runs)


def add_runs(scene: ViewerScene, runs: Sequence[Shown], apart: float = 0.0) -> list[ModelView]:
    """Add the models of some runs: the first is solid, the others are ghosts, or solid at distances ``apart`` [m]."""
    return [
        scene.add(
            loaded.trajectory.model,
            f"run_{k}",
            ghost=k > 0 and apart == 0.0,
            color=colors.ghost_color(k - 1) if k else None,
            scenery=loaded.trajectory.scenery,
            offset=(0.0, apart * k, 0.0),
            plate=min(PLATE, abs(apart)) if apart else PLATE,
        )
        for k, loaded in enumerate(runs)
    ]


def extent_of(runs: Sequence[Shown], apart: float = 0.0) -> tuple[Floats, float]:
    """Return the middle [m] of the scene of some runs, and half of its diagonal."""
    corners = []
    for k, loaded in enumerate(runs):
        trajectory, shapes = loaded.trajectory, shapes_of(loaded.trajectory.model)
        for time in np.linspace(trajectory.begins, trajectory.ends, INSTANTS):
            aside = np.array([0.0, apart * k, 0.0])
            corners += [aside + corner for corner in corners_of(shapes, trajectory.at(float(time)))]
    return _middle_and_reach(corners)


def extent_at(model: Model | Bodies, snapshot: Snapshot) -> tuple[Floats, float]:
    """Return the middle [m] of a model at one instant, and half of its diagonal."""
    return _middle_and_reach(corners_of(shapes_of(model), snapshot))


def corners_of(shapes: Sequence[Shape], snapshot: Snapshot) -> list[Floats]:
    """Return two opposite corners (3,) [m] of the box around each shape."""
    surfaces = [snapshot.point_of(shape.body, shape.mesh.vertices) for shape in shapes]
    return [corner for surface in surfaces for corner in (surface.min(axis=0), surface.max(axis=0))]


def _middle_and_reach(corners: Sequence[Floats]) -> tuple[Floats, float]:
    low, high = np.min(corners, axis=0), np.max(corners, axis=0)
    return (low + high) / 2.0, min(float(np.linalg.norm(high - low)) / 2.0, FARTHEST * FILL)


@saved_names()
def load_runs(
    folders: Sequence[str | Path], after: float | None = None, record: str | Path | None = None
) -> list[LoadedRun]:
    """Load the runs in some folders; after a fall they continue limp for ``after`` [s]; None: as saved.

    A single run with a state estimator is followed by the estimated motion.

    A ``record``, if given, is compared with the first run; see ``paired_columns`` for its format.

    Raises:
        InputError: a folder holds no run; the experiment of a run to continue is unknown; the record does not fit.
        OSError: the record cannot be read.
    """
    sources = [run_source(folder) for folder in folders]
    runs: list[LoadedRun] = []
    for source, folder in zip(sources, _names(folders), strict=True):
        name, disturbances = folder, None
        if after is not None:
            continue_fall(source, after)
        if source.run.world is None:
            take_meshes(source.run.state.model, source.folder)
        if source.experiment is not None:
            # The experiment has forces that follow a signal exactly, unlike the saved run.
            disturbances = source.experiment.build(source.changes).disturbances
            if source.experiment.name != Path(folder).name:
                name = f"{source.experiment.name} ({folder})"
        measured = () if record is None or runs else tuple(measured_plots(source.run, record))
        runs.append(LoadedRun(name, source.run, trajectory_of(source.run, disturbances), measured))
    estimated = estimated_run(runs[0].run) if len(runs) == 1 else None
    return runs if estimated is None else [*runs, LoadedRun("estimate", estimated, trajectory_of(estimated))]


def estimated_run(run: Run) -> Run | None:
    """Return a run with the configuration that the state estimator believed in; None without an estimator."""
    frame = run.frame
    names = [name for name in frame.columns if f"{ESTIMATE}_{name}" in frame.columns]
    if not names:
        return None
    return replace(run, frame=frame.assign(**{name: frame[f"{ESTIMATE}_{name}"] for name in names}), after=None)


def continue_fall(source: RunSource, duration: float) -> None:
    """Continue a run after its fall, limp, for a time [s]; a run without a fall is unchanged."""
    if not has_fallen(source.run):
        return
    if source.experiment is None:
        raise InputError(f"{source.folder}: --after needs the run's experiment, which is unknown: {source.unknown}")
    source.run.after = collapse(source.experiment.build(source.changes), duration)


def _names(folders: Sequence[str | Path]) -> list[str]:
    """Return the names of the folders, or their paths if two have the same name."""
    names = [Path(os.path.abspath(folder)).name for folder in folders]
    return names if len(set(names)) == len(names) else [str(folder) for folder in folders]

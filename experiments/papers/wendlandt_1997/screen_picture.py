"""Picture of a run at a time, drawn by the viewer; it needs the viewer's packages and Chromium."""

from contextlib import closing

from matplotlib.figure import Figure

from biped.runs.run import Run
from experiments.visualization.video.pictures import pictures
from experiments.visualization.viewer.camera import camera_at
from experiments.visualization.viewer.chromium import chromium_path
from experiments.visualization.viewer.loaded_runs import LoadedRun, extent_at
from experiments.visualization.viewer.trajectory import trajectory_of

#: Width and height of the picture [pixels].
SIZE = (960, 720)


def picture(run: Run, moment: float) -> Figure:
    """Draw the scene at a time ``moment`` [s] as in the viewer, from behind and the side."""
    loaded = LoadedRun("thrown-block", run, trajectory_of(run))
    middle, reach = extent_at(loaded.trajectory.model, loaded.trajectory.at(moment))
    camera = camera_at("2.0,-2.4,0.6", middle, reach, SIZE)
    with closing(pictures([loaded], [moment], camera, SIZE, str(chromium_path()))) as drawn:
        pixels = next(drawn)
    figure = Figure(figsize=(SIZE[0] / 100.0, SIZE[1] / 100.0), facecolor="white")
    axes = figure.add_axes((0.0, 0.0, 1.0, 1.0))
    axes.imshow(pixels)
    axes.set_axis_off()
    axes.text(0.02, 0.97, f"experiment 2 at {moment:g} s", transform=axes.transAxes, va="top")
    return figure

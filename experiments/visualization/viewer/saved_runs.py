"""Runs in folders, with what it takes to look at them anywhere."""

from importlib.util import find_spec
from pathlib import Path

from biped.runs.run import Run

#: In a run's folder: the meshes of its model.
MESHES = "meshes.npz"


def save_run(run: Run, folder: Path) -> None:
    """Save a run; with the meshes that its model is drawn by, where the extra is installed that reads them.

    Raises:
        OSError: the folder cannot be written.
    """
    run.save(folder)
    (folder / MESHES).unlink(missing_ok=True)  # of the run that was there before
    if run.world is None and run.state.model.visuals and find_spec("trimesh") is not None:
        from experiments.visualization.viewer.surfaces import keep_meshes

        keep_meshes(run.state.model, folder)

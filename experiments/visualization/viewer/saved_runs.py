"""Saved runs with the meshes of their models."""

from importlib.util import find_spec
from pathlib import Path

from biped.runs.run import Run

#: File with a model's meshes, in the run's folder.
MESHES = "meshes.npz"


def save_run(run: Run, folder: Path) -> None:
    """Save a run, with its model's meshes if the package that reads them is installed.

    Raises:
        OSError: the folder cannot be written.
    """
    run.save(folder)
    (folder / MESHES).unlink(missing_ok=True)  # of an earlier run
    if run.world is None and run.state.model.visuals and find_spec("trimesh") is not None:
        from experiments.visualization.viewer.surfaces import keep_meshes

        keep_meshes(run.state.model, folder)

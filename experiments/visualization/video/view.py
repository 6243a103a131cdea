"""Three-dimensional views of runs and models from Python: inline in a notebook, else in the browser."""

import html
import math
import sys
import tempfile
import webbrowser
from dataclasses import dataclass
from pathlib import Path

from numpy.typing import ArrayLike

from biped.errors import InputError
from biped.inputs.extras import need
from biped.inputs.files import replacing
from biped.model import Model
from biped.model.description import model_title
from biped.runs.description import run_title
from biped.runs.run import Run
from biped.runs.state import State
from experiments.visualization.video.frame_schedule import schedule_of
from experiments.visualization.video.replay import replay_page, still_page
from experiments.visualization.viewer.camera import camera_at
from experiments.visualization.viewer.loaded_runs import LoadedRun, extent_at, extent_of
from experiments.visualization.viewer.trajectory import snapshot_of, trajectory_of

#: Packages of the viewer.
PACKAGES = ("viser", "trimesh", "websockets")
#: [1/s] rate at which a run is recorded for its player.
RATE = 60.0
#: [pixels] size of a view in a notebook.
HEIGHT = 480


@dataclass(frozen=True)
class PageView:
    """Page with a three-dimensional view of a run or a model."""

    title: str
    page: str  # complete HTML

    def save(self, file: str | Path) -> Path:
        """Write the page, which any browser shows without a network."""
        path = Path(file)
        with replacing(path) as part:
            part.write_text(self.page, encoding="utf-8")
        return path

    def open(self) -> Path:
        """Open the page in the browser; return its file."""
        folder = Path(tempfile.mkdtemp(prefix="biped-"))
        file = self.save(folder / "view.html")
        if not webbrowser.open(file.as_uri()):
            print(f"no browser was found: open {file}", file=sys.stderr)
        return file

    def __repr__(self) -> str:
        return f"{self.title}; a page of {len(self.page) / 1e6:.1f} MB: .save(file), .open()"

    def _repr_html_(self) -> str:
        page = html.escape(self.page)
        return f'<iframe srcdoc="{page}" style="width:100%;height:{HEIGHT}px;border:0" allowfullscreen></iframe>'


def view_run(run: Run, speed: float) -> PageView:
    """Show a run in the notebook or the browser, ``speed`` times as fast as real time; return the view."""
    need(*PACKAGES)
    if not (math.isfinite(speed) and speed > 0.0):
        raise InputError(f"speed = {speed!r}: it must be a number above zero")
    trajectory = trajectory_of(run)
    runs = [LoadedRun(run.name, run, trajectory)]
    schedule = schedule_of([(trajectory.begins, trajectory.ends)], None, None, RATE, speed)
    camera = camera_at("three-quarter", *extent_of(runs), facing=trajectory.model.facing)
    return shown(PageView(run_title(run), replay_page(runs, schedule, camera, lambda _: None)))


def view_model(model: Model, q: ArrayLike | None) -> PageView:
    """Show a model in a notebook or browser in the configuration ``q`` (nq,); None: home position; return the view."""
    need(*PACKAGES)
    snapshot = snapshot_of(State.at(model, q))
    camera = camera_at("three-quarter", *extent_at(model, snapshot), facing=model.facing)
    return shown(PageView(model_title(model), still_page(model, snapshot, camera)))


def shown(view: PageView) -> PageView:
    """Return the view; open it in the browser unless a notebook shows it."""
    if not in_notebook():
        view.open()
    return view


def in_notebook() -> bool:
    """Return whether a cell's result is shown as HTML: in Jupyter kernels, not in a terminal."""
    shell = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
    return shell is not None and hasattr(shell, "kernel")

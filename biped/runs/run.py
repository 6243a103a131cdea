"""A recorded run: table, events, summary, and final state to continue from; saved and loaded as a folder."""

from __future__ import annotations

import json
import platform
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from biped.control.controller import SetPoint
from biped.disturbances import Load, described
from biped.errors import InputError
from biped.inputs.files import replacing
from biped.inputs.saved import built, finite
from biped.model import Model
from biped.model.archive import load_saved, model_to_json
from biped.presentation import as_html, as_text, shown_by
from biped.runs import trust as checks
from biped.runs.description import run_facts, run_title
from biped.runs.events import event_table, events_summary, table_of
from biped.runs.recording import Recording
from biped.runs.state import State
from biped.runs.summary import Metrics, Summary, summarize
from biped.runs.trust import Check
from biped.runs.verdict import FAILED, INTERRUPTED, UNRELIABLE, verdict_line
from biped.runs.world import WORLD, World

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure

    from biped.presentation import View

TABLE = "run.parquet"
SUMMARY = "summary.json"
STATE = "state.npz"
MODEL = "model.json"
#: Subfolder of a run's folder for the motion after its fall.
AFTER = "after"
#: Version of the columns' names and the summary's keys.
FORMAT = 3
PACKAGES = ("biped-balance", "numpy", "numba", "pandas", "pin")


@dataclass
class Run:
    """A recorded run of a ``Model`` (a kinematic tree) or of another formulation.

    Runs of assemblies and of Lagrangian systems have additional attributes. Their attributes that need a ``Model``, for
    example ``state``, raise InputError.

    Attributes:
        frame: table with one row per recorded time. The units are also in ``frame.attrs["units"]``, which pandas also
            reads from the saved table.
        units: unit by column.
        events: table with one row per event: ``time``, ``kind`` (touch, lift, impact, push), ``subject`` (body or
            contact point); for impacts and pushes the exact impulse [N·s] on the subject in this run; for impacts the
            position [m] and the relative velocity before the impact [m/s].
        summary: summary of the run; ``biped.runs.summary`` documents its keys.
        ended: final ``State`` of a model, or the ``World`` of another formulation.
        set_point: target pose of the root, or None.
        parameters: parameters of the experiment.
        disturbances: attributes of each disturbance of the run.
        after: run of the passive motion after a fall (``biped.simulation.collapse``), or None. It may begin before the
            fall was detected. The summary does not cover it.
    """

    frame: pd.DataFrame
    units: dict[str, str]
    events: pd.DataFrame
    summary: Summary
    ended: State | World
    set_point: SetPoint | None = None
    parameters: dict[str, Any] = field(default_factory=dict)
    disturbances: list[dict[str, Any]] = field(default_factory=list)
    after: Run | None = None

    def __post_init__(self) -> None:
        self.frame.attrs["units"] = self.units

    def __repr__(self) -> str:
        return as_text(run_title(self), run_facts(self))

    def _repr_html_(self) -> str:
        return as_html(run_title(self), run_facts(self))

    @property
    def run(self) -> Run:
        """Run that tools use: this run or, for a mechanism's motion, a run of its tree."""
        return self

    @property
    def state(self) -> State:
        """Final state; ``simulate(..., state=run.state)`` continues from it.

        Raises:
            InputError: the run is not of a ``Model``.
        """
        if isinstance(self.ended, State):
            return self.ended
        raise InputError(f"{self.ended.name!r} is {self.ended.kind}: only runs of a Model (a tree) have a `state`")

    @property
    def world(self) -> World | None:
        """Simulated formulation if it is not a tree, or None."""
        return None if isinstance(self.ended, State) else self.ended

    @property
    def name(self) -> str:
        """Name of the simulated model or formulation."""
        return self.ended.model.name if isinstance(self.ended, State) else self.ended.name

    @property
    def metrics(self) -> Metrics:
        """Metrics of the run and its verdict, by name."""
        return Metrics(self.summary)

    @property
    def verdict_line(self) -> str:
        """Verdict and reason: ``fell: trunk below 0.6 m at 1.92 s``."""
        return verdict_line(self.summary)

    @property
    def trust(self) -> list[Check]:
        """Checks of the run's reliability, with their results."""
        return [Check(**check) for check in self.run.summary["trust"]]

    def add_check(self, check: Check) -> None:
        """Add a check to the run; a failed check makes the run unreliable, unless it failed or was interrupted."""
        self.summary["trust"].append(check.as_json())
        if check.passed == checks.FAILED and self.summary["verdict"] not in (UNRELIABLE, FAILED, INTERRUPTED):
            self.summary |= {"verdict": UNRELIABLE, "reason": check.text}

    @property
    def root(self) -> str:
        """Name of the root joint, with which its columns begin."""
        return self.state.model.root.joint.name

    def by_joint(self, metric: str) -> dict[str, Any]:
        """Return the values of a metric, for example ``peak_torque``, by joint."""
        metrics = self.metrics
        return {joint: metrics[f"{metric}_{joint}"] for joint in self.state.model.joint_names}

    def plot(self, kind: str = "overview") -> Figure:
        """Return a figure of the run; by default the overview.

        Args:
            kind: one of ``experiments.visualization.SHEETS``, for example "joint-torques".

        Raises:
            InputError: the figure is unknown, or the run has nothing to show in it.
        """
        figure: Figure = shown_by("plot_run")(self.run, kind)
        return figure

    def report(self, page: str | Path) -> Path:
        """Write one self-contained page with everything about the run, and interactive figures.

        Args:
            page: file to write, for example "report.html".

        Raises:
            MissingExtraError: plotly or jinja2 is not installed; the message gives the command to install them.
            OSError: the file cannot be written.
        """
        return Path(shown_by("write_run_page")(self.run, page))

    def view(self, speed: float = 1.0) -> View:
        """Show the motion in three dimensions: inline in a notebook, otherwise in the browser.

        Args:
            speed: seconds of the run per second of the view.

        Raises:
            InputError: the run has no rows or no bodies, or the speed is not above zero.
            MissingExtraError: the viewer is not installed; the message gives the command to install it.
        """
        view: View = shown_by("view_run")(self.run, speed)
        return view

    def save(self, folder: str | Path) -> Path:
        """Write ``run.parquet``, ``summary.json``, ``state.npz`` and ``model.json`` into a folder, which is created.

        A run of another formulation than a tree has ``world.json`` instead of the last two. The motion after a fall is
        saved in ``after``.

        Each file is written under a temporary name and then moved, so that a full disk leaves no incomplete file.

        Raises:
            OSError: a file cannot be written; the error names it.
        """
        folder = Path(folder)
        folder.mkdir(parents=True, exist_ok=True)
        with replacing(folder / TABLE) as part:
            self._write_table(part)
        self._save_ended(folder)
        text = json.dumps(finite(self.to_json()), indent=2, allow_nan=False)
        with replacing(folder / SUMMARY) as part:
            part.write_text(text + "\n", encoding="utf-8")
        self._save_after(folder / AFTER)
        return folder

    def _save_ended(self, folder: Path) -> None:
        """Save the final state or formulation; remove files of a run of another kind in the folder."""
        if isinstance(self.ended, World):
            self.ended.save(folder)
        else:
            with replacing(folder / STATE) as part:
                self.ended.save(part)
            with replacing(folder / MODEL) as part:
                part.write_text(model_to_json(self.ended.model) + "\n", encoding="utf-8")
        for name in (WORLD,) if self.world is None else (STATE, MODEL):
            (folder / name).unlink(missing_ok=True)

    def _save_after(self, folder: Path) -> None:
        """Save the motion after a fall; remove files of an earlier run in the folder."""
        for name in (TABLE, SUMMARY, STATE, MODEL, WORLD):
            (folder / name).unlink(missing_ok=True)
        if self.after is not None:
            self.after.save(folder)

    def to_json(self) -> dict[str, Any]:
        """Return the summary with events, parameters and versions, as in ``summary.json``."""
        return self.summary | {
            "format": FORMAT,
            "events": self.summary["events"] | {"logged": self.events.to_dict(orient="records")},
            "set_point": None if self.set_point is None else asdict(self.set_point),
            "parameters": self.parameters,
            "disturbances": self.disturbances,
            "versions": versions(),
        }

    def _write_table(self, path: Path) -> None:
        import pyarrow
        import pyarrow.parquet

        table = pyarrow.Table.from_pandas(self.frame, preserve_index=False)
        units = json.dumps(self.units)
        kept = {"units": units, "PANDAS_ATTRS": f'{{"units": {units}}}'}  # for this package, and as attrs for pandas
        metadata = dict(table.schema.metadata or {}) | {name.encode(): text.encode() for name, text in kept.items()}
        fields = [f.with_metadata({"unit": self.units[f.name]}) for f in table.schema]
        pyarrow.parquet.write_table(table.cast(pyarrow.schema(fields, metadata)), path)

    @classmethod
    def load(cls, folder: str | Path, model: Model | None = None) -> Run:
        """Load a run from a folder written by ``save``.

        Args:
            folder: folder of the run.
            model: model of the run; None: the saved model.

        Raises:
            InputError: the folder has no run, or a run of another model or format version.
            ModelError: the saved model is damaged.
        """
        import pandas as pd  # importing pandas takes a quarter of a command's start

        folder = Path(folder)
        missing = missing_files(folder)
        if missing:
            raise InputError(f"{folder}: there is no run ({', '.join(missing)} missing)")
        try:
            frame = pd.read_parquet(folder / TABLE)
            units = frame.attrs["units"]
            summary = read_summary(folder)
            parameters, disturbances = summary.pop("parameters"), summary.pop("disturbances")
            summary.pop("versions")
            point = built(SetPoint | None, summary.pop("set_point"))
            events = table_of(summary["events"].pop("logged"))
            saved_as = summary.pop("format", 1)
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise InputError(f"{folder}: damaged, or not a run saved by Run.save ({error})") from error
        if saved_as != FORMAT:
            raise InputError(f"{folder}: saved by another version (format {saved_as}, here {FORMAT}); run it again")
        lacks = [name for name in _NEEDED if name not in summary]
        lacks += [name for name in frame.columns if name not in units]
        if lacks:
            raise InputError(f"{folder}: damaged, or not a run saved by Run.save ({', '.join(lacks)} missing)")
        ended: State | World
        if (folder / WORLD).is_file():
            ended = World.load(folder)
        else:
            loaded = load_saved(folder / MODEL) if model is None else _carrying(model, disturbances)
            ended = State.load(folder / STATE, loaded)
        after = cls.load(folder / AFTER) if (folder / AFTER / SUMMARY).is_file() else None
        return cls(frame, units, events, Summary(summary), ended, point, parameters, disturbances, after)


def read_summary(folder: Path) -> dict[str, Any]:
    """Return the contents of a run's ``summary.json``.

    Raises:
        ValueError: the file is damaged.
        OSError: the file cannot be read.
    """
    summary: dict[str, Any] = json.loads((folder / SUMMARY).read_text(encoding="utf-8"))
    return summary


def missing_files(folder: Path) -> list[str]:
    """Return the names of a run's files that are missing in a folder."""
    needed = (TABLE, SUMMARY, *(() if (folder / WORLD).is_file() else (STATE, MODEL)))
    return [name for name in needed if not (folder / name).is_file()]


#: Keys of a summary that tools require.
_NEEDED = ("verdict", "reason", "trust", "events", "simulated_time", "wall_time", "real_time_factor", "metrics")


def _carrying(model: Model, acted: list[dict[str, Any]]) -> Model:
    """Return the model with the loads among recorded disturbances."""
    for disturbance in acted:
        if disturbance["kind"] == "load":
            position, size = tuple(disturbance["position"]), disturbance["size"]
            size = None if size is None else tuple(size)
            model = Load(disturbance["body"], disturbance["mass"], position, size).on(model)
    return model


def assemble(recording: Recording, metrics: Mapping[str, Any], **judged: Any) -> Run:
    """Return a run from a recording, its metrics, and its judgement (``verdict``, ``reason``, ``limit_hit``)."""
    import pandas as pd  # importing pandas takes a quarter of a command's start

    columns, shown = recording.columns, recording.columns.shown
    frame = pd.DataFrame(recording.rows[:, shown], columns=[columns.names[i] for i in shown])
    for name in frame.columns:
        if name.endswith("_mode") or name == "newton_iterations":
            frame[name] = frame[name].astype(np.int64)
    units = {name: columns.units[name] for name in frame.columns}
    events = event_table(recording)
    times = frame["time"]
    simulated = float(times.iloc[-1] - times.iloc[0]) if len(times) else 0.0
    happened = events_summary(recording, events)
    summary = summarize(recording.ending, simulated, recording.counters, happened, metrics, **judged)
    disturbances = [described(disturbance) for disturbance in recording.disturbances]
    return Run(frame, units, events, summary, recording.state, recording.set_point, disturbances=disturbances)


def versions(*more: str) -> dict[str, str]:
    """Return the versions of Python, of the packages on which a run's numbers depend, and of ``more`` packages."""
    known = {"python": platform.python_version(), "machine": platform.machine()}
    for package in (*PACKAGES, *more):
        try:
            known[package] = version(package)
        except PackageNotFoundError:
            known[package] = "not installed"
    return known

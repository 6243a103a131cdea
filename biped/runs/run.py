"""A recorded run: a table, events, a summary, and the state to go on from; saved and loaded as a folder."""

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
from biped.inputs.files import in_place_of
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
#: In a run's folder: the run that goes on after its fall.
AFTER = "after"
#: Of the columns' names and the summary's keys.
FORMAT = 3
PACKAGES = ("biped-balance", "numpy", "numba", "pandas", "pin")


@dataclass
class Run:
    """A recorded run: of a tree, or of another world.

    Motions of assemblies and of Lagrangian systems are runs that give access by names of their own; what needs a tree,
    such as ``state``, is refused of these.

    Attributes:
        frame: one row per recorded time; ``units`` has each column's unit, and so has ``frame.attrs["units"]``, which
            pandas reads from the saved table too.
        units: by column.
        events: one row per event: ``time``, ``kind`` (touch, lift, impact, push), ``subject``; for impacts and
            pushes the exact impulse [N·s] on the subject in this run; for impacts the place [m], and the
            relative velocity before [m/s].
        summary: what the run amounts to; its keys are documented in ``biped.runs.summary``.
        ended: the ``State`` of a tree where it ended, or the ``World`` that is no tree.
        set_point: where the controller wanted the root to be, or None.
        parameters: what the run was made from, as the experiment tells it.
        disturbances: what acted on the model: the attributes of each.
        after: how it went on after its fall, limp (``biped.simulation.collapse``), or None; it may begin before the
            fall was known, and nothing of this run's summary is about it.
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
        """The run that tools take: itself, but of a mechanism's motion, which makes one of its tree."""
        return self

    @property
    def state(self) -> State:
        """Where it ended; ``simulate(..., state=run.state)`` goes on from there.

        Raises:
            InputError: it is a run of no tree.
        """
        if isinstance(self.ended, State):
            return self.ended
        raise InputError(f"{self.ended.name!r} is {self.ended.kind}: this is for runs of models, which are trees")

    @property
    def world(self) -> World | None:
        """What moved, if it is no tree."""
        return None if isinstance(self.ended, State) else self.ended

    @property
    def name(self) -> str:
        """Of what moved."""
        return self.ended.model.name if isinstance(self.ended, State) else self.ended.name

    @property
    def metrics(self) -> Metrics:
        """What ``biped.metrics`` measured and concluded, by name."""
        return Metrics(self.summary)

    @property
    def verdict_line(self) -> str:
        """What came of it and why: ``fell: trunk below 0.6 m at 1.92 s``."""
        return verdict_line(self.summary)

    @property
    def trust(self) -> list[Check]:
        """The checks that the run was put to, each passed or not."""
        return [Check(**check) for check in self.run.summary["trust"]]

    def add_check(self, check: Check) -> None:
        """Put the run to another check; one that failed makes it unreliable, where it is not known to have failed."""
        self.summary["trust"].append(check.as_json())
        if check.passed == checks.FAILED and self.summary["verdict"] not in (UNRELIABLE, FAILED, INTERRUPTED):
            self.summary |= {"verdict": UNRELIABLE, "reason": check.text}

    @property
    def root(self) -> str:
        """Of the root joint, the name that its columns begin with."""
        return self.state.model.root.joint.name

    def by_joint(self, metric: str) -> dict[str, Any]:
        """Such a metric as ``peak_torque`` of each joint."""
        metrics = self.metrics
        return {joint: metrics[f"{metric}_{joint}"] for joint in self.state.model.joint_names}

    def plot(self, kind: str = "overview") -> Figure:
        """A figure of the run; without a name the sheet of what is looked at first.

        Args:
            kind: one of ``experiments.visualization.SHEETS``, such as "joint-torques".

        Raises:
            InputError: there is no such figure, or the run has nothing to show in it.
        """
        figure: Figure = shown_by("plot_run")(self.run, kind)
        return figure

    def report(self, page: str | Path) -> Path:
        """Write one self-contained page with everything about the run, and interactive figures.

        Args:
            page: the file to write, such as "report.html".

        Raises:
            MissingExtraError: plotly or jinja2 is not installed; the message says how to install them.
            OSError: the file cannot be written.
        """
        return Path(shown_by("write_run_page")(self.run, page))

    def view(self, speed: float = 1.0) -> View:
        """See it move in three dimensions: inline in a notebook, else in the browser.

        Args:
            speed: seconds of the run in a second.

        Raises:
            InputError: the run has no rows or no bodies, or the speed is not above zero.
            MissingExtraError: the viewer is not installed; the message says how to install it.
        """
        view: View = shown_by("view_run")(self.run, speed)
        return view

    def save(self, folder: str | Path) -> Path:
        """Write ``run.parquet``, ``summary.json``, ``state.npz`` and ``model.json``; the folder is made if need be.

        A run of no tree has ``world.json`` in the place of the last two.
        A run that went on after its fall has what came then in ``after``.

        Each file is written under another name and then moved, so that a full disk leaves no half of one.

        Raises:
            OSError: a file cannot be written; the error names it.
        """
        folder = Path(folder)
        folder.mkdir(parents=True, exist_ok=True)
        with in_place_of(folder / TABLE) as part:
            self._write_table(part)
        self._save_ended(folder)
        text = json.dumps(finite(self.to_json()), indent=2, allow_nan=False)
        with in_place_of(folder / SUMMARY) as part:
            part.write_text(text + "\n", encoding="utf-8")
        self._save_after(folder / AFTER)
        return folder

    def _save_ended(self, folder: Path) -> None:
        """What moved; nothing stays of a run of another kind that was saved there before."""
        if isinstance(self.ended, World):
            self.ended.save(folder)
        else:
            with in_place_of(folder / STATE) as part:
                self.ended.save(part)
            with in_place_of(folder / MODEL) as part:
                part.write_text(model_to_json(self.ended.model) + "\n", encoding="utf-8")
        for name in (WORLD,) if self.world is None else (STATE, MODEL):
            (folder / name).unlink(missing_ok=True)

    def _save_after(self, folder: Path) -> None:
        """What came after the fall; of a run that was saved there before, nothing stays."""
        for name in (TABLE, SUMMARY, STATE, MODEL, WORLD):
            (folder / name).unlink(missing_ok=True)
        if self.after is not None:
            self.after.save(folder)

    def to_json(self) -> dict[str, Any]:
        """The summary with events, parameters and versions, as in ``summary.json``."""
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
        kept = {"units": units, "PANDAS_ATTRS": f'{{"units": {units}}}'}  # as ours, and as pandas' own attrs
        metadata = dict(table.schema.metadata or {}) | {name.encode(): text.encode() for name, text in kept.items()}
        fields = [f.with_metadata({"unit": self.units[f.name]}) for f in table.schema]
        pyarrow.parquet.write_table(table.cast(pyarrow.schema(fields, metadata)), path)

    @classmethod
    def load(cls, folder: str | Path, model: Model | None = None) -> Run:
        """Read what ``save`` wrote.

        Args:
            folder: of the run.
            model: of which the run is; by default that which was saved with it.

        Raises:
            InputError: the folder holds no run, or that of another model or version.
            ModelError: the model that was saved is damaged.
        """
        import pandas as pd  # a quarter of a command's start

        folder = Path(folder)
        missing = missing_files(folder)
        if missing:
            raise InputError(f"{folder}: no run there ({', '.join(missing)} missing)")
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
            whole = load_saved(folder / MODEL) if model is None else _carrying(model, disturbances)
            ended = State.load(folder / STATE, whole)
        after = cls.load(folder / AFTER) if (folder / AFTER / SUMMARY).is_file() else None
        return cls(frame, units, events, Summary(summary), ended, point, parameters, disturbances, after)


def read_summary(folder: Path) -> dict[str, Any]:
    """What is in ``summary.json`` of a run.

    Raises:
        ValueError: it is damaged.
        OSError: it cannot be read.
    """
    found: dict[str, Any] = json.loads((folder / SUMMARY).read_text(encoding="utf-8"))
    return found


def missing_files(folder: Path) -> list[str]:
    """Which of a run's files a folder does not have."""
    needed = (TABLE, SUMMARY, *(() if (folder / WORLD).is_file() else (STATE, MODEL)))
    return [name for name in needed if not (folder / name).is_file()]


#: Of a summary, what tools take for granted.
_NEEDED = ("verdict", "reason", "trust", "events", "simulated_time", "wall_time", "real_time_factor", "metrics")


def _carrying(model: Model, acted: list[dict[str, Any]]) -> Model:
    """The model with the loads that it carried."""
    for disturbance in acted:
        if disturbance["kind"] == "load":
            position, size = tuple(disturbance["position"]), disturbance["size"]
            size = None if size is None else tuple(size)
            model = Load(disturbance["body"], disturbance["mass"], position, size).on(model)
    return model


def assemble(recording: Recording, metrics: Mapping[str, Any], **judged: Any) -> Run:
    """A run from what the loops left in their logs, and what ``biped.metrics`` measured and concluded of that."""
    import pandas as pd  # a quarter of a command's start

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


def versions() -> dict[str, str]:
    """Versions of what a run's numbers depend on."""
    found = {"python": platform.python_version(), "machine": platform.machine()}
    for package in PACKAGES:
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            found[package] = "not installed"
    return found

"""A recorded run: a table, events, a summary, and the state to go on from; saved and loaded as a folder."""

import json
import platform
from dataclasses import asdict, dataclass, field
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from biped.control.controller import SetPoint
from biped.disturbances import Force, Load, Push, described
from biped.errors import InputError
from biped.kernels.loop.log import IMPACT, LIFT, TOUCH
from biped.model import Model
from biped.runs.recording import Recording
from biped.runs.state import State
from biped.runs.summary import summarize

TABLE = "run.parquet"
SUMMARY = "summary.json"
STATE = "state.npz"
PACKAGES = ("biped-balance", "numpy", "numba", "pandas", "pin")


@dataclass
class Run:
    """A recorded run.

    Attributes:
        frame: one row per recorded time; ``units`` has each column's unit.
        units: by column.
        events: one row per event: ``time``, ``kind`` (touch, lift, impact, push), ``subject``; for impacts and
            pushes the exact impulse [N·s] on the subject in this run; for impacts the place [m], and the
            relative velocity before [m/s].
        summary: what the run amounts to; the keys are documented in ``biped.runs.summary``.
        state: where it ended; ``simulate(..., state=run.state)`` goes on from there.
        set_point: where the controller wanted the root to be, or None.
        parameters: what the run was made from, as the experiment tells it.
        disturbances: what acted on the model: the attributes of each.
    """

    frame: pd.DataFrame
    units: dict[str, str]
    events: pd.DataFrame
    summary: dict[str, Any]
    state: State
    set_point: SetPoint | None = None
    parameters: dict[str, Any] = field(default_factory=dict)
    disturbances: list[dict[str, Any]] = field(default_factory=list)

    def save(self, folder: str | Path) -> Path:
        """Write ``run.parquet``, ``summary.json`` and ``state.npz``; the folder is made if need be.

        Each file is written under another name and then moved, so that a full disk leaves no half of one.

        Raises:
            OSError: the folder cannot be written.
        """
        folder = Path(folder)
        folder.mkdir(parents=True, exist_ok=True)
        _replace(folder / TABLE, self._write_table)
        _replace(folder / STATE, self.state.save)
        text = json.dumps(_without_nan(self.to_json()), indent=2, allow_nan=False)
        _replace(folder / SUMMARY, lambda path: path.write_text(text + "\n", encoding="utf-8"))
        return folder

    def to_json(self) -> dict[str, Any]:
        """The summary with events, parameters and versions, as in ``summary.json``."""
        return self.summary | {
            "events": _events_as_json(self.events, self.summary["events"]),
            "set_point": None if self.set_point is None else asdict(self.set_point),
            "parameters": self.parameters,
            "disturbances": self.disturbances,
            "versions": versions(),
        }

    def _write_table(self, path: Path) -> None:
        import pyarrow
        import pyarrow.parquet

        table = pyarrow.Table.from_pandas(self.frame, preserve_index=False)
        metadata = dict(table.schema.metadata or {}) | {b"units": json.dumps(self.units).encode()}
        fields = [f.with_metadata({"unit": self.units[f.name]}) for f in table.schema]
        pyarrow.parquet.write_table(table.cast(pyarrow.schema(fields, metadata)), path)

    @classmethod
    def load(cls, folder: str | Path, model: Model) -> "Run":
        """Read what ``save`` wrote.

        Raises:
            InputError: the folder holds no run, or that of another model.
        """
        import pyarrow.parquet

        folder = Path(folder)
        missing = [name for name in (TABLE, SUMMARY, STATE) if not (folder / name).is_file()]
        if missing:
            raise InputError(f"{folder}: no run there ({', '.join(missing)} missing)")
        try:
            table = pyarrow.parquet.read_table(folder / TABLE)
            units = json.loads(table.schema.metadata[b"units"])
            summary = json.loads((folder / SUMMARY).read_text(encoding="utf-8"))
            parameters = summary.pop("parameters")
            acted = summary.pop("disturbances")
            summary.pop("versions")
            saved = summary.pop("set_point")
            point = None if saved is None else _set_point(saved)
            events = pd.DataFrame(summary["events"].pop("logged"), columns=list(EVENT_COLUMNS))
        except (ValueError, KeyError, TypeError) as error:
            raise InputError(f"{folder}: damaged, or not a run saved by Run.save ({error})") from error
        events = events.astype(dict.fromkeys(EVENT_NUMBERS, float))
        state = State.load(folder / STATE, _carrying(model, acted))
        return cls(table.to_pandas(), units, events, summary, state, point, parameters, acted)


def _set_point(saved: dict[str, Any]) -> SetPoint:
    return SetPoint(tuple(saved["position"]), tuple(saved["orientation"]), saved.get("on_floor", False))


def _carrying(model: Model, acted: list[dict[str, Any]]) -> Model:
    """The model with the loads that it carried."""
    for disturbance in acted:
        if disturbance["kind"] == "load":
            size = disturbance["size"]
            load = Load(
                disturbance["body"],
                disturbance["mass"],
                tuple(disturbance["position"]),
                None if size is None else tuple(size),
            )
            model = load.on(model)
    return model


EVENT_COLUMNS = (
    "time", "kind", "subject",
    "impulse_x", "impulse_y", "impulse_z", "x", "y", "z", "velocity_x", "velocity_y", "velocity_z",
)  # fmt: skip


EVENT_NUMBERS = tuple(name for name in EVENT_COLUMNS if name not in ("kind", "subject"))


def assemble(recording: Recording) -> Run:
    """A run from what the loops left in their logs."""
    columns, shown = recording.columns, recording.columns.shown
    frame = pd.DataFrame(recording.rows[:, shown], columns=[columns.names[i] for i in shown])
    for name in frame.columns:
        if name.endswith("_mode") or name == "newton_iterations":
            frame[name] = frame[name].astype(np.int64)
    units = {name: columns.units[name] for name in frame.columns}
    table = _event_table(recording.model, recording.events, push_events(recording))
    summary = summarize(
        recording.model,
        frame,
        table,
        recording.standing,
        recording.counters,
        recording.ending,
        recording.set_point,
        recording.state,
    )
    acted = [described(disturbance) for disturbance in recording.disturbances]
    return Run(frame, units, table, summary, recording.state, recording.set_point, disturbances=acted)


def push_events(recording: Recording) -> list[dict[str, Any]]:
    """What each push and force delivered in this run."""
    began, ended = recording.began, recording.state.time
    pushes = [d for d in recording.disturbances if isinstance(d, (Push, Force))]
    delivered = [push.delivered(began, ended) for push in pushes]
    return [
        {"time": max(push.begins, began), "subject": push.body, "impulse": impulse}
        for push, impulse in zip(pushes, delivered, strict=True)
        if any(impulse)
    ]


def _event_table(model: Model, events: NDArray[np.float64], pushes: list[dict[str, Any]]) -> pd.DataFrame:
    kinds = {TOUCH: "touch", LIFT: "lift", IMPACT: "impact"}
    records: list[list[Any]] = []
    for time, kind, subject, *numbers in events.tolist():
        names = model.body_names if kind == IMPACT else model.contact_names
        records.append([time, kinds[int(kind)], names[int(subject)], *numbers])
    records += [[push["time"], "push", push["subject"], *push["impulse"], *[np.nan] * 6] for push in pushes]
    records.sort(key=lambda record: record[0])
    table = pd.DataFrame(records, columns=list(EVENT_COLUMNS))
    return table.astype(dict.fromkeys(EVENT_NUMBERS, float))


def _events_as_json(events: pd.DataFrame, derived: dict[str, Any]) -> dict[str, Any]:
    return derived | {"logged": events.to_dict(orient="records")}


def _without_nan(value: Any) -> Any:
    """The same with None for numbers that are not finite, which JSON does not have."""
    if isinstance(value, dict):
        return {key: _without_nan(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_without_nan(item) for item in value]
    return None if isinstance(value, float) and not np.isfinite(value) else value


def _replace(path: Path, write: Any) -> None:
    part = path.with_name(path.name + ".part")
    try:
        write(part)
        part.replace(path)
    finally:
        part.unlink(missing_ok=True)


def versions() -> dict[str, str]:
    """Versions of what a run's numbers depend on."""
    found = {"python": platform.python_version(), "machine": platform.machine()}
    for package in PACKAGES:
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            found[package] = "not installed"
    return found

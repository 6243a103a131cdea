"""Events of a run: impacts, pushes, and landings and lift-offs of the edges of the feet."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from biped.disturbances import Force, Push
from biped.kernels.loop.log import IMPACT, LIFT, TOUCH
from biped.model import Model
from biped.runs.recording import Recording

if TYPE_CHECKING:
    import pandas as pd

EVENT_COLUMNS = (
    "time", "kind", "subject",
    "impulse_x", "impulse_y", "impulse_z", "x", "y", "z", "velocity_x", "velocity_y", "velocity_z",
)  # fmt: skip
EVENT_NUMBERS = tuple(name for name in EVENT_COLUMNS if name not in ("kind", "subject"))

#: Contact points at each edge of a foot, for models with points of these names.
EDGES = {
    "left_toes": ("left_1", "left_2"),
    "left_heel": ("left_3", "left_4"),
    "right_toes": ("right_1", "right_2"),
    "right_heel": ("right_3", "right_4"),
}


def event_table(recording: Recording) -> pd.DataFrame:
    """Return all events of a run, ordered by time."""
    model, kinds = recording.model, {TOUCH: "touch", LIFT: "lift", IMPACT: "impact"}
    records: list[list[Any]] = []
    for time, kind, subject, *numbers in recording.events.tolist():
        names = model.body_names if kind == IMPACT else model.contact_names
        records.append([time, kinds[int(kind)], names[int(subject)], *numbers])
    pushes = (force for disturbance in recording.disturbances for force in disturbance.forces(recording.nominal_model))
    records += push_records(pushes, recording.began, recording.state.time)
    records.sort(key=lambda record: record[0])
    return table_of(records)


def table_of(records: list[Any]) -> pd.DataFrame:
    """Return a table of events from records, whose values are in the order of ``EVENT_COLUMNS``."""
    import pandas as pd  # importing pandas takes a quarter of a command's start

    table = pd.DataFrame(records, columns=list(EVENT_COLUMNS))
    return table.astype(dict.fromkeys(EVENT_NUMBERS, float))


def push_records(pushes: Iterable[Push | Force], began: float, ended: float) -> list[list[Any]]:
    """Return records of the pushes and forces that act between two times [s], with their impulses in this interval."""
    delivered = [(push, push.delivered(began, ended)) for push in pushes]
    return [
        [max(push.begins, began), "push", push.body, *impulse, *[np.nan] * 6]
        for push, impulse in delivered
        if any(impulse)
    ]


def pushes_of(events: pd.DataFrame) -> list[dict[str, Any]]:
    """Return the pushes among the events of a run, as in its summary."""
    return [_impulse(event) for _, event in events[events["kind"] == "push"].iterrows()]


def events_summary(recording: Recording, events: pd.DataFrame) -> dict[str, list[dict[str, Any]]]:
    """Return the ``events`` of a run's summary."""
    return {
        "impacts": impacts_of(events),
        "pushes": pushes_of(events),
        "edges": edge_events(recording.model, events, recording.standing),
    }


def impacts_of(events: pd.DataFrame) -> list[dict[str, Any]]:
    """Return the impacts among the events of a run, as in its summary."""
    impacts = events[events["kind"] == "impact"]
    return [_impulse(event) | {"place": [float(event[axis]) for axis in "xyz"]} for _, event in impacts.iterrows()]


def _impulse(event: pd.Series[Any]) -> dict[str, Any]:
    impulse = [float(event[f"impulse_{axis}"]) for axis in "xyz"]
    return {"time": float(event["time"]), "body": str(event["subject"]), "impulse": impulse}


def edge_events(model: Model, events: pd.DataFrame, standing: frozenset[str] = frozenset()) -> list[dict[str, Any]]:
    """Return the landings (first point touches) and lift-offs (last point lifts) of the edges of the feet.

    Each entry gives the duration until the edge's next change; None for its last change.
    """
    changes = []
    for edge, points in EDGES.items():
        if all(point in model.contact_names for point in points):
            changes += _edge_changes(edge, points, events, standing)
    return sorted(changes, key=lambda change: change["time"])


def _edge_changes(
    edge: str, points: tuple[str, ...], events: pd.DataFrame, standing: frozenset[str]
) -> list[dict[str, Any]]:
    mine = events[events["subject"].isin(points) & events["kind"].isin(["touch", "lift"])]
    down = set(points) & standing
    changes: list[dict[str, Any]] = []
    for time, kind, subject in zip(mine["time"], mine["kind"], mine["subject"], strict=True):
        was_down = bool(down)
        (down.add if kind == "touch" else down.discard)(subject)
        if bool(down) != was_down:
            changes.append({"time": float(time), "edge": edge, "change": "down" if down else "up", "lasted": None})
    for before, after in pairwise(changes):
        before["lasted"] = after["time"] - before["time"]
    return changes

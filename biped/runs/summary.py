"""What a run amounts to, computed from its table and counters.

Keys (SI units; None where there is nothing to measure):

- ``outcome``: "stood", "fell", or "completed" where no fall was looked for; "interrupted" or "failed" where the
  run did not get to its end; ``fell_at`` [s].
- ``settling_time`` [s]: the root is within 2 cm and 2° of the set point from then to the end.
- ``position_error`` [m], ``orientation_error`` [rad]: means over the last tenth of the run.
- ``peak_torque`` by joint [N·m]: of the recorded rows.
- ``saturation`` by joint [s]: for which the controller asked for more than the actuator's limit.
- ``foot_slip`` [m]: the longest path that a contact point slid or yielded.
- ``foot_creep`` [m]: the farthest that a point moved sideways on the floor in the last quarter of the run, of
  those that stuck throughout it.
- ``events``: impacts and pushes with their impulses [N·s], and when each edge of each foot left the floor and
  came down again.
- ``ledger_residual`` [J]: the largest energy that no work accounts for.
- ``momentum_defect`` [N·s]: the largest linear momentum that no impulse accounts for;
  ``angular_momentum_defect`` [N·m·s].
- ``steps``; ``newton_mean``: iterations a step, all its parts counted; ``newton_max``: of any one solve;
  ``retried_steps``: taken in parts; ``simulated_time``, ``wall_time`` [s],
  ``real_time_factor``.
"""

from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from biped.control.controller import SetPoint
from biped.model import Model
from biped.model.geometry import quaternion_matrix
from biped.runs.row_layout import POSE
from biped.runs.state import State

SETTLED_POSITION = 0.02
SETTLED_ORIENTATION = float(np.radians(2.0))

#: Contact points that make an edge of a foot, where a model has points of these names.
EDGES = {
    "left_toes": ("left_1", "left_2"),
    "left_heel": ("left_3", "left_4"),
    "right_toes": ("right_1", "right_2"),
    "right_heel": ("right_3", "right_4"),
}
STICKING = 4


@dataclass(frozen=True)
class Counters:
    """What a run counted.

    ``wall_time`` [s] is that of the loops, without set-up and compilation of the arrays.
    """

    steps: int
    newton_iterations: int
    newton_max: int
    retried_steps: int
    wall_time: float

    @property
    def newton_mean(self) -> float:
        """Iterations a step."""
        return self.newton_iterations / self.steps if self.steps else 0.0


@dataclass(frozen=True)
class Ending:
    """How a run ended: see ``outcome`` above; when the model fell; what had no solution."""

    outcome: str
    fell_at: float | None
    error: str | None = None


def summarize(
    model: Model,
    frame: pd.DataFrame,
    events: pd.DataFrame,
    standing: frozenset[str],
    counters: Counters,
    ending: Ending,
    set_point: SetPoint | None,
    state: State,
) -> dict[str, Any]:
    """The summary of a run that began with the contact points ``standing`` on the floor."""
    simulated = float(frame["time"].iloc[-1] - frame["time"].iloc[0]) if len(frame) else 0.0
    return {
        "outcome": ending.outcome,
        "fell_at": ending.fell_at,
        **_errors(frame, set_point, ending),
        "peak_torque": _peak_torques(model, frame),
        "saturation": saturation_of(model, state),
        "foot_slip": float(state.arrays.ledger.slip.max()) if model.nc else None,
        "foot_creep": foot_creep(model, frame),
        "events": {
            "impacts": impacts_of(events),
            "pushes": _pushes(events),
            "edges": edge_events(model, events, standing),
        },
        "ledger_residual": _largest(frame, "ledger_residual"),
        "momentum_defect": _defect(model, frame, "p"),
        "angular_momentum_defect": _defect(model, frame, "l"),
        "steps": counters.steps,
        "newton_mean": counters.newton_mean,
        "newton_max": counters.newton_max,
        "retried_steps": counters.retried_steps,
        "simulated_time": simulated,
        "wall_time": counters.wall_time,
        "real_time_factor": simulated / counters.wall_time if counters.wall_time > 0.0 else None,
    }


def saturation_of(model: Model, state: State) -> dict[str, float]:
    """[s] by joint: for which the controller asked for more than the actuator's limit."""
    return {joint: float(state.arrays.ledger.saturated[model.dof(joint)]) for joint in model.joint_names}


def root_pose(frame: pd.DataFrame) -> NDArray[np.float64]:
    """(rows, 7) place [m] and quaternion of a floating root, whatever its name: what stands first after the time."""
    return frame.iloc[:, 1 : 1 + len(POSE)].to_numpy()


def position_errors(frame: pd.DataFrame, set_point: SetPoint) -> NDArray[np.float64]:
    """(rows, 3) [m] of the root's centre of mass from its set point."""
    wanted = np.tile(set_point.position, (len(frame), 1))
    if set_point.on_floor and "platform_x" in frame:
        x, y, _ = set_point.position
        floor = frame[[f"platform_{part}" for part in POSE]].to_numpy()
        wanted[:, :2] = [(row[:3] + quaternion_matrix(row[3:]) @ (x, y, 0.0))[:2] for row in floor]
    position: NDArray[np.float64] = root_pose(frame)[:, :3] - wanted
    return position


def error_quaternions(frame: pd.DataFrame, set_point: SetPoint) -> NDArray[np.float64]:
    """(rows, 4) q q̄_d with its scalar part not negative (Wendlandt 1997, equation 4.17)."""
    w, x, y, z = root_pose(frame)[:, 3:].T
    a, b, c, d = np.asarray(set_point.orientation) * (1.0, -1.0, -1.0, -1.0)
    product = np.stack(
        [
            w * a - x * b - y * c - z * d,
            w * b + x * a + y * d - z * c,
            w * c - x * d + y * a + z * b,
            w * d + x * c - y * b + z * a,
        ],
        axis=1,
    )
    return np.where(product[:, :1] < 0.0, -product, product)


def orientation_errors(frame: pd.DataFrame, set_point: SetPoint) -> NDArray[np.float64]:
    """(rows,) [rad] angle of the turn from the set point to the root's orientation."""
    quaternion = error_quaternions(frame, set_point)
    return 2.0 * np.arctan2(np.linalg.norm(quaternion[:, 1:], axis=1), quaternion[:, 0])


def _errors(frame: pd.DataFrame, set_point: SetPoint | None, ending: Ending) -> dict[str, float | None]:
    if set_point is None or not len(frame):
        return {"settling_time": None, "position_error": None, "orientation_error": None}
    position = np.linalg.norm(position_errors(frame, set_point), axis=1)
    orientation = orientation_errors(frame, set_point)
    outside = np.flatnonzero((position > SETTLED_POSITION) | (orientation > SETTLED_ORIENTATION))
    times = frame["time"].to_numpy()
    settling: float | None = None
    if ending.fell_at is None and (len(outside) == 0 or outside[-1] + 1 < len(times)):
        settling = float(times[outside[-1] + 1] - times[0]) if len(outside) else 0.0
    tail = max(1, len(frame) // 10)
    return {
        "settling_time": settling,
        "position_error": float(position[-tail:].mean()),
        "orientation_error": float(orientation[-tail:].mean()),
    }


def _peak_torques(model: Model, frame: pd.DataFrame) -> dict[str, float]:
    return {joint: _largest(frame, f"torque_{joint}") or 0.0 for joint in model.joint_names}


def _largest(frame: pd.DataFrame, column: str) -> float | None:
    return float(frame[column].abs().max()) if len(frame) else None


def _defect(model: Model, frame: pd.DataFrame, kind: str) -> float | None:
    if not model.is_floating or not len(frame):
        return None
    columns = [f"momentum_defect_{kind}{axis}" for axis in "xyz"]
    return float(np.linalg.norm(frame[columns].to_numpy(), axis=1).max())


def foot_creep(model: Model, frame: pd.DataFrame) -> float | None:
    """[m] how far sideways the contact points moved that stuck throughout the last quarter of the run."""
    tail = frame.iloc[-max(1, len(frame) // 4) :]
    moved = [
        float(np.hypot(*np.diff(_on_floor(tail.iloc[[0, -1]], point), axis=0)[0, :2]))
        for point in model.contact_names
        if (tail[f"contact_{point}_mode"] == STICKING).all() and len(tail) > 1
    ]
    return max(moved) if moved else None


def _on_floor(frame: pd.DataFrame, point: str) -> NDArray[np.float64]:
    """(rows, 3) [m] where a contact point is, in the frame of a floor that moves."""
    place = frame[[f"contact_{point}_{axis}" for axis in "xyz"]].to_numpy()
    if "platform_x" not in frame:
        return place
    floor = frame[[f"platform_{part}" for part in POSE]].to_numpy()
    turned = [quaternion_matrix(row[3:]).T @ (at - row[:3]) for row, at in zip(floor, place, strict=True)]
    return np.array(turned)


def impacts_of(events: pd.DataFrame) -> list[dict[str, Any]]:
    """The impacts among the events of a run, as its summary has them."""
    return [
        {
            "time": float(event["time"]),
            "body": str(event["subject"]),
            "impulse": [float(event[f"impulse_{axis}"]) for axis in "xyz"],
            "place": [float(event[axis]) for axis in "xyz"],
        }
        for _, event in events[events["kind"] == "impact"].iterrows()
    ]


def _pushes(events: pd.DataFrame) -> list[dict[str, Any]]:
    return [
        {
            "time": float(event["time"]),
            "body": str(event["subject"]),
            "impulse": [float(event[f"impulse_{axis}"]) for axis in "xyz"],
        }
        for _, event in events[events["kind"] == "push"].iterrows()
    ]


def edge_events(model: Model, events: pd.DataFrame, standing: frozenset[str] = frozenset()) -> list[dict[str, Any]]:
    """When each edge of each foot came down (its first point touches) and left (its last point lifts).

    Each with how long the edge stayed so, up to its next change; None for the last.
    """
    found = []
    for edge, points in EDGES.items():
        if all(point in model.contact_names for point in points):
            found += _edge_changes(edge, points, events, standing)
    return sorted(found, key=lambda change: change["time"])


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

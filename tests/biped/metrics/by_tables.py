"""Some metrics once more, from a run's table with pandas and in other words: what the kernels are held against."""

import numpy as np

from biped.model.geometry import quaternion_matrix
from contact import ContactState

POSE = ("x", "y", "z", "qw", "qx", "qy", "qz")


def expected(run):
    frame, model = run.frame, run.state.model
    found = {
        f"peak_torque_{joint}": frame[f"torque_{joint}"].abs().max() if len(frame) else None
        for joint in model.joint_names
    }
    found["ledger_residual"] = frame["ledger_residual"].abs().max()
    for name, kind in (("momentum_defect", "p"), ("angular_momentum_defect", "l")):
        columns = [f"momentum_defect_{kind}{axis}" for axis in "xyz"]
        found[name] = np.linalg.norm(frame[columns], axis=1).max() if model.is_floating else None
    found["newton_max"] = frame["newton_iterations"].max()
    found["foot_creep"] = creep(run)
    if run.set_point is not None:
        found |= errors(run)
    return found


def errors(run):
    frame, point = run.frame, run.set_point
    wanted = np.tile(point.position, (len(frame), 1))
    if point.on_floor and "platform_x" in frame:
        x, y, _ = point.position
        floor = frame[[f"platform_{part}" for part in POSE]].to_numpy()
        wanted[:, :2] = [(row[:3] + quaternion_matrix(row[3:]) @ (x, y, 0.0))[:2] for row in floor]
    root = run.root
    position = np.linalg.norm(frame[[f"{root}_x", f"{root}_y", f"{root}_z"]].to_numpy() - wanted, axis=1)
    w, x, y, z = frame[[f"{root}_{part}" for part in POSE[3:]]].to_numpy().T
    a, b, c, d = np.asarray(point.orientation) * (1.0, -1.0, -1.0, -1.0)
    scalar = w * a - x * b - y * c - z * d
    vector = w * b + x * a + y * d - z * c, w * c - x * d + y * a + z * b, w * d + x * c - y * b + z * a
    orientation = 2.0 * np.arctan2(np.linalg.norm(vector, axis=0), np.abs(scalar))
    outside = np.flatnonzero((position > 0.02) | (orientation > np.radians(2.0)))
    times, tail = frame["time"].to_numpy(), max(1, len(frame) // 10)
    settling = None
    if run.metrics["fell_at"] is None and (len(outside) == 0 or outside[-1] + 1 < len(times)):
        settling = times[outside[-1] + 1] - times[0] if len(outside) else 0.0
    return {
        "settling_time": settling,
        "position_error": position[-tail:].mean(),
        "orientation_error": orientation[-tail:].mean(),
    }


def creep(run):
    tail = run.frame.iloc[-max(1, len(run.frame) // 4) :]
    moved = [
        np.hypot(*np.diff(on_floor(tail.iloc[[0, -1]], point), axis=0)[0, :2])
        for point in run.state.model.contact_names
        if (tail[f"contact_{point}_mode"] == ContactState.STICKING).all() and len(tail) > 1
    ]
    return max(moved) if moved else None


def on_floor(frame, point):
    """(rows, 3) where a contact point is, in the frame of a floor that moves."""
    place = frame[[f"contact_{point}_{axis}" for axis in "xyz"]].to_numpy()
    if "platform_x" not in frame:
        return place
    floor = frame[[f"platform_{part}" for part in POSE]].to_numpy()
    return np.array([quaternion_matrix(row[3:]).T @ (at - row[:3]) for row, at in zip(floor, place, strict=True)])

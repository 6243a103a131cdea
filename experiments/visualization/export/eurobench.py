"""EUROBENCH files: pre-processed data as CSV with semicolons, and a YAML file for each performance indicator.

Formats: EUROBENCH documentation, "Eurobench Data Format" and "Performance Indicator Specification".
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from biped.inputs.extras import need
from biped.metrics import METRICS, Metric, Value, metric_named
from biped.runs.run import Run
from experiments.visualization.export.anatomy import PARTS, anatomical_joints, other_joints
from experiments.visualization.export.tables import (
    Table,
    by_axis,
    columns,
    ground_reactions,
    quaternions_to_isb,
    text_of,
    to_isb,
    write,
)

#: EUROBENCH's letters for lateral, frontal and longitudinal axis, in the order of the Cardan angles.
_LETTERS = ("y", "x", "z")
_EVENTS = {
    "r_heel_strike": ("right_heel", "down"),
    "l_heel_strike": ("left_heel", "down"),
    "r_toe_off": ("right_toes", "up"),
    "l_toe_off": ("left_toes", "up"),
}


def export_eurobench(run: Run, folder: Path, measured: Mapping[str, Value]) -> list[Path]:
    """Write a run as EUROBENCH data files, and metrics as performance indicators in ``pi``; return all paths.

    Args:
        run: run to export.
        folder: existing folder for the files.
        measured: values of metrics by name; None is left out, as the format requires.

    Raises:
        MissingExtraError: PyYAML is not installed.
    """
    need("yaml")
    tables = {
        "jointAngles": joint_angles(run),
        "jointTorques": joint_torques(run),
        "com": centre_of_mass(run),
        "angularMomentum": by_axis(to_isb(columns(run, "momentum", ("lx", "ly", "lz")), run.state.model.facing)),
        "platformData": platform(run),
    }
    for foot, (force, place, moment) in ground_reactions(run).items():
        table = by_axis(force, "f_") | by_axis(place, "p_") | by_axis(moment, "t_")
        tables[f"grf_{foot}" if foot else "grf"] = table
    files = [write(folder / f"{name}.csv", text_of(run, table, ";")) for name, table in tables.items() if table]
    events = gait_events(run)
    if events is not None:
        files.append(write(folder / "gaitEvents.yaml", yaml_of(events)))
    if run.parameters:
        files.append(write(folder / "testbed.yaml", yaml_of(testbed(run.parameters))))
    indicators = folder / "pi"
    indicators.mkdir(exist_ok=True)
    for name, content in performance_indicators(measured).items():
        files.append(write(indicators / f"{name}.yaml", yaml_of(content)))
    return files


def yaml_of(content: Mapping[str, Any]) -> str:
    import yaml

    text: str = yaml.safe_dump(dict(content), sort_keys=False, default_flow_style=None, width=1_000_000)
    return text


def joint_angles(run: Run) -> Table:
    """Return angles [°]: YXZ Cardan angles of hips, knees and ankles; other hinges by the names of their joints."""
    joints = anatomical_joints(run.state.model)
    table: Table = {}
    for joint in joints:
        angles = np.degrees(joint.angles(run))
        for k, letter in enumerate(_LETTERS if joint.has_three_angles else _LETTERS[:1]):
            table[f"{joint.side[0]}_{joint.name}_{letter}"] = angles[:, k]
    for name in other_joints(run.state.model, joints):
        if f"angle_{name}" in run.frame:
            table[name] = np.degrees(run.frame[f"angle_{name}"].to_numpy(dtype=np.float64))
    return table


def joint_torques(run: Run) -> Table:
    """Return the torque [N·m] of each hinge about its axis, with the sign of its angle; for a slide, the force [N]."""
    joints = anatomical_joints(run.state.model)
    table: Table = {}
    for joint in joints:
        for hinge in joint.hinges:
            part = PARTS[hinge]
            torque = run.frame[f"torque_{joint.joint(hinge)}"].to_numpy(dtype=np.float64)
            table[f"{joint.side[0]}_{joint.name}_{_LETTERS[part]}"] = joint.signs[part] * torque
    for name in other_joints(run.state.model, joints):
        table[name] = run.frame[f"torque_{name}"].to_numpy(dtype=np.float64)
    return table


def centre_of_mass(run: Run) -> Table:
    """Return position [m] and velocity [m/s] of the whole model's centre of mass in ISB axes: forward, up, right."""
    model = run.state.model
    place = to_isb(columns(run, "com", ("x", "y", "z")), model.facing)
    velocity = to_isb(columns(run, "momentum", ("px", "py", "pz")), model.facing) / model.total_mass
    return by_axis(place) | by_axis(velocity, "vel_")


def platform(run: Run) -> Table:
    """Return the pose of a moving floor ([m] and unit quaternion); empty for a floor at rest."""
    if "platform_x" not in run.frame:
        return {}
    facing = run.state.model.facing
    place = to_isb(columns(run, "platform", ("x", "y", "z")), facing)
    turn = quaternions_to_isb(columns(run, "platform", ("qw", "qx", "qy", "qz")), facing)
    return by_axis(place, "platform_") | {f"platform_q{a}": turn[:, k] for k, a in enumerate("wxyz")}


def gait_events(run: Run) -> dict[str, list[float]] | None:
    """Return the times [s] of heel strikes and toe-offs; None for a model without the human's contact points."""
    if not {"left_1", "left_2", "left_3", "left_4"} <= set(run.state.model.contact_names):
        return None
    edges = run.summary["events"]["edges"]
    return {
        label: [change["time"] for change in edges if (change["edge"], change["change"]) == which]
        for label, which in _EVENTS.items()
    }


def testbed(parameters: Mapping[str, Any]) -> dict[str, Any]:
    """Return all parameters of a run, with keys in lower case and underscores, as the format requires."""
    return {name.replace(".", "_").replace("-", "_").lower(): value for name, value in parameters.items()}


def performance_indicators(measured: Mapping[str, Value]) -> dict[str, dict[str, Any]]:
    """Return an indicator for each metric: a number or a text, or a labelled vector over joints or feet."""
    indicators: dict[str, dict[str, Any]] = {}
    for name, value in measured.items():
        metric = metric_named(name)
        if value is None:
            continue
        if metric.per:
            vector = indicators.setdefault(
                metric.name.lower(), _with_unit({"type": "vector", "label": [], "value": []}, metric)
            )
            vector["label"].append(name.removeprefix(f"{metric.stem}_"))
            vector["value"].append(value)
        else:
            kind = "string" if isinstance(value, str) else "scalar"
            indicators[name] = _with_unit({"type": kind, "value": value}, metric)
    order = [metric.name.lower() if metric.per else metric.name for metric in METRICS.values()]
    return {name: indicators[name] for name in order if name in indicators}


def _with_unit(content: dict[str, Any], metric: Metric) -> dict[str, Any]:
    return content | ({"unit": metric.unit} if metric.unit else {})

"""Motion-BIDS: the motion of a run as a data set of one subject, by the BIDS specification 1.9 and later.

S. Jeung et al., "Motion-BIDS: an extension to the brain imaging data structure to organize motion data for reproducible
research", Scientific Data 11, 2024. Axes are x forward, y up, z to the right, as in the other exports.
"""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from biped.runs.run import Run, versions
from contact.arrays import Floats
from experiments.visualization.export.points import points_of, rate_of
from experiments.visualization.export.tables import columns, quaternions_to_isb, to_isb, write

VERSION = "1.9.0"
SUBJECT, SYSTEM, FRAME = "01", "model", "global"
#: Columns of ``channels.tsv``; the specification prescribes the order of the first five.
CHANNEL = ("name", "component", "type", "tracked_point", "units", "reference_frame")
#: Kinds of channels; the specification recommends the count of each, zeros included.
_KINDS = ("ACCEL", "ANGACCEL", "GYRO", "JNTANG", "LATENCY", "MAGN", "MISC", "ORNT", "POS", "VEL")


def export_bids(run: Run, folder: Path, task: str | None = None) -> list[Path]:
    """Write a run as a Motion-BIDS data set of one subject and one task; return the paths of the files.

    The files are ``dataset_description.json``, ``README`` and ``participants.tsv``. The folder ``sub-01/motion`` has
    the table of motion without column names, its metadata, and descriptions of its channels and frame of reference.

    Args:
        run: run of a model, recorded at evenly spaced times.
        folder: existing folder.
        task: name of the task; None: the model's name.

    Raises:
        InputError: the rows are not evenly spaced, or the run has no bodies.
        OSError: a file cannot be written.
    """
    rate, task = rate_of(run), task or run.name
    described, values = zip(*_channels(run), strict=True)
    channels = pd.DataFrame(described, columns=list(CHANNEL))
    motion = folder / f"sub-{SUBJECT}" / "motion"
    motion.mkdir(parents=True, exist_ok=True)
    stem = f"sub-{SUBJECT}_task-{_label(task)}_tracksys-{SYSTEM}"
    table = pd.DataFrame(np.column_stack(values))
    return [
        write(folder / "dataset_description.json", _json(_dataset(task))),
        write(folder / "README", f"{task}: a simulation of {run.name} by biped-balance, as Motion-BIDS.\n"),
        write(folder / "participants.tsv", f"participant_id\tspecies\nsub-{SUBJECT}\tn/a\n"),
        write(
            motion / f"{stem}_motion.tsv",
            table.to_csv(sep="\t", index=False, header=False, float_format="%.12g", na_rep="n/a"),
        ),
        write(motion / f"{stem}_motion.json", _json(_sidecar(run, channels, rate, task))),
        write(motion / f"{stem}_channels.tsv", channels.to_csv(sep="\t", index=False)),
        write(motion / f"{stem}_channels.json", _json(_frames())),
    ]


def _channels(run: Run) -> Iterator[tuple[tuple[str, ...], Floats]]:
    """Yield description and values (n,) of each channel: latency, positions of points, root rotation, joint angles."""
    model = run.state.model
    time = run.frame["time"].to_numpy(dtype=np.float64)
    yield ("latency", "n/a", "LATENCY", "n/a", "s", "n/a"), time - time[0]
    for name, places in points_of(run).items():
        for axis, values in zip("xyz", to_isb(places, model.facing).T, strict=True):
            yield (f"{name}_{axis}", axis, "POS", name, "m", FRAME), values
    root = model.root.joint.name
    if f"{root}_qw" in run.frame:
        turns = quaternions_to_isb(columns(run, root, ("qw", "qx", "qy", "qz")), model.facing)
        for axis, values in zip("wxyz", turns.T, strict=True):
            yield (f"{model.root.name}_quat_{axis}", f"quat_{axis}", "ORNT", model.root.name, "n/a", FRAME), values
    for name in model.joint_names:
        if f"angle_{name}" in run.frame:
            angle = np.degrees(run.frame[f"angle_{name}"].to_numpy(dtype=np.float64))
            yield (f"{name}_angle", "n/a", "JNTANG", name, "deg", "n/a"), angle


def _sidecar(run: Run, channels: pd.DataFrame, rate: float, task: str) -> dict[str, Any]:
    return {
        "TaskName": _label(task),
        "TaskDescription": f"{task}: simulation of {run.name}",
        "SamplingFrequency": rate,
        "SamplingFrequencyEffective": rate,
        "TrackingSystemName": SYSTEM,
        "Manufacturer": "biped-balance",
        "SoftwareVersions": versions()["biped-balance"],
        "RecordingDuration": float(run.frame["time"].iloc[-1] - run.frame["time"].iloc[0]),
        "MotionChannelCount": len(channels),
        "TrackedPointsCount": int(channels.loc[channels["type"] == "POS", "tracked_point"].nunique()),
        **{f"{kind}ChannelCount": int((channels["type"] == kind).sum()) for kind in _KINDS},
        "MissingValues": "n/a",
    }


def _dataset(task: str) -> dict[str, Any]:
    return {
        "Name": f"{task}, simulated",
        "BIDSVersion": VERSION,
        "DatasetType": "raw",
        "GeneratedBy": [{"Name": "biped-balance", "Version": versions()["biped-balance"]}],
    }


def _frames() -> dict[str, Any]:
    """Return the description of the column ``reference_frame`` of the channels."""
    level = {
        "Description": "world frame: x forward, y up, z to the right of the model in its home configuration",
        "SpatialAxes": "ASR",
        "RotationRule": "right-hand",
    }
    return {"reference_frame": {"Description": "frame of the channel", "Levels": {FRAME: level}}}


def _label(name: str) -> str:
    """Return the letters and digits of a name: a BIDS label."""
    return re.sub(r"[^A-Za-z0-9]", "", name) or "run"


def _json(content: dict[str, Any]) -> str:
    return json.dumps(content, indent=2, ensure_ascii=False) + "\n"

"""Anatomical angles of hips, knees and ankles, for models whose hinges are named like the human's.

A joint's hinges turn its distal segment relative to the proximal one. This rotation is decomposed in the order lateral,
frontal, longitudinal axis: the YXZ Cardan sequence of the Plug-in Gait model (EUROBENCH) and, for the hip, of OpenSim's
gait models. Positive: flexion (dorsiflexion), adduction (inversion), internal rotation.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.transform import Rotation

from biped.model import Model
from biped.runs.run import Run
from contact.arrays import Floats
from experiments.visualization.export.tables import cardan_yxz

_AXES = {"roll": (1.0, 0.0, 0.0), "pitch": (0.0, 1.0, 0.0), "yaw": (0.0, 0.0, 1.0)}
#: SciPy's letters of intrinsic rotations about a hinge's axis.
_LETTERS = {"roll": "X", "pitch": "Y", "yaw": "Z"}
#: Position of a hinge's angle in (flexion, adduction, rotation).
PARTS = {"pitch": 0, "roll": 1, "yaw": 2}
_SIDES = ("left", "right")
_JOINTS = ("hip", "knee", "ankle")


@dataclass(frozen=True)
class AnatomicalJoint:
    """Hip, knee or ankle of one side."""

    side: str  # left or right
    name: str  # hip, knee or ankle
    hinges: tuple[str, ...]  # roll, pitch or yaw, from the proximal to the distal segment

    def joint(self, hinge: str) -> str:
        return f"{self.side}_{self.name}_{hinge}"

    @property
    def signs(self) -> Floats:
        """Signs (3,) of flexion, adduction and internal rotation for turns about +Y, +X and +Z.

        A turn about +Y moves the distal segment forward, to −X: flexion, but extension of the knee. A turn about +X
        moves it to the right, and one about +Z turns the toes to the left: adduction of the left leg, internal
        rotation of the right one.
        """
        inwards = 1.0 if self.side == "left" else -1.0
        return np.array([-1.0 if self.name == "knee" else 1.0, inwards, -inwards])

    @property
    def has_three_angles(self) -> bool:
        return self.hinges != ("pitch",)

    def angles(self, run: Run) -> Floats:
        """Return flexion, adduction and internal rotation (n, 3) [rad] in each row of a run."""
        angles = run.frame[[f"angle_{self.joint(hinge)}" for hinge in self.hinges]].to_numpy(dtype=np.float64)
        turns = Rotation.from_euler("".join(_LETTERS[hinge] for hinge in self.hinges), angles)
        return cardan_yxz(turns) * self.signs


def anatomical_joints(model: Model) -> list[AnatomicalJoint]:
    """Return the hips, knees and ankles of a model whose hinges have the human's names and axes."""
    return [
        AnatomicalJoint(side, name, hinges)
        for side in _SIDES
        for name in _JOINTS
        if (hinges := tuple(_hinges(model, f"{side}_{name}_")))
    ]


def _hinges(model: Model, prefix: str) -> Iterator[str]:
    for body in model.bodies:
        hinge = body.joint.name.removeprefix(prefix)
        if body.joint.name.startswith(prefix) and body.joint.kind == "revolute":
            if hinge not in _AXES or not np.allclose(body.joint.axis, _AXES[hinge]):
                return
            yield hinge


def other_joints(model: Model, joints: list[AnatomicalJoint]) -> list[str]:
    """Return the names of a model's joints that are not hinges of ``joints``."""
    known = {joint.joint(hinge) for joint in joints for hinge in joint.hinges}
    return [name for name in model.joint_names if name not in known]


def hip_middle(model: Model) -> NDArray[np.float64] | None:
    """Return the midpoint (3,) [m] of the hips from the root's centre of mass, in home axes; None without two hips."""
    hips = [body for body in model.bodies if body.joint.name in ("left_hip_roll", "right_hip_roll")]
    if len(hips) != 2 or any(body.parent != model.root.name for body in hips):
        return None
    places: NDArray[np.float64] = np.mean([body.joint.position for body in hips], axis=0)
    return places - np.asarray(model.root.com)

"""A controller in Python for every command: ``biped run balance --controller examples/posture_law.py``."""

from dataclasses import dataclass, field

import numpy as np

from biped import Controller, Observation

#: [rad] The posture in which the experiment ``balance`` begins.
HIP, KNEE, ANKLE = 0.515, -1.083, 0.568


@dataclass(frozen=True)
class Posture(Controller):
    """Stiff joints about a posture, and ankles that push back when the trunk moves."""

    kp: float = field(
        default=3000.0, metadata={"unit": "N·m/rad", "title": "stiffness of a joint", "range": (0.0, 6000.0)}
    )
    kd: float = field(default=6.0, metadata={"unit": "N·m·s/rad", "title": "damping of a joint", "range": (0.0, 20.0)})
    ankles: float = field(
        default=150.0, metadata={"unit": "N·s", "title": "torque against the trunk's velocity", "range": (0.0, 400.0)}
    )
    pitch: tuple[float, float, float] = field(
        default=(HIP, KNEE, ANKLE), metadata={"unit": "rad", "title": "posture: hip, knee, ankle"}
    )
    period: float = 1e-3

    def torques(self, observation: Observation) -> np.ndarray:
        """One torque [N·m] for each joint, in the order of ``model.joint_names``."""
        joints = observation.model.joint_names
        torques = -self.kp * (observation.angles - self.posture(joints)) - self.kd * observation.rates
        torques[[joint.endswith("ankle_pitch") for joint in joints]] += self.ankles * observation.velocity[0]
        return torques

    def posture(self, joints: tuple[str, ...]) -> np.ndarray:
        """(joints,) [rad] where they are to be."""
        pitch = dict(zip(("hip_pitch", "knee_pitch", "ankle_pitch"), self.pitch, strict=True))
        return np.array([pitch.get(joint.partition("_")[2], 0.0) for joint in joints])

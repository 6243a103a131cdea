"""A controller in Python for every command: ``biped run balance --controller examples/posture_law.py``."""

from dataclasses import dataclass, field

import numpy as np

from biped import Controller, Observation

#: Joint angles [rad] at the start of the experiment ``balance``.
HIP, KNEE, ANKLE = 0.515, -1.083, 0.568


@dataclass(frozen=True)
class Posture(Controller):
    """Stiff joints about a posture, with ankle torques against the velocity of the trunk."""

    kp: float = field(default=3000.0, metadata={"unit": "N·m/rad", "title": "Joint stiffness", "range": (0.0, 6000.0)})
    kd: float = field(default=6.0, metadata={"unit": "N·m·s/rad", "title": "Joint damping", "range": (0.0, 20.0)})
    ankles: float = field(
        default=150.0, metadata={"unit": "N·s", "title": "Ankle torque / trunk velocity", "range": (0.0, 400.0)}
    )
    pitch: tuple[float, float, float] = field(
        default=(HIP, KNEE, ANKLE), metadata={"unit": "rad", "title": "Posture: hip, knee, ankle"}
    )
    period: float = 1e-3

    def torques(self, observation: Observation) -> np.ndarray:
        """Return a torque [N·m] for each joint, in the order of ``model.joint_names``."""
        joints = observation.model.joint_names
        torques = -self.kp * (observation.angles - self.posture(joints)) - self.kd * observation.rates
        torques[[joint.endswith("ankle_pitch") for joint in joints]] += self.ankles * observation.velocity[0]
        return torques

    def posture(self, joints: tuple[str, ...]) -> np.ndarray:
        """Return the desired joint angles (joints,) [rad]."""
        pitch = dict(zip(("hip_pitch", "knee_pitch", "ankle_pitch"), self.pitch, strict=True))
        return np.array([pitch.get(joint.partition("_")[2], 0.0) for joint in joints])

"""Drive the human with a controller of your own: a class with a method ``torques``."""

from dataclasses import dataclass

import numpy as np

from biped import Controller, Fall, Observation, human, simulate


@dataclass(frozen=True)
class AnkleStrategy(Controller):
    """Stiff joints, with ankle torques against the velocity of the trunk."""

    period: float = 1e-3

    def torques(self, observation: Observation) -> np.ndarray:
        """Return a torque [N·m] for each joint, in the order of ``model.joint_names``."""
        torques = -1500.0 * observation.angles - 4.0 * observation.rates
        for k, joint in enumerate(observation.model.joint_names):
            if joint.endswith("ankle_pitch"):
                torques[k] += 100.0 * observation.velocity[0]
        return torques


run = simulate(human(), AnkleStrategy(), step=5e-4, duration=1.0, fall=Fall())
print(f"{run.verdict_line}, with {run.metrics['peak_torque_left_ankle_pitch']:.1f} N·m at the left ankle")
print(run.frame[["time", "body_x", "body_z"]].iloc[::250].to_string(index=False))

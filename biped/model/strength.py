"""How strong a human is, by joint."""

from collections.abc import Mapping

from biped.model.model import Model

#: [N·m] peaks of strong young men, rounded up, by joint of a leg: flexion and extension of Anderson, Madigan and
#: Nussbaum (2007), abduction and rotation of the hip of Cahalan et al. (1989), the ankle's roll of Ottaviani et al.
#: (1995).
HUMAN_TORQUES = {
    "hip_pitch": 250.0, "hip_roll": 150.0, "hip_yaw": 100.0,
    "knee_pitch": 300.0, "ankle_pitch": 220.0, "ankle_roll": 60.0,
}  # fmt: skip


def human_torques(model: Model) -> Mapping[str, float]:
    """[N·m] the peaks by joint of a model that is a human; of others empty."""
    if model.name != "human":
        return {}
    kinds = {joint: joint.partition("_")[2] for joint in model.joint_names}
    return {joint: HUMAN_TORQUES[kind] for joint, kind in kinds.items() if kind in HUMAN_TORQUES}

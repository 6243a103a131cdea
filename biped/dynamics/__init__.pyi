from .recursive import (
    BodyMotion,
    Energy,
    Momentum,
    body_gaps,
    centre_of_mass,
    checked,
    energy,
    forward_dynamics,
    forward_kinematics,
    inverse_dynamics,
    joint_place,
    mass_matrix,
    momentum,
)

__all__ = [
    "BodyMotion", "Energy", "Momentum", "body_gaps", "centre_of_mass", "checked", "energy", "forward_dynamics",
    "forward_kinematics", "inverse_dynamics", "joint_place", "mass_matrix", "momentum",
]  # fmt: skip

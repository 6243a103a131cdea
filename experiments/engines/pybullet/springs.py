"""Springs and dampers of joints as torques of a step's start, for engines that have no better ones."""

import numpy as np

from biped.dynamics import mass_matrix
from biped.errors import InputError
from contact.arrays import Floats
from experiments.engines.engine import Case


def check_springs(case: Case, q: Floats, dofs: Floats, stiffness: Floats, damping: Floats) -> None:
    """Whether they stay stable: v' = v - h A (K θ + B v), θ' = θ + h v' must not grow, A being M(q)⁻¹.

    ``dofs`` are where the joints stand in a velocity; ``stiffness`` [N·m/rad], ``damping`` [N·m·s/rad].
    """
    if not (stiffness.any() or damping.any()):
        return
    h = case.step
    A = h * np.linalg.inv(mass_matrix(case.model, q))[np.ix_(dofs, dofs)]
    eye = np.eye(len(dofs))
    spring, damper = A * stiffness, eye - A * damping
    step = np.block([[damper, -spring], [h * damper, eye - h * spring]])
    if np.max(np.abs(np.linalg.eigvals(step))) > 1.0 + 1e-6:
        raise InputError(
            "PyBullet has no implicit springs in joints, and explicit ones this stiff are unstable at a step of "
            f"{h:g} s: take a smaller step, or less stiffness and damping"
        )

"""A spring and a damper in each joint that act within the integrator's steps."""

from dataclasses import dataclass, field, replace
from typing import Self

import numpy as np
from numpy.typing import NDArray

from biped.control.controller import Controller, Impedance
from biped.control.observation import Observation
from biped.errors import InputError
from biped.kernels.loop.closed_loop import Passive
from biped.model import Model
from contact.arrays import Floats
from controllers.joint_values import JointValues, angles_of, by_joint, checked
from controllers.parameter import parameter

#: Stiff enough for the human to stand upright: at the ankles, gravity pulls it over with about 750 N·m/rad.
STIFFNESS = 2000.0
DAMPING = 50.0


@dataclass(frozen=True)
class JointImpedance(Controller):
    """Joint impedance about a set point, evaluated in the middle of each step with the step's own unknowns.

    It commands no torques of its own: the integrator adds stiffness and damping to the diagonal of its
    factorization, so they stay stable at any step, where the same gains outside of the step diverge.

    Each of the three is one number for all joints or a table by joint; joints that a table leaves out have
    no stiffness, no damping and the rest angle zero.

    Attributes:
        rest: where the springs are at rest [rad].
        period: [s] between two looks at whether the model has fallen; the impedance itself knows no ticks.

    Raises:
        InputError: a stiffness or a damping is negative, or a number is not finite.
        ModelError: a table names a joint that the model does not have; raised when the model is known.
    """

    stiffness: JointValues = parameter(STIFFNESS, "N·m/rad", "Stiffness of each joint", 0.0, 4000.0)
    damping: JointValues = parameter(DAMPING, "N·m·s/rad", "Damping of each joint", 0.0, 200.0)
    rest: JointValues = field(default_factory=dict)
    period: float = parameter(2e-3, "s", "Control period")

    def __post_init__(self) -> None:
        checked(self.stiffness, "impedance.stiffness", least=0.0)
        checked(self.damping, "impedance.damping", least=0.0)
        checked(self.rest, "impedance.rest")
        if not (np.isfinite(self.period) and self.period > 0.0):
            raise InputError(f"impedance.period = {self.period!r}: it must be a finite number of seconds above zero")

    def impedance(self, model: Model) -> Impedance:
        """Return the integrator's springs and dampers."""
        return Impedance(
            stiffness=by_joint(self.stiffness, model),
            damping=by_joint(self.damping, model),
            rest=by_joint(self.rest, model),
        )

    def holding(self, model: Model, q: Floats) -> Self:
        """With the joints' angles there as its springs' rest."""
        return replace(self, rest=angles_of(model, q))

    def law(self, model: Model) -> Passive:
        """Return a compiled law without torques: only the springs and dampers act."""
        return Passive()

    def torques(self, observation: Observation) -> NDArray[np.float64]:
        """(joints,) zero: all it does, it does within the steps."""
        return np.zeros(len(observation.model.joint_names))

"""Joint impedance: a spring and a damper in each joint, which act within the integrator's steps."""

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

#: [N·m/rad] Default stiffness: the human stands upright, as the toppling stiffness at the ankles is about 750 N·m/rad.
STIFFNESS = 2000.0
DAMPING = 50.0


@dataclass(frozen=True)
class JointImpedance(Controller):
    """Joint impedance: a spring and a damper in each joint, solved implicitly in each step of the integrator.

    It commands no torques: the integrator includes stiffness and damping in the equations of each step. The motion is
    therefore stable for any time step, while it would diverge under a PD controller with these gains.

    Stiffness, damping and rest angle are one number for all joints or a table by joint; zero for joints not in a table.

    Attributes:
        rest: [rad] rest angles of the springs.
        period: [s] time between two checks for a fall; the impedance itself has no control ticks.

    Raises:
        InputError: a stiffness or a damping is negative, or a number is not finite.
        ModelError: a table names a joint that the model does not have; raised when the model is known.
    """

    stiffness: JointValues = parameter(STIFFNESS, "N·m/rad", "Stiffness of each joint", 0.0, 4000.0)
    damping: JointValues = parameter(DAMPING, "N·m·s/rad", "Damping of each joint", 0.0, 200.0)
    rest: JointValues = field(default_factory=dict)
    period: float = parameter(2e-3, "s", "Control period: time between two checks for a fall")

    def __post_init__(self) -> None:
        checked(self.stiffness, "impedance.stiffness", least=0.0)
        checked(self.damping, "impedance.damping", least=0.0)
        checked(self.rest, "impedance.rest")
        if not (np.isfinite(self.period) and self.period > 0.0):
            raise InputError(f"impedance.period = {self.period!r}: it must be a finite number of seconds above zero")

    def impedance(self, model: Model) -> Impedance:
        """Return the springs and dampers for the integrator."""
        return Impedance(
            stiffness=by_joint(self.stiffness, model),
            damping=by_joint(self.damping, model),
            rest=by_joint(self.rest, model),
        )

    def holding(self, model: Model, q: Floats) -> Self:
        """Return this controller with the joint angles of ``q`` (nq,) as rest angles."""
        return replace(self, rest=angles_of(model, q))

    def law(self, model: Model) -> Passive:
        """Return a compiled law that commands no torques, since only the springs and dampers act."""
        return Passive()

    def torques(self, observation: Observation) -> NDArray[np.float64]:
        """Return zero torques (joints,): the impedance acts within the steps."""
        return np.zeros(len(observation.model.joint_names))

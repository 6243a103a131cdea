"""Proportional-derivative control of each joint, a simple baseline."""

from dataclasses import dataclass, field, replace
from typing import ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from biped.control.controller import Controller
from biped.control.observation import Observation
from biped.errors import InputError
from biped.model import Model
from contact.arrays import Floats
from controllers.joint_values import JointValues, angles_of, by_joint, checked
from controllers.kernels.joint_pd import PdLaw
from controllers.parameter import parameter


@dataclass(frozen=True)
class JointPD(Controller):
    """PD control of each joint: torque τ = −k_p (θ − θ_d) − k_d θ̇, within ±limit and constant for a control period.

    The human stands upright with the defaults. The control period bounds the damping: a torque held for a period must
    not reverse the motion of a light foot in the air. ``JointImpedance`` has no such bound.

    Gains, target and limit are one number for all joints or a table by joint, such as ``{"left_knee_pitch": 400.0}``;
    joints missing in a table have gain zero, target zero, and no limit.

    Attributes:
        kp: [N·m/rad] gain k_p.
        kd: [N·m·s/rad] gain k_d.
        target: [rad] target angle θ_d.

    Raises:
        InputError: a gain is negative, a limit is not above zero, or a number is not finite.
        ModelError: a table names a joint that the model does not have; raised when the model is known.
    """

    analytic: ClassVar[bool] = True

    kp: JointValues = parameter(1500.0, "N·m/rad", "Proportional gain (stiffness) of each joint", 0.0, 3000.0)
    kd: JointValues = parameter(4.0, "N·m·s/rad", "Derivative gain (damping) of each joint", 0.0, 20.0)
    target: JointValues = field(default_factory=dict)
    limit: JointValues = parameter(float("inf"), "N·m", "Torque limit of each joint")
    period: float = parameter(2e-3, "s", "Control period")

    def __post_init__(self) -> None:
        checked(self.kp, "joint_pd.kp", least=0.0)
        checked(self.kd, "joint_pd.kd", least=0.0)
        checked(self.target, "joint_pd.target")
        checked(self.limit, "joint_pd.limit", least=0.0, infinite=True)
        if not (np.isfinite(self.period) and self.period > 0.0):
            raise InputError(f"joint_pd.period = {self.period!r}: it must be a finite number of seconds above zero")

    def holding(self, model: Model, q: Floats) -> Self:
        """Return this controller with the joint angles of ``q`` (nq,) as targets."""
        return replace(self, target=angles_of(model, q))

    def law(self, model: Model) -> PdLaw:
        """Return the compiled law, with the gains by degree of freedom."""
        return PdLaw(
            kp=_spread(model, by_joint(self.kp, model)),
            kd=_spread(model, by_joint(self.kd, model)),
            target=_spread(model, by_joint(self.target, model)),
            limit=_spread(model, by_joint(self.limit, model, default=np.inf)),
        )

    def torques(self, observation: Observation) -> NDArray[np.float64]:
        """Return the torques (joints,) [N·m] for a state."""
        model = observation.model
        law = self.law(model)
        dofs = [model.dof(joint) for joint in model.joint_names]
        linear = -law.kp[dofs] * (observation.angles - law.target[dofs]) - law.kd[dofs] * observation.rates
        return np.clip(linear, -law.limit[dofs], law.limit[dofs])


def _spread(model: Model, values: dict[str, float]) -> NDArray[np.float64]:
    """Return an array (nv,) with the joints' values at their degrees of freedom, zero elsewhere."""
    array = np.zeros(model.nv)
    for joint, value in values.items():
        array[model.dof(joint)] = value
    return array

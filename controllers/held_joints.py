"""Holding of the joints outside the legs (arms, waist, neck) at fixed angles."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

import numpy as np

from biped.control.controller import Impedance
from biped.dynamics import mass_matrix
from biped.errors import InputError
from biped.inputs.checks import above_zero, zero_or_above
from biped.model import Model
from biped.model.legs import foot_under
from contact.arrays import Floats
from controllers.joint_values import JointValues, by_joint, checked
from controllers.kernels.joint_pd import PdLaw
from controllers.parameter import parameter

MEANS = ("impedance", "servo")


@dataclass(frozen=True)
class HeldJoints:
    """Spring and damper in each joint outside the legs, tuned to the inertia that the joint carries.

    With all other joints locked in the home configuration, a joint returns to its angle with the given frequency and
    damping ratio: k = J ω², d = 2 ζ J ω, where J is the inertia about its axis of all bodies that it carries. For toes,
    a foot's share of the body mass at their tip is added, since the body stands on them.

    Attributes:
        by: ``impedance``: within the integrator's steps; ``servo``: by torques that are constant for a control period.
        frequency: [Hz] natural frequency ω/2π.
        damping_ratio: damping ratio ζ.
        angles: [rad] held angles, for all joints or by joint; joints missing in a table use the model's ``posture``.

    Raises:
        InputError: a number is out of range, or ``by`` is unknown.
        ModelError: ``angles`` names a joint that the model does not have; raised when the model is known.
    """

    by: Literal["impedance", "servo"] = parameter("impedance", "", "Means of holding the joints outside the legs")
    frequency: float = parameter(5.0, "Hz", "Natural frequency of the joints outside the legs")
    damping_ratio: float = parameter(1.0, "", "Damping ratio of the joints outside the legs")
    angles: JointValues = field(default_factory=dict)

    def __post_init__(self) -> None:
        means: str = self.by
        if means not in MEANS:
            raise InputError(f"controller.held.by = {means!r}: it must be one of {', '.join(MEANS)}")
        above_zero(self.frequency, "controller.held.frequency")
        zero_or_above(self.damping_ratio, "controller.held.damping_ratio")
        checked(self.angles, "controller.held.angles")

    def impedance(self, model: Model, joints: tuple[str, ...]) -> Impedance | None:
        """Return the springs and dampers in ``joints`` for the integrator; None without joints, or with a servo."""
        if not joints or self.by != "impedance":
            return None
        gains = self._gains(model, joints)
        stiffness, damping, rest = (dict(zip(joints, values, strict=True)) for values in gains)
        return Impedance(stiffness, damping, rest)

    def servo(self, model: Model, joints: tuple[str, ...]) -> PdLaw:
        """Return a PD law for ``joints``; its gains are zero without joints, or with an impedance."""
        kp, kd, target, limit = (np.full(model.nv, value) for value in (0.0, 0.0, 0.0, np.inf))
        law = PdLaw(kp, kd, target, limit)
        if self.by == "servo":
            dofs = [model.dof(joint) for joint in joints]
            law.kp[dofs], law.kd[dofs], law.target[dofs] = self._gains(model, joints)
        return law

    def _gains(self, model: Model, joints: tuple[str, ...]) -> tuple[Floats, Floats, Floats]:
        """Return stiffness [N·m/rad], damping [N·m·s/rad] and angle [rad] of the joints, each (joints,)."""
        inertia = np.diag(mass_matrix(model, model.neutral()))[[model.dof(joint) for joint in joints]]
        inertia = inertia + [_that_stands(model, joint) for joint in joints]
        omega = 2.0 * math.pi * self.frequency
        all_angles, posture = by_joint(self.angles, model), dict(model.posture)
        given = self.angles if isinstance(self.angles, Mapping) else all_angles
        rest = np.array([given.get(joint, posture.get(joint, 0.0)) for joint in joints])
        return inertia * omega**2, 2.0 * self.damping_ratio * inertia * omega, rest


def _that_stands(model: Model, joint: str) -> float:
    """Return the inertia [kg m²] about a toe joint of a foot's share of the body mass at the tip of the toes."""
    body = model.bodies[model.joint_index(joint)].name
    if body in model.feet or foot_under(model, body) is None:
        return 0.0
    reaches = [math.hypot(*point.position) for point in model.contact_points if point.body == body]
    return model.total_mass / len(model.feet) * max(reaches, default=0.0) ** 2

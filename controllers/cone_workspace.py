"""The workspace controller of Wendlandt 1997 on feet that can only push, within friction cones."""

import math
from dataclasses import dataclass, field, replace
from typing import ClassVar, Self

import numpy as np

from biped.dynamics import forward_kinematics
from biped.errors import InputError
from biped.inputs.checks import above_zero, zero_or_above
from biped.model import Model
from biped.runs.postures import standing
from contact import RUBBER
from contact.arrays import Floats, Integers
from controllers import feet as feet_fields
from controllers.joint_values import JointValues, checked
from controllers.kernels.cone_workspace import ConeWorkspaceLaw, Limits, Stance, Tasks, new_room
from controllers.kernels.contact_qp import BASE, ContactQp, new_contact_qp
from controllers.kernels.workspace import Legs
from controllers.parameter import parameter
from controllers.workspace import LARGEST_INERTIA, WorkspaceController


@dataclass(frozen=True)
class ConeWorkspaceController(WorkspaceController):
    """The workspace law, but for wrenches that the floor cannot give: of those that it can, the nearest.

    Algorithm 4.5 of Wendlandt 1997 splits the wanted wrench between the feet as if they were glued to the floor. Here
    the points' forces lie in friction pyramids, and the torques within what the joints can give now; the nearest
    wrench on the central body is given, and of those that are as near the split nearest to the thesis's. While the
    thesis's own fulfils all of that, the torques are the thesis's, damped alike. A foot that does not stand flat is
    turned back about its points that touch, and one that touches nowhere goes back to its place beside the other.

    The feet are to stay where they are, on a floor that is level. Where it reaches farther than the thesis's law the
    legs come near to straight, so that it is damped there unless set otherwise, and no torque is beyond reason.

    Attributes:
        weight_moment: [1/m²] of what is missed of the wanted moment on the central body, beside 1 of the force's.
        weight_split: of the points' forces beside those of the thesis's split.
        torque_limit: [N·m] for all joints or by joint; the model's own efforts count besides. A joint that neither
            limits gets what would hold the whole weight at a lever arm as long as the centre of mass is high, at most.
        posture: (nq,) where its feet stand beside each other, which ``holding`` sets; as at home if not given.
        largest_inertia: [kg, kg·m²] as of ``WorkspaceController``; infinite is the thesis's law.

    Raises:
        InputError: a number is out of range.
        ModelError: ``torque_limit`` names a joint that the model does not have; raised when the model is known.
    """

    analytic: ClassVar[bool] = False  # a quadratic program

    friction: float = feet_fields.a_friction()
    weight_moment: float = parameter(
        10.0, "1/m²", "Weight of the moment error on the trunk (force error: 1)", 1e-4, 100.0
    )
    weight_split: float = parameter(1e-3, "", "Weight of deviations from the thesis's force distribution", 1e-5, 0.1)
    torque_limit: JointValues = field(default=math.inf, metadata=feet_fields.TORQUE_LIMIT)
    kp_feet: float = feet_fields.a_foot_stiffness(400.0)
    kd_feet: float = feet_fields.a_foot_damping(40.0)
    lift: float = feet_fields.a_lift(0.01)
    largest_inertia: float = field(default=300.0, metadata=LARGEST_INERTIA)
    posture: tuple[float, ...] | None = feet_fields.a_posture()

    @property
    def recorded(self) -> tuple[str, ...]:  # type: ignore[override]
        """The names of recorded numbers: the workspace law's, and how the program ended."""
        return (*super().recorded, "qp_ended", "qp_iterations")

    def __post_init__(self) -> None:
        super().__post_init__()
        for name in ("friction", "weight_moment", "weight_split"):
            above_zero(getattr(self, name), f"controller.{name}")
        for name in ("kp_feet", "kd_feet", "lift"):
            zero_or_above(getattr(self, name), f"controller.{name}")
        checked(self.torque_limit, "controller.torque_limit", least=0.0, infinite=True)

    def holding(self, model: Model, q: Floats) -> Self:
        """With the central body's place, and that of the feet beside each other, as there."""
        return replace(super().holding(model, q), posture=tuple(q.tolist()))

    def law(self, model: Model) -> ConeWorkspaceLaw:  # type: ignore[override]
        """Return the compiled law, for the kernels.

        Raises:
            InputError: the model has no floating root, no feet, or no contact points there; or a joint in no leg that
                cannot be held.
        """
        workspace, stance = super().law(model), _stance(model, self.posture)
        if not len(stance.point):
            raise InputError(
                f"the cone-workspace controller needs feet with contact points; those of {model.name!r} have none"
            )
        limits = self._limits(model, workspace.legs)
        tasks = Tasks((float(self.kp_feet), float(self.kd_feet)), float(self.weight_moment), float(self.lift))
        qp = self._program(len(stance.point), len(limits.torque_dof))
        return ConeWorkspaceLaw(workspace, tasks, stance, limits, qp, new_room(len(model.feet)))

    def _program(self, points: int, bounded: int) -> ContactQp:
        qp = new_contact_qp(BASE, points, bounded)
        qp.spread[0], qp.friction[0] = self.weight_split, self.friction
        return qp

    def _limits(self, model: Model, legs: Legs) -> Limits:
        most = feet_fields.within_reason(feet_fields.torque_limits(self.torque_limit, model), model)
        dofs, owners, limits = [], [], []
        for body, leg in zip(model.bodies, legs.leg, strict=True):
            if leg >= 0 and body.joint.has_axis:
                dofs.append(model.dof(body.joint.name))
                owners.append(int(leg))
                limits.append(most[body.joint.name])
        return Limits(_integers(dofs), _integers(owners), np.array(limits, dtype=np.float64))


def _stance(model: Model, posture: tuple[float, ...] | None) -> Stance:
    """Return the feet's stance in the undisturbed posture."""
    placed = forward_kinematics(model, standing(model, RUBBER).q if posture is None else posture)
    feet = [model.body_index(foot) for foot in model.feet]
    return Stance(placed.position[feet], placed.orientation[feet], *feet_fields.points_of_feet(model))


def _integers(values: list[int]) -> Integers:
    return np.array(values, dtype=np.int64)

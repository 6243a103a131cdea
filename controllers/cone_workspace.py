"""Workspace controller of Wendlandt 1997, extended by unilateral contact and friction cones."""

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
from controllers.kernels.cone_workspace import ConeWorkspaceLaw, Limits, Stance, Tasks, new_buffers
from controllers.kernels.contact_qp import BASE, ContactQp, new_contact_qp
from controllers.kernels.workspace import Legs
from controllers.parameter import parameter
from controllers.workspace import LARGEST_INERTIA, WorkspaceController


@dataclass(frozen=True)
class ConeWorkspaceController(WorkspaceController):
    """Workspace controller whose contact forces lie in friction cones, and torques within joint limits.

    Algorithm 4.5 of Wendlandt 1997 splits the desired wrench between the feet as if they were glued to the floor. Here
    the contact forces lie in friction pyramids, and the torques within the joints' current limits. The controller
    realizes the feasible wrench on the central body that is nearest to the desired wrench, and of its splits between
    the feet the one nearest to that of Algorithm 4.5. If the solution of Algorithm 4.5 is feasible, the torques are
    equal for equal ``largest_inertia``. A foot that does not stand flat is rotated back about its touching points; a
    foot without contact returns to its position in ``posture``. Use this controller with feet in place on level ground.
    It brings the legs closer to straight than ``WorkspaceController``, so that torques are damped there by default.

    Attributes:
        weight_moment: [1/m²] weight of the moment error on the central body; the force error has weight 1.
        weight_split: weight of the contact forces' deviations from the split of Algorithm 4.5.
        torque_limit: [N·m] for all joints or by joint, in addition to the model's effort limits. A joint without either
            is limited to the body's weight times the height of its centre of mass.
        posture: (nq,) reference posture of the feet, set by ``holding``; the home posture if not given.
        largest_inertia: [kg, kg·m²] as in ``WorkspaceController``; inf: no damping.

    Raises:
        InputError: a number is out of range.
        ModelError: ``torque_limit`` names a joint that the model does not have; raised when the model is known.
    """

    analytic: ClassVar[bool] = False  # a quadratic program

    friction: float = feet_fields.a_friction()
    weight_moment: float = parameter(10.0, "1/m²", "Weight of trunk moment errors (trunk force errors: 1)", 1e-4, 100.0)
    weight_split: float = parameter(1e-3, "", "Weight of deviations from the force split of Wendlandt 1997", 1e-5, 0.1)
    torque_limit: JointValues = field(default=math.inf, metadata=feet_fields.TORQUE_LIMIT)
    kp_feet: float = feet_fields.a_foot_stiffness(400.0)
    kd_feet: float = feet_fields.a_foot_damping(40.0)
    lift: float = feet_fields.a_lift(0.01)
    largest_inertia: float = field(default=300.0, metadata=LARGEST_INERTIA)
    posture: tuple[float, ...] | None = feet_fields.a_posture()

    @property
    def recorded(self) -> tuple[str, ...]:  # type: ignore[override]
        """Columns that the controller records: those of the workspace controller, and the program's outcome."""
        return (*super().recorded, "qp_ended", "qp_iterations")

    def __post_init__(self) -> None:
        super().__post_init__()
        for name in ("friction", "weight_moment", "weight_split"):
            above_zero(getattr(self, name), f"controller.{name}")
        for name in ("kp_feet", "kd_feet", "lift"):
            zero_or_above(getattr(self, name), f"controller.{name}")
        checked(self.torque_limit, "controller.torque_limit", least=0.0, infinite=True)

    def holding(self, model: Model, q: Floats) -> Self:
        """Return this controller with the central body and the feet as in ``q`` (nq,)."""
        return replace(super().holding(model, q), posture=tuple(q.tolist()))

    def law(self, model: Model) -> ConeWorkspaceLaw:  # type: ignore[override]
        """Return the compiled law, for the kernels.

        Raises:
            InputError: the model has no floating root, no feet, or no contact points there; or a joint outside
                the legs cannot be held.
        """
        workspace, stance = super().law(model), _stance(model, self.posture)
        if not len(stance.point):
            raise InputError(f"the cone-workspace controller needs feet with contact points; {model.name!r} has none")
        limits = self._limits(model, workspace.legs)
        tasks = Tasks((float(self.kp_feet), float(self.kd_feet)), float(self.weight_moment), float(self.lift))
        qp = self._program(len(stance.point), len(limits.torque_dof))
        return ConeWorkspaceLaw(workspace, tasks, stance, limits, qp, new_buffers(len(model.feet)))

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
    """Return the reference stance of the feet, in ``posture`` or the home posture."""
    placed = forward_kinematics(model, standing(model, RUBBER).q if posture is None else posture)
    feet = [model.body_index(foot) for foot in model.feet]
    return Stance(placed.position[feet], placed.orientation[feet], *feet_fields.points_of_feet(model))


def _integers(values: list[int]) -> Integers:
    return np.array(values, dtype=np.int64)

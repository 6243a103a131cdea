"""Whole-body control by a quadratic program with limits of contacts, joints and actuators."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from typing import ClassVar, Self

import numpy as np

from biped.control.controller import Controller, SetPoint
from biped.dynamics import forward_kinematics
from biped.dynamics.whole_body import WholeBody
from biped.errors import InputError
from biped.inputs.checks import above_zero, numbers, zero_or_above
from biped.model import Model
from biped.model.geometry import Vector3
from biped.runs.postures import STANDING_TRUNK, has_human_legs, standing
from contact import RUBBER, Floor
from contact.arrays import Floats, Integers
from controllers import feet as feet_fields
from controllers.joint_values import JointValues, checked
from controllers.kernels.whole_body import Limits, Stance, Tasks, WholeBodyLaw, new_buffers, new_program
from controllers.parameter import parameter

UPRIGHT = (1.0, 0.0, 0.0, 0.0)
#: Factor of the posture task's weight for joints without torque, which makes the program's solution unique.
_LIMP_SHARE = 1e-3


@dataclass(frozen=True)
class WholeBodyController(Controller):
    """Whole-body controller that balances with feet in place, on unilateral contacts with friction.

    At each tick a quadratic program computes joint accelerations and contact forces: the equations of motion hold
    exactly, forces lie in friction pyramids, torques within their limits, and joints stay in their ranges (Kuindersma
    et al. 2014; Herzog et al. 2014; Koolen et al. 2016). It minimizes the weighted sum of squared task errors. The main
    task moves the capture point (divergent component of motion) to its set point, as far as the centre of pressure can.
    Beyond that, angular momentum of the trunk helps: the hip strategy results from a low ``weight_trunk``. A foot in
    the air bears no force and returns to its place by the other foot; if both are in the air, they fall with the body.

    It takes no steps. It assumes a rigid floor; the default floor yields by about a millimetre.

    Attributes:
        target_position: [m] position of the central body's centre of mass in the reference posture; it sets the
            position of the whole body's centre of mass relative to the feet.
        weight_height: weight of the height task; the horizontal acceleration of the centre of mass has weight 1.
        weight_momentum: weight of the rate of change of angular momentum, divided by mass times squared CoM height.
        weight_force: weight of the contact forces, divided by the body mass.
        torque_limit: [N·m] for all joints or by joint, in addition to the model's effort limits. A joint without either
            is limited to the body's weight times the height of its centre of mass.
        posture: (nq,) reference posture, set by ``holding``; default: trunk at ``target_position``,
            feet flat; robots: their own posture.

    Raises:
        InputError: a number is out of range.
        ModelError: ``torque_limit`` names a joint that the model does not have; raised when the model is known.
    """

    target_position: Vector3 = parameter(STANDING_TRUNK, "m", "Reference position of the trunk CoM, world coordinates")
    capture: float = parameter(23.0, "1/s", "Decay rate of the capture-point error", 0.0, 30.0)
    kp_height: float = parameter(40.0, "1/s²", "Proportional gain of the CoM height task", 0.0, 200.0)
    kd_height: float = parameter(13.0, "1/s", "Damping gain of the CoM height task", 0.0, 40.0)
    kp_trunk: float = parameter(150.0, "1/s²", "Proportional gain of the trunk orientation task", 0.0, 200.0)
    kd_trunk: float = parameter(4.8, "1/s", "Damping gain of the trunk orientation task", 0.0, 40.0)
    kd_momentum: float = parameter(4.1, "1/s", "Angular momentum task: commanded decay rate", 0.0, 20.0)
    kp_feet: float = feet_fields.a_foot_stiffness(500.0)
    kd_feet: float = feet_fields.a_foot_damping(20.0)
    kp_posture: float = parameter(50.0, "1/s²", "Proportional gain of the joint posture task", 0.0, 200.0)
    kd_posture: float = parameter(10.0, "1/s", "Damping gain of the joint posture task", 0.0, 40.0)
    weight_height: float = feet_fields.a_task_weight(1.15, "the CoM height task", 0.01, 100.0)
    weight_trunk: float = feet_fields.a_task_weight(7.7e-4, "the trunk orientation task", 1e-4, 1.0)
    weight_momentum: float = feet_fields.a_task_weight(0.047, "the angular momentum task", 1e-4, 10.0)
    weight_feet: float = feet_fields.a_task_weight(11.0, "the foot task", 0.1, 1000.0)
    weight_posture: float = feet_fields.a_task_weight(1.1e-3, "the joint posture task", 1e-6, 1e-2)
    weight_force: float = feet_fields.a_task_weight(5e-3, "the contact forces", 1e-4, 0.1)
    friction: float = feet_fields.a_friction()
    torque_limit: JointValues = field(default=math.inf, metadata=feet_fields.TORQUE_LIMIT)
    margin: float = parameter(0.001, "m", "Smallest distance of the CoP from the sole's edge")
    lift: float = feet_fields.a_lift(0.03)
    look_ahead: float = parameter(0.05, "s", "Time constant of the approach to joint range limits")
    period: float = parameter(2e-3, "s", "Control period")
    posture: tuple[float, ...] | None = feet_fields.a_posture()

    recorded: ClassVar[tuple[str, ...] | Mapping[str, str]] = ("qp_ended", "qp_iterations")

    def __post_init__(self) -> None:
        numbers(self.target_position, 3, "controller.target_position")
        for item in fields(WholeBodyController):
            name, value = f"controller.{item.name}", getattr(self, item.name)
            if item.name in ("friction", "look_ahead", "period", "weight_feet", "weight_posture", "weight_force"):
                above_zero(value, name)
            elif item.name == "torque_limit":
                checked(value, name, least=0.0, infinite=True)
            elif item.name not in ("target_position", "posture"):
                zero_or_above(value, name)

    def set_point(self, model: Model) -> SetPoint:
        """Return the central body's pose in the reference posture."""
        return SetPoint(self.target_position, UPRIGHT, on_floor=True)

    def set_point_from(self, model: Model, q: Floats) -> SetPoint:
        """Return the central body's pose in the reference posture, above the feet as in ``q`` (nq,)."""
        held = self._held(model, RUBBER)
        points = feet_fields.points_of_feet(model)[0]
        now, then = (forward_kinematics(model, at).contact[points].mean(axis=0) for at in (q, held))
        x, y, z = self.target_position
        return SetPoint((x + float(now[0] - then[0]), y + float(now[1] - then[1]), z), UPRIGHT, on_floor=True)

    def initial_configuration(self, model: Model, floor: Floor) -> Floats | None:
        """Return the configuration (nq,) of the reference posture, standing on the floor."""
        return self._held(model, floor)

    def holding(self, model: Model, q: Floats) -> Self:
        """Return this controller with reference posture ``q`` (nq,) and an upright central body."""
        return replace(self, target_position=feet_fields.place_of(q), posture=tuple(q.tolist()))

    def _held(self, model: Model, floor: Floor) -> Floats:
        """Return the reference posture (nq,): central body at ``target_position``, or a robot's own posture."""
        if self.posture is not None:
            return np.array(self.posture)
        return standing(model, floor, self.target_position if has_human_legs(model) else None).q

    def law(self, model: Model) -> WholeBodyLaw:
        """Return the compiled law, for the kernels.

        Raises:
            InputError: the model has no floating root or no feet with contact points.
        """
        return self._law_with(model, 0)

    def _law_with(self, model: Model, more: int) -> WholeBodyLaw:
        """Return the compiled law with buffers for ``more`` further rows of its program."""
        if not model.is_floating or not model.feet or not len(feet_fields.points_of_feet(model)[0]):
            raise InputError(
                f"the whole-body controller needs a floating root and feet with contact points; model {model.name!r} "
                "lacks them"
            )
        stance, limits = self._stance(model), self._limits(model)
        points, feet = len(stance.point), len(model.feet)
        return WholeBodyLaw(
            self._tasks(), stance, limits, new_program(model.nv, feet, points, limits, more),
            new_buffers(model.nv, feet, points, more),
        )  # fmt: skip

    def _tasks(self) -> Tasks:
        return Tasks(
            capture=float(self.capture), height=(float(self.kp_height), float(self.kd_height)),
            trunk=(float(self.kp_trunk), float(self.kd_trunk)), momentum=float(self.kd_momentum),
            feet=(float(self.kp_feet), float(self.kd_feet)), posture=(float(self.kp_posture), float(self.kd_posture)),
            weight_height=float(self.weight_height), weight_trunk=float(self.weight_trunk),
            weight_momentum=float(self.weight_momentum), weight_feet=float(self.weight_feet),
            weight_posture=float(self.weight_posture), weight_force=float(self.weight_force),
            friction=float(self.friction), lift=float(self.lift), look_ahead=float(self.look_ahead),
        )  # fmt: skip

    def _stance(self, model: Model) -> Stance:
        q = self._held(model, RUBBER)
        placed, body = forward_kinematics(model, q), WholeBody(model, q)
        feet = np.array([model.body_index(foot) for foot in model.feet])
        places = placed.position[feet]
        floor = np.append(places.mean(axis=0)[:2], 0.0)
        com = body.com + (np.array(self.target_position) - q[:3]) - floor
        points, owners = feet_fields.points_of_feet(model)
        turns = placed.orientation[feet]
        inset = inwards(model, points, owners, self.margin)
        held = np.ones(model.nv)  # a joint without torque would be swung by all the others
        held[
            [model.dof(joint) for joint in feet_fields.limp(feet_fields.torque_limits(self.torque_limit, model), model)]
        ] = _LIMP_SHARE
        return Stance(com, q.copy(), feet, places - floor, turns, points, owners, inset, held)

    def _limits(self, model: Model) -> Limits:
        most = feet_fields.torque_limits(self.torque_limit, model)
        reason = feet_fields.within_reason(most, model)
        joints = {body.joint.name: body.joint for body in model.bodies if body.joint.has_axis}
        ranged = [
            name for name in most
            if max(-joints[name].lower, joints[name].upper) < math.inf or joints[name].max_velocity < math.inf
        ]  # fmt: skip
        return Limits(
            torque_dof=np.array([model.dof(name) for name in most], dtype=np.int64),
            torque=np.array([most[name] for name in most], dtype=np.float64),
            reason=np.array([reason[name] for name in most], dtype=np.float64),
            range_dof=np.array([model.dof(name) for name in ranged], dtype=np.int64),
            range_q=np.array([model.coordinate(name) for name in ranged], dtype=np.int64),
            lower=np.array([joints[name].lower for name in ranged], dtype=np.float64),
            upper=np.array([joints[name].upper for name in ranged], dtype=np.float64),
            speed=np.array([joints[name].max_velocity for name in ranged], dtype=np.float64),
        )


def inwards(model: Model, points: Integers, owners: Integers, margin: float) -> Floats:
    """Return offsets (m, 3) [m] that move contact points towards the middle of their soles, in foot axes."""
    tree = model.tree
    places = model.home_positions[tree.contact_body[points]] + tree.contact_offset[points]
    middles = np.array([places[owners == foot].mean(axis=0) for foot in range(len(model.feet))])
    away = middles[owners] - places
    away[:, 2] = 0.0
    return np.sign(away) * np.minimum(margin, np.abs(away))

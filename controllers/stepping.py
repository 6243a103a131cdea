"""Balance recovery by stepping: the whole-body controller with a step planner."""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields, replace
from itertools import pairwise, product
from typing import Any, ClassVar, Literal, Self, TypeVar

import numpy as np

from biped.control.controller import SetPoint
from biped.dynamics import forward_kinematics
from biped.errors import InputError
from biped.inputs.checks import above_zero, numbers, zero_or_above
from biped.model import Model
from biped.model.geometry import quaternion_matrix
from contact import RUBBER
from contact.arrays import Floats
from controllers.feet import a_task_weight, points_of_feet
from controllers.kernels import stepping as kernels
from controllers.kernels.legs_apart import LegCapsules
from controllers.kernels.step_plan import SEEN, Legs, Seen, StepRules
from controllers.kernels.stepping import MEMORY, PHASES, StepParameters, SteppingLaw
from controllers.kernels.whole_body import Tasks
from controllers.parameter import parameter
from controllers.whole_body import WholeBodyController, inwards

#: Number of steps that stands for no limit.
ANY = 2**31
#: Instructions to the participant, and the greatest number of steps that each instruction allows.
INSTRUCTIONS = {"try-not-to-step": ANY, "step-freely": ANY, "one-step-only": 1, "feet-in-place": 0}
#: [m] Distance of the XCoM outside the soles (negative: inside) that triggers the first step with ``step-freely``.
FREE_TRIGGER = -0.047
T = TypeVar("T")
_ABOVE_ZERO = (
    "shortest_swing", "longest_swing", "swing_speed", "max_swing_speed", "max_leg_extension", "max_foot_load",
)  # fmt: skip
_NOT_NUMBERS = ("instruction", "single_support", "double_support", "lateral", "backward")


@dataclass(frozen=True)
class StepTasks:
    """Gains and weights of the quadratic program during and after steps; fields as in ``WholeBodyController``."""

    capture: float = parameter(8.0, "1/s", "Decay rate of the capture-point error", 0.0, 30.0)
    kp_height: float = parameter(80.0, "1/s²", "Proportional gain of the CoM height task", 0.0, 200.0)
    kd_height: float = parameter(18.0, "1/s", "Damping gain of the CoM height task", 0.0, 40.0)
    kp_trunk: float = parameter(100.0, "1/s²", "Proportional gain of the trunk orientation task", 0.0, 200.0)
    kd_trunk: float = parameter(20.0, "1/s", "Damping gain of the trunk orientation task", 0.0, 40.0)
    kd_momentum: float = parameter(4.0, "1/s", "Angular momentum task: commanded decay rate", 0.0, 20.0)
    weight_height: float = a_task_weight(5.0, "the CoM height task", 0.01, 100.0)
    weight_trunk: float = a_task_weight(0.02, "the trunk orientation task", 1e-4, 1.0)
    weight_momentum: float = a_task_weight(0.01, "the angular momentum task", 1e-4, 10.0)
    weight_feet: float = a_task_weight(11.0, "the stance foot task", 0.1, 1000.0)
    weight_yaw: float = a_task_weight(0.01, "the trunk yaw task", 1e-5, 1.0)
    weight_posture: float = a_task_weight(2e-4, "the joint posture task", 1e-6, 1e-2)
    weight_force: float = a_task_weight(5e-3, "the contact forces", 1e-4, 0.1)

    def __post_init__(self) -> None:
        for item in fields(self):
            check = above_zero if item.name in ("weight_feet", "weight_posture", "weight_force") else zero_or_above
            check(getattr(self, item.name), f"controller.single_support or double_support: {item.name}")


#: Tuned values (``examples/gains-stepping.toml``) for single support, and for double support after a step.
SINGLE_SUPPORT = StepTasks(
    kp_height=8.776, kd_height=17.21, kp_trunk=25.24, kd_trunk=12.91, kd_momentum=14.91, weight_height=0.1048,
    weight_trunk=0.002607, weight_yaw=0.0001572, weight_momentum=1.193, weight_feet=47.94, weight_posture=6.278e-05,
    weight_force=0.0005766,
)  # fmt: skip
DOUBLE_SUPPORT = StepTasks(
    capture=2.513, kp_height=16.46, kd_height=5.015, kp_trunk=17.39, kd_trunk=4.956, kd_momentum=0.9752,
    weight_height=9.787, weight_trunk=0.00194, weight_yaw=0.000606, weight_momentum=0.5175, weight_feet=7.439,
    weight_posture=0.0001562, weight_force=0.0006549,
)  # fmt: skip

#: Tuned values for single support in backward steps.
SINGLE_SUPPORT_BACKWARD = replace(
    SINGLE_SUPPORT, kd_trunk=5.933, weight_trunk=0.004185, weight_momentum=0.7446, weight_posture=8.476e-05,
)  # fmt: skip


def _check_direction(values: Any, name: str) -> None:
    for item in fields(values):
        if item.name != "single_support":
            check = above_zero if item.name in ("shortest_swing", "swing_speed", "max_foot_load") else zero_or_above
            check(getattr(values, item.name), f"controller.{name}.{item.name}")


@dataclass(frozen=True)
class LateralSteps:
    """Values of `Stepping` for lateral steps; raises InputError for a number out of range."""

    bearing: float = parameter(0.916, "rad", "Angle of CoM travel from AP axis above which steps are lateral", 0.0, 1.6)
    lateral_share: float = parameter(0.7714, "", "CoP / capture-point offset from sole centre, across travel", 0.0, 1.0)
    shortest_swing: float = parameter(0.1941, "s", "Shortest swing time", 0.1, 0.8)
    swing_speed: float = parameter(1.229, "m/s", "Mean swing-foot speed above which a step is penalized", 0.5, 6.0)
    max_foot_load: float = parameter(1.839, "", "Limit of a foot's vertical GRF / body weight", 1.0, 5.0)
    clearance: float = parameter(0.02654, "m", "Swing foot clearance", 0.01, 0.2)
    landing_speed_ratio: float = parameter(0.9172, "", "Ratio of foot landing speed to horizontal CoM speed", 0.0, 2.0)
    swing_yaw_ratio: float = parameter(0.088, "", "Swing foot task: yaw weight / position weight", 0.0, 1.0)

    def __post_init__(self) -> None:
        _check_direction(self, "lateral")


@dataclass(frozen=True)
class BackwardSteps:
    """Values of `Stepping` for fast backward steps; raises InputError for a number out of range."""

    min_capture_offset: float = parameter(
        0.09, "m", "Capture-point distance behind the CoM at step onset above which these values apply", 0.0, 1.0
    )
    lateral_share: float = parameter(0.6603, "", "CoP / capture-point offset from sole centre, across travel", 0.0, 1.0)
    shortest_swing: float = parameter(0.242, "s", "Shortest swing time", 0.1, 0.8)
    max_foot_load: float = parameter(1.369, "", "Limit of a foot's vertical GRF / body weight", 1.0, 5.0)
    landing_speed_ratio: float = parameter(0.6509, "", "Ratio of foot landing speed to horizontal CoM speed", 0.0, 2.0)
    cop_inset: float = parameter(0.1241, "", "Smallest CoP distance from sole edge (0: edge, 1: centre)", 0.0, 0.9)
    weight_swing: float = a_task_weight(0.2042, "the swing foot task", 0.1, 1000.0)
    single_support: StepTasks = SINGLE_SUPPORT_BACKWARD

    def __post_init__(self) -> None:
        _check_direction(self, "backward")


@dataclass(frozen=True)
class Stepping(WholeBodyController):
    """Controller that recovers with feet in place if possible, and otherwise by stepping (docs/stepping.md).

    Until the first step it equals ``WholeBodyController`` bit for bit. Then a planner chooses at each tick the position
    and time of the next landing with the least cost, for the linear inverted pendulum (Koolen et al. 2012; Khadiv et
    al. 2016). The cost is the predicted distance of the capture point outside the new sole (capture-point error) plus
    costs of time, length and crossing. The whole-body program moves the unloaded foot there and keeps the legs apart.

    Attributes:
        instruction: instruction to the participant; with ``step-freely``, the first step begins at ``FREE_TRIGGER``.
        max_swing_speed: [m/s] greatest mean speed of the swing foot; distance that it cannot cover in time is a cost.
        landing_speed_ratio: ratio of the foot's landing speed (0.2 to 1 m/s) to the CoM's horizontal speed.
        single_support: gains and weights in single support.
        double_support: gains and weights in double support after a step.
        lateral: values for lateral steps.
        backward: values for fast backward steps.

    Raises:
        InputError: a number is out of range, or the instruction is unknown.
    """

    recorded: ClassVar[tuple[str, ...] | Mapping[str, str]] = {
        "qp_ended": "1", "qp_iterations": "1", "steps_taken": "1", "step_phase": "1", "foothold_x": "m",
        "foothold_y": "m", "foothold_time": "s",
    }  # fmt: skip

    instruction: Literal["try-not-to-step", "step-freely", "one-step-only", "feet-in-place"] = parameter(
        "try-not-to-step", "", f"Instruction to the participant: {', '.join(INSTRUCTIONS)}"
    )
    trigger: float = parameter(0.01785, "m", "Capture-point distance outside soles that triggers a step", -0.05, 0.1)
    lean_gain: float = parameter(
        0.01, "m s", "Capture-point shift in the trigger / (trunk lean rate + lean × √(g / CoM height))", 0.0, 0.1
    )
    repeat_trigger: float = parameter(
        0.005, "m", "Capture-point distance outside the soles (negative: inside) for further steps", -0.1, 0.1
    )
    same_foot_cost: float = parameter(0.07455, "m", "Step cost of same foot again, as capture-point error", 0.0, 1.0)
    lateral_share: float = parameter(0.8308, "", "CoP / capture-point offset from sole centre, across travel", 0.0, 1.0)
    unload_time: float = parameter(0.002495, "s", "Time to unload the swing foot before a step", 0.0, 0.2)
    shortest_swing: float = parameter(0.2323, "s", "Shortest swing time", 0.1, 0.8)
    longest_swing: float = parameter(0.7938, "s", "Longest swing time", 0.2, 1.5)
    load_time: float = parameter(0.005069, "s", "Time to load a foot after landing", 0.0, 0.3)
    swing_speed: float = parameter(1.225, "m/s", "Mean swing-foot speed above which a step is penalized", 0.5, 6.0)
    max_swing_speed: float = parameter(4.275, "m/s", "Greatest mean speed of the swing foot", 1.0, 10.0)
    overshoot: float = parameter(0.02104, "m", "Foot placement distance beyond the capture point", -0.1, 0.2)
    min_step_width: float = parameter(0.08828, "m", "Smallest step width (lateral distance of the feet)", 0.05, 0.5)
    crossing_distance: float = parameter(0.378, "m", "Smallest AP distance of the feet in a cross-over step", 0.1, 0.5)
    time_cost: float = parameter(0.1804, "m/s", "Step cost per time until landing, as capture-point error", 0.0, 2.0)
    length_cost: float = parameter(0.5653, "", "Step cost per step length, as capture-point error", 0.0, 2.0)
    crossing_cost: float = parameter(0.2184, "m", "Step cost of crossing the legs, as capture-point error", 0.0, 1.0)
    max_foot_load: float = parameter(1.186, "", "Limit of a foot's vertical GRF / body weight", 1.0, 5.0)
    clearance: float = parameter(0.01934, "m", "Swing foot clearance", 0.01, 0.2)
    crossing_clearance: float = parameter(0.1109, "m", "Swing foot clearance in a cross-over step", 0.01, 0.3)
    passing_share: float = parameter(0.4132, "", "Share of a cross-over swing's time to pass the stance leg", 0.2, 1.0)
    landing_speed_ratio: float = parameter(0.4826, "", "Ratio of foot landing speed to horizontal CoM speed", 0.0, 2.0)
    cop_inset: float = parameter(0.125, "", "Smallest CoP distance from sole edge (0: edge, 1: centre)", 0.0, 0.9)
    swing_yaw_ratio: float = parameter(0.07365, "", "Swing foot task: yaw weight / position weight", 0.0, 1.0)
    kp_swing: float = parameter(500.0, "1/s²", "Proportional gain of the swing foot's orientation", 0.0, 2000.0)
    kd_swing: float = parameter(45.0, "1/s", "Damping gain of the swing foot's orientation", 0.0, 100.0)
    com_drop: float = parameter(0.07464, "m", "Greatest lowering of the hips in a step", 0.0, 0.2)
    leg_clearance: float = parameter(0.01, "m", "Smallest clearance between the legs", 0.0, 0.1)
    max_leg_extension: float = parameter(0.9553, "", "Greatest planned hip-to-ankle distance / leg length", 0.7, 1.0)
    posture_rate: float = parameter(22.08, "1/s", "Rate at which reference posture follows actual posture", 0.0, 50.0)
    closing_delay: float = parameter(0.0, "s", "Standing time until the feet are brought together; 0: never", 0.0, 10.0)
    weight_swing: float = a_task_weight(0.2437, "the swing foot task", 0.1, 1000.0)
    single_support: StepTasks = SINGLE_SUPPORT
    double_support: StepTasks = DOUBLE_SUPPORT
    lateral: LateralSteps = LateralSteps()
    backward: BackwardSteps = BackwardSteps()

    def __post_init__(self) -> None:
        super().__post_init__()
        for item in fields(Stepping):
            value, name = getattr(self, item.name), f"controller.{item.name}"
            if item.name in _ABOVE_ZERO:
                above_zero(value, name)
            elif item.name in ("trigger", "repeat_trigger", "overshoot"):
                numbers((value,), 1, name)
            elif item.name not in _NOT_NUMBERS and item not in fields(WholeBodyController):
                zero_or_above(value, name)
        for name, values in (("", self), ("lateral.", self.lateral), ("backward.", self.backward)):
            if self.longest_swing < values.shortest_swing:
                least = f"controller.{name}shortest_swing = {values.shortest_swing:g} s"
                raise InputError(f"controller.longest_swing = {self.longest_swing:g} s: it must be at least {least}")
        if self.instruction not in INSTRUCTIONS:
            raise InputError(f"controller.instruction = {self.instruction!r}: must be one of {', '.join(INSTRUCTIONS)}")

    def set_point(self, model: Model) -> SetPoint:
        """Return the set point of ``WholeBodyController``; it moves with the feet if steps are allowed."""
        return replace(super().set_point(model), with_feet=self.most_steps() > 0.0)

    def set_point_from(self, model: Model, q: Floats) -> SetPoint:
        """Return the set point of ``WholeBodyController``; it moves with the feet if steps are allowed."""
        return replace(super().set_point_from(model, q), with_feet=self.most_steps() > 0.0)

    def most_steps(self) -> float:
        """Return the greatest number of steps that the instruction allows; inf: no limit."""
        most = INSTRUCTIONS[self.instruction]
        return math.inf if most == ANY else float(most)

    def law(self, model: Model) -> SteppingLaw:  # type: ignore[override]
        """Return the compiled law, for the kernels.

        Raises:
            InputError: the model has no floating root, or not two feet with equally many contact points.
        """
        capsules = self._capsules(model)
        body = self._law_with(model, len(capsules.pair) + 2)
        counts = np.bincount(body.stance.point_foot, minlength=2)
        if len(counts) != 2 or counts[0] != counts[1]:
            raise InputError(f"model {model.name!r}: stepping needs two feet with equally many contact points")
        legs, points = self._legs(model, body.stance.foot_place[:, 2].copy()), int(counts[0])
        return SteppingLaw(
            body=body,
            single_support=self._by_direction(lambda law: _tasks_of(law.single_support, body.tasks)),
            double_support=_tasks_of(self.double_support, body.tasks),
            rules=self._by_direction(Stepping._rules),
            parameters=self._by_direction(Stepping._parameters),
            bearing=math.cos(self.lateral.bearing),
            min_capture_offset=float(self.backward.min_capture_offset),
            legs=legs,
            capsules=capsules,
            inward=inwards(model, body.stance.point, body.stance.point_foot, math.inf),
            seen=_seen(points),
            phase=np.zeros(PHASES, dtype=np.int64),
            memory=np.zeros(MEMORY),
        )  # fmt: skip

    def _by_direction(self, made: Callable[["Stepping"], T]) -> tuple[T, T, T]:
        """Return ``made(controller)`` for controllers with the values of forward, lateral and backward steps."""
        return made(self), made(self._with(self.lateral)), made(self._with(self.backward))

    def _with(self, values: LateralSteps | BackwardSteps) -> Self:
        names = {item.name for item in fields(self)}
        return replace(self, **{item.name: getattr(values, item.name) for item in fields(values) if item.name in names})

    def _rules(self) -> StepRules:
        values = {name: float(getattr(self, name)) for name in StepRules._fields if name not in ("shortest", "longest")}
        return StepRules(shortest=float(self.shortest_swing), longest=float(self.longest_swing), **values)

    def _parameters(self) -> StepParameters:
        free = {name: float(getattr(self, name)) for name in StepParameters._fields if name not in ("most", "trigger")}
        return StepParameters(
            most=INSTRUCTIONS[self.instruction],
            trigger=FREE_TRIGGER if self.instruction == "step-freely" else float(self.trigger),
            **free,
        )

    def _legs(self, model: Model, high: Floats) -> Legs:
        """Return the legs: hips, leg lengths and soles, in the axes of the posture."""
        tree, placed = model.tree, forward_kinematics(model, self._held(model, RUBBER))
        ahead = np.asarray(model.facing, dtype=np.float64)[:2]
        left = np.array([-ahead[1], ahead[0]])
        feet = [model.body_index(foot) for foot in model.feet]
        points, owners = points_of_feet(model)
        soles = np.array([
            placed.contact[points[owners == k]] - placed.position[foot] for k, foot in enumerate(feet)
        ])[:, :, :2]  # fmt: skip
        chains = [_chain(tree.parent, foot) for foot in feet]
        hips = np.array([tree.joint_offset[chain[0]] for chain in chains])
        lengths = [_length(tree, chain) for chain in chains]
        sides = np.sign([(placed.position[foot][:2] - placed.position[feet].mean(axis=0)[:2]) @ left for foot in feet])
        separation = (placed.position[feet[0]] - placed.position[feet[1]])[:2].copy()
        ankles = np.array([quaternion_matrix(placed.orientation[foot]) @ -tree.com_offset[foot] for foot in feet])
        return Legs(hips, np.array(lengths), ankles, soles.copy(), soles.mean(axis=1), high, sides, ahead, separation)

    def _capsules(self, model: Model) -> LegCapsules:
        """Return the capsules of both legs and their pairs, which are empty if the model has no capsules."""
        chains = [_chain(model.tree.parent, model.body_index(foot)) for foot in model.feet]
        placed = [(model.body_index(capsule.body), capsule) for capsule in model.capsules]
        legs = [[c for c, (body, _) in enumerate(placed) if body in chain] for chain in chains]
        centers = [np.subtract(capsule.center, model.bodies[body].com) for body, capsule in placed]
        return LegCapsules(
            body=np.array([body for body, _ in placed], dtype=np.int64),
            center=np.array(centers).reshape(-1, 3),
            half=np.array([capsule.half for _, capsule in placed]).reshape(-1, 3),
            radius=np.array([capsule.radius for _, capsule in placed]),
            pair=np.array(list(product(*legs)), dtype=np.int64).reshape(-1, 2),
            margin=float(self.leg_clearance),
            pace=1.0 / float(self.look_ahead),
            jacobian=np.zeros((2, 6, model.nv)),
        )


def _seen(points: int) -> Seen:
    """Return buffers for two soles of ``points`` contact points each."""
    shapes = (SEEN,), (2, 2), (2, 4), (2, points, 2), (2, points, 2), (2 * points, 2), (4 * points + 2, 2)
    return Seen(*(np.full(shape, np.nan) for shape in shapes))


def _chain(parent: Any, foot: int) -> list[int]:
    """Return the indices of the bodies from the root's child to the foot."""
    chain = [foot]
    while parent[chain[0]] > 0:
        chain.insert(0, int(parent[chain[0]]))
    return chain


def _length(tree: Any, chain: list[int]) -> float:
    """Return the length [m] of the stretched leg, from the hip to the ankle."""
    return float(sum(np.linalg.norm(tree.com_offset[i] + tree.joint_offset[k]) for i, k in pairwise(chain)))


def _tasks_of(step: StepTasks, standing: Tasks) -> kernels.StepTasks:
    """Return the tasks for the kernels: those of ``standing``, with the values of ``step``."""
    tasks = standing._replace(
        capture=float(step.capture), height=(float(step.kp_height), float(step.kd_height)),
        trunk=(float(step.kp_trunk), float(step.kd_trunk)), momentum=float(step.kd_momentum),
        weight_height=float(step.weight_height), weight_trunk=float(step.weight_trunk),
        weight_momentum=float(step.weight_momentum), weight_feet=float(step.weight_feet),
        weight_posture=float(step.weight_posture), weight_force=float(step.weight_force),
    )  # fmt: skip
    return kernels.StepTasks(tasks, float(step.weight_yaw))

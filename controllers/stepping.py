"""Balance with steps: the whole-body law with a plan of steps on top."""

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
from contact import RUBBER
from contact.arrays import Floats
from controllers.feet import points_of_feet
from controllers.kernels import stepping as kernels
from controllers.kernels.legs_apart import LegCapsules
from controllers.kernels.step_plan import SEEN, Legs, Seen, StepRules
from controllers.kernels.stepping import MEMORY, PHASES, Manner, SteppingLaw
from controllers.kernels.whole_body import Tasks
from controllers.parameter import parameter
from controllers.whole_body import WholeBodyController

#: Steps: more than anybody takes.
ANY = 2**31
#: To who is pushed, and how many steps they leave.
INSTRUCTIONS = {"try-not-to-step": ANY, "step-freely": ANY, "one-step-only": 1, "feet-in-place": 0}
T = TypeVar("T")
_OF_ANOTHER_KIND = ("instruction", "swinging", "landed", "aside", "back")


@dataclass(frozen=True)
class StepTasks:
    """Gains and weights of the whole-body program from the first step on, as ``WholeBodyController`` has them."""

    capture: float = parameter(8.0, "1/s", "decay of the divergent component's error", 0.0, 30.0)
    kp_height: float = parameter(80.0, "1/s²", "stiffness of the centre of mass's height", 0.0, 200.0)
    kd_height: float = parameter(18.0, "1/s", "its damping", 0.0, 40.0)
    kp_trunk: float = parameter(100.0, "1/s²", "stiffness of the trunk's orientation", 0.0, 200.0)
    kd_trunk: float = parameter(20.0, "1/s", "its damping", 0.0, 40.0)
    kd_momentum: float = parameter(4.0, "1/s", "decay of the angular momentum", 0.0, 20.0)
    weight_height: float = parameter(5.0, "", "weight: height of the centre of mass", 0.01, 100.0)
    weight_trunk: float = parameter(0.02, "", "weight: trunk's orientation", 1e-4, 1.0)
    weight_momentum: float = parameter(0.01, "", "weight: angular momentum", 1e-4, 10.0)
    weight_feet: float = parameter(11.0, "", "weight: feet that stand", 0.1, 1000.0)
    weight_yaw: float = parameter(0.01, "", "weight: trunk's turn about the vertical", 1e-5, 1.0)
    weight_posture: float = parameter(2e-4, "", "weight: joints' posture", 1e-6, 1e-2)
    weight_force: float = parameter(5e-3, "", "weight: contact forces", 1e-4, 0.1)

    def __post_init__(self) -> None:
        for item in fields(self):
            check = above_zero if item.name in ("weight_feet", "weight_posture", "weight_force") else zero_or_above
            check(getattr(self, item.name), f"controller.swinging and landed: {item.name}")


#: What tunings have found (``examples/gains-stepping.toml``) for one foot in the air, and for both after a step.
SWINGING = StepTasks(
    kp_height=9.944, kd_height=18.21, kp_trunk=24.12, kd_trunk=12.01, kd_momentum=13.71, weight_height=0.1029,
    weight_trunk=0.002607, weight_yaw=0.0001334, weight_momentum=1.122, weight_feet=51.78, weight_posture=6.256e-05,
    weight_force=0.0007037,
)  # fmt: skip
LANDED = StepTasks(
    capture=2.465, kp_height=16.33, kd_height=4.643, kp_trunk=15.04, kd_trunk=4.608, kd_momentum=1.009,
    weight_height=8.99, weight_trunk=0.001728, weight_yaw=0.0008477, weight_momentum=0.5243, weight_feet=6.033,
    weight_posture=0.0001372, weight_force=0.0005595,
)  # fmt: skip

#: For one foot in the air as the body goes back.
SWINGING_BACK = replace(
    SWINGING, kd_trunk=6.727, weight_trunk=0.003594, weight_momentum=0.6782, weight_posture=9.248e-05,
)  # fmt: skip


def _check_ways(way: Any, name: str) -> None:
    for item in fields(way):
        if item.name != "swinging":
            check = above_zero if item.name in ("swing", "speed", "heaviest") else zero_or_above
            check(getattr(way, item.name), f"controller.{name}.{item.name}")


@dataclass(frozen=True)
class StepsAside:
    """Values of `Stepping` that differ for steps to the side; raises InputError for a number out of range."""

    bearing: float = parameter(0.916, "rad", "from straight ahead or back, from which steps are to the side", 0.0, 1.6)
    across: float = parameter(0.7589, "", "of the way to the capture point, across the body's way", 0.0, 1.0)
    swing: float = parameter(0.2, "s", "a swing at least", 0.1, 0.8)
    speed: float = parameter(1.055, "m/s", "of a foot that swings, in the mean, above which it costs", 0.5, 6.0)
    heaviest: float = parameter(1.803, "", "of the weight, what a foot bears at most as it steps", 1.0, 5.0)
    clearance: float = parameter(0.03076, "m", "of a foot that swings", 0.01, 0.2)
    landing: float = parameter(0.8989, "", "of how fast the body goes, how fast a foot lands", 0.0, 2.0)
    swing_yaw: float = parameter(0.088, "", "of a swinging foot's weight, what that of its turn is", 0.0, 1.0)

    def __post_init__(self) -> None:
        _check_ways(self, "aside")


@dataclass(frozen=True)
class StepsBack:
    """Values of `Stepping` that differ for steps back in a hurry.

    Attributes:
        hurry: [m] of the capture point from the centre of mass as the first step begins, above which steps back are
            such ones.
        swinging: gains and weights on one foot.

    Raises:
        InputError: a number is out of range.
    """

    hurry: float = parameter(0.09, "m", "of the capture point from the centre of mass, at least", 0.0, 1.0)
    across: float = parameter(0.6841, "", "of the way to the capture point, across the body's way", 0.0, 1.0)
    swing: float = parameter(0.2667, "s", "a swing at least", 0.1, 0.8)
    heaviest: float = parameter(1.583, "", "of the weight, what a foot bears at most as it steps", 1.0, 5.0)
    landing: float = parameter(0.6, "", "of how fast the body goes, how fast a foot lands", 0.0, 2.0)
    inset: float = parameter(0.1232, "", "of the sole, in which the centre of pressure is not planned", 0.0, 0.9)
    weight_swing: float = parameter(0.1938, "", "weight: a foot that swings", 0.1, 1000.0)
    swinging: StepTasks = SWINGING_BACK

    def __post_init__(self) -> None:
        _check_ways(self, "back")


@dataclass(frozen=True)
class Stepping(WholeBodyController):
    """Recovers in place as long as it can, and by steps where it cannot (docs/stepping.md).

    Until the first step it is ``WholeBodyController``, to the last bit. Then, at each tick, the place and time of the
    next landing are those of least cost for the linear inverted pendulum (Koolen et al. 2012; Khadiv et al. 2016), and
    the same program asks for a foot that swings there, bears nothing, and keeps the legs apart.

    Attributes:
        instruction: ``try-not-to-step``, ``step-freely`` (from ``again`` on), ``one-step-only``, or ``feet-in-place``.
        fastest: [m/s] of a foot that swings, in the mean, at most: what it lacks counts as short of the capture point.
        landing: of how fast the body goes, how fast a foot lands: at between 0.2 and 1 m/s.
        swinging: gains and weights on one foot.
        landed: gains and weights on both feet, after a step.
        aside: values that differ for steps to the side.
        back: values that differ for steps back in a hurry.

    Raises:
        InputError: a number is out of range, or there is no such instruction.
    """

    recorded: ClassVar[tuple[str, ...] | Mapping[str, str]] = {
        "qp_ended": "1", "qp_iterations": "1", "steps_taken": "1", "step_phase": "1", "foothold_x": "m",
        "foothold_y": "m", "foothold_time": "s",
    }  # fmt: skip

    instruction: Literal["try-not-to-step", "step-freely", "one-step-only", "feet-in-place"] = parameter(
        "try-not-to-step", "", f"to who is pushed: {', '.join(INSTRUCTIONS)}"
    )
    trigger: float = parameter(0.01785, "m", "beyond the soles, of the capture point, from which it steps", -0.05, 0.1)
    lean: float = parameter(0.01, "m s", "by which the trunk's lean and its rate count as capture point", 0.0, 0.1)
    again: float = parameter(-0.04682, "m", "the same after a step", -0.1, 0.1)
    same: float = parameter(0.07368, "m", "cost of another step with the same foot", 0.0, 1.0)
    across: float = parameter(0.7912, "", "of the way to the capture point, across the body's way", 0.0, 1.0)
    unload: float = parameter(0.002495, "s", "in which a foot is unloaded", 0.0, 0.2)
    swing: float = parameter(0.2321, "s", "a swing at least", 0.1, 0.8)
    longest_swing: float = parameter(0.8281, "s", "a swing at most", 0.2, 1.5)
    load: float = parameter(0.005069, "s", "in which a foot is loaded", 0.0, 0.3)
    speed: float = parameter(1.438, "m/s", "of a foot that swings, in the mean, above which it costs", 0.5, 6.0)
    fastest: float = parameter(3.4, "m/s", "of a foot that swings, in the mean, at most", 1.0, 10.0)
    beyond: float = parameter(0.02792, "m", "by which a foot is put beyond the capture point", -0.1, 0.2)
    apart: float = parameter(0.1026, "m", "of the feet from side to side, at least", 0.05, 0.5)
    past: float = parameter(0.378, "m", "of legs that cross, fore and aft", 0.1, 0.5)
    lateness: float = parameter(0.1978, "m/s", "cost of a later landing", 0.0, 2.0)
    length: float = parameter(0.4728, "", "cost of a longer step", 0.0, 2.0)
    crossing: float = parameter(0.2003, "m", "cost of crossing the legs", 0.0, 1.0)
    heaviest: float = parameter(1.186, "", "of the weight, what a foot bears at most as it steps", 1.0, 5.0)
    clearance: float = parameter(0.02139, "m", "of a foot that swings", 0.01, 0.2)
    crossing_clearance: float = parameter(0.1109, "m", "of a foot that crosses", 0.01, 0.3)
    first: float = parameter(0.4132, "", "of a swing, in which a foot that crosses gets past the other leg", 0.2, 1.0)
    landing: float = parameter(0.5, "", "of how fast the body goes, how fast a foot lands", 0.0, 2.0)
    inset: float = parameter(0.2157, "", "of the sole, in which the centre of pressure is not planned", 0.0, 0.9)
    swing_yaw: float = parameter(0.08353, "", "of a swinging foot's weight, what that of its turn is", 0.0, 1.0)
    kp_swing: float = parameter(500.0, "1/s²", "stiffness of the turn of a foot that swings", 0.0, 2000.0)
    kd_swing: float = parameter(45.0, "1/s", "its damping", 0.0, 100.0)
    sink: float = parameter(0.01258, "m", "by which the body may come down as it steps", 0.0, 0.2)
    gap: float = parameter(0.01, "m", "that legs leave between one another", 0.0, 0.1)
    leg: float = parameter(0.9792, "", "of a leg's length, what it is stretched to", 0.7, 1.0)
    drift: float = parameter(20.89, "1/s", "at which the posture becomes the one that it has", 0.0, 50.0)
    close: float = parameter(0.0, "s", "of standing after steps, until feet close again; 0: they stay", 0.0, 10.0)
    weight_swing: float = parameter(0.3119, "", "weight: a foot that swings", 0.1, 1000.0)
    swinging: StepTasks = SWINGING
    landed: StepTasks = LANDED
    aside: StepsAside = StepsAside()
    back: StepsBack = StepsBack()

    def __post_init__(self) -> None:
        super().__post_init__()
        for item in fields(Stepping):
            value, name = getattr(self, item.name), f"controller.{item.name}"
            if item.name in ("swing", "longest_swing", "speed", "fastest", "leg", "heaviest"):
                above_zero(value, name)
            elif item.name in ("trigger", "again", "beyond"):
                numbers((value,), 1, name)
            elif item.name not in _OF_ANOTHER_KIND and item not in fields(WholeBodyController):
                zero_or_above(value, name)
        for name, way in (("", self), ("aside.", self.aside), ("back.", self.back)):
            if self.longest_swing < way.swing:
                least = f"controller.{name}swing, {way.swing:g} s"
                raise InputError(f"controller.longest_swing = {self.longest_swing:g} s: below {least}")
        if self.instruction not in INSTRUCTIONS:
            raise InputError(
                f"controller.instruction = {self.instruction!r}: it must be one of {', '.join(INSTRUCTIONS)}"
            )

    def set_point(self, model: Model) -> SetPoint:
        """As in place; each step takes it along."""
        return replace(super().set_point(model), with_feet=self.most_steps() > 0.0)

    def set_point_from(self, model: Model, q: Floats) -> SetPoint:
        """As in place; each step takes it along."""
        return replace(super().set_point_from(model, q), with_feet=self.most_steps() > 0.0)

    def most_steps(self) -> float:
        """What the instruction leaves."""
        most = INSTRUCTIONS[self.instruction]
        return math.inf if most == ANY else float(most)

    def law(self, model: Model) -> SteppingLaw:  # type: ignore[override]
        """The compiled law, for the kernels.

        Raises:
            InputError: the model has no floating root, or not two feet with as many contact points.
        """
        capsules = self._capsules(model)
        body = self._law_with(model, len(capsules.pair))
        counts = np.bincount(body.stance.point_foot, minlength=2)
        if len(counts) != 2 or counts[0] != counts[1]:
            raise InputError(f"stepping needs two feet with as many contact points; model {model.name!r} lacks them")
        legs, points = self._legs(model, body.stance.foot_place[:, 2].copy()), int(counts[0])
        return SteppingLaw(
            body=body,
            swinging=self._each(lambda way: _tasks_of(way.swinging, body.tasks)),
            landed=_tasks_of(self.landed, body.tasks),
            rules=self._each(Stepping._rules),
            manner=self._each(Stepping._manner),
            bearing=math.cos(self.aside.bearing),
            hurry=float(self.back.hurry),
            legs=legs,
            capsules=capsules,
            seen=_seen(points),
            phase=np.zeros(PHASES, dtype=np.int64),
            memory=np.zeros(MEMORY),
        )  # fmt: skip

    def _each(self, made: Callable[["Stepping"], T]) -> tuple[T, T, T]:
        """What is made of the law with the numbers of each way: ahead, to the side, back."""
        return made(self), made(self._with(self.aside)), made(self._with(self.back))

    def _with(self, way: StepsAside | StepsBack) -> Self:
        """The law whose numbers are those of a way."""
        own = {item.name for item in fields(self)}
        return replace(self, **{item.name: getattr(way, item.name) for item in fields(way) if item.name in own})

    def _rules(self) -> StepRules:
        return StepRules(
            shortest=float(self.swing), longest=float(self.longest_swing),
            speed=float(self.speed), fastest=float(self.fastest),
            beyond=float(self.beyond), apart=float(self.apart), past=float(self.past), across=float(self.across),
            lateness=float(self.lateness), length=float(self.length), crossing=float(self.crossing),
        )  # fmt: skip

    def _manner(self) -> Manner:
        free = {name: float(getattr(self, name)) for name in Manner._fields if name not in ("most", "trigger")}
        return Manner(
            most=INSTRUCTIONS[self.instruction],
            trigger=float(self.again if self.instruction == "step-freely" else self.trigger),
            **free,
        )

    def _legs(self, model: Model, high: Floats) -> Legs:
        """Hips, lengths and soles, in the posture's axes."""
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
        beside = (placed.position[feet[0]] - placed.position[feet[1]])[:2].copy()
        return Legs(hips, np.array(lengths), soles.copy(), soles.mean(axis=1), high, sides, ahead, beside)

    def _capsules(self, model: Model) -> LegCapsules:
        """Those of the two legs, and their pairs; none of a model without."""
        chains = [_chain(model.tree.parent, model.body_index(foot)) for foot in model.feet]
        found = [(model.body_index(one.body), one) for one in model.capsules]
        legs = [[c for c, (body, _) in enumerate(found) if body in chain] for chain in chains]
        centers = [np.subtract(one.center, model.bodies[body].com) for body, one in found]
        return LegCapsules(
            body=np.array([body for body, _ in found], dtype=np.int64),
            center=np.array(centers).reshape(-1, 3),
            half=np.array([one.half for _, one in found]).reshape(-1, 3),
            radius=np.array([one.radius for _, one in found]),
            pair=np.array(list(product(*legs)), dtype=np.int64).reshape(-1, 2),
            margin=float(self.gap),
            pace=1.0 / float(self.look_ahead),
            jacobian=np.zeros((2, 6, model.nv)),
        )


def _seen(points: int) -> Seen:
    """Room for what a tick sees of two soles of so many points."""
    shapes = (SEEN,), (2, 2), (2, 4), (2, points, 2), (2, points, 2), (2 * points, 2), (4 * points + 2, 2)
    return Seen(*(np.full(shape, np.nan) for shape in shapes))


def _chain(parent: Any, foot: int) -> list[int]:
    """Bodies from the root's child to the foot."""
    chain = [foot]
    while parent[chain[0]] > 0:
        chain.insert(0, int(parent[chain[0]]))
    return chain


def _length(tree: Any, chain: list[int]) -> float:
    """[m] From the hip to the foot's centre of mass with all that is between them stretched out."""
    between = [np.linalg.norm(tree.com_offset[i] + tree.joint_offset[k]) for i, k in pairwise(chain)]
    return float(sum(between) + np.linalg.norm(tree.com_offset[chain[-1]]))


def _tasks_of(step: StepTasks, standing: Tasks) -> kernels.StepTasks:
    """For the kernels; what does not change with steps is as in place."""
    tasks = standing._replace(
        capture=float(step.capture), height=(float(step.kp_height), float(step.kd_height)),
        trunk=(float(step.kp_trunk), float(step.kd_trunk)), momentum=float(step.kd_momentum),
        weight_height=float(step.weight_height), weight_trunk=float(step.weight_trunk),
        weight_momentum=float(step.weight_momentum), weight_feet=float(step.weight_feet),
        weight_posture=float(step.weight_posture), weight_force=float(step.weight_force),
    )  # fmt: skip
    return kernels.StepTasks(tasks, float(step.weight_yaw))

"""Threshold studies that have their own commands: push maps and thrown blocks."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any

from biped.capturability.steps import words_of
from biped.errors import InputError
from controllers.stepping import ANY, INSTRUCTIONS
from experiments.catalogue.experiment import Experiment
from experiments.catalogue.parameters.floors import LAWS, SPRING_DAMPER
from experiments.catalogue.parameters.floors import NAME as LAW
from experiments.catalogue.parameters.parameter import Value, Values
from experiments.engines.registry import engine_address
from experiments.studies.grid import Grid
from experiments.studies.randomization import Randomization
from experiments.studies.threshold.directions import evenly
from experiments.studies.threshold.threshold import Condition, SweptParameter, Threshold

#: [rad] default standard deviation of the initial joint angles.
JITTER = 0.005
#: Parameter that names the integrator or engine.
ENGINE = "integrator.name"
#: Parameter that limits the steps of a controller, and the label of conditions with such a limit.
INSTRUCTION, FEET = "controller.instruction", "feet"
#: Instructions by the number of steps that they allow, and labels of maps by this number.
BOUNDED = {str(most): instruction for instruction, most in INSTRUCTIONS.items() if most < ANY}
STEPS = {"0": "in place", "1": words_of(1.0), "any": words_of(math.inf)}
#: Standard deviation of the logarithm of the floor's friction, and of its stiffness and damping.
FLOOR = 0.03


@dataclass(frozen=True)
class Preset:
    """A threshold study with its own command."""

    experiment: str  # name of the experiment
    swept: SweptParameter  # the parameter whose threshold is searched
    delay: Randomization  # randomization of the time of the disturbance
    title: str  # title of the table
    figure: str  # title of the figure
    marks: Mapping[str, float] = field(default_factory=dict)  # values to be marked in the figure, by label

    def plan(self, experiment: Experiment, changes: Mapping[str, Value], grid: Grid, **options: Any) -> Threshold:
        """Return the study with random starts, floors and times; ``options`` are further fields of ``Threshold``."""
        jittered, randomizations = start_and_floor(changes)
        return Threshold(
            experiment, self.swept, grid, changes=jittered, randomizations=(*randomizations, self.delay), **options,
        )  # fmt: skip


#: Presets by the name of the command, which is also the kind of the study.
PRESETS = {
    "push-map": Preset(
        experiment="balance",
        swept=SweptParameter("push.impulse", label="impulse"),
        delay=Randomization(("push.start",), "uniform", 0.05),  # s: many control periods
        title="Push map",
        figure="Push map: push threshold by the direction in which the push drives the human",
    ),
    "benchmark-policy": Preset(
        experiment="balance",
        swept=SweptParameter("push.impulse", label="impulse"),
        delay=Randomization(("push.start",), "uniform", 1.0),  # s: a gait period, if the policy names none
        title="Push benchmark",
        figure="Push threshold by the direction in which the push drives the human",
    ),
    "block-speed": Preset(
        experiment="thrown-block",
        swept=SweptParameter("block.velocity[0]", -1.0, "speed of the block", "m/s"),
        delay=Randomization(("block.position[0]",), "uniform", 0.01),  # m: a control period, 2 ms, at 5 m/s
        title="Thrown block",
        figure="A block thrown at the human's back",
        marks={"published, 4.5 m/s: recovers": 4.5},  # Wendlandt 1997, 4.3, experiment 2
    ),
}


def start_and_floor(changes: Mapping[str, Value]) -> tuple[dict[str, Value], list[Randomization]]:
    """Return the changes, with a default ``initial.jitter``, and the randomizations of start and floor.

    Both coefficients of friction share one random factor, and all stiffnesses and dampings another one.
    """
    jittered = {"initial.jitter": JITTER, **changes}
    law = LAWS.find(str(changes.get(LAW, SPRING_DAMPER))).thing
    stiff = tuple(f"floor.{item.name}" for item in fields(law) if item.init and item.name[:2] in ("k_", "b_"))
    floor = [Randomization(("floor.mu_s", "floor.mu_d"), "factor", FLOOR), Randomization(stiff, "factor", FLOOR)]
    if jittered["initial.jitter"] == 0.0:
        return dict(changes), floor
    return jittered, [Randomization(("initial.seed",), "seed"), *floor]


def in_engines(
    names: Sequence[str], conditions: Sequence[Condition], changes: Mapping[str, Value]
) -> tuple[Condition, ...]:
    """Return the conditions for each of several engines or integrators, given by name."""
    names = [name.strip() for name in names]
    if len(set(names)) != len(names) or "" in names:
        raise InputError(f"--engines {','.join(names)}: give different names, such as recursive,pybullet,mujoco")
    if ENGINE in changes:
        raise InputError(f"--engines and --set {ENGINE} both choose the engine: leave one of them out")
    pairs = [(name, condition) for name in names for condition in conditions]
    return tuple(
        Condition({**c.changes, ENGINE: engine_address(name)}, {"engine": Path(name).name, **c.labels})
        for name, c in pairs
    )


def by_steps(
    counts: Sequence[str], conditions: Sequence[Condition], changes: Mapping[str, Value], experiment: Experiment
) -> tuple[Condition, ...]:
    """Return the conditions for each of several limits on the controller's steps, given as keys of ``STEPS``."""
    names = [count.strip() for count in counts]
    if len(set(names)) != len(names) or not set(names) <= set(STEPS):
        raise InputError(f"--steps {','.join(names)}: give some of {', '.join(STEPS)}, each once, such as 0,any")
    if INSTRUCTION not in [parameter.name for parameter in experiment.parameters]:
        raise InputError("--steps: this controller cannot step; use --controller stepping")
    if changes.get(INSTRUCTION) in BOUNDED.values():
        raise InputError(f"{INSTRUCTION} = {changes[INSTRUCTION]}: --steps sets this parameter, too: leave one out")
    bounds = {name: {INSTRUCTION: BOUNDED[name]} if name in BOUNDED else {} for name in names}
    pairs = [(name, condition) for name in names for condition in conditions]
    return tuple(Condition({**c.changes, **bounds[name]}, {FEET: STEPS[name], **c.labels}) for name, c in pairs)


def directions_and_heights(
    count: int, heights: Sequence[float] | None, values: Values, root: str
) -> tuple[Condition, ...]:
    """Return conditions for pushes in evenly spaced directions, at heights [m], or at ``push.point`` for None."""
    if count < 3:
        raise InputError(f"--directions {count}: it must be at least 3")
    if heights is None:
        return tuple(Condition({"push.azimuth": math.radians(a)}, {"direction": a}) for a in evenly(count))
    if len(set(heights)) != len(heights):
        raise InputError("--heights: a height is given twice; give each height once")
    if values.word("push.body") != root:
        raise InputError(f"--heights apply to pushes on the body {root!r}: for another body, set push.point instead")
    return tuple(
        Condition(
            {"push.azimuth": math.radians(azimuth), "push.point[2]": height - values.number("initial.body_z")},
            {"height": height, "direction": azimuth},
        )
        for height in heights
        for azimuth in evenly(count)
    )

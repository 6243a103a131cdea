"""Experiments in which the human follows a moving set point: variants of ``balance``."""

import math
from collections.abc import Mapping
from dataclasses import replace
from functools import partial

from biped.errors import InputError
from biped.model import human
from biped.runs.postures import STANDING_TRUNK, standing_angles
from biped.simulation.scene import Scene
from contact import RUBBER
from experiments.catalogue import balance
from experiments.catalogue.experiment import Experiment
from experiments.catalogue.parameters.controllers import CONTROLLERS, GROUP, NAME, controller_parameters
from experiments.catalogue.parameters.initial import STANCES
from experiments.catalogue.parameters.parameter import Parameter, Value, Values
from experiments.catalogue.parameters.robots import HUMAN

SOURCE = "Wendlandt 1997, 4.2.4 (the controller: figure 4.2, Algorithm 4.4); the motion is this project's"
#: [m] amplitude. At 0.03 m and 0.5 Hz the controller unloads a foot and flings it: it ignores that floors cannot pull.
SWAY_AMPLITUDE = 0.02
#: [m] trunk's centre of mass when seated: the hips are at 0.48 m, as on a chair, and the weight is over the feet.
SEATED = (0.05, 0.0, 0.75)


def tracking(
    name: str, title: str, motion: Mapping[str, Value], defaults: Mapping[str, Value], *, any_robot: bool = True
) -> Experiment:
    """Return ``balance`` with other defaults: ``motion`` by field of ``SetPointMotion``, ``defaults`` by parameter."""
    changed = {f"controller.motion.{field}": value for field, value in motion.items()} | dict(defaults)

    def parameters(robot: str) -> tuple[Parameter, ...]:
        return with_defaults(_of_posture(balance.parameters(robot), defaults), changed)

    return Experiment(
        name=name, title=title, source=SOURCE, parameters=parameters(HUMAN), set_up=partial(_set_up, name),
        for_robot=parameters if any_robot else None,
    )  # fmt: skip


def _set_up(name: str, values: Values) -> Scene:
    if not any(field.startswith("motion.") for field, _ in values.items_of(GROUP)):
        raise InputError(
            f"{name}: the controller {values.word(NAME)!r} cannot follow a moving set point; "
            f"choose {', '.join(_following())}, or your own controller with a field `motion`"
        )
    return balance.set_up(values)


def _following() -> list[str]:
    """Return the names of controllers that follow a moving set point."""
    return [
        name
        for name in CONTROLLERS.builtin
        if any(parameter.name.startswith(f"{GROUP}.motion.") for parameter in controller_parameters(name))
    ]


def with_defaults(parameters: tuple[Parameter, ...], changed: Mapping[str, Value]) -> tuple[Parameter, ...]:
    """Return parameters with some defaults replaced."""
    return tuple(replace(p, default=p.checked(changed[p.name])) if p.name in changed else p for p in parameters)


def _of_posture(parameters: tuple[Parameter, ...], defaults: Mapping[str, Value]) -> tuple[Parameter, ...]:
    """Return the parameters without those of the stance if ``defaults`` set the initial posture."""
    sets_posture = any(name.startswith("initial.") for name in defaults)
    return tuple(p for p in parameters if p.name not in STANCES) if sets_posture else parameters


def seated() -> dict[str, Value]:
    """Return the values with which the human starts in a deep squat, with its set point there."""
    start: dict[str, Value] = {f"initial.body_{axis}": place for axis, place in zip("xyz", SEATED, strict=True)}
    for joint, angle in standing_angles(human(), RUBBER, SEATED).items():
        start |= {f"initial.{side}_{joint}": angle for side in ("left", "right")}
    return start | {"controller.target_position": SEATED}


SQUAT = tracking(
    "squat",
    "the human bends its knees until its trunk is 0.25 m lower, and rises again",
    {"shape": "return", "displacement": (0.0, 0.0, -0.25)},
    {"run.duration": 4.0},
)
SWAY = tracking(
    "sway",
    "the human sways from side to side by 2 cm at 0.5 Hz",
    {"shape": "sine", "displacement": (0.0, SWAY_AMPLITUDE, 0.0), "frequency": 0.5, "duration": 6.0},
    {"run.duration": 8.0},
)
LEAN = tracking(
    "lean",
    "the human leans its trunk forwards by 15° and straightens up again",
    {"shape": "return", "turn": (0.0, -math.radians(15.0), 0.0)},
    {"run.duration": 4.0},
)
#: There is no chair: the human starts at rest on its feet alone.
SIT_TO_STAND = tracking(
    "sit-to-stand",
    "the human rises from a chair's height, without a chair: out of a deep squat, within 1.5 s",
    {"shape": "step", "displacement": tuple(a - b for a, b in zip(STANDING_TRUNK, SEATED, strict=True)), "rise": 1.5},
    {"run.duration": 4.0} | seated(),
    any_robot=False,
)

"""Common parts of the experiments in which the human follows a moving set point: ``balance``, so moved."""

from collections.abc import Mapping
from dataclasses import replace
from functools import partial

from biped.errors import InputError
from biped.simulation.scene import Scene
from experiments.catalogue import balance
from experiments.catalogue.experiment import Experiment
from experiments.catalogue.parameters.controllers import CONTROLLERS, GROUP, NAME, controller_parameters
from experiments.catalogue.parameters.parameter import Parameter, Value, Values
from experiments.catalogue.parameters.robots import HUMAN

SOURCE = "the law: Wendlandt 1997, 4.2.4 (figure 4.2, Algorithm 4.4); the motion is this project's"


def tracking(
    name: str, title: str, motion: Mapping[str, Value], others: Mapping[str, Value], *, any_robot: bool = True
) -> Experiment:
    """The experiment ``balance`` with other defaults: of ``controllers.SetPointMotion``'s fields, and others."""
    changed = {f"controller.motion.{field}": value for field, value in motion.items()} | dict(others)

    def parameters(robot: str) -> tuple[Parameter, ...]:
        return with_defaults(balance.parameters(robot), changed)

    return Experiment(
        name=name,
        title=title,
        source=SOURCE,
        parameters=parameters(HUMAN),
        set_up=partial(_set_up, name),
        for_robot=parameters if any_robot else None,
    )


def _set_up(name: str, values: Values) -> Scene:
    if not any(field.startswith("motion.") for field, _ in values.items_of(GROUP)):
        raise InputError(
            f"{name}: controller {values.word(NAME)!r} follows no set point that moves, and would stand still; "
            f"take {', '.join(_following())}, or a controller of yours that has a field `motion`"
        )
    return balance.set_up(values)


def _following() -> list[str]:
    """The controllers that follow a set point that moves."""
    return [
        name
        for name in CONTROLLERS.own
        if any(parameter.name.startswith(f"{GROUP}.motion.") for parameter in controller_parameters(name))
    ]


def with_defaults(parameters: tuple[Parameter, ...], changed: Mapping[str, Value]) -> tuple[Parameter, ...]:
    """These parameters, some with another default."""
    return tuple(replace(p, default=p.checked(changed[p.name])) if p.name in changed else p for p in parameters)

"""What the thesis's two balancing experiments have in common: the human, its floor, its controller."""

from typing import Any

from biped.disturbances import Disturbance
from biped.model import human
from biped.simulation.scene import Scene
from contact import RUBBER
from experiments.catalogue.figure_names import BALANCING
from experiments.catalogue.parameters import groups
from experiments.catalogue.parameters.controllers import (
    SET_POINT,
    WORKSPACE,
    controller_from,
    controller_parameters,
)
from experiments.catalogue.parameters.initial import human_state, posture_parameters
from experiments.catalogue.parameters.parameter import Parameter, Values

SOURCE = "Wendlandt 1997, 4.3"


def parameters(
    target_position: tuple[float, float, float],
    target_orientation: tuple[float, float, float, float],
    orientation_source: str = SOURCE,
    posture_source: str = SOURCE,
    **start: Any,
) -> tuple[Parameter, ...]:
    """All parameters of a human that balances about a set point, from the thesis's posture unless told otherwise."""
    return (
        *groups.run_parameters(3.0, 5e-4, "once a control period", SOURCE),
        *_controller(target_position, target_orientation, orientation_source),
        *posture_parameters(human(), posture_source, **start),
        *groups.floor_parameters(RUBBER, SOURCE),
        *groups.fall_parameters(),
        *groups.integrator_parameters(),
    )


def _controller(
    position: tuple[float, float, float], orientation: tuple[float, float, float, float], source: str
) -> tuple[Parameter, ...]:
    """The thesis's controller, with the set point of an experiment."""
    place, turn = SET_POINT
    own = (Parameter(place, position, "m", "", SOURCE), Parameter(turn, orientation, "", "", source))
    return controller_parameters(WORKSPACE, {parameter.name: parameter for parameter in own})


def set_up(values: Values, disturbances: tuple[Disturbance, ...] = ()) -> Scene:
    model = human()
    return groups.scene_from(
        values,
        model,
        human_state(model, values),
        controller_from(values),
        floor=groups.floor_from(values),
        disturbances=disturbances,
        fall=groups.fall_from(values),
    )


def figures(first: int) -> dict[str, str]:
    """The eight figures of a balancing experiment and their numbers in the thesis, from 4.``first`` on."""
    return {kind: f"4.{first + k}" for k, kind in enumerate(BALANCING)}

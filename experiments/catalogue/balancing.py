"""Common parts of the thesis's two balancing experiments: the human, its floor, its controller."""

from typing import Any

from biped.disturbances import Disturbance
from biped.model import Model, human
from biped.model.geometry import Vector3
from biped.simulation.scene import Scene
from biped.simulation.world import Fall
from contact import RUBBER
from experiments.catalogue.parameters import groups
from experiments.catalogue.parameters.controllers import (
    SET_POINT,
    WORKSPACE,
    controller_from,
    controller_parameters,
)
from experiments.catalogue.parameters.initial import initial_state, posture_parameters
from experiments.catalogue.parameters.parameter import Parameter, Values
from experiments.catalogue.parameters.robots import HUMAN, robot_named
from experiments.lookup.figure_names import BALANCING

SOURCE = "Wendlandt 1997, 4.3"
#: Of a robot's standing height: below it, it has fallen. The human's 0.6 m of 1.1 m are as much.
FALLEN = 0.55


def parameters(
    target_position: Vector3,
    target_orientation: tuple[float, float, float, float],
    orientation_source: str = SOURCE,
    posture_source: str = SOURCE,
    robot: str = HUMAN,
    **start: Any,
) -> tuple[Parameter, ...]:
    """All parameters of one that balances about a set point, from the thesis's posture unless set otherwise."""
    model = robot_named(robot)
    fall = Fall() if robot == HUMAN else Fall(height=FALLEN * target_position[2])
    return (
        *groups.run_parameters(3.0, 5e-4, "once a control period", SOURCE),
        *_controller(target_position, target_orientation, orientation_source, robot),
        *posture_parameters(model, posture_source, **start),
        *groups.floor_parameters(RUBBER, SOURCE),
        *groups.fall_parameters(fall, model.root.name),
        *groups.integrator_parameters(),
    )


def _controller(
    position: Vector3, orientation: tuple[float, float, float, float], source: str, robot: str
) -> tuple[Parameter, ...]:
    """The thesis's controller, with the set point of an experiment."""
    place, turn = SET_POINT
    own = (Parameter(place, position, "m", "", SOURCE), Parameter(turn, orientation, "", "", source))
    return controller_parameters(WORKSPACE, {parameter.name: parameter for parameter in own}, hidden=robot != HUMAN)


def set_up(values: Values, disturbances: tuple[Disturbance, ...] = (), model: Model | None = None) -> Scene:
    model = model or human()
    return groups.scene_from(
        values,
        model,
        initial_state(model, values),
        controller_from(values),
        floor=groups.floor_from(values),
        disturbances=disturbances,
        fall=groups.fall_from(values),
    )


def figures(first: int) -> dict[str, str]:
    """The eight figures of a balancing experiment and their numbers in the thesis, from 4.``first`` on."""
    return {kind: f"4.{first + k}" for k, kind in enumerate(BALANCING)}

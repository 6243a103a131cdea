"""The two balancing experiments of Wendlandt 1997, section 4.3, and parts that other experiments share."""

from typing import Any

import numpy as np

from biped.control.controller import Controller
from biped.disturbances import Disturbance, Throw
from biped.disturbances.throw import EDGE
from biped.errors import InputError
from biped.model import Model, human
from biped.model.geometry import Vector3
from biped.simulation.scene import Scene, floor_of
from biped.simulation.world import Fall
from experiments.catalogue.experiment import Experiment
from experiments.catalogue.parameters import groups, initial
from experiments.catalogue.parameters.controllers import SET_POINT, WORKSPACE, controller_from, controller_parameters
from experiments.catalogue.parameters.fields import field_parameters
from experiments.catalogue.parameters.floors import floor_from, floor_parameters
from experiments.catalogue.parameters.parameter import Parameter, Values
from experiments.catalogue.parameters.robots import HUMAN, is_human, robot_named
from experiments.catalogue.parameters.robots import NAME as ROBOT
from experiments.lookup.figure_names import BALANCING

SOURCE = "Wendlandt 1997, 4.3"
#: Fall threshold as a share of a robot's standing height; the human's is 0.6 m of 1.1 m.
FALLEN = 0.55
#: 15° about −X; and 15° about −Y, as the text says, although the quaternion printed there repeats the first one.
TO_THE_SIDE, FORWARDS = (0.99144486, -0.13052619, 0.0, 0.0), (0.99144486, 0.0, -0.13052619, 0.0)
#: [s] largest extension of undecided runs of robots: seven or more gait cycles. The human's runs have the published
#: duration.
EXTEND = 5.0


def parameters(
    target_position: Vector3,
    target_orientation: tuple[float, float, float, float],
    orientation_source: str = SOURCE,
    posture_source: str = SOURCE,
    robot: str = HUMAN,
    **start: Any,
) -> tuple[Parameter, ...]:
    """Return all parameters of balancing about a set point; the default posture is the crouch of Wendlandt 1997."""
    model = robot_named(robot)
    fall = Fall() if robot == HUMAN else Fall(height=FALLEN * target_position[2])
    return (
        *groups.run_parameters(3.0, 5e-4, "every control period", SOURCE, extend=0.0 if is_human(robot) else EXTEND),
        *_controller(target_position, target_orientation, orientation_source, robot),
        *initial.posture_parameters(model, posture_source, **start),
        *floor_parameters(floor_of(model), SOURCE if model.floor_friction is None else initial.OURS),
        *field_parameters(fall, "fall", initial.OURS),
        *groups.integrator_parameters(),
    )


def _controller(
    position: Vector3, orientation: tuple[float, float, float, float], source: str, robot: str
) -> tuple[Parameter, ...]:
    """Return the parameters of the thesis's controller, with an experiment's set point."""
    place, turn = SET_POINT
    set_point = (Parameter(place, position, "m", "", SOURCE), Parameter(turn, orientation, "", "", source))
    return controller_parameters(WORKSPACE, {p.name: p for p in set_point}, hidden=robot != HUMAN)


def set_up(values: Values, disturbances: tuple[Disturbance, ...] = (), model: Model | None = None) -> Scene:
    model, floor = model or human(), floor_from(values)
    law = _law_of(values)
    return groups.scene_from(
        values, model, initial.initial_state(model, values), law, floor=floor,
        disturbances=disturbances, fall=groups.fall_from(values), settle=initial.settle_from(values),
    )  # fmt: skip


def _law_of(values: Values) -> Controller:
    """Return the controller; its set point follows the stance unless a set point is given."""
    law, set_point = controller_from(values), values.get(SET_POINT[0])
    if values.get(initial.STANCE) != initial.UPRIGHT:
        return law
    model = robot_named(str(values.get(ROBOT, HUMAN)))
    q = initial.upright_posture(model, values)
    return law.holding(model, q) if set_point is None or np.array_equal(np.asarray(set_point), q[:3]) else law


def figures(first: int) -> dict[str, str]:
    """Return the numbers in the thesis, from 4.``first``, of the eight figures of a balancing experiment."""
    return {kind: f"4.{first + k}" for k, kind in enumerate(BALANCING)}


def block_parameters() -> tuple[Parameter, ...]:
    size = (EDGE, EDGE, EDGE)
    block = Throw(1.8, size, (0.50, 0.10, 1.20), (-4.5, 0.0, 0.2))
    return field_parameters(block, "block", SOURCE)


def with_block(values: Values) -> Scene:
    """Return the scene in which the block is thrown."""
    try:
        return set_up(values, (Throw(**values.group("block")),))
    except InputError as error:
        raise InputError(str(error).replace("throw.", "block.")) from None


STAND_TILTED = Experiment(
    name="stand-tilted",
    title="the human rises from a crouch and tilts its trunk by 15° to the side",
    source=f"{SOURCE}, experiment 1",
    parameters=parameters((-0.01, 0.0, 1.10), TO_THE_SIDE),
    set_up=set_up,
    figures=figures(first=3),
)
THROWN_BLOCK = Experiment(
    name="thrown-block",
    title="the human rises from a crouch while a block of 1.8 kg is thrown at its back",
    source=f"{SOURCE}, experiment 2",
    parameters=(
        *parameters((-0.01, 0.0, 1.14), FORWARDS, "15° about −Y (misprinted in Wendlandt 1997, 4.3)"),
        *block_parameters(),
    ),
    set_up=with_block,
    figures=figures(first=12),
)

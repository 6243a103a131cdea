"""The standing human under any disturbance: the experiment of most studies."""

from dataclasses import replace

from biped.disturbances import Disturbance, Sensors, check_begins
from biped.errors import InputError
from biped.inputs.checks import integer
from biped.model import Model, human
from biped.model.human import standing_ranges
from biped.model.stops import with_stops
from biped.runs.postures import STANDING_TRUNK, standing, standing_angles
from biped.simulation.scene import Scene
from contact import RUBBER
from experiments.catalogue import balancing
from experiments.catalogue.experiment import Experiment
from experiments.catalogue.parameters.controllers import controller_from
from experiments.catalogue.parameters.disturbances import disturbance_parameters, disturbances_from
from experiments.catalogue.parameters.initial import OURS
from experiments.catalogue.parameters.parameter import Parameter, Values
from experiments.catalogue.parameters.random_disturbances import random_disturbances
from experiments.catalogue.parameters.robots import HUMAN, is_human, robot_named, robot_parameter, strength_of
from experiments.catalogue.parameters.robots import NAME as ROBOT

RANGES = "robot.ranges"
UPRIGHT = (1.0, 0.0, 0.0, 0.0)


def set_up(values: Values) -> Scene:
    trunk = (values.number("initial.body_x"), values.number("initial.body_y"), values.number("initial.body_z"))
    robot = values.word(ROBOT)
    model = robot_named(robot)
    if values.integer(RANGES) not in (0, 1):
        raise InputError(f"{RANGES} = {values.integer(RANGES)}: it must be 1 (joint stops on) or 0 (off)")
    if values.integer(RANGES):
        if is_human(robot):  # the legs carry the load
            legs = standing_ranges()
            rest = tuple(entry for entry in model.ranges if entry[0] not in {joint for joint, _, _ in legs})
            model = replace(model, ranges=(*legs, *rest))
        model = with_stops(model)
    disturbances: tuple[Disturbance, ...] = disturbances_from(values, trunk, model)
    _check_within(disturbances, model, values.number("run.duration"))
    seed = values.integer("random.seed")
    integer(seed, "random.seed")
    if seed:
        duration, period = values.number("run.duration"), controller_from(values).period
        height = STANDING_TRUNK[2] if robot == HUMAN else trunk[2]  # so draws do not depend on the start
        disturbances = (*disturbances, *random_disturbances(seed, disturbances, duration, period, model, height))
    return balancing.set_up(values, disturbances, model)


def _check_within(disturbances: tuple[Disturbance, ...], model: Model, duration: float) -> None:
    """Check that all disturbances act within the duration of the run."""
    check_begins(disturbances, duration)
    for disturbance in disturbances:
        longest = disturbance.delays(model)[: model.nq + model.nv].max() if isinstance(disturbance, Sensors) else 0.0
        if isinstance(disturbance, Sensors) and longest >= duration:
            name = "sensors.delay" if disturbance.delay >= duration else "sensors.delay plus the delay of a channel"
            limit = f"run.duration = {duration:g} s"
            raise InputError(f"{name} = {longest:g} s: it must be below {limit}, or no measurement would arrive")


def parameters(robot: str = HUMAN) -> tuple[Parameter, ...]:
    """Return the parameters of a robot that stands in its posture."""
    model = robot_named(robot)
    place, posture = STANDING_TRUNK, standing_angles(human(), RUBBER, STANDING_TRUNK)
    if robot != HUMAN:
        q = standing(model).q
        x, y, z = (float(c) for c in q[:3])
        place, posture = (x, y, z), {joint: float(q[model.coordinate(joint)]) for joint in model.joint_names}
    shared = balancing.parameters(place, UPRIGHT, OURS, OURS, robot, place=place, tilt=0.0, posture=posture)
    seed = Parameter("random.seed", 0, "", "Seed of additional random disturbances; 0: no random disturbances", OURS)
    ranges = Parameter(RANGES, 0, "", "Joint stops at the ends of the joints' ranges of motion; 1: on, 0: off", OURS)
    return (robot_parameter(robot), ranges, *shared, *disturbance_parameters(model, strength_of(robot)), seed)


EXPERIMENT = Experiment(
    name="balance",
    title="the human stands and is disturbed: pushes, forces, a moving floor, a slippery patch, loads, noise",
    source="Wendlandt 1997, 4.3 (the human, its controller and floor); the disturbances are ours",
    parameters=parameters(),
    set_up=set_up,
    for_robot=parameters,
)

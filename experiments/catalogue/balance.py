"""The human stands, and is disturbed in any way: the experiment of most studies."""

from biped.checks import whole
from biped.disturbances import Disturbance, Force, Platform, Push
from biped.errors import InputError
from biped.model import human
from biped.runs.postures import STANDING_TRUNK, standing_angles
from biped.simulation.scene import Scene
from contact import RUBBER
from experiments.catalogue import balancing
from experiments.catalogue.experiment import Experiment
from experiments.catalogue.parameters.controllers import controller_from
from experiments.catalogue.parameters.disturbances import disturbance_parameters, disturbances_from
from experiments.catalogue.parameters.initial import OURS
from experiments.catalogue.parameters.parameter import Parameter, Values
from experiments.catalogue.random_disturbances import random_disturbances

UPRIGHT = (1.0, 0.0, 0.0, 0.0)


def set_up(values: Values) -> Scene:
    trunk = (values.number("initial.body_x"), values.number("initial.body_y"), values.number("initial.body_z"))
    acting: tuple[Disturbance, ...] = disturbances_from(values, trunk)
    _check_within(acting, values.number("run.duration"))
    seed = values.whole("random.seed")
    whole(seed, "random.seed")
    if seed:
        duration, period = values.number("run.duration"), controller_from(values).period
        acting = (*acting, *random_disturbances(seed, acting, duration, period))
    return balancing.set_up(values, acting)


def _check_within(acting: tuple[Disturbance, ...], duration: float) -> None:
    """Whether what is set happens at all: a push after the end would be withstood however hard it is."""
    for disturbance in acting:
        if isinstance(disturbance, (Push, Force, Platform)) and disturbance.begins >= duration:
            start = f"{type(disturbance).__name__.lower()}.start = {disturbance.begins:g} s"
            raise InputError(f"{start} is not before the end of the run, run.duration = {duration:g} s")


def _parameters() -> tuple[Parameter, ...]:
    model = human()
    posture = standing_angles(model, RUBBER, STANDING_TRUNK)
    shared = balancing.parameters(
        STANDING_TRUNK, UPRIGHT, OURS, place=STANDING_TRUNK, tilt=0.0, posture=posture, posture_source=OURS
    )
    seed = Parameter("random.seed", 0, "", "draws disturbances at random, besides those that are set; 0: none", OURS)
    return (*shared, *disturbance_parameters(), seed)


EXPERIMENT = Experiment(
    name="balance",
    title="the human stands and is disturbed: pushes, forces, a moving floor, a slippery patch, loads, noise",
    source="Wendlandt 1997, 4.3 (the human, its controller and floor); the disturbances are ours",
    parameters=_parameters(),
    set_up=set_up,
)

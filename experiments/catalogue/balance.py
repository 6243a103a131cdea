"""The human stands, and is disturbed in any way: the experiment of most studies."""

import math

import numpy as np

from biped.checks import whole
from biped.disturbances import Disturbance, Force, Platform, Push
from biped.errors import InputError
from biped.model import Model, human
from contact import RUBBER, Floor
from experiments.catalogue import balancing
from experiments.catalogue.experiment import Experiment, Setup
from experiments.catalogue.parameters.disturbances import disturbance_parameters, disturbances_from
from experiments.catalogue.parameters.initial import OURS
from experiments.catalogue.parameters.parameter import Parameter, Values
from experiments.catalogue.random_disturbances import random_disturbances

#: Set point of the thesis's experiment 1, without its tilt.
TARGET = (-0.01, 0.0, 1.10)
UPRIGHT = (1.0, 0.0, 0.0, 0.0)


def standing_posture(model: Model, trunk: tuple[float, float, float], floor: Floor) -> dict[str, float]:
    """[rad] hip, knee and ankle pitch with the trunk upright at ``trunk`` and the feet flat below home's ankles.

    The soles are as deep in the floor as its springs need to carry the weight.

    Raises:
        InputError: the trunk is too high or too low for the legs.
    """
    body = {name: model.bodies[model.body_index(name)] for name in ("left_hip_1", "left_shank", "left_foot")}
    down = {name: float(np.asarray(part.joint.position)[2]) for name, part in body.items()}
    thigh, shank = -down["left_shank"], -_ankle_below_knee(model)
    hip_above_ankle_at_home = thigh + shank
    sole = model.total_mass * -model.gravity[2] / (model.nc * floor.k_n)
    dx = -trunk[0]
    dz = -(hip_above_ankle_at_home + trunk[2] - model.home_positions[0][2] + sole)
    reach = math.hypot(dx, dz)
    cosine = (reach**2 - thigh**2 - shank**2) / (2.0 * thigh * shank)
    if not -1.0 < cosine < 1.0:
        raise InputError(f"the trunk cannot stand at a height of {trunk[2]:g} m: its legs do not reach")
    bend = math.acos(cosine)
    lean = math.atan2(-dx, -dz)
    hip = lean + math.atan2(shank * math.sin(bend), thigh + shank * math.cos(bend))
    return {"hip_pitch": hip, "knee_pitch": -bend, "ankle_pitch": bend - hip}


def _ankle_below_knee(model: Model) -> float:
    """[m] z of the ankle from the knee at home."""
    total = 0.0
    for name in ("left_ankle", "left_foot"):
        total += float(model.bodies[model.body_index(name)].joint.position[2])
    return total


def set_up(values: Values) -> Setup:
    """The human of these values and its disturbances."""
    trunk = (values.number("initial.body_x"), values.number("initial.body_y"), values.number("initial.body_z"))
    acting: tuple[Disturbance, ...] = disturbances_from(values, trunk)
    _check_within(acting, values.number("run.duration"))
    seed = values.whole("random.seed")
    whole(seed, "random.seed")
    if seed:
        duration, period = values.number("run.duration"), values.number("controller.period")
        acting = (*acting, *random_disturbances(seed, acting, duration, period))
    return balancing.set_up(values, acting)


def _check_within(acting: tuple[Disturbance, ...], duration: float) -> None:
    """Whether what is set happens at all: a push after the end would be withstood however hard it is.

    Raises:
        InputError: a push, a force or a motion of the floor begins after the run.
    """
    for disturbance in acting:
        if isinstance(disturbance, (Push, Force, Platform)) and disturbance.begins >= duration:
            start = f"{type(disturbance).__name__.lower()}.start = {disturbance.begins:g} s"
            raise InputError(f"{start} is not before the end of the run, run.duration = {duration:g} s")


def _parameters() -> tuple[Parameter, ...]:
    model = human()
    posture = standing_posture(model, TARGET, RUBBER)
    shared = balancing.parameters(TARGET, UPRIGHT, OURS, place=TARGET, tilt=0.0, posture=posture, posture_source=OURS)
    seed = Parameter("random.seed", 0, "", "draws disturbances at random, besides those that are set; 0: none", OURS)
    return (*shared, *disturbance_parameters(), seed)


EXPERIMENT = Experiment(
    name="balance",
    title="the human stands and is disturbed: pushes, forces, a moving floor, a slippery patch, loads, noise",
    source="Wendlandt 1997, 4.3 (the human, its controller and floor); the disturbances are ours",
    parameters=_parameters(),
    set_up=set_up,
)

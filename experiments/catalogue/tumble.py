"""The human in free flight: a passive tumble, to test what an integrator conserves."""

import numpy as np

from biped.model import Model, human
from biped.runs.state import State
from biped.simulation.scene import Scene
from controllers.impedance import JointImpedance
from experiments.catalogue.experiment import Experiment
from experiments.catalogue.parameters import groups
from experiments.catalogue.parameters.initial import OURS, generator_of, scatter_parameters
from experiments.catalogue.parameters.parameter import Parameter, Values

#: [m] initial height of the trunk; there is no floor.
HEIGHT = 1.23


def tumble_parameters() -> tuple[Parameter, ...]:
    return (
        Parameter("initial.spin", 0.6, "rad/s", "Trunk's random initial angular velocity: SD about each axis", OURS),
        Parameter("initial.joint_rate", 0.6, "rad/s", "Random initial joint rates: standard deviation", OURS),
        *scatter_parameters("the initial joint angles"),
        Parameter("flight.gravity", 0.0, "m/s²", "Gravitational acceleration, along −z", OURS),
        Parameter("joints.stiffness", 0.0, "N·m/rad", "Stiffness of the spring in each joint; rest angle zero", OURS),
        Parameter("joints.damping", 0.0, "N·m·s/rad", "Viscous damping of each joint", OURS),
    )


def tumbling_state(model: Model, values: Values) -> State:
    """Return a state in the air, with random velocities; the legs are straight except for the scatter."""
    random = generator_of(values)
    spin, rates = random.normal(size=3), random.normal(size=model.nv - 6)
    noise = random.normal(0.0, values.number("initial.jitter"), len(model.joint_names))
    v = np.concatenate([np.zeros(3), values.number("initial.spin") * spin, values.number("initial.joint_rate") * rates])
    angles = dict(zip(model.joint_names, map(float, noise), strict=True))
    return State.at(model, model.configuration((0.0, 0.0, HEIGHT), None, angles), v)


def set_up(values: Values) -> Scene:
    model = human().without_contacts().with_gravity((0.0, 0.0, -values.number("flight.gravity")))
    joints = values.group("joints")
    controller = JointImpedance(**joints, period=values.number("run.step")) if any(joints.values()) else None
    return groups.scene_from(values, model, tumbling_state(model, values), controller)


EXPERIMENT = Experiment(
    name="tumble",
    title="the human tumbles in free flight, its joints free",
    source=OURS,
    parameters=(
        *groups.run_parameters(10.0, 1e-3, "every step", OURS),
        *tumble_parameters(),
        *groups.integrator_parameters(),
    ),
    set_up=set_up,
)

"""The box of Wendlandt 1997, section 5.3: it is thrown along the floor, tumbles, and comes to rest upside down."""

import math

import numpy as np

from biped.model import Model, rigid_box
from biped.runs.state import State
from biped.simulation.scene import Scene
from contact import Floor
from experiments.catalogue.experiment import Experiment
from experiments.catalogue.parameters import groups
from experiments.catalogue.parameters.floors import floor_from, floor_parameters
from experiments.catalogue.parameters.initial import generator_of, scatter_parameters
from experiments.catalogue.parameters.parameter import Parameter, Values

SOURCE = "Wendlandt 1997, 5.3"

#: Not printed: the middle of the interval that ``experiments.papers.wendlandt_1997.friction_search`` finds.
FRICTION = 0.397
TURNED, THROWN, REST = (0.9239, 0.2706, 0.2706, 0.0), (5.0, 0.0, -0.04), (0.0, 0.0, 0.0)


def box_parameters() -> tuple[Parameter, ...]:
    return (
        Parameter("box.mass", 70.0, "kg", "Mass of the box", SOURCE),
        Parameter("box.size", (0.30, 0.40, 0.20), "m", "Edge lengths of the box along its x, y and z axes", SOURCE),
        *(
            Parameter(f"initial.body_{axis}", at, "m", f"Initial {axis} coordinate of the box's CoM", SOURCE)
            for axis, at in zip("xyz", (0.0, 0.0, 0.3), strict=True)
        ),
        Parameter("initial.orientation", TURNED, "", "Initial orientation of the box, quaternion w, x, y, z", SOURCE),
        Parameter("initial.velocity", THROWN, "m/s", "Initial velocity of the box's CoM, world axes", SOURCE),
        Parameter("initial.angular_velocity", REST, "rad/s", "Initial angular velocity of the box, world axes", SOURCE),
        *scatter_parameters("the initial orientation"),
    )


def box_state(model: Model, values: Values) -> State:
    initial = values.group("initial")
    position = [values.number(f"initial.body_{axis}") for axis in "xyz"]
    orientation = np.asarray(initial["orientation"]) / (np.linalg.norm(initial["orientation"]) or 1.0)
    turn = generator_of(values).normal(0.0, values.number("initial.jitter"), 3)
    twist = [*initial["velocity"], *initial["angular_velocity"]]
    return State.at(model, model.configuration(position, _turned(orientation, turn)), twist)


def _turned(quaternion: np.ndarray, turn: np.ndarray) -> tuple[float, ...]:
    """Return the orientation after a rotation by a world-axis vector [rad]."""
    angle = float(np.linalg.norm(turn))
    w = math.cos(angle / 2.0)
    u = turn * (0.5 * np.sinc(angle / (2.0 * math.pi)))
    a, v = quaternion[0], quaternion[1:]
    return (float(w * a - u @ v), *(float(x) for x in w * v + a * u + np.cross(u, v)))


def set_up(values: Values) -> Scene:
    """Return the scene of the box; it has no joints, hence no controller, and cannot fall."""
    model = rigid_box(values.number("box.mass"), values["box.size"])
    return groups.scene_from(values, model, box_state(model, values), floor=floor_from(values))


EXPERIMENT = Experiment(
    name="box-drop",
    title="a box of 70 kg thrown along the floor tumbles and comes to rest",
    source=SOURCE,
    parameters=(
        *groups.run_parameters(1.5, 1e-3, "every step", SOURCE, SOURCE),
        *box_parameters(),
        *floor_parameters(
            Floor(mu_s=FRICTION, mu_d=FRICTION), "not printed; estimated by `biped reproduce wendlandt-1997 friction`"
        ),
        *groups.integrator_parameters(),
    ),
    set_up=set_up,
    figures={"centre-of-mass": "5.3", "quaternion": "5.4", "friction-states": "5.5", "newton-iterations": "5.6"},
)

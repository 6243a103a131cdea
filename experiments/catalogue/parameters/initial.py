"""Initial state of an experiment: the posture's parameters, and random scatter by a seed.

Random scatter is added to the initial joint angles, or to the orientation of a model without joints: it is normally
distributed with the standard deviation ``initial.jitter``, and drawn with the seed ``initial.seed``.
"""

import math
from collections.abc import Callable, Mapping

import numpy as np

from biped.errors import InputError
from biped.model import Model
from biped.runs import postures
from biped.runs.stance import KNEES, LEAN, Stance
from biped.runs.state import State
from biped.simulation.settling import Settle
from contact.arrays import Floats
from experiments.catalogue.parameters.floors import floor_from
from experiments.catalogue.parameters.parameter import Parameter, Value, Values

#: [rad] standard deviation of the scatter if only a seed is given.
SCATTER = 0.01

OURS = "this project"

STANCE, SETTLE = "initial.stance", "initial.settle"
_SETTLE = "Time to come to rest before the run; inf: as long as needed (default if initial.stance = upright)"
CROUCH, UPRIGHT = "crouch", "upright"
#: Parameters of ``Stance``, by its fields.
_OF_STANCE = ("knees", "width", "foot_angle", "lean")
#: All parameters that define the stance.
STANCES = (STANCE, *(f"initial.{name}" for name in _OF_STANCE))


def scatter_parameters(what: str) -> tuple[Parameter, ...]:
    seed = f"Seed of the random scatter of {what}; if given, even 0, initial.jitter defaults to {SCATTER:g} rad"
    return (
        Parameter("initial.jitter", 0.0, "rad", f"Standard deviation of the random scatter of {what}", OURS),
        Parameter("initial.seed", 0, "", seed, OURS),
    )


def scattered_by_seed(changes: Mapping[str, Value]) -> dict[str, Value]:
    """Return the changes; a seed without a jitter gets the default jitter, so that it has an effect."""
    if "initial.seed" not in changes:
        return dict(changes)
    if changes.get("initial.jitter") == 0.0:
        raise InputError("initial.seed has no effect if initial.jitter = 0: change or leave out initial.jitter")
    return {"initial.jitter": SCATTER} | dict(changes)


def generator_of(values: Values) -> np.random.Generator:
    for name in ("initial.seed", "initial.jitter"):
        if values.number(name) < 0.0:
            raise InputError(f"{name} = {values[name]}: it must be zero or above")
    return np.random.default_rng(values.integer("initial.seed"))


def posture_parameters(
    model: Model,
    source: str,
    place: tuple[float, float, float] = postures.CROUCHING_TRUNK,
    tilt: float = postures.CROUCHING_TILT,
    posture: Mapping[str, float] = postures.CROUCHING_ANGLES,
) -> tuple[Parameter, ...]:
    """Return the parameters of the initial posture; ``posture``: angles by joint, or by joint without left or right."""
    root = model.root.name
    angles = {joint: posture.get(joint, posture.get(joint.partition("_")[2], 0.0)) for joint in model.joint_names}
    return (
        *(_stance_parameters(model, posture) if postures.has_human_legs(model) else ()),
        Parameter(SETTLE, 0.0, "s", _SETTLE, OURS, may_be_infinite=True),
        *(
            Parameter(f"initial.body_{axis}", at, "m", f"Initial {axis} coordinate of the {root}'s CoM", source)
            for axis, at in zip("xyz", place, strict=True)
        ),
        Parameter("initial.tilt", tilt, "rad", f"Initial forward tilt of the {root}{_about_left(model)}", source),
        *(Parameter(f"initial.{j}", q, "rad", f"Initial angle of joint {j}", source) for j, q in angles.items()),
        Parameter("initial.velocity", (0.0, 0.0, 0.0), "m/s", "Initial velocity of all bodies along x, y, z", source),
        *scatter_parameters("the initial joint angles"),
    )


def _stance_parameters(model: Model, posture: Mapping[str, float]) -> tuple[Parameter, ...]:
    bent = math.degrees(abs(next(angle for joint, angle in posture.items() if joint.endswith("knee_pitch"))))
    ankles = 2.0 * abs(float(model.home_positions[model.body_index("left_ankle")] @ np.array(model.left)))
    only = "Stance upright:"
    return (
        Parameter(
            STANCE, CROUCH, "", f"Initial stance: crouch (knees bent by {bent:.0f}°, Wendlandt 1997) or upright", OURS,
            choices=(CROUCH, UPRIGHT),
        ),
        Parameter("initial.knees", KNEES, "rad", f"{only} knee flexion", OURS),
        Parameter("initial.width", ankles, "m", f"{only} stance width between the ankle centres", OURS),
        Parameter("initial.foot_angle", 0.0, "rad", f"{only} yaw angle of each foot, toe-out positive", OURS),
        Parameter("initial.lean", LEAN, "rad", f"{only} lean of the line from ankles to CoM, forward positive", OURS),
    )  # fmt: skip


def posture_of_stance(
    robot: Callable[[], Model], values: Mapping[str, Value], changes: Mapping[str, Value]
) -> dict[str, Value]:
    """Return the values of posture, set point and settling that the stance sets; none for the crouch.

    Raises:
        InputError: a change has no effect on the stance, or the robot cannot take the stance.
    """
    if values.get(STANCE) != UPRIGHT:
        idle = [f"initial.{name}" for name in _OF_STANCE if f"initial.{name}" in changes]
        if idle and values.get(STANCE) == CROUCH:
            raise InputError(f"{idle[0]} has no effect in the stance crouch: also set {STANCE} = {UPRIGHT}")
        return {}
    model = robot()
    q = upright_posture(model, Values(values))
    posture: dict[str, Value] = {f"initial.body_{axis}": float(at) for axis, at in zip("xyz", q[:3], strict=True)}
    posture |= {f"initial.{joint}": float(q[model.coordinate(joint)]) for joint in model.joint_names}
    if "controller.target_position" in values:
        posture["controller.target_position"] = tuple(float(at) for at in q[:3])
    return posture | {"initial.tilt": 0.0, SETTLE: values[SETTLE] or math.inf}


def upright_posture(model: Model, values: Values) -> Floats:
    """Return the configuration (nq,) of the upright stance; raises InputError of ``Stance``, naming parameters."""
    try:
        stance = Stance(**{name: values.number(f"initial.{name}") for name in _OF_STANCE})
        return stance.configuration(model, floor_from(values))
    except InputError as error:
        raise InputError(str(error).replace("stance.", "initial.")) from None


def settle_from(values: Values) -> Settle | None:
    """Return the settling before the start.

    Raises:
        InputError: the time is negative.
    """
    seconds = values.number(SETTLE)
    if seconds < 0.0:
        raise InputError(f"{SETTLE} = {seconds:g} s: it must not be negative; inf: until the body is at rest")
    if seconds == 0.0:
        return None

    def move_off(rested: State) -> State:
        return _moved_off(values, rested.model, rested.q, rested.time)

    return Settle(None if math.isinf(seconds) else seconds, then=move_off if _moves_off(values) else None)


def initial_state(model: Model, values: Values) -> State:
    """Return the initial state, with scatter and velocity unless they are added after settling."""
    q = _posture(model, values)
    if values.number(SETTLE) == 0.0:
        return _moved_off(values, model, q)
    return State.at(model, postures.with_loops_closed(model, q))


def _posture(model: Model, values: Values) -> Floats:
    """Return the configuration (nq,) of these values, without scatter, loops open."""
    half = values.number("initial.tilt") / 2.0
    x, y, _ = (math.sin(half) * part for part in model.left)
    angles = {joint: values.number(f"initial.{joint}") for joint in model.joint_names}
    position = [values.number(f"initial.body_{axis}") for axis in "xyz"]
    return model.configuration(position, (math.cos(half), x + 0.0, y, 0.0), angles)


def _moves_off(values: Values) -> bool:
    """Return True if the initial state has scatter or a velocity."""
    return values.number("initial.jitter") != 0.0 or any(values.group("initial")["velocity"])


def _moved_off(values: Values, model: Model, q: Floats, time: float = 0.0) -> State:
    """Return the state at ``q`` (nq,) plus the scatter, with the velocity of these values."""
    noise = generator_of(values).normal(0.0, values.number("initial.jitter"), len(model.joint_names))
    q, velocity = q.copy(), np.zeros(model.nv)
    q[[model.coordinate(joint) for joint in model.joint_names]] += noise
    velocity[:3] = values.group("initial")["velocity"]
    return State.at(model, postures.with_loops_closed(model, q), velocity, time)


def _about_left(model: Model) -> str:
    """Return the axis of forward pitch in words, such as `` (about −y)``; empty if it is not a world axis."""
    x, y, _ = model.left
    return "" if x and y else f" (about {'−' if x + y < 0.0 else '+'}{'x' if x else 'y'})"

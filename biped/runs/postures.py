"""Initial postures."""

import math

import numpy as np

from biped.dynamics import forward_kinematics
from biped.dynamics.closing import assembled
from biped.errors import InputError
from biped.model import Model
from biped.model.geometry import Vector3
from biped.model.human import TRUNK_COM
from biped.model.upper_body import BODIES
from biped.runs.state import State
from contact import RUBBER, Floor
from contact.arrays import Floats

#: [m] Set point of the trunk's centre of mass in Wendlandt 1997, section 4.3, experiment 1.
STANDING_TRUNK: Vector3 = (-0.01, 0.0, 1.10)
#: [m] Initial position there: crouched, soles 5 mm above the floor.
CROUCHING_TRUNK: Vector3 = (0.0, 0.0, 1.035)
#: [rad] Initial posture there; all other joints are at zero.
CROUCHING_ANGLES = {joint: math.radians(angle) for joint, angle in
                    {"hip_pitch": 40.0, "knee_pitch": -77.4595, "ankle_pitch": 42.4595}.items()}  # fmt: skip
#: [rad] Rotation of the trunk about −y.
CROUCHING_TILT = math.radians(5.0)
_SIDES = ("left", "right")
_LEG = ("left_hip_1", "left_shank", "left_ankle", "left_foot")


def has_human_legs(model: Model) -> bool:
    """Return True if the model has the legs of ``human()``, by the names of its bodies."""
    return model.is_floating and all(any(body.name == name for body in model.bodies) for name in _LEG)


def standing(model: Model, floor: Floor = RUBBER, trunk: Vector3 | None = None) -> State:
    """Return the state of a model at rest on its feet.

    The human's trunk is upright with its centre of mass at ``trunk`` [m], by default ``STANDING_TRUNK`` scaled with the
    model, and its feet are flat on the floor. A model with other legs is in its ``posture``, with the root oriented as
    in the home configuration. The contact points are pressed into the floor by the depth that carries the weight.
    Kinematic loops are closed by changing joints that belong to no leg.

    Raises:
        InputError: ``trunk`` is out of reach of the legs or given for legs other than the human's, or there are no feet
            or contact points to stand on.
    """
    if has_human_legs(model):
        place = standing_trunk(model) if trunk is None else trunk
        return _at_rest(model, place, 0.0, standing_angles(model, floor, place))
    if trunk is not None:
        raise InputError(f"trunk applies only to human()'s legs: omit it; model {model.name!r} stands in its posture")
    return _in_posture(model, floor)


def standing_trunk(model: Model) -> Vector3:
    """Return the position [m] of the root of a standing human of any size, from the scaled ``STANDING_TRUNK``.

    If trunk, head and arms are separate bodies, their common centre of mass is at the scaled position.
    """
    x, y, z = STANDING_TRUNK
    root, upper = float(model.home_positions[0][2]), _above_legs(model)
    size = upper / TRUNK_COM[2]
    return x * size, y * size, z * size + (root - upper)


def _above_legs(model: Model) -> float:
    """Return the height [m] at home of the common centre of mass of trunk, head and arms."""
    upper = [i for i, name in enumerate(model.body_names) if name in BODIES]
    if len(upper) < 2:
        return float(model.home_positions[0][2])
    masses = np.array([model.bodies[i].mass for i in upper])
    return float(masses @ model.home_positions[upper, 2] / masses.sum())


def _in_posture(model: Model, floor: Floor) -> State:
    keys = (
        ("floating = true", model.is_floating),
        ('feet = ["LEFT", "RIGHT"]', model.feet),
        ('contacts = "collision"', model.nc),
    )
    lacking = ", ".join(key for key, there in keys if not there)
    if lacking:
        raise InputError(
            f"model {model.name!r} has other legs than human(): to stand it needs a floating root, feet and "
            f"contact points: add {lacking} to its TOML file (`biped robot FILE` converts a URDF or MJCF); or give "
            "its posture by State.at(model, model.configuration(position, orientation, angles))"
        )
    q = with_loops_closed(model, model.configuration(angles=dict(model.posture)))
    weight = model.total_mass * -model.gravity[2]
    lowest = forward_kinematics(model, q).contact[:, 2] - model.contact_radii
    q[2] -= floor.lowered(weight, lowest)
    return State.at(model, q)


def crouching(model: Model) -> State:
    """Return the human at rest, crouched, soles 5 mm above the floor: the start in Wendlandt 1997, section 4.3.

    Raises:
        InputError: the model's legs are not those of ``human()``.
    """
    _check_legs(model)
    return _at_rest(model, CROUCHING_TRUNK, CROUCHING_TILT, CROUCHING_ANGLES)


def standing_angles(model: Model, floor: Floor, trunk: Vector3) -> dict[str, float]:
    """Return hip, knee and ankle pitch [rad] with the trunk upright at ``trunk`` and the feet flat, as at home.

    The soles are pressed into the floor by the depth at which its springs carry the weight.

    Raises:
        InputError: the model has other legs, or ``trunk`` is out of their reach.
    """
    _check_legs(model)
    body = {name: model.bodies[model.body_index(name)] for name in _LEG}
    down = {name: float(np.asarray(part.joint.position)[2]) for name, part in body.items()}
    thigh, shank = -down["left_shank"], -(down["left_ankle"] + down["left_foot"])
    hip_above_ankle_at_home = thigh + shank
    sole = floor.sink(model.total_mass * -model.gravity[2], model.nc)
    dx = -trunk[0]
    dz = -(hip_above_ankle_at_home + trunk[2] - model.home_positions[0][2] + sole)
    reach = math.hypot(dx, dz)
    cosine = (reach**2 - thigh**2 - shank**2) / (2.0 * thigh * shank)
    if not -1.0 < cosine < 1.0:
        raise InputError(f"the trunk cannot stand at a height of {trunk[2]:g} m: the legs do not reach")
    bend = math.acos(cosine)
    lean = math.atan2(-dx, -dz)
    hip = lean + math.atan2(shank * math.sin(bend), thigh + shank * math.cos(bend))
    return {"hip_pitch": hip, "knee_pitch": -bend, "ankle_pitch": bend - hip}


def _at_rest(model: Model, trunk: Vector3, tilt: float, posture: dict[str, float]) -> State:
    half = tilt / 2.0
    angles = {f"{side}_{joint}": angle for side in _SIDES for joint, angle in posture.items()}
    q = model.configuration(trunk, (math.cos(half), 0.0, -math.sin(half), 0.0), angles)
    return State.at(model, with_loops_closed(model, q))


def with_loops_closed(model: Model, q: Floats) -> Floats:
    """Return ``q`` (nq,) changed so that its loops are closed, by the joints that belong to no leg.

    Raises:
        InputError: the joints cannot close the loops from q; the message gives the gap.
    """
    if not model.closing_joints:
        return q
    return assembled(model, q, held=[model.bodies[i].joint.name for i in _legs(model)])


def _legs(model: Model) -> set[int]:
    """Return the indices of the bodies from the feet to the root."""
    bodies = {0}
    for foot in model.feet:
        body = model.body_index(foot)
        while body > 0:
            bodies.add(body)
            body = int(model.tree.parent[body])
    return bodies


def _check_legs(model: Model) -> None:
    if not has_human_legs(model):
        raise InputError(
            f"model {model.name!r} has other legs than human(): give its posture by "
            "State.at(model, model.configuration(position, orientation, angles))"
        )

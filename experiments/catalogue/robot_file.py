"""TOML file of a robot, drafted from its URDF or MJCF: feet, soles, posture, facing."""

import json
import os
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from biped.model import Model, ModelError
from biped.model.legs import legs_of, straight_knees
from biped.model.robot import READERS

_TEXT = """\
# A robot for --robot, drafted by `biped robot`: check it.
name = {name}
{key} = {file}
{options}
# Links of the feet: the lowest ends of the limbs.
feet = {feet}

# Points that touch the floor.
{contacts}
# To set them by link, in the link's axes [m], write at the end of this file: [contacts], LINK = [[x, y, z], ...]

# Horizontal direction that the robot faces in its home configuration.
facing = {facing}

# Joint positions [rad or m] of the standing posture; the other joints are at zero.
posture = {{ {posture} }}

# Further keys: folders for package://, inertia of rotors [kg m²] for all or by joint, joints that do not move.
# packages = ["FOLDER"]
# armature = 0.01
# locked = {{ "*_wrist_*" = 0.0 }}
# The floor is level at z = 0 and of rubber: --set floor.mu_s=0.5 --set floor.mu_d=0.4 makes it more slippery.
"""
#: Options that a floating model may need, tried in order: impossible inertias are repaired before the root is freed.
_WAYS: tuple[dict[str, Any], ...] = (
    {},
    {"repair": "inertia"},
    {"floating": True},
    {"floating": True, "repair": "inertia"},
)
#: [rad] flexion of straight knees; hips and ankles turn back by half of it each, so that soles stay level.
_BENT = 0.6
#: Ends of limbs are feet if their height above the lowest one is within this share of the robot's height.
_NEAR = 0.1
Loader = Callable[..., Model]


def draft(file: Path, folder: Path) -> tuple[str, Model]:
    """Return the text of a robot's TOML file for a folder, and the model that it describes.

    Raises:
        ModelError: the robot's file cannot be read.
    """
    key = "urdf" if file.suffix == ".urdf" else "mjcf"
    read = partial(READERS[key], file)
    options, model = _floating(read)
    load = partial(read, **options)
    feet = list(model.feet) or _feet(model, load)
    model = replace(model, feet=tuple(feet))
    soled = _tried(load, {"feet": feet, "contacts": "collision"})
    facing = _facing(model, soled)
    posture = dict(model.posture) or _bent(replace(model, facing=(facing[0], facing[1], 0.0)))
    contacts, model = _contacts(model, partial(load, feet=feet, facing=facing, posture=posture))
    text = _TEXT.format(
        name=json.dumps(model.name), key=key, file=json.dumps(os.path.relpath(file, folder)), feet=json.dumps(feet),
        options="".join(f"{option} = {json.dumps(value)}\n" for option, value in options.items()),
        contacts=contacts, facing=json.dumps(facing),
        posture=", ".join(f"{json.dumps(joint)} = {float(at):g}" for joint, at in posture.items()),
    )  # fmt: skip
    return text, model


def _floating(read: Loader) -> tuple[dict[str, Any], Model]:
    """Return the first options with which the model has a floating root, and the model; no options if none do."""
    for way in _WAYS:
        model = _tried(read, way)
        if model is not None and model.is_floating:
            return way, model
    return {}, read()


def _tried(load: Loader, options: dict[str, Any]) -> Model | None:
    """Return the model with these options; None if the robot cannot be loaded with them."""
    try:
        return load(**options)
    except ModelError:
        return None


def _contacts(model: Model, load: Loader) -> tuple[str, Model]:
    """Return the lines of the file on contact points, and the model with these points."""
    if model.nc:
        return f"# The robot's file defines them: {', '.join(model.contact_names)}.", load()
    try:
        soled = load(contacts="collision")
    except ModelError as error:
        return f"# None were found: {error}", load()
    places = [f"#   {p.name} on {p.body}: {np.round(p.position, 4).tolist()}" for p in soled.contact_points]
    about = "# The corners of the soles, in the feet's collision geometry; at home, from the foot's joint [m]:"
    return "\n".join([about, *places, 'contacts = "collision"']), soled


def _feet(model: Model, load: Loader) -> list[str]:
    """Return the lowest ends of limbs, or their parents if these are as low (a foot with toes)."""
    parents = {body.name: body.parent for body in model.bodies}
    heights = dict(zip(model.body_names, model.home_positions[:, 2].tolist(), strict=True))
    most = min(heights.values()) + _NEAR * float(np.ptp(model.home_positions[:, 2]))
    feet = []
    for foot in (name for name in model.body_names if name not in parents.values() and heights[name] <= most):
        above = parents[foot]
        while above is not None and heights[above] <= most and _lowest(load, above) < _lowest(load, foot) + 0.005:
            foot, above = above, parents[above]
        feet.append(foot)
    return list(dict.fromkeys(feet))


def _lowest(load: Loader, link: str) -> float:
    """Return the height [m] of a link's lowest collision point in the home configuration; inf if there is none."""
    model = _tried(load, {"feet": [link], "contacts": "collision"})
    if model is None:
        return np.inf
    k = model.body_index(model.feet[0])
    joint = model.home_positions[k] - model.bodies[k].com
    return min(float(joint[2] + point.position[2]) for point in model.contact_points)


def _facing(model: Model, soled: Model | None) -> list[float]:
    """Return the horizontal direction across the line between the feet, towards the longer part of the soles."""
    if len(model.feet) != 2:
        return list(model.facing)
    apart = np.abs(np.subtract(*(model.home_positions[model.body_index(foot), :2] for foot in model.feet)))
    ahead = np.array([1.0, 0.0] if apart[1] >= apart[0] else [0.0, 1.0])
    reach = 0.0 if soled is None else sum(float(ahead @ point.position[:2]) for point in soled.contact_points)
    return [*(ahead if reach >= 0.0 else 0.0 - ahead).tolist(), 0.0]


def _bent(model: Model) -> dict[str, float]:
    """Return the angles [rad] that bend straight knees and keep the soles level, if within the joints' limits."""
    joints = {body.joint.name: body.joint for body in model.bodies}
    straight = {knee for knee, angle in straight_knees(model).items() if abs(angle) < 0.5 * _BENT}
    three = [leg.sagittal[-3:] for leg in legs_of(model) if leg.knee in straight]
    for way in (_BENT, -_BENT):
        parts = [(joints[name], way * part) for leg in three for name, part in zip(leg, (-0.5, 1.0, -0.5), strict=True)]
        posture = {joint.name: turn * float(np.sign(np.dot(joint.axis, model.left))) for joint, turn in parts}
        if all(joints[name].lower <= at <= joints[name].upper for name, at in posture.items()):
            return posture
    return {}

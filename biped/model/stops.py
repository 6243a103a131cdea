"""Stops at the ends of joints' ranges of motion."""

from dataclasses import replace

from biped.model.errors import ModelError
from biped.model.model import Model


def with_stops(model: Model) -> Model:
    """Return the model with its ``ranges`` as limits of the joints, with stops; narrower limits of joints are kept.

    Raises:
        ModelError: the model has no ranges.
    """
    if not model.ranges:
        raise ModelError(f"model {model.name!r} has no ranges of motion; set the limits of its joints instead")
    ranges = {joint: (lower, upper) for joint, lower, upper in model.ranges}
    bodies = []
    for body in model.bodies:
        joint = body.joint
        if joint.name in ranges:
            lower, upper = ranges[joint.name]
            joint = replace(joint, lower=max(joint.lower, lower), upper=min(joint.upper, upper))
        bodies.append(replace(body, joint=joint))
    return replace(model, bodies=tuple(bodies))

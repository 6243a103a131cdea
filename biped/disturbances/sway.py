"""A floor that turns with the body's sway, so that the ankles feel none of it."""

from dataclasses import dataclass

import numpy as np

from biped.disturbances.disturbance import Disturbance, Record
from biped.dynamics import forward_kinematics, joint_place
from biped.errors import InputError
from biped.inputs.checks import is_finite, numbers
from biped.inputs.fields import quantity
from biped.kernels.loop.following import following
from biped.model import Model
from biped.model.geometry import Vector3
from biped.model.legs import legs_of
from contact.arrays import Floats
from contact.ground import Ground


@dataclass(frozen=True)
class SwayReferenced(Disturbance):
    """The floor turns with the body, as the platform of a sensory organization test does (Nashner 1982).

    Its pitch follows the sway: the angle about y by which the line from the pivot to the centre of mass has turned
    since the start. It is measured as it is at each control tick, whatever sensors show, and the floor turns evenly
    until it has that angle at the next one: it is a tick late. With a gain of one ankles bend by what is left of
    that, and joints tell nothing of the sway in space. A run that is continued needs the pivot that it had.

    Raises:
        InputError: the gain is not finite.
    """

    gain: float = quantity("", "Floor rotation / sway", 1.0)
    pivot: Vector3 | None = quantity(
        "m", "Point about which the floor rotates; default: between the ankles at the start", None
    )

    def __post_init__(self) -> None:
        if not is_finite(self.gain):
            raise InputError(f"swayreferenced.gain = {self.gain!r}: it must be a finite number")
        if self.pivot is not None:
            numbers(self.pivot, 3, "swayreferenced.pivot")

    @classmethod
    def in_words(cls, record: Record, facing: Vector3) -> str:
        """Return the gain, unless it is one."""
        return "a floor that turns with the body" + (
            "" if record["gain"] == 1.0 else f", {record['gain']:g} times as far"
        )

    def under(self, ground: Ground, model: Model, q: Floats) -> Ground:
        """The floor that follows a model which stands on it at q.

        Raises:
            InputError: neither a pivot is given nor does the model have two legs.
        """
        pivot = between_ankles(model, q) if self.pivot is None else np.asarray(self.pivot, dtype=float)
        return ground._replace(motion=following(self.gain), pivot=pivot)


def between_ankles(model: Model, q: Floats) -> Floats:
    """(3,) [m] the middle between the joints that carry the feet."""
    legs = legs_of(model)
    if not legs:
        raise InputError(f"swayreferenced: model {model.name!r} has no two legs; give the pivot about which it turns")
    placed = forward_kinematics(model, q)
    feet = [model.body_index(leg.foot) for leg in legs]
    middle: Floats = np.mean([joint_place(model, placed, foot) for foot in feet], axis=0)
    return middle

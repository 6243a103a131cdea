"""A floor that turns with the body's sway, so that ankle angles do not indicate the sway."""

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
    """Floor that turns with the body, like the platform of a sensory organization test (Nashner 1982).

    The pitch of the floor follows the sway: the angle about y by which the line from the pivot to the centre of mass
    has turned since the start, times the gain. The sway is measured at each control tick, without delay and noise of
    the sensors. The floor then turns at a constant rate and reaches that angle at the next tick, one tick late. With a
    gain of one, ankle angles hardly change and do not indicate the sway in space. To continue a run, give ``pivot``.

    Raises:
        InputError: the gain is not finite.
    """

    gain: float = quantity("", "Ratio of the floor's pitch angle to the body's sway angle", 1.0)
    pivot: Vector3 | None = quantity(
        "m", "Point about which the floor rotates, world axes; default: midway between the ankles at the start", None
    )

    def __post_init__(self) -> None:
        if not is_finite(self.gain):
            raise InputError(f"swayreferenced.gain = {self.gain!r}: it must be a finite number")
        if self.pivot is not None:
            numbers(self.pivot, 3, "swayreferenced.pivot")

    @classmethod
    def in_words(cls, record: Record, facing: Vector3) -> str:
        """Return a phrase for this floor, with the gain unless it is one."""
        return "a floor that turns with the body" + (
            "" if record["gain"] == 1.0 else f", {record['gain']:g} times as far"
        )

    def under(self, ground: Ground, model: Model, q: Floats) -> Ground:
        """Return the floor for the kernels, set to follow a model that stands on it at configuration q (nq,).

        Raises:
            InputError: no pivot is given, and the model does not have two legs.
        """
        pivot = between_ankles(model, q) if self.pivot is None else np.asarray(self.pivot, dtype=float)
        return ground._replace(motion=following(self.gain), pivot=pivot)


def between_ankles(model: Model, q: Floats) -> Floats:
    """Return the midpoint (3,) [m] between the joints that carry the feet, at configuration q (nq,)."""
    legs = legs_of(model)
    if not legs:
        raise InputError(f"swayreferenced: model {model.name!r} does not have two legs; set swayreferenced.pivot")
    placed = forward_kinematics(model, q)
    feet = [model.body_index(leg.foot) for leg in legs]
    middle: Floats = np.mean([joint_place(model, placed, foot) for foot in feet], axis=0)
    return middle

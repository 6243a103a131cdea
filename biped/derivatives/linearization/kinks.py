"""Where the map of a step has no derivative, but one on either side."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from biped.derivatives.linearization.coordinates import configuration_names, torque_names
from biped.errors import InputError
from biped.kernels.tree.tree import MAX_EFFORT, MAX_SPEED, STOP_STIFFNESS, Tree
from biped.kernels.variational import joints
from biped.model import Model
from contact.arrays import Floats, Integers
from contact.floor import Floor
from contact.modes import SLIDING
from contact.point_law import pressure
from contact.regimes import HEIGHT, PRESSURE, SLIP, SPEED, STRETCH, SWITCHES

#: By how little of its scale a switch must miss zero to count as a kink: rounding and the solver leave less.
AT_KINK = 1e-6
#: [m] which the scales of forces and places go by.
MILLIMETRE = 1e-3

#: Of a joint's: what happens, and by which unit it is measured.
_JOINT_WORDS = {
    joints.UPPER_BEGIN: ("meets its upper stop", "position"),
    joints.UPPER_END: ("meets its upper stop", "position"),
    joints.UPPER_PRESSURE: ("presses on its upper stop or is let go", "torque"),
    joints.LOWER_BEGIN: ("meets its lower stop", "position"),
    joints.LOWER_END: ("meets its lower stop", "position"),
    joints.LOWER_PRESSURE: ("presses on its lower stop or is let go", "torque"),
    joints.TOO_FAST: ("is braked or is not", "rate"),
    joints.EFFORT: ("reaches its limit", "torque"),
}

_WORDS = {
    PRESSURE: ("presses or is let go", "N"),
    SLIP: ("holds or yields", "N"),
    SPEED: ("slides or is caught", "m/s"),
    HEIGHT: ("lands or lifts", "m"),
    STRETCH: ("drags its anchor or leaves it", "m"),
}


@dataclass(frozen=True)
class Kink:
    """How far a contact point, or an actuator, is from where the map has a kink.

    Attributes:
        point: the contact point, or the joint.
        what: happens there.
        value: what vanishes at the kink.
        unit: of it.
        step: counted from the start, parts of steps included.
        share: ``|value|`` as a share of what is large: a millimetre or milliradian, the spring force of one,
            ``stiction_velocity``, a limit.
    """

    point: str
    what: str
    value: float
    unit: str
    step: int
    share: float
    switch: int = -1
    index: int = -1

    def __str__(self) -> str:
        return f"{self.point} {self.what} ({self.value:+.3g} {self.unit} away, step {self.step})"


class KinkError(InputError):
    """The state is where the map has no derivative.

    Attributes:
        kinks: the kinks that the state is at.
    """

    def __init__(self, kinks: tuple[Kink, ...]) -> None:
        super().__init__(f"no derivative here: {'; '.join(map(str, kinks))}. Linearize a state nearby")
        self.kinks = kinks


def point_scales(floor: Floor) -> Floats:
    """(SWITCHES,) how far from a switch is far, of a contact point."""
    found = np.full(SWITCHES, MILLIMETRE)
    found[PRESSURE] = found[SLIP] = pressure(floor.normal, -MILLIMETRE, 0.0)
    found[SPEED] = floor.stiction_velocity
    return found


def joint_scales(tree: Tree) -> Floats:
    """(nv, JOINT_SWITCHES) the same of a joint."""
    found = np.full((int(tree.dofs.sum()), joints.JOINT_SWITCHES), MILLIMETRE)
    if tree.passive.size:
        for passive, first, count in zip(tree.passive, tree.first_v, tree.dofs, strict=True):
            own = found[first : first + count]
            own[:, [joints.UPPER_PRESSURE, joints.LOWER_PRESSURE]] = passive[STOP_STIFFNESS] * MILLIMETRE
            own[:, joints.TOO_FAST], own[:, joints.EFFORT] = passive[MAX_SPEED], passive[MAX_EFFORT]
    return found


def nearest_kinks(
    names: tuple[str, ...], floor: Floor, switch: Floats, mode: Integers, known_modes: bool
) -> tuple[Kink, ...]:
    """The nearest kink of each point and kind in some steps, the nearest first.

    ``known_modes``: modes that change at the end of the last step do not matter any more.
    """
    scales, values = point_scales(floor), switch.copy()
    if known_modes and len(values):
        values[-1, :, HEIGHT] = np.inf
        values[-1, mode[-1] != SLIDING, SPEED] = np.inf
    found = []
    for index, kind, step, value in _least(values):
        what, unit = _WORDS[kind]
        found.append(Kink(names[index], what, value, unit, step, abs(value) / float(scales[kind]), kind, index))
    return tuple(sorted(found, key=lambda kink: kink.share))


def _least(values: Floats) -> Iterator[tuple[int, int, int, float]]:
    """Place, kind, step and value of the smallest size over the steps of (steps, places, kinds), if any is finite."""
    if not values.size:
        return
    steps = np.abs(values).argmin(axis=0)
    least = np.take_along_axis(values, steps[None], axis=0)[0]
    for index, kind in np.argwhere(np.isfinite(least)).tolist():
        yield index, kind, int(steps[index, kind]), float(least[index, kind])


def nearest_joint_kinks(model: Model, tree: Tree, switch: Floats) -> tuple[Kink, ...]:
    """The nearest kink of each joint and kind in some steps, the nearest first; ``switch`` is (steps, nv, kinds).

    ``tree`` is the model's, with its actuators' limits where these hold in the steps.
    """
    if not tree.passive.size or not len(switch):
        return ()
    names, units = configuration_names(model)
    _, torque_units, driven = torque_names(model)
    scales, found = joint_scales(tree), []
    for dof, kind, step, value in _least(switch):
        what, quantity = _JOINT_WORDS[kind]
        scale = float(scales[dof, kind])
        unit = {"position": units[dof], "rate": f"{units[dof]}/s", "torque": torque_units[driven.index(dof)]}[quantity]
        found.append(Kink(names[dof], what, value, unit, step, abs(value) / scale, kind, dof))
    return tuple(sorted(found, key=lambda kink: kink.share))

"""Kinks of the map of a step: states at which the map has one-sided derivatives only."""

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

#: Size of a switch, relative to its scale, below which the state is at a kink; rounding and solver errors are smaller.
AT_KINK = 1e-6
#: [m] Length that defines the scales of forces and positions.
MILLIMETRE = 1e-3

#: Words and quantities of a joint's kinks.
_JOINT_WORDS = {
    joints.UPPER_BEGIN: ("meets its upper stop", "position"),
    joints.UPPER_END: ("meets its upper stop", "position"),
    joints.UPPER_PRESSURE: ("presses on its upper stop or is released", "torque"),
    joints.LOWER_BEGIN: ("meets its lower stop", "position"),
    joints.LOWER_END: ("meets its lower stop", "position"),
    joints.LOWER_PRESSURE: ("presses on its lower stop or is released", "torque"),
    joints.TOO_FAST: ("reaches its speed limit", "rate"),
    joints.EFFORT: ("reaches its torque limit", "torque"),
}

_WORDS = {
    PRESSURE: ("presses or is released", "N"),
    SLIP: ("holds or yields", "N"),
    SPEED: ("slides or sticks", "m/s"),
    HEIGHT: ("lands or lifts off", "m"),
    STRETCH: ("drags its anchor or leaves it", "m"),
}


@dataclass(frozen=True)
class Kink:
    """Distance of a contact point, joint or actuator from a kink, which is a state where a time step is not smooth.

    Attributes:
        point: name of the contact point, the joint or the actuator's joint.
        what: event at the kink, in words, such as "lands or lifts off".
        value: quantity that vanishes at the kink.
        unit: unit of ``value``.
        step: number of the time step, counted from 0; each part of a divided time step counts.
        share: ``|value|`` divided by a scale: 1 mm or 1 mrad, the load of the floor or joint stop at 1 mm or 1 mrad,
            ``stiction_velocity`` of the floor, or the joint's limit of speed or torque, depending on the quantity.
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
    """Error: the state is at a kink, where the next state has no derivative with respect to it.

    Attributes:
        kinks: the kinks at the state.
    """

    def __init__(self, kinks: tuple[Kink, ...]) -> None:
        super().__init__(f"no derivative at this state: {'; '.join(map(str, kinks))}. Linearize a nearby state")
        self.kinks = kinks


def point_scales(floor: Floor) -> Floats:
    """Return the scales (SWITCHES,) of a contact point's switches."""
    scales = np.full(SWITCHES, MILLIMETRE)
    scales[PRESSURE] = scales[SLIP] = pressure(floor.normal, -MILLIMETRE, 0.0)
    scales[SPEED] = floor.stiction_velocity
    return scales


def joint_scales(tree: Tree) -> Floats:
    """Return the scales (nv, JOINT_SWITCHES) of the joints' switches."""
    scales = np.full((int(tree.dofs.sum()), joints.JOINT_SWITCHES), MILLIMETRE)
    if tree.passive.size:
        for passive, first, count in zip(tree.passive, tree.first_v, tree.dofs, strict=True):
            rows = scales[first : first + count]
            rows[:, [joints.UPPER_PRESSURE, joints.LOWER_PRESSURE]] = passive[STOP_STIFFNESS] * MILLIMETRE
            rows[:, joints.TOO_FAST], rows[:, joints.EFFORT] = passive[MAX_SPEED], passive[MAX_EFFORT]
    return scales


def nearest_kinks(
    names: tuple[str, ...], floor: Floor, switch: Floats, mode: Integers, known_modes: bool
) -> tuple[Kink, ...]:
    """Return the nearest kink of each contact point and kind over some steps, the nearest first.

    With ``known_modes``, changes of contact modes at the end of the last step are left out.
    """
    scales, values = point_scales(floor), switch.copy()
    if known_modes and len(values):
        values[-1, :, HEIGHT] = np.inf
        values[-1, mode[-1] != SLIDING, SPEED] = np.inf
    kinks = []
    for index, kind, step, value in _least(values):
        what, unit = _WORDS[kind]
        kinks.append(Kink(names[index], what, value, unit, step, abs(value) / float(scales[kind]), kind, index))
    return tuple(sorted(kinks, key=lambda kink: kink.share))


def _least(values: Floats) -> Iterator[tuple[int, int, int, float]]:
    """Yield index, kind, step and value of the smallest sizes over the steps of (steps, points, kinds), if finite."""
    if not values.size:
        return
    steps = np.abs(values).argmin(axis=0)
    least = np.take_along_axis(values, steps[None], axis=0)[0]
    for index, kind in np.argwhere(np.isfinite(least)).tolist():
        yield index, kind, int(steps[index, kind]), float(least[index, kind])


def nearest_joint_kinks(model: Model, tree: Tree, switch: Floats) -> tuple[Kink, ...]:
    """Return the nearest kink of each joint and kind over some steps, the nearest first; ``switch`` (steps, nv, kinds).

    ``tree`` is the tree of the run, with actuator limits if the steps enforce them.
    """
    if not tree.passive.size or not len(switch):
        return ()
    names, units = configuration_names(model)
    _, torque_units, driven = torque_names(model)
    scales, kinks = joint_scales(tree), []
    for dof, kind, step, value in _least(switch):
        what, quantity = _JOINT_WORDS[kind]
        scale = float(scales[dof, kind])
        unit = {"position": units[dof], "rate": f"{units[dof]}/s", "torque": torque_units[driven.index(dof)]}[quantity]
        kinks.append(Kink(names[dof], what, value, unit, step, abs(value) / scale, kind, dof))
    return tuple(sorted(kinks, key=lambda kink: kink.share))

"""Periodic stimulus of an identification's trials: a moving floor or a force."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from biped.disturbances import Disturbance, Force, Platform
from biped.errors import InputError
from biped.model.geometry import Vector3
from biped.signals import Signal
from experiments.catalogue.experiment import Experiment
from experiments.catalogue.parameters.parameter import Value

#: Stimulus of a force [N] along the world's x or y; a run has no column of it.
FORCE = "force"
#: By the moving axis of the platform: the column of the stimulus, the column of the sway, and the stimulus's name in
#: closed-form models, if they have it.
_FLOOR = {
    "pitch": ("floor_tilt_y", "sway_y", "tilt"), "roll": ("floor_tilt_x", "sway_x", ""),
    "x": ("floor_x", "sway_y", "translation"), "y": ("floor_y", "sway_x", ""),
}  # fmt: skip
_SWAYS = ("sway_y", "sway_x")
#: Largest deviation of a force's unit vector from the world's x or y.
_ALONG = 1e-6


@dataclass(frozen=True)
class Stimulus:
    """A periodic disturbance."""

    group: str  #: group of the parameters that set it
    what: str  #: description in words
    signal: Signal  #: motion, or force along the world's x or y
    column: str  #: column of a run that is the stimulus
    sway: str  #: column of the sway
    moves: str  #: name of the stimulus in closed-form models; empty if they have none
    place: tuple[str, Vector3] | None = None  #: body and point [m] on which a force acts


def stimulus_of(experiment: Experiment, values: Mapping[str, Value]) -> Stimulus:
    """Return the periodic disturbance of an experiment; raises InputError unless there is exactly one."""
    found = [one for each in experiment.build(values).disturbances for one in _stimuli_of(each)]
    if not found:
        motions = "sine, sum-of-sines or ternary"
        raise InputError(
            f"nothing moves periodically: set platform.motion to {motions}, and platform.axis; or force.pattern to one "
            "of these, and force.size"
        )
    if len(found) > 1:
        raise InputError(f"both {found[0].what} and {found[1].what} move periodically: leave one out")
    return found[0]


def force_of(experiment: Experiment, values: Mapping[str, Value]) -> Signal | None:
    """Return the periodic force of a trial, in N along the world's x or y; None if there is none."""
    return next(
        (one.signal for each in experiment.build(values).disturbances for one in _stimuli_of(each) if one.place), None
    )


def _stimuli_of(disturbance: Disturbance) -> list[Stimulus]:
    if isinstance(disturbance, Platform):
        return [
            Stimulus("platform", "the floor", signal, *_FLOOR[axis])
            for axis in _FLOOR
            if isinstance(signal := getattr(disturbance, axis), Signal) and signal.frequencies
        ]
    if isinstance(disturbance, Force) and disturbance.signal.frequencies:
        return [_pushing(disturbance)]
    return []


def _pushing(force: Force) -> Stimulus:
    x, y, _ = map(float, force.unit)
    along = 0 if abs(x) > abs(y) else 1
    size = (x, y)[along]
    if 1.0 - abs(size) > _ALONG:
        raise InputError(
            f"a force along ({x:.3g}, {y:.3g}) drives sway in two directions: set force.azimuth to 0, "
            "1.5707963267948966, 3.141592653589793 or their negatives"
        )
    moves = "" if along else "push"
    return Stimulus(
        "force", "the force", force.signal.scaled(size), FORCE, _SWAYS[along], moves, (force.body, force.point)
    )

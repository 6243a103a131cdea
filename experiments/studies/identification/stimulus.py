"""Periodic stimulus of the trials of an identification: a moving floor or a force."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from biped.disturbances import Disturbance, Force, Platform
from biped.errors import InputError
from biped.model.geometry import Vector3
from biped.signals import Signal
from experiments.catalogue.experiment import Experiment
from experiments.catalogue.parameters.parameter import Value

#: Name of the stimulus for a force [N] along the inertial x or y axis; a run has no column of it.
FORCE = "force"
#: By moving axis of the platform: column of the stimulus, column of the sway, and name of the stimulus in closed-form
#: models (empty: they do not have it).
_FLOOR = {
    "pitch": ("floor_tilt_y", "sway_y", "tilt"), "roll": ("floor_tilt_x", "sway_x", ""),
    "x": ("floor_x", "sway_y", "translation"), "y": ("floor_y", "sway_x", ""),
}  # fmt: skip
_SWAYS = ("sway_y", "sway_x")
#: Tolerance of a force's direction: 1 − |component of its unit vector along x or y|.
_ALONG = 1e-6


@dataclass(frozen=True)
class Stimulus:
    """A periodic disturbance, the stimulus whose response is identified."""

    group: str  #: group of the parameters that set the disturbance
    what: str  #: short description: the floor, or the force
    signal: Signal  #: motion [m or rad], or force [N] along the inertial x or y axis
    column: str  #: column of a run with the stimulus, or ``FORCE``
    sway: str  #: column of a run with the sway
    moves: str  #: name of the stimulus in closed-form models; empty if they do not have it
    place: tuple[str, Vector3] | None = None  #: body, and point [m] from its CoM, on which a force acts; else None


def stimulus_of(experiment: Experiment, values: Mapping[str, Value]) -> Stimulus:
    """Return the periodic disturbance of an experiment; raises InputError unless there is exactly one."""
    stimuli = [stimulus for item in experiment.build(values).disturbances for stimulus in _stimuli_of(item)]
    if not stimuli:
        motions = "sine, sum-of-sines or ternary"
        raise InputError(
            f"there is no periodic disturbance: set platform.motion to {motions}, and platform.axis; or set "
            f"force.pattern to {motions}, and force.size"
        )
    if len(stimuli) > 1:
        raise InputError(f"both {stimuli[0].what} and {stimuli[1].what} are periodic disturbances: leave one out")
    return stimuli[0]


def force_of(experiment: Experiment, values: Mapping[str, Value]) -> Signal | None:
    """Return the periodic force [N] of a trial along the inertial x or y axis; None if there is none."""
    stimuli = [stimulus for item in experiment.build(values).disturbances for stimulus in _stimuli_of(item)]
    return next((stimulus.signal for stimulus in stimuli if stimulus.place), None)


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
    signal, point = force.signal.scaled(size), (force.body, force.point)
    return Stimulus("force", "the force", signal, FORCE, _SWAYS[along], moves, point)

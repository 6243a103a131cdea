"""Objectives with gradients: metrics and their derivatives by the states and torques of a trial."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property, partial

import numpy as np

from biped.control.controller import SetPoint
from biped.errors import InputError
from biped.kernels.tree.kinematics import new_poses
from biped.kernels.tree.rows import differentiate_rows, place_rows
from biped.metrics.context import MeasurementContext
from biped.metrics.kernels.support import COM, CONTACT_PLACE, MARGIN, XCOM, gather_base
from biped.metrics.layout import Layout
from biped.metrics.measurement import Measurement
from biped.model import Model
from biped.runs.row_layout import columns_of
from contact.arrays import Floats, Integers
from contact.modes import NONE, STICKING

#: [m, rad, N·m] Length below which a vector has no direction.
NOTHING = 1e-14
#: Relative difference of the two greatest values below which they tie, so that a maximum has no single derivative.
TIED = 1e-9


@dataclass(frozen=True)
class Weights:
    """The derivatives of an objective by the states and torques of a trial.

    Attributes:
        q: (rows, nv) derivatives by configurations, in tangent coordinates.
        momentum: (rows, nv) derivatives by momenta.
        torque: (ticks, nv) derivatives by the torques held from a control tick on.
        position: (3,) derivatives by the position of the set point.
        kinks: number of zero lengths or tied maxima, at which the derivative is one-sided.
    """

    q: Floats
    momentum: Floats
    torque: Floats
    position: Floats
    kinks: int = 0


@dataclass(frozen=True)
class Trajectory:
    """The states of a trial at its control ticks.

    Attributes:
        model: the simulated model.
        time: (rows,) [s] times of the control ticks, and of the end.
        q: (rows, nq) configurations.
        momentum: (rows, nv) generalized momenta.
        torque: (rows, nv) joint torques, held from each tick to the next; the last row repeats the row before it.
        down: (rows, nc) 1 where a contact point is in contact, or carried load in the time step before; else 0.
        start_time: [s] beginning of the first disturbance; None without a disturbance.
        set_point: the controller's set point of the root's pose; None without one.
    """

    model: Model
    time: Floats
    q: Floats
    momentum: Floats
    torque: Floats
    down: Integers
    start_time: float | None
    set_point: SetPoint | None

    def nothing(self) -> Weights:
        """Return zero weights for this trial."""
        rows, nv = self.momentum.shape
        return Weights(np.zeros((rows, nv)), np.zeros((rows, nv)), np.zeros((rows - 1, nv)), np.zeros(3))

    @cached_property
    def run(self) -> Measurement:
        """Rows of a run with these states; rates, forces and energies are zero, since no objective depends on them."""
        model, count = self.model, len(self.q)
        layout = Layout.of(model, tuple(columns_of(model).units))
        places, rows = layout.places, np.zeros((count, len(layout.columns)))
        com, contact = np.empty((count, 3)), np.empty((count, model.nc, 3))
        place_rows(model.tree, self.q, new_poses(model.n, model.nv, model.nc), com, contact)
        root = self.q[:, :3] if model.is_floating else np.zeros((count, 3))
        if model.is_floating:
            rows[:, places.root : places.root + 7] = self.q[:, :7]
            rows[:, places.momentum : places.momentum + 3] = self.momentum[:, :3]
        rows[:, places.time], rows[:, places.com : places.com + 3] = self.time, root + com
        rows[:, places.contact] = np.where(self.down == 1, STICKING, NONE)
        for axis in range(3):
            rows[:, places.contact + CONTACT_PLACE + axis] = root[:, None, axis] + contact[:, :, axis]
        rows[:, places.torque] = self.torque[:, [model.dof(joint) for joint in model.joint_names]]
        return Measurement(layout, rows, None, MeasurementContext(start_time=self.start_time, set_point=self.set_point))

    def jacobians(self, row: int) -> tuple[Floats, Floats]:
        """Return the horizontal Jacobians (2, nv) of the centre of mass and (nc, 2, nv) of contact points in a row."""
        model, mass = self.model, self.model.tree.mass
        com, contact = np.zeros((1, 3, model.nv)), np.zeros((1, model.nc, 3, model.nv))
        poses = new_poses(model.n, model.nv, model.nc)
        differentiate_rows(model.tree, self.q[row : row + 1], mass / mass.sum(), poses, com, contact)
        return com[0, :2], contact[0, :, :2]


#: A function of a trial and the value of a metric in it; it returns the derivatives of the value.
Differentiate = Callable[[Trajectory, float], Weights]


def _vectors(trial: Trajectory, turns: bool) -> Floats:
    """Return (rows, 3) errors of the root: rotation vectors [rad] if ``turns``, else displacements [m]."""
    return trial.run.errors[:, 3:] if turns else trial.run.errors[:, :3]


def _of_errors(trial: Trajectory, along: Floats, turns: bool, kinks: int) -> Weights:
    """Return weights from derivatives ``along`` (rows, 3) by the errors of the root's position or orientation."""
    weights = trial.nothing()
    if turns:
        weights.q[:, 3:6] = along
        return replace(weights, kinks=kinks)
    weights.q[:, :3] = along
    return replace(weights, position=-along.sum(axis=0), kinks=kinks)


def _of_lengths(trial: Trajectory, vectors: Floats, turns: bool, weights: Floats, kinks: int = 0) -> Weights:
    """Return the weights of Σ weights · |vectors| for error vectors (rows, 3) of the root."""
    size = np.linalg.norm(vectors, axis=1)
    counted = weights != 0.0
    flat = counted & (size <= NOTHING)
    along = np.zeros_like(vectors)
    good = counted & ~flat
    along[good] = (weights[good] / size[good])[:, None] * vectors[good]
    return _of_errors(trial, along, turns, int(flat.sum()) + kinks)


def _tail(trial: Trajectory, _: float, turns: bool) -> Weights:
    """Differentiate the mean error over the last tenth of the rows."""
    vectors, n = _vectors(trial, turns), len(trial.time)
    weights = np.zeros(n)
    weights[n - max(1, n // 10) :] = 1.0 / max(1, n // 10)
    return _of_lengths(trial, vectors, turns, weights)


def _peak(trial: Trajectory, _: float, turns: bool) -> Weights:
    vectors = _vectors(trial, turns)
    at, tie = _greatest(np.linalg.norm(vectors, axis=1), trial.run.first)
    weights = np.zeros(len(vectors))
    weights[at] = 1.0
    return _of_lengths(trial, vectors, turns, weights, tie)


def _of_root_mean_square(value: float, values: Floats, share: Floats) -> tuple[Floats, int]:
    """Return the derivatives of √(Σ share values²) by values (rows, k), and 1 where it is zero and has none."""
    return (np.zeros_like(values), 1) if value <= NOTHING else (share[:, None] * values / value, 0)


def _rms(trial: Trajectory, value: float, turns: bool) -> Weights:
    """Differentiate √(∫ e² dt / T), by the trapezoidal rule."""
    first, share = trial.run.first, np.zeros(len(trial.time))
    step = np.diff(trial.time[first:])
    share[first:-1] += 0.5 * step
    share[first + 1 :] += 0.5 * step
    along, flat = _of_root_mean_square(value, _vectors(trial, turns), share / step.sum())
    return _of_errors(trial, along, turns, flat)


def _greatest(values: Floats, first: int) -> tuple[int, int]:
    """Return the index of the greatest value, and 1 if another one ties."""
    at = first + int(np.argmax(values[first:]))
    rest = np.delete(values[first:], at - first)
    return at, int(len(rest) > 0 and rest.max() >= values[at] * (1.0 - TIED))


def _rms_torque(trial: Trajectory, value: float, dofs: list[int]) -> Weights:
    """Differentiate √(∫ Σ τ² dt / T) of torques held from row to row."""
    span = np.diff(trial.time)
    span[: trial.run.first] = 0.0
    along, flat = _of_root_mean_square(value, trial.torque[:-1][:, dofs], span / span.sum())
    weights = trial.nothing()
    weights.torque[:, dofs] = along
    return replace(weights, kinks=flat)


def _peak_torque(trial: Trajectory, _: float, dofs: list[int]) -> Weights:
    size = np.abs(trial.torque[:-1][trial.run.first :][:, dofs])
    place, tie = _greatest(size.ravel(), 0)
    row, column = np.unravel_index(place, size.shape)
    weights = trial.nothing()
    at, dof = trial.run.first + int(row), dofs[int(column)]
    weights.torque[at, dof] = math.copysign(1.0, trial.torque[at, dof])
    return replace(weights, kinks=tie)


def _com_excursion(trial: Trajectory, value: float) -> Weights:
    first, weights = trial.run.first, trial.nothing()
    if value <= NOTHING:
        return replace(weights, kinks=1)
    places = trial.run.series[first:, COM : COM + 2]
    at, tie = _greatest(np.hypot(*(places - places[0]).T), 0)
    along = (places[at] - places[0]) / value
    for row, sign in ((first + at, 1.0), (first, -1.0)):
        weights.q[row] += sign * (along @ trial.jacobians(row)[0])
    return replace(weights, kinks=tie)


# --- the margin of stability ---


def _base(trial: Trajectory, row: int) -> tuple[list[int], Floats]:
    """Return the corners of the base of support, counter-clockwise: contact point indices, (corners, 2) positions."""
    run = trial.run
    first = run.places.contact + CONTACT_PLACE
    places = run.rows[row, np.stack([first, first + 1], axis=1)]
    corners = run.scratch.hull[: gather_base(run.rows[row], run.places, run.scratch)].copy()
    return [int(np.argmin(np.abs(places - corner).sum(axis=1))) for corner in corners], corners


def _nearest(corners: Floats, x: Floats) -> tuple[int, float]:
    """Return the edge of a polygon nearest to a point, and the position of the nearest point on it, 0 to 1."""
    side, to = np.roll(corners, -1, axis=0) - corners, x - corners
    square = (side**2).sum(axis=1)
    along = np.clip((to * side).sum(axis=1) / np.where(square > 0.0, square, 1.0), 0.0, 1.0)
    edge = int(np.argmin(np.hypot(*(to - along[:, None] * side).T)))
    return edge, float(along[edge])


def _margin(trial: Trajectory, margin: float, row: int) -> Weights:
    """Differentiate the margin of a row; the nearest boundary point moves with its contact points."""
    weights, model = trial.nothing(), trial.model
    if abs(margin) <= NOTHING:
        return replace(weights, kinks=1)
    points, corners = _base(trial, row)
    extrapolated = trial.run.series[row, XCOM : XCOM + 2]
    edge, along = _nearest(corners, extrapolated)
    after = (edge + 1) % len(corners)
    nearest = corners[edge] + along * (corners[after] - corners[edge])
    n = (extrapolated - nearest) / margin
    com, contact = trial.jacobians(row)
    weights.q[row] = n @ com
    for c, share in ((points[edge], 1.0 - along), (points[after], along)):
        weights.q[row] -= share * (n @ contact[c])
    ahead = math.sqrt(trial.run.body.length / -float(model.gravity[2]))
    weights.momentum[row, :2] = ahead * n / model.total_mass
    return weights


def _margin_end(trial: Trajectory, value: float) -> Weights:
    return _margin(trial, value, len(trial.time) - 1)


def _margin_min(trial: Trajectory, value: float) -> Weights:
    first = trial.run.first
    return _margin(trial, value, first + int(np.nanargmin(trial.run.series[first:, MARGIN])))


_OF_TRIALS: dict[str, Differentiate] = {
    "position_error": partial(_tail, turns=False),
    "orientation_error": partial(_tail, turns=True),
    "peak_position_error": partial(_peak, turns=False),
    "peak_orientation_error": partial(_peak, turns=True),
    "rms_position_error": partial(_rms, turns=False),
    "rms_orientation_error": partial(_rms, turns=True),
    "com_excursion": _com_excursion,
    "margin_of_stability_min": _margin_min,
    "margin_of_stability_end": _margin_end,
}
_OF_TORQUES = {"rms_torque": _rms_torque, "peak_torque": _peak_torque}

#: Names of the metrics with gradients; the torque metrics also exist for one joint, as NAME_JOINT.
DIFFERENTIABLE = (*_OF_TRIALS, *_OF_TORQUES)


def is_differentiable(name: str, joints: tuple[str, ...]) -> bool:
    """Return True if the metric ``name`` has a gradient, for a model with joints named ``joints``."""
    return name in DIFFERENTIABLE or any(name == f"{stem}_{joint}" for stem in _OF_TORQUES for joint in joints)


def value_of(name: str, trial: Trajectory) -> float:
    """Return the value of an objective in a trial.

    Raises:
        InputError: there is no metric of this name with a gradient, or the metric is not defined in this trial.
    """
    if not is_differentiable(name, trial.model.joint_names):
        raise InputError(
            f"objective {name!r} has no gradient; objectives with a gradient are {', '.join(DIFFERENTIABLE)}; the last "
            "two also exist for one joint, such as rms_torque_left_knee_pitch"
        )
    value = trial.run.value(name)
    if not isinstance(value, float):
        raise InputError(
            f"{name} is not defined in this trial: position and orientation errors need a set point; "
            "margins and excursions need contact points that touch the floor"
        )
    return value


def weights_of(name: str, trial: Trajectory, value: float) -> Weights:
    """Return the derivatives of an objective by the states and torques of a trial in which it has a value."""
    if name in _OF_TRIALS:
        return _OF_TRIALS[name](trial, value)
    stem = next(stem for stem in _OF_TORQUES if name.startswith(stem))
    joints = trial.model.joint_names if name == stem else (name.removeprefix(f"{stem}_"),)
    return _OF_TORQUES[stem](trial, value, [trial.model.dof(joint) for joint in joints])

"""Objectives of a trial that have gradients: the same numbers as the metrics of these names."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from biped.derivatives.gradients.kernels.places import base_of, fill_margins
from biped.errors import InputError
from biped.kernels.tree.kinematics import new_poses
from biped.kernels.tree.rows import differentiate_rows, place_rows
from biped.metrics.layout import feet_of_points, standing_height
from biped.model import Model
from contact.arrays import Floats, Integers
from contact.vectors import quat_conj, quat_mul, rotation_vector

#: [m, rad, N·m] below which a length has no direction.
NOTHING = 1e-14
#: Of the greatest by which another must miss it for a maximum to have one derivative.
TIED = 1e-9


@dataclass(frozen=True)
class Weights:
    """The derivatives of a number by the states and torques of a trial.

    Attributes:
        q: (rows, nv) in tangent coordinates.
        momentum: (rows, nv).
        torque: (ticks, nv) of what is held from a tick on.
        position: (3,) of the set point.
        kinks: how many lengths of zero, or ties of a maximum, it has been taken at.
    """

    q: Floats
    momentum: Floats
    torque: Floats
    position: Floats
    kinks: int = 0


@dataclass(frozen=True)
class Trajectory:
    """A trial at its control ticks: what objectives are of.

    Attributes:
        model: what moved.
        time: (rows,) [s].
        q: (rows, nq).
        momentum: (rows, nv).
        torque: (rows, nv) held from each row on; in the last row that of the last tick.
        down: (rows, nc) 1 where a contact point is in contact, or carried load in the step before.
        first: the first row that counts: where the disturbance begins.
        set_point: position (3) and quaternion (4) that the root is to have, or None.
    """

    model: Model
    time: Floats
    q: Floats
    momentum: Floats
    torque: Floats
    down: Integers
    first: int
    set_point: tuple[Floats, Floats] | None

    def nothing(self) -> Weights:
        """No weights yet."""
        rows, nv = self.momentum.shape
        return Weights(np.zeros((rows, nv)), np.zeros((rows, nv)), np.zeros((rows - 1, nv)), np.zeros(3))

    @cached_property
    def places(self) -> tuple[Floats, Floats]:
        """(rows, 3) [m] the centre of mass, and (rows, nc, 3) the contact points."""
        model, rows = self.model, len(self.q)
        com, contact = np.empty((rows, 3)), np.empty((rows, model.nc, 3))
        place_rows(model.tree, self.q, new_poses(model.n, model.nv, model.nc), com, contact)
        root = self.q[:, :3] if model.is_floating else np.zeros((rows, 3))
        return root + com, root[:, None] + contact

    def jacobians(self, row: int) -> tuple[Floats, Floats]:
        """(2, nv) of the centre of mass in a row, and (nc, 2, nv) of the contact points, as seen from above."""
        model, mass = self.model, self.model.tree.mass
        com, contact = np.zeros((1, 3, model.nv)), np.zeros((1, model.nc, 3, model.nv))
        poses = new_poses(model.n, model.nv, model.nc)
        differentiate_rows(model.tree, self.q[row : row + 1], mass / mass.sum(), poses, com, contact)
        return com[0, :2], contact[0, :, :2]

    @cached_property
    def foot(self) -> Integers:
        """(nc,) the number of each contact point's foot, or -1."""
        return np.array(feet_of_points(self.model), np.int64)

    @property
    def ahead(self) -> float:
        """[s] 1/ω₀ of the pendulum that stands for the body (Hof et al. 2005)."""
        return math.sqrt(standing_height(self.model) / -float(self.model.gravity[2]))

    @cached_property
    def extrapolated(self) -> Floats:
        """(rows, 2) [m] the extrapolated centre of mass."""
        return self.places[0][:, :2] + self.ahead * self.momentum[:, :2] / float(self.model.tree.mass.sum())

    @cached_property
    def margins(self) -> Floats:
        """(rows,) [m] of stability; NaN in the air."""
        if not self.model.is_floating or not self.model.nc:
            raise InputError(
                "a margin of stability is one of a model that stands: with a floating root and contact points"
            )
        found, nc = np.empty(len(self.q)), self.model.nc
        room = np.empty((nc, 2)), np.empty((2 * nc + 2, 2))
        fill_margins(self.places[1], self.foot, self.down, self.extrapolated, *room, found)
        return found


Value = tuple[float, Weights]
Compute = Callable[[Trajectory], Value]


def _errors(trial: Trajectory) -> Floats:
    """(rows, 3) [m] of the root from its set point."""
    assert trial.set_point is not None
    return trial.q[:, :3] - trial.set_point[0]


def _turns(trial: Trajectory) -> Floats:
    """(rows, 3) [rad] rotation vectors from the set point's orientation."""
    assert trial.set_point is not None
    w, x, y, z = (float(c) for c in trial.set_point[1])
    back = quat_conj((w, x, y, z))
    return np.array([rotation_vector(quat_mul(tuple(q[3:7]), back)) for q in trial.q])


def _vectors(trial: Trajectory, turns: bool) -> Floats:
    return _turns(trial) if turns else _errors(trial)


def _of_errors(trial: Trajectory, along: Floats, turns: bool, kinks: int) -> Weights:
    """The weights of a number whose derivatives by errors of the root's place or orientation are (rows, 3)."""
    found = trial.nothing()
    if turns:
        found.q[:, 3:6] = along
        return replace(found, kinks=kinks)
    found.q[:, :3] = along
    return replace(found, position=-along.sum(axis=0), kinks=kinks)


def _of_lengths(trial: Trajectory, vectors: Floats, turns: bool, weights: Floats, kinks: int = 0) -> Weights:
    """The weights of Σ weights · |vectors|, of such errors."""
    size = np.linalg.norm(vectors, axis=1)
    counted = weights != 0.0
    flat = counted & (size <= NOTHING)
    along = np.zeros_like(vectors)
    good = counted & ~flat
    along[good] = (weights[good] / size[good])[:, None] * vectors[good]
    return _of_errors(trial, along, turns, int(flat.sum()) + kinks)


def _tail(trial: Trajectory, turns: bool) -> Value:
    """Mean over the last tenth of the rows."""
    vectors = _vectors(trial, turns)
    n = len(vectors)
    weights = np.zeros(n)
    weights[n - max(1, n // 10) :] = 1.0 / max(1, n // 10)
    return float(weights @ np.linalg.norm(vectors, axis=1)), _of_lengths(trial, vectors, turns, weights)


def _peak(trial: Trajectory, turns: bool) -> Value:
    vectors = _vectors(trial, turns)
    size = np.linalg.norm(vectors, axis=1)
    at, tie = _greatest(size, trial.first)
    weights = np.zeros(len(vectors))
    weights[at] = 1.0
    return float(size[at]), _of_lengths(trial, vectors, turns, weights, tie)


def _root_mean_square(values: Floats, share: Floats) -> tuple[float, Floats, int]:
    """√(Σ share values²) of (rows, k), its derivatives by these, and 1 where it is zero and has none."""
    root = math.sqrt(float(share @ (values**2).sum(axis=1)))
    if root <= NOTHING:
        return root, np.zeros_like(values), 1
    return root, share[:, None] * values / root, 0


def _rms(trial: Trajectory, turns: bool) -> Value:
    """√(∫ e² dt / T), by the trapezoidal rule."""
    value, along, flat = _root_mean_square(_vectors(trial, turns), _shares(trial))
    return value, _of_errors(trial, along, turns, flat)


def _shares(trial: Trajectory) -> Floats:
    """(rows,) of an integral over time from the first row that counts, divided by that time."""
    share, step = np.zeros(len(trial.time)), np.diff(trial.time[trial.first :])
    share[trial.first : -1] += 0.5 * step
    share[trial.first + 1 :] += 0.5 * step
    return share / float(step.sum())


def _greatest(values: Floats, first: int) -> tuple[int, int]:
    """Where the greatest is, and 1 where another one, not beside it, is as great."""
    at = first + int(np.argmax(values[first:]))
    rest = np.delete(values[first:], at - first)
    return at, int(len(rest) > 0 and rest.max() >= values[at] * (1.0 - TIED))


def _rms_torque(trial: Trajectory, dofs: list[int]) -> Value:
    """√(∫ Σ τ² dt / T), torques held from row to row."""
    span = np.diff(trial.time)
    span[: trial.first] = 0.0
    share = span / float(span.sum())
    value, along, flat = _root_mean_square(trial.torque[:-1][:, dofs], share)
    found = trial.nothing()
    found.torque[:, dofs] = along
    return value, replace(found, kinks=flat)


def _peak_torque(trial: Trajectory, dofs: list[int]) -> Value:
    size = np.abs(trial.torque[:-1][trial.first :][:, dofs])
    row, column = np.unravel_index(int(np.argmax(size)), size.shape)
    value, rest = float(size[row, column]), np.delete(size.ravel(), int(np.argmax(size)))
    found = trial.nothing()
    at, dof = trial.first + int(row), dofs[int(column)]
    found.torque[at, dof] = math.copysign(1.0, trial.torque[at, dof])
    tie = int(len(rest) > 0 and rest.max() >= value * (1.0 - TIED))
    return value, replace(found, kinks=tie)


# --- the centre of mass ---


def _com_excursion(trial: Trajectory) -> Value:
    if not trial.model.nc:
        raise InputError("com_excursion: it is not measured of a model without contact points")
    places = trial.places[0][trial.first :, :2]
    size = np.hypot(*(places - places[0]).T)
    at, tie = _greatest(size, 0)
    found = trial.nothing()
    if size[at] <= NOTHING:
        return float(size[at]), replace(found, kinks=1)
    along = (places[at] - places[0]) / size[at]
    for row, sign in ((trial.first + at, 1.0), (trial.first, -1.0)):
        found.q[row] += sign * (along @ trial.jacobians(row)[0])
    return float(size[at]), replace(found, kinks=tie)


# --- the margin of stability ---


def _base(trial: Trajectory, row: int) -> tuple[list[int], Floats]:
    """The corners of the base of support as contact points, counter-clockwise, and (corners, 2) their places."""
    nc, places = trial.model.nc, trial.places[1][row]
    hull = np.empty((2 * nc + 2, 2))
    corners = hull[: base_of(places, trial.foot, trial.down[row], np.empty((nc, 2)), hull)]
    return [int(np.argmin(np.abs(places[:, :2] - corner).sum(axis=1))) for corner in corners], corners


def _nearest(corners: Floats, x: Floats) -> tuple[int, float]:
    """The edge of a polygon that is nearest to a point, and how far along it, 0 to 1, the nearest place is."""
    side, to = np.roll(corners, -1, axis=0) - corners, x - corners
    square = (side**2).sum(axis=1)
    along = np.clip((to * side).sum(axis=1) / np.where(square > 0.0, square, 1.0), 0.0, 1.0)
    edge = int(np.argmin(np.hypot(*(to - along[:, None] * side).T)))
    return edge, float(along[edge])


def _margin(trial: Trajectory, row: int) -> Value:
    """In a row: the nearest place of the boundary moves with the contact points that bear it."""
    margin, found = float(trial.margins[row]), trial.nothing()
    if abs(margin) <= NOTHING:
        return margin, replace(found, kinks=1)
    points, corners = _base(trial, row)
    edge, along = _nearest(corners, trial.extrapolated[row])
    after = (edge + 1) % len(corners)
    nearest = corners[edge] + along * (corners[after] - corners[edge])
    n = (trial.extrapolated[row] - nearest) / margin
    com, contact = trial.jacobians(row)
    found.q[row] = n @ com
    for c, share in ((points[edge], 1.0 - along), (points[after], along)):
        found.q[row] -= share * (n @ contact[c])
    found.momentum[row, :2] = trial.ahead * n / float(trial.model.tree.mass.sum())
    return margin, found


def _margin_end(trial: Trajectory) -> Value:
    row = len(trial.time) - 1
    if math.isnan(trial.margins[row]):
        raise InputError("margin_of_stability_end: nothing touches the floor at the end")
    return _margin(trial, row)


def _margin_min(trial: Trajectory) -> Value:
    margins = trial.margins[trial.first :]
    if np.isnan(margins).all():
        raise InputError("margin_of_stability_min: nothing touches the floor")
    return _margin(trial, trial.first + int(np.nanargmin(margins)))


_OF_TRIALS: dict[str, Compute] = {
    "position_error": lambda trial: _tail(trial, False),
    "orientation_error": lambda trial: _tail(trial, True),
    "peak_position_error": lambda trial: _peak(trial, False),
    "peak_orientation_error": lambda trial: _peak(trial, True),
    "rms_position_error": lambda trial: _rms(trial, False),
    "rms_orientation_error": lambda trial: _rms(trial, True),
    "com_excursion": _com_excursion,
    "margin_of_stability_min": _margin_min,
    "margin_of_stability_end": _margin_end,
}
_OF_ERRORS = tuple(name for name in _OF_TRIALS if name.endswith("_error"))
_OF_TORQUES = {"rms_torque": _rms_torque, "peak_torque": _peak_torque}

#: Names of the metrics that have gradients; those of torques also with ``_JOINT``.
DIFFERENTIABLE = (*_OF_TRIALS, *_OF_TORQUES)


def is_differentiable(name: str, joints: tuple[str, ...]) -> bool:
    """Whether a metric of a model with these joints has a gradient."""
    return name in DIFFERENTIABLE or any(name == f"{stem}_{joint}" for stem in _OF_TORQUES for joint in joints)


def evaluate(name: str, trial: Trajectory) -> Value:
    """An objective, and its derivatives by the states and torques of a trial.

    Raises:
        InputError: it has no gradient; the message says which have. Or it is not defined in this trial.
    """
    joints = trial.model.joint_names
    if name in _OF_TRIALS:
        if name in _OF_ERRORS and trial.set_point is None:
            raise InputError(f"{name}: the controller has no set point that stands still in the world")
        return _OF_TRIALS[name](trial)
    for stem, compute in _OF_TORQUES.items():
        if name == stem:
            return compute(trial, [trial.model.dof(joint) for joint in joints])
        if name.startswith(f"{stem}_") and name.removeprefix(f"{stem}_") in joints:
            return compute(trial, [trial.model.dof(name.removeprefix(f"{stem}_"))])
    raise InputError(
        f"objective {name!r} has no gradient; those with one are {', '.join(DIFFERENTIABLE)}, and the last two of one "
        "joint, as rms_torque_left_knee_pitch"
    )

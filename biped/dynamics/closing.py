"""Loops of a model: how far its closing joints are open, and where they are closed.

The joints that close loops hold functions g of a configuration at zero, whose gradient along the tree's freedoms is C.
"""

from collections.abc import Collection

import numpy as np
from numpy.typing import ArrayLike

from biped.dynamics import checked, mass_matrix
from biped.dynamics.numerics import ON_CONSTRAINTS, check_on_constraints, project
from biped.errors import InputError
from biped.kernels.tree.closing import Closing, new_closing
from biped.kernels.tree.kinematics import new_poses, place_bodies
from biped.kernels.tree.loops import set_loop_gradient, set_loop_rows
from biped.kernels.variational.equations import displace
from biped.model import Model
from biped.model.compilation import compile_closing
from contact.arrays import Floats, Integers

#: [m or rad] A loop is closed up to this much.
CLOSED = 1e-9
#: [m/s or rad/s] So are velocities.
CLOSED_RATE = 1e-6
#: Displacements that an assembly takes at most, and the greatest of one [rad or m].
MOST_STEPS = 100
LONGEST_STEP = 0.3
#: Rows whose responses are less than this part of the greatest follow from others.
RANK = 1e-11


def closing_of(model: Model) -> Closing:
    """The model's closing joints as the kernels have them, with room for its tree."""
    return new_closing(compile_closing(model.closing_joints, model.bodies), model.n, model.nv, model.nc)


def loop_gaps(model: Model, q: ArrayLike) -> dict[str, float]:
    """How far each closing joint is open at a configuration (nq,): the greatest of its rows [m or rad].

    Raises:
        InputError: q has the wrong length, or numbers that are not finite.
    """
    return _by_joint(model, _loops_at(model, checked(q, model.nq, "q")).gap)


def assembled(model: Model, q: ArrayLike, held: Collection[str] = ()) -> Floats:
    """(nq,) a configuration near ``q`` in which all loops are closed.

    Newton's displacements, each the least in the metric of the mass matrix.

    Args:
        model: with closing joints.
        q: (nq,) where to begin.
        held: joints of the tree, of any kind, that are to stay where they are.

    Raises:
        InputError: q is no configuration, or no displacement closes the loops; the message has the gap that is left.
        ModelError: a joint that is to be held is unknown.
    """
    free = _free(model, held)

    def linearize(place: Floats) -> tuple[Floats, Floats]:
        loops = _loops_at(model, place)
        return loops.gap, loops.gradient

    def least(place: Floats, gradient: Floats, change: Floats) -> Floats:
        delta = np.zeros(model.nv)
        delta[free] = _least(model, place, free, gradient, change)
        return delta

    found, _ = project(
        checked(q, model.nq, "q").copy(), linearize, least, lambda place, delta: _displaced(model, place, delta),
        lambda _, gap: not np.any(np.abs(gap) > 1e-3 * CLOSED), longest=LONGEST_STEP, rounds=MOST_STEPS,
    )  # fmt: skip
    if max(loop_gaps(model, found).values()) > CLOSED:
        raise InputError(f"the loops of {model.name!r} cannot be closed from here: {_told(loop_gaps(model, found))}")
    return found


def closed_velocity(model: Model, q: ArrayLike, v: ArrayLike, held: Collection[str] = ()) -> Floats:
    """(nv,) the velocity that keeps loops closed and is the nearest to ``v`` in kinetic energy.

    It is what impulses of the closing joints make of ``v``. Arguments and errors as for ``assembled``.
    """
    configuration, velocity = checked(q, model.nq, "q"), checked(v, model.nv, "v").copy()
    free, gradient = _free(model, held), _loops_at(model, configuration).gradient
    for _ in range(2):  # what rounding leaves of the first, the second takes
        velocity[free] += _least(model, configuration, free, gradient, -gradient @ velocity)
    return velocity


def check_closed(model: Model, q: Floats, momentum: Floats) -> None:
    """Whether a motion may begin here.

    Args:
        model: with closing joints.
        q: (nq,) configuration.
        momentum: (nv,) generalized.

    Raises:
        InputError: a loop is open, or opens; the message has the gap.
    """
    loops = _loops_at(model, q)
    v = np.asarray(np.linalg.solve(mass_matrix(model, q), momentum), dtype=np.float64) if momentum.any() else None
    names = [f"closing joint {one.name!r}" for one in model.closing_joints for _ in one.rows]
    which = f"loops of {model.name!r} ".replace("{", "{{").replace("}", "}}")  # a name is no field of the messages
    check_on_constraints(
        loops.gap, loops.gradient, v, names, independent=False, still=CLOSED_RATE / ON_CONSTRAINTS,
        off=which + "are open at the start: {name} by {size:.3g} m or rad; begin at biped.assembled(model, q)",
        leaving=which + "open at the start: {name} by {size:.3g} m/s or rad/s; begin with "
        "biped.closed_velocity(model, q, v)",
    )  # fmt: skip


def _told(gaps: dict[str, float]) -> str:
    """The joint with the widest gap."""
    joint = max(gaps, key=lambda name: gaps[name])
    return f"closing joint {joint!r} by {gaps[joint]:.3g} m or rad"


def _loops_at(model: Model, q: Floats) -> Closing:
    """The rows and C at a configuration; ``ahead.poses`` are its poses."""
    loops = closing_of(model)
    place_bodies(model.tree, q, loops.ahead.poses)
    set_loop_rows(loops.ahead.poses, loops)
    set_loop_gradient(model.tree, loops.ahead.poses, loops)
    return loops


def _by_joint(model: Model, values: Floats) -> dict[str, float]:
    """The greatest of each closing joint's rows."""
    sizes = iter(np.abs(values).tolist())
    return {one.name: max((next(sizes) for _ in one.rows), default=0.0) for one in model.closing_joints}


def _free(model: Model, held: Collection[str]) -> Integers:
    free = np.ones(model.nv, dtype=bool)
    for joint in held:
        free[model.dofs(joint)] = False
    return np.flatnonzero(free)


def _least(model: Model, q: Floats, free: Integers, gradient: Floats, change: Floats) -> Floats:
    """The least displacement of the free coordinates that changes the rows so, in the metric of the mass matrix."""
    C = gradient[:, free]
    response = np.linalg.solve(mass_matrix(model, q)[np.ix_(free, free)], C.T)
    found: Floats = response @ (np.linalg.pinv(C @ response, rcond=RANK, hermitian=True) @ change)
    return found


def _displaced(model: Model, q: Floats, delta: Floats) -> Floats:
    """Q ⊕ δ, with δ in the unit twists there."""
    found, shift, poses = q.copy(), np.zeros(3), new_poses(model.n, model.nv, model.nc)
    place_bodies(model.tree, q, poses)
    displace(model.tree, poses, q, np.zeros(3), 1.0, delta, found, shift)
    if model.is_floating:
        found[:3] += shift
    return found

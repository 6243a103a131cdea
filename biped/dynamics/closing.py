"""Loops of a model: the gaps of its closing joints, and configurations and velocities that keep the loops closed.

Joints that close loops keep functions g of a configuration at zero; C is their gradient by the tree's freedoms.
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

#: [m or rad] Greatest gap of a closed loop.
CLOSED = 1e-9
#: [m/s or rad/s] Greatest rate of a gap that counts as zero.
CLOSED_RATE = 1e-6
#: Greatest number of displacements of an assembly, and the greatest length of one [rad or m].
MOST_STEPS = 100
LONGEST_STEP = 0.3
#: Relative size of a row's response below which the row depends on others.
RANK = 1e-11


def closing_of(model: Model) -> Closing:
    """Return the model's closing joints as the kernels need them, with buffers for its tree."""
    return new_closing(compile_closing(model.closing_joints, model.bodies), model.n, model.nv, model.nc)


def loop_gaps(model: Model, q: ArrayLike) -> dict[str, float]:
    """Return the gap of each joint that closes a loop, by name: its largest violation [m or rad] at ``q`` (nq,).

    Raises:
        InputError: q has a wrong length or is not finite.
    """
    return _by_joint(model, _loops_at(model, checked(q, model.nq, "q")).gap)


def assembled(model: Model, q: ArrayLike, held: Collection[str] = ()) -> Floats:
    """Return a configuration (nq,) near ``q`` in which all loops are closed.

    Each correction of Newton's method is the smallest one in the metric of the mass matrix.

    Args:
        model: a model with joints that close loops.
        q: (nq,) start of the search.
        held: names of joints, other than those that close loops, whose coordinates keep their values; default: none.

    Raises:
        InputError: ``q`` is invalid, or the loops cannot be closed; the message gives the remaining gap.
        ModelError: a name in ``held`` is unknown.
    """
    free = _free(model, held)

    def linearize(place: Floats) -> tuple[Floats, Floats]:
        loops = _loops_at(model, place)
        return loops.gap, loops.gradient

    def least(place: Floats, gradient: Floats, change: Floats) -> Floats:
        delta = np.zeros(model.nv)
        delta[free] = _least(model, place, free, gradient, change)
        return delta

    result, _ = project(
        checked(q, model.nq, "q").copy(), linearize, least, lambda place, delta: _displaced(model, place, delta),
        lambda _, gap: not np.any(np.abs(gap) > 1e-3 * CLOSED), longest=LONGEST_STEP, rounds=MOST_STEPS,
    )  # fmt: skip
    if max(loop_gaps(model, result).values()) > CLOSED:
        raise InputError(
            f"the loops of {model.name!r} cannot be closed from this start: {_widest(loop_gaps(model, result))}; "
            "start from a configuration in which they are nearly closed, or hold fewer joints"
        )
    return result


def closed_velocity(model: Model, q: ArrayLike, v: ArrayLike, held: Collection[str] = ()) -> Floats:
    """Return the velocity (nv,) that keeps all loops closed, after impulses of the closing joints on ``v`` (nv,).

    The kinetic energy of the change is least. See ``assembled`` for the other arguments and the errors.
    """
    configuration, velocity = checked(q, model.nq, "q"), checked(v, model.nv, "v").copy()
    free, gradient = _free(model, held), _loops_at(model, configuration).gradient
    for _ in range(2):  # the second removes the rounding of the first
        velocity[free] += _least(model, configuration, free, gradient, -gradient @ velocity)
    return velocity


def check_closed(model: Model, q: Floats, momentum: Floats) -> None:
    """Check that loops are closed and stay closed at the start of a motion.

    Args:
        model: a model with closing joints.
        q: (nq,) configuration.
        momentum: (nv,) generalized momentum.

    Raises:
        InputError: a loop is open, or the velocities open it; the message has the gap or its rate.
    """
    loops = _loops_at(model, q)
    v = np.asarray(np.linalg.solve(mass_matrix(model, q), momentum), dtype=np.float64) if momentum.any() else None
    names = [f"closing joint {joint.name!r}" for joint in model.closing_joints for _ in joint.rows]
    which = f"loops of {model.name!r} ".replace("{", "{{").replace("}", "}}")  # a name is no field of the messages
    check_on_constraints(
        loops.gap, loops.gradient, v, names, independent=False, still=CLOSED_RATE / ON_CONSTRAINTS,
        off=which + "are open at the start: {name} by {size:.3g} m or rad; start at biped.assembled(model, q)",
        leaving=which + "open at the start: {name} at {size:.3g} m/s or rad/s; start with the velocity "
        "biped.closed_velocity(model, q, v)",
    )  # fmt: skip


def _widest(gaps: dict[str, float]) -> str:
    """Return a clause about the joint with the widest gap."""
    joint = max(gaps, key=lambda name: gaps[name])
    return f"closing joint {joint!r} stays open by {gaps[joint]:.3g} m or rad"


def _loops_at(model: Model, q: Floats) -> Closing:
    """Return the gaps and C at a configuration; ``ahead.poses`` has its poses."""
    loops = closing_of(model)
    place_bodies(model.tree, q, loops.ahead.poses)
    set_loop_rows(loops.ahead.poses, loops)
    set_loop_gradient(model.tree, loops.ahead.poses, loops)
    return loops


def _by_joint(model: Model, values: Floats) -> dict[str, float]:
    """Return the greatest absolute value of each closing joint's rows, by the joint's name."""
    sizes = iter(np.abs(values).tolist())
    return {joint.name: max((next(sizes) for _ in joint.rows), default=0.0) for joint in model.closing_joints}


def _free(model: Model, held: Collection[str]) -> Integers:
    free = np.ones(model.nv, dtype=bool)
    for joint in held:
        free[model.dofs(joint)] = False
    return np.flatnonzero(free)


def _least(model: Model, q: Floats, free: Integers, gradient: Floats, change: Floats) -> Floats:
    """Return the least displacement of the free coordinates, in the mass metric, with the given change of the rows."""
    C = gradient[:, free]
    response = np.linalg.solve(mass_matrix(model, q)[np.ix_(free, free)], C.T)
    displacement: Floats = response @ (np.linalg.pinv(C @ response, rcond=RANK, hermitian=True) @ change)
    return displacement


def _displaced(model: Model, q: Floats, delta: Floats) -> Floats:
    """Return q ⊕ δ, with δ along the unit twists at q."""
    new_q, shift, poses = q.copy(), np.zeros(3), new_poses(model.n, model.nv, model.nc)
    place_bodies(model.tree, q, poses)
    displace(model.tree, poses, q, np.zeros(3), 1.0, delta, new_q, shift)
    if model.is_floating:
        new_q[:3] += shift
    return new_q

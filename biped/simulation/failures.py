"""Causes of a run's end: a limit of a fall that was exceeded, or a failed time step with a remedy."""

import math
from typing import Any

import numpy as np

from biped.integrators.causes import why
from biped.kernels.loop.closed_loop import World
from biped.kernels.solve.causes import COLLISION_FAILED, NOT_CONVERGED, NOT_FINITE, TURNED_TOO_FAR
from biped.kernels.state import status
from biped.model import Model
from biped.runs.summary import TIME_DIGITS
from biped.runs.verdict import Limit
from contact.ground import END, to_floor

#: Remedies by cause of failure.
REMEDIES = {
    NOT_FINITE: "a smaller step, or smaller gains, may help",
    TURNED_TOO_FAR: "smaller gains or torques, or a smaller step, may help",
    COLLISION_FAILED: "a slower box or a smaller step may help",
}
#: Number of degrees of freedom of a floating root; they precede those of the joints.
FREE_DOFS = 6


def limit_of(reason: int, model: Model, world: World, time: float) -> Limit:
    """Return the limit of a fall that was exceeded (a reason in ``biped.kernels.state.status.LIMITS``), with values."""
    now = round(time, TIME_DIGITS)
    root = model.bodies[0].name
    if reason == status.TOO_LOW:
        return Limit("height", root, _height(world), float(world.fall.height), now)
    if reason == status.TOO_TILTED:
        tilt, most = np.arccos((world.scratch.motion.poses.rotation[0, 8], world.fall.upright))
        return Limit("tilt", root, float(tilt), float(most), now)
    dof, rate = _fastest(world)
    joint = next(body.joint.name for body in model.bodies if dof < model.dofs(body.joint.name).stop)
    return Limit("joint_rate", joint, rate, float(world.fall.rate), now)


def _height(world: World) -> float:
    """Return the height [m] of the root's centre of mass above the floor in its present position."""
    x, y, z = world.state.q[:3]
    return float(to_floor(world.ground, END, (x, y, z))[2])


def _fastest(world: World) -> tuple[int, float]:
    """Return the fastest degree of freedom of the joints and its rate, now or in the step that was tried."""
    rates = np.abs([world.state.cache.rate, world.scratch.motion.rates])
    rates[:, :FREE_DOFS] = 0.0
    rates[~np.isfinite(rates)] = 0.0
    _, dof = np.unravel_index(np.argmax(rates), rates.shape)
    return int(dof), float(rates.max())


def describe_failure(reason: int, model: Model, arrays: Any, scratch: Any, time: float, step: float) -> str:
    """Return a sentence about a failed time step, with a remedy.

    Args:
        reason: the cause, see ``biped.kernels.solve.causes``.
        model: the simulated model.
        arrays: the state before the failed step.
        scratch: the buffers of the step that was tried.
        time: [s] time of the failed step.
        step: [s] length of the time step.
    """
    modes = ", ".join(f"{name}={mode}" for name, mode in zip(model.contact_names, arrays.mode, strict=True))
    contacts = f"contact modes {modes or 'none'}"
    what = why(reason) + _detail(reason, model, scratch)
    remedy = REMEDIES.get(reason, "a smaller step may help")
    return f"no solution of the time step at {time:.6g} s: {what}; {contacts}; {remedy} (now {step:g} s)"


def _detail(reason: int, model: Model, scratch: Any) -> str:
    """Return details of the time step that was tried, to append to the cause."""
    residual = float(np.linalg.norm(scratch.residual))
    if reason == NOT_CONVERGED and math.isfinite(residual):
        return f", residual {residual:.3g} N·s"
    if reason == TURNED_TOO_FAR:  # the scalar part of its turn's quaternion is the least
        return f": {model.bodies[int(np.argmin(scratch.turn[:, 0]))].name!r} is flung"
    return ""

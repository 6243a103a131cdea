"""Each cause of a failed step as a sentence: what happened, where, and what may help."""

import math
from typing import Any

import numpy as np

from biped.kernels.state import status
from biped.model import Model


def describe_failure(reason: int, model: Model, arrays: Any, scratch: Any, time: float, step: float) -> str:
    """One sentence for a cause of failure (``biped.kernels.state.status``).

    Args:
        reason: the cause.
        model: what moved.
        arrays: its state, where it got stuck.
        scratch: what is left of the step that was tried.
        time: [s].
        step: [s] of the integrator.
    """
    what, remedy = {
        status.NOT_CONVERGED: (_residual_of(scratch), "a smaller step may help"),
        status.NOT_FINITE: ("its numbers are no longer finite", "a smaller step, or smaller gains, may help"),
        status.TURNED_TOO_FAR: (
            f"{_turned_most(model, scratch)} would turn by more than 90° within a step, so that it is flung",
            "smaller gains or torques, or a smaller step, may help",
        ),
        status.COLLISION_FAILED: (
            "the thrown box's flight or collision has no solution",
            "a slower box or a smaller step may help",
        ),
    }[reason]
    modes = ", ".join(f"{name}={mode}" for name, mode in zip(model.contact_names, arrays.mode, strict=True))
    contacts = f"contact modes {modes or 'none'}"
    return f"no solution of the step at {time:.6g} s: {what}; {contacts}; {remedy} (now {step:g} s)"


def _residual_of(scratch: Any) -> str:
    residual = float(np.linalg.norm(scratch.residual))
    size = f"residual {residual:.3g} N·s, " if math.isfinite(residual) else ""
    return f"{size}the iterations did not converge"


def _turned_most(model: Model, scratch: Any) -> str:
    """The body that turned farthest: its turn's quaternion has the least scalar part."""
    return f"body {model.bodies[int(np.argmin(scratch.turn[:, 0]))].name!r}"

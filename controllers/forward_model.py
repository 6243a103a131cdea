"""Predictor for controllers that command accelerations, by a forward model over the sensory delay."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from biped.derivatives.linearization.coordinates import displaced
from biped.dynamics.whole_body import WholeBody
from biped.errors import InputError
from biped.inputs.checks import above_zero
from biped.model import Model
from contact.arrays import Floats
from controllers.ahead import Ahead
from controllers.kernels.forward_model import BLOCK, ForwardModelLaw, Muscles, Propagation
from controllers.lqr_design import kept
from controllers.whole_body import WholeBodyController

#: [rad] Rotation of the root or a joint above which M and the feet's Jacobians are evaluated again.
_ALIKE = 0.03
#: [rad, m] Step of central differences, whose error is about its square.
_REACH = 1e-5


@dataclass(frozen=True)
class ForwardModel(Ahead):
    """Predictor that integrates commanded accelerations to the present state x̂, corrected by delayed sensors.

    The commanded accelerations serve as model of the body: an efference copy, as in Wolpert, Ghahramani and Jordan
    (1995), in a predictor after Smith (1957). Sensors reveal the error e of an earlier x̂. It is propagated to the
    present by M ë = −G e − D ė, with the stance feet fixed, the mass matrix M at x̂, the damping D of muscles, and the
    stiffness G of muscles and gravity. The predictor works during steps, too: it knows which foot swings, and that a
    landing foot stops. Pushes, sliding feet and floor motion are unknown to it until they are sensed.

    Attributes:
        yielding: [s] decay time of velocities that fixed stance feet would not allow. A landing foot stops immediately.

    Raises:
        InputError: as ``Ahead``, or ``inner`` is neither a ``WholeBodyController`` nor ``Stepping``.
    """

    yielding: float = 0.1

    def __post_init__(self) -> None:
        super().__post_init__()
        above_zero(self.yielding, "forwardmodel.yielding")
        if not isinstance(self.inner, WholeBodyController):
            raise InputError(
                f"forwardmodel.inner = {type(self.inner).__name__}: it must be a WholeBodyController, or Stepping, "
                "which command accelerations; use Predicted for other controllers"
            )

    def warm_up(self, model: Model, announce: Callable[[str], None]) -> None:
        """Compile the controller's kernels."""
        self.inner.warm_up(model, announce)

    def law(self, model: Model) -> ForwardModelLaw:
        """Return the compiled law, for the kernels."""
        q, nq, nv, count = self._posture(model), model.nq, model.nv, self._ticks
        dofs = np.array([model.dof(joint) for joint in model.joint_names], dtype=np.int64)
        stiffness, damping = self._muscles(model)
        pull, drag = kept(model, _pulls, tuple(q.tolist())).copy(), np.zeros(nv)
        pull[:, dofs, dofs] += stiffness
        drag[dofs] = damping + self.period * stiffness
        held = 6 * len(model.feet)
        return ForwardModelLaw(
            inner=self._inner_law(model),
            muscles=Muscles(
                coordinate=np.array([model.coordinate(joint) for joint in model.joint_names], dtype=np.int64),
                dof=dofs,
                rest=q.copy(),
                stiffness=stiffness,
                damping=damping,
            ),
            goes=Propagation(
                span=float(self.period),
                foot=np.array([model.body_index(foot) for foot in model.feet], dtype=np.int64),
                alike=_ALIKE,
                pull=pull,
                drag=drag,
                share=-math.expm1(-self.period / self.yielding),
                mass=np.zeros((nv, nv)),
                factor=np.zeros((nv, nv)),
                inverse=np.zeros((nv, nv)),
                hold=np.zeros((nv, held)),
                compliance=np.zeros((held, held)),
                reaction=np.zeros((held, nv)),
                jacobian=np.zeros((6, nv)),
                free=np.zeros((nv, nv)),
                allowed=np.zeros((nv, nv)),
                double=np.zeros((2 * nv, 2 * nv)),
            ),
            q=np.zeros(nq),
            rates=np.zeros(nv),
            past_q=np.zeros((count, nq)),
            past_rates=np.zeros((count, nv)),
            onward=np.zeros((count, 2 * nv, nv)),
            which=np.zeros(count, dtype=np.int64),
            newest=np.zeros(1, dtype=np.int64),
            since=np.zeros(1, dtype=np.int64),
            shape=np.zeros(nq),
            leap=np.zeros((count // BLOCK + 2, 2 * nv, 2 * nv)),
            leaps=np.zeros(1, dtype=np.int64),
            leap_of=np.zeros(count, dtype=np.int64),
            mended=np.zeros((count, 2 * nv)),
            within=np.zeros((count // BLOCK + 2, 2 * nv)),
            swings=np.full(1, -1, dtype=np.int64),
            ticks=np.zeros(1, dtype=np.int64),
            asked=np.zeros(nv),
            error=np.zeros(2 * nv),
            buffers=np.zeros(2 * nv),
            rate=np.zeros(nv),
        )


def _pulls(model: Model, posture: tuple[float, ...]) -> Floats:
    """Return Gᵀ (1 + feet, nv, nv) of gravity: with all feet held, and with all feet but one held."""
    q, feet = np.array(posture), model.feet
    but_one = [[other for other in feet if other != foot] or list(feet) for foot in feet]
    return np.array([_pull(model, q, held).T for held in (feet, *but_one)])


def _pull(model: Model, q: Floats, feet: Sequence[str]) -> Floats:
    """Return the derivatives (nv, nv) of g − Σ Jᵀ w, with the least wrenches w on ``feet`` that hold the body."""
    at = WholeBody(model, q)
    base = np.vstack([at.jacobian(foot)[:, :6] for foot in feet])
    wrenches = np.linalg.lstsq(base.T, at.gravity_forces[:6], rcond=None)[0].reshape(-1, 6)

    def lacks(displacement: Floats) -> Floats:
        there = WholeBody(model, displaced(model, q, displacement))
        borne = sum(there.jacobian(foot).T @ wrench for foot, wrench in zip(feet, wrenches, strict=True))
        return np.asarray(there.gravity_forces - borne)

    ways = _REACH * np.eye(model.nv)
    return np.column_stack([(lacks(way) - lacks(-way)) / (2.0 * _REACH) for way in ways])

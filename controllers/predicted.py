"""Predictor for state-feedback controllers, by a linear model of the body over the sensory delay."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np

from biped.errors import InputError
from biped.inputs.checks import above_zero
from biped.model import Model
from contact import RUBBER
from contact.arrays import Floats
from controllers.ahead import Ahead
from controllers.feet import frame_of
from controllers.kernels.predicted import PredictedLaw
from controllers.lqr import REFERENCES
from controllers.lqr_design import Plan, StanceModel, kept, stance_of, warm_up

#: Growth of rounding errors, and number of ticks, after which sums are computed again.
GROWTH, MOST_TICKS = 1e4, 1000


@dataclass(frozen=True)
class Predicted(Ahead):
    """Predictor of the present state, x̂(t) = A^d x(t − d) + Σ A^i B u(t − i − 1), from the state sensed d periods ago.

    x are deviations from the initial posture at rest, as in ``LQR``, relative to the feet. A and B are the exact
    linearization of one control period there, with contact springs included; u are the actuator torques since then,
    minus those of the posture. The inner controller gets x̂ in place of the sensed state: a predictor after Smith (1957)
    and Kleinman (1969, for delays in human control), like an internal model of the nervous system. It is exact in
    the limit of small deviations. Pushes, lifted or sliding feet and floor motion are unknown to it until sensed.

    Attributes:
        step: [s] integrator step of the linearized model.
        reference: frame of the deviations, as in ``LQR``: the ``feet``, or the ``world``, which assumes that feet
            that have slid are pulled back.

    Raises:
        InputError: the delay is not a positive whole number of periods, or the inner controller is not compiled.
        ModelError, InputError: the model does not stand, or the inner controller holds joints by an impedance; raised
            when the model is known.
    """

    step: float = 5e-4
    reference: Literal["world", "feet"] = "feet"

    def __post_init__(self) -> None:
        super().__post_init__()
        above_zero(self.step, "predicted.step")
        reference: str = self.reference
        if reference not in REFERENCES:
            raise InputError(f"predicted.reference = {reference!r}: it must be one of {', '.join(REFERENCES)}")

    def stance(self, model: Model) -> StanceModel:
        """Return the initial posture at rest, with A and B of one control period there.

        Raises:
            InputError: the model does not stand, or the inner controller holds joints by an impedance.
        """
        return stance_of(model, self._plan(model))

    def _plan(self, model: Model) -> Plan:
        held = [tuple(values.tolist()) for values in self._muscles(model)]
        held = held if any(map(any, held)) else [(), ()]
        posture = tuple(self._posture(model).tolist())
        return Plan(self.floor or RUBBER, None, float(self.step), float(self.period), posture, *held)

    def warm_up(self, model: Model, announce: Callable[[str], None]) -> None:
        """Compile the kernels of linearization and inner controller; raises as ``stance``."""
        warm_up(model, self._plan(model), announce)
        self.inner.warm_up(model, announce)

    def law(self, model: Model) -> PredictedLaw:
        """Return the compiled law, for the kernels; raises as ``stance``."""
        inner, stance, nv = self._inner_law(model), self.stance(model), model.nv
        state, dofs = stance.state, [model.dof(joint) for joint in model.joint_names]
        stiffness, damping = self._muscles(model)
        powers, count = kept(model, _powers, self._plan(model), self._ticks), self._ticks
        return PredictedLaw(
            inner=inner,
            frame=frame_of(model, state.q, self.reference),
            posture=state.q.copy(),
            torque=state.arrays.torque[dofs].copy(),
            coordinate=np.array([model.coordinate(joint) for joint in model.joint_names], dtype=np.int64),
            dof=np.array(dofs, dtype=np.int64),
            ahead=powers.ahead,
            once=powers.once,
            by_torque=powers.by_torque,
            given=np.zeros((count, len(dofs))),
            done=np.zeros(2 * nv),
            anew=powers.anew,
            ticks=np.zeros(1, dtype=np.int64),
            stiffness=stiffness,
            damping=damping,
            error=np.full(2 * nv, np.nan),
            predicted=np.full(2 * nv, np.nan),
        )


class _Powers(NamedTuple):
    """Blocks of A and B for displacements and rates, as ``PredictedLaw`` reads them."""

    ahead: Floats
    once: Floats
    by_torque: Floats
    anew: int


def _powers(model: Model, plan: Plan, count: int) -> _Powers:
    stance, nv = stance_of(model, plan), model.nv
    by_rate = np.eye(2 * nv)
    by_rate[nv:, nv:] = stance.mass  # δp = M v
    A, B = (np.linalg.solve(by_rate, matrix) for matrix in (stance.A @ by_rate, stance.B))
    by_torque = np.empty((count + 1, B.shape[1], 2 * nv))
    for row in by_torque:
        row[:] = B.T
        B = A @ B
    ahead = np.ascontiguousarray(np.linalg.matrix_power(A, count).T)
    return _Powers(ahead, np.ascontiguousarray(A.T), by_torque, _ticks_of_growth(stance.linearization.spectral_radius))


def _ticks_of_growth(radius: float) -> int:
    """Return the number of ticks in which rounding errors grow by at most ``GROWTH``."""
    return MOST_TICKS if radius <= 1.0 else max(1, min(MOST_TICKS, int(math.log(GROWTH) / math.log(radius))))

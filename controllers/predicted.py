"""Any law that feeds back where the body is, with senses that are late: it is shown what a linear model sees ahead."""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Literal, NamedTuple, Self

import numpy as np

from biped.checks import above_zero
from biped.control.controller import Controller, Impedance, SetPoint
from biped.errors import InputError
from biped.model import Model
from biped.runs.postures import standing
from contact import RUBBER, Floor
from contact.arrays import Floats
from controllers.feet import frame_of
from controllers.joint_values import JointValues, by_joint, checked
from controllers.kernels.predicted import PredictedLaw
from controllers.lqr import REFERENCES
from controllers.lqr_design import Plan, StanceModel, impedance_of, kept, stance_of, warm_up

#: By how much rounding may grow before sums are formed anew, and ticks after which they are in any case.
GROWTH, MOST_TICKS = 1e4, 1000


@dataclass(frozen=True)
class Predicted(Controller):
    """x̂(t) = A^d x(t − d) + Σ A^i B u(t − i − 1): where the body has come to while the senses told where it was.

    x are deviations from the posture in which the law begins, at rest, as ``LQR`` knows them, seen from the feet; A and
    B the exact linearization of one control period there, contact springs included; u what the actuators have given
    meanwhile, beyond what the posture takes. The law is asked with x̂ in place of what was sensed: it is a model of the
    body that a nervous system might have, a predictor after Smith (1957) and Kleinman (1969, for delays in control by
    humans). It is exact in the limit of small deviations, and knows nothing of what pushes, of feet that lift or slide,
    nor of what the floor does, until senses tell.

    Attributes:
        inner: the law, compiled.
        delay: [s] of the senses, that of ``biped.Sensors``: a whole number of the law's periods.
        floor: that the model stands on; ``contact.RUBBER`` if not given.
        step: [s] of the integrator that it is linearized for.
        reference: what deviations are seen from, as in ``LQR``: the ``feet``, or the ``world``, where feet that have
            slid are taken to be drawn back.
        stiffness: [N·m/rad] of muscles and tendons, which act at once, within the integrator's steps: an impedance in
            each joint. The law's torques come on top of what it exerts at x̂, so that it changes nothing where x̂ is
            true, and holds against the rest. One for all joints or by joint.
        damping: [N·m·s/rad] likewise.

    Raises:
        InputError: the delay is no whole number of periods above zero, or the law is none that is compiled.
        ModelError, InputError: the model does not stand, or the law has joints held by an impedance; raised when the
            model is known.
    """

    inner: Controller
    delay: float
    floor: Floor | None = None
    step: float = 5e-4
    reference: Literal["world", "feet"] = "feet"
    stiffness: JointValues = 0.0
    damping: JointValues = 0.0

    def __post_init__(self) -> None:
        if not isinstance(self.inner, Controller):
            raise InputError(f"predicted.inner = {self.inner!r}: it must be a Controller")
        above_zero(self.delay, "predicted.delay")
        above_zero(self.step, "predicted.step")
        reference: str = self.reference
        if reference not in REFERENCES:
            raise InputError(f"predicted.reference = {reference!r}: it must be one of {', '.join(REFERENCES)}")
        checked(self.stiffness, "predicted.stiffness", least=0.0)
        checked(self.damping, "predicted.damping", least=0.0)
        if self._ticks < 1 or abs(self._ticks * self.period - self.delay) > 1e-9 * self.delay:
            raise InputError(
                f"predicted.delay = {self.delay:g} s: it must be a whole number of control periods of {self.period:g} s"
            )

    @property
    def _ticks(self) -> int:
        return round(self.delay / self.period)

    @property
    def period(self) -> float:  # type: ignore[override]
        """[s] between two ticks: the law's."""
        return self.inner.period

    @property
    def recorded(self) -> tuple[str, ...] | Mapping[str, str]:  # type: ignore[override]
        """What the law records."""
        return self.inner.recorded

    def stance(self, model: Model) -> StanceModel:
        """The posture, and A and B there.

        Raises:
            InputError: it does not stand, or the law holds joints by an impedance.
        """
        return stance_of(model, self._plan(model))

    def _plan(self, model: Model) -> Plan:
        if self.inner.impedance(model) is not None:
            raise InputError(
                f"{type(self.inner).__name__} holds joints by an impedance, of which a prediction knows nothing"
            )
        floor = self.floor or RUBBER
        q = self.inner.initial_configuration(model, floor)
        posture = standing(model, floor).q if q is None else q
        held = [tuple(by_joint(one, model).values()) for one in (self.stiffness, self.damping)]
        held = held if any(map(any, held)) else [(), ()]
        return Plan(floor, None, float(self.step), float(self.period), tuple(posture.tolist()), *held)

    def impedance(self, model: Model) -> Impedance | None:
        """That of muscles and tendons, at rest in the posture."""
        plan = self._plan(model)
        return impedance_of(model, plan, self.stance(model).state.q) if plan.stiffness else None

    def warm_up(self, model: Model, announce: Callable[[str], None]) -> None:
        """Compile what it is linearized by, and what the law needs; raises as ``stance``."""
        warm_up(model, self._plan(model), announce)
        self.inner.warm_up(model, announce)

    def holding(self, model: Model, q: Floats) -> Self:
        """The same of the law about that posture."""
        return replace(self, inner=self.inner.holding(model, q))

    def initial_configuration(self, model: Model, floor: Floor) -> Floats | None:
        """The law's."""
        return self.inner.initial_configuration(model, floor)

    def set_point(self, model: Model) -> SetPoint | None:
        """The law's."""
        return self.inner.set_point(model)

    def set_point_from(self, model: Model, q: Floats) -> SetPoint | None:
        """The law's."""
        return self.inner.set_point_from(model, q)

    def singular_angles(self, model: Model) -> Mapping[str, float]:
        """The law's."""
        return self.inner.singular_angles(model)

    def check_start(self, model: Model, q: Floats) -> None:
        """The law's."""
        self.inner.check_start(model, q)

    def law(self, model: Model) -> PredictedLaw:
        """The compiled law, for the kernels; raises as ``stance``."""
        inner, stance, nv = self.inner.law(model), self.stance(model), model.nv
        if inner is None:
            raise InputError(f"{type(self.inner).__name__} is asked in Python: only compiled laws are predicted for")
        state, dofs = stance.state, [model.dof(joint) for joint in model.joint_names]
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
            stiffness=np.array(list(by_joint(self.stiffness, model).values())),
            damping=np.array(list(by_joint(self.damping, model).values())),
            error=np.full(2 * nv, np.nan),
            found=np.full(2 * nv, np.nan),
        )


class _Powers(NamedTuple):
    """What ``PredictedLaw`` has of A and B of displacements and rates, which it reads alone."""

    ahead: Floats
    once: Floats
    by_torque: Floats
    anew: int


def _powers(model: Model, plan: Plan, count: int) -> _Powers:
    stance, nv = stance_of(model, plan), model.nv
    by_rate = np.eye(2 * nv)
    by_rate[nv:, nv:] = stance.mass  # δp = M v
    A, B = (np.linalg.solve(by_rate, one) for one in (stance.A @ by_rate, stance.B))
    by_torque = np.empty((count + 1, B.shape[1], 2 * nv))
    for row in by_torque:
        row[:] = B.T
        B = A @ B
    ahead = np.ascontiguousarray(np.linalg.matrix_power(A, count).T)
    return _Powers(ahead, np.ascontiguousarray(A.T), by_torque, _ticks_of_growth(stance.found.spectral_radius))


def _ticks_of_growth(radius: float) -> int:
    """In which rounding grows by no more than ``GROWTH``."""
    return MOST_TICKS if radius <= 1.0 else max(1, min(MOST_TICKS, int(math.log(GROWTH) / math.log(radius))))

"""The exact derivative of a sampled law's torques by what it is shown."""

from __future__ import annotations

from functools import cached_property

import numpy as np

from biped.derivatives.linearization.kernels.law import LawDifferentiator
from biped.derivatives.tape.kernels import DONE, Tape, TapeJacobian, differentiate_results, new_tape_jacobian
from biped.derivatives.tape.law import LawTapes
from biped.errors import InputError
from biped.simulation.plan import Plan
from contact.arrays import Floats
from kernelcache import Entry, Packed

#: Part of the greatest torque by which those of a tape may differ from what the law asked for: rounding is less.
SAME = 1e-9


class LawDerivative:
    """A law whose derivatives are asked for: by its tape, or of a law that has none by a complex step.

    None have those that depend on time, on what they remember, or that are no operations that a tape knows.

    Args:
        plan: whose law it is, before it is asked.
    """

    def __init__(self, plan: Plan) -> None:
        self._plan = plan
        self._recorded = 0 if plan.controller is None else len(plan.controller.recorded)
        self._tapes: LawTapes | None = LawTapes(plan.law, plan.nominal_model.tree, self._recorded)
        self._noted: _Noted | None = None

    def at(self, q: Floats, momentum: Floats, time: float, asked: Floats) -> Floats:
        """(nv, 2 nv) ∂(torques)/∂(q, p) where it asked for these; NaN if it looks at the floor's forces."""
        found = self._by_tape(q, momentum, asked)
        return self._by_complex_step.at(q, momentum, time).copy() if found is None else found

    def _by_tape(self, q: Floats, momentum: Floats, asked: Floats) -> Floats | None:
        """The derivative; None where the law has no tape."""
        if self._tapes is None:
            return None
        if self._noted is None or not self._noted.differentiate(q, momentum):
            try:
                self._noted = _Noted(self._tapes.at(q, momentum), len(q), len(momentum))
            except InputError:
                self._tapes = None
                return None
            self._noted.differentiate(q, momentum)
        torque = self._noted.torque
        if not np.isfinite(torque).all():
            return np.full_like(self._noted.found, np.nan)
        if np.abs(torque - asked).max(initial=0.0) > SAME * (1.0 + np.abs(asked).max(initial=0.0)):
            self._tapes = None
            return None
        return self._noted.found.copy()

    @cached_property
    def _by_complex_step(self) -> LawDifferentiator:
        plan = self._plan
        return LawDifferentiator(plan.law, plan.nominal_model.tree, plan.model.nq, plan.model.nv, self._recorded)


class _Noted:
    """A tape, ready to be differentiated by displacements and momenta."""

    def __init__(self, tape: Tape, nq: int, nv: int) -> None:
        self._nq, self._nv, self._tape = nq, nv, tape
        self._room: TapeJacobian = new_tape_jacobian(tape, nq, 2 * nv)
        self._differentiate = Entry(differentiate_results, Packed(self._room))
        self._ends = np.maximum(tape.result, 0)
        self._is_zero = tape.result < 0

    def differentiate(self, q: Floats, momentum: Floats) -> bool:
        """Whether the law branches there as the tape does; then ``found`` and ``torque`` are those of there."""
        nq, nv, value = self._nq, self._nv, self._tape.value
        value[:nq], value[nq + nv : nq + 2 * nv] = q, momentum
        return self._differentiate() == DONE

    @property
    def found(self) -> Floats:
        """(nv, 2 nv), overwritten by the next."""
        return self._room.found

    @property
    def torque(self) -> Floats:
        """(nv,) likewise."""
        return np.where(self._is_zero, 0.0, self._tape.value[self._ends])

"""The exact derivative of a compiled control law's torques by the measured state."""

from __future__ import annotations

from typing import Any

import numpy as np

from biped.derivatives.tape.kernels import DONE, Tape, TapeJacobian, differentiate_results, new_tape_jacobian
from biped.derivatives.tape.law import LawTapes, note_law
from biped.errors import InputError
from biped.kernels.tree.tree import Tree
from contact.arrays import Floats
from kernelcache import Entry, Packed

#: Largest difference between a tape's torques and the law's, as a share of the largest torque: rounding is less.
SAME = 1e-9


class LawDerivative:
    """The exact derivative of a compiled control law, from a tape of its operations.

    Args:
        law: the named tuple of the control law, before its first call.
        tree: the plant that the law assumes.
        recorded: number of values that the law records.
    """

    def __init__(self, law: Any, tree: Tree, recorded: int) -> None:
        self._law, self._tree, self._recorded = law, tree, recorded
        self._tapes = LawTapes(law, tree, recorded)
        self._depends_on_time = False
        self._noted: _Noted | None = None

    def at(self, q: Floats, momentum: Floats, time: float, asked: Floats | None = None) -> Floats:
        """Return ∂(torques)/∂(q, p), (nv, 2 nv); NaN if the law depends on contact forces.

        Args:
            q: (nq,) configuration.
            momentum: (nv,) generalized momentum.
            time: [s] time of the state.
            asked: (nv,) torques that the law demanded there, which the tape must reproduce; not checked if None.

        Raises:
            InputError: the law has no exact derivative.
        """
        noted = self._noted_at(q, momentum, time)
        if not self._depends_on_time and not _is_same(noted.torque, asked):
            self._depends_on_time = True
            noted = self._noted_at(q, momentum, time)
        if not _is_same(noted.torque, asked):
            raise InputError(
                f"{type(self._law).__name__} has no exact derivative: its torques depend on more than configuration, "
                "velocity and time; linearize with closed_loop=False, or choose another controller"
            )
        return noted.jacobian.copy() if np.isfinite(noted.torque).all() else np.full_like(noted.jacobian, np.nan)

    def _noted_at(self, q: Floats, momentum: Floats, time: float) -> _Noted:
        if self._noted is None or self._depends_on_time or not self._noted.differentiate(q, momentum):
            self._noted = _Noted(self._tape(q, momentum, time), len(q), len(momentum))
            self._noted.differentiate(q, momentum)
        return self._noted

    def _tape(self, q: Floats, momentum: Floats, time: float) -> Tape:
        if not self._depends_on_time:
            try:
                return self._tapes.at(q, momentum)
            except InputError:
                self._depends_on_time = True
        return note_law(self._law, self._tree, q, momentum, self._recorded, (), time)


def _is_same(torque: Floats, asked: Floats | None) -> bool:
    """Return True if torques agree with the torques that the law demanded; NaN agrees with everything."""
    return asked is None or not np.abs(torque - asked).max(initial=0.0) > SAME * (1.0 + np.abs(asked).max(initial=0.0))


class _Noted:
    """A tape with workspace for its derivatives by displacements and momenta."""

    def __init__(self, tape: Tape, nq: int, nv: int) -> None:
        self._nq, self._nv, self._tape = nq, nv, tape
        self._buffers: TapeJacobian = new_tape_jacobian(tape, nq, 2 * nv)
        self._differentiate = Entry(differentiate_results, Packed(self._buffers))
        self._ends = np.maximum(tape.result, 0)
        self._is_zero = tape.result < 0

    def differentiate(self, q: Floats, momentum: Floats) -> bool:
        """Evaluate ``jacobian`` and ``torque`` at a state; return False if the law takes another branch there."""
        nq, nv, value = self._nq, self._nv, self._tape.value
        value[:nq], value[nq + nv : nq + 2 * nv] = q, momentum
        return self._differentiate() == DONE

    @property
    def jacobian(self) -> Floats:
        """Derivative ∂(torque)/∂(q, p), (nv, 2 nv); the next state overwrites it."""
        return self._buffers.derivatives

    @property
    def torque(self) -> Floats:
        """Torques (nv,); the next state overwrites them."""
        return np.where(self._is_zero, 0.0, self._tape.value[self._ends])

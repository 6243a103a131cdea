"""The kernels that differentiate a step's equations, and its map, ready to be entered."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from contact.arrays import Floats, Integers
from formulations.mechanism.coupling import Coupling
from formulations.mechanism.custom_derivatives import CustomDerivatives
from formulations.mechanism.kernels.chain import SolvedStep, first_part, new_chain, second_part, weighted_part
from formulations.mechanism.kernels.linearization import Derivatives, Sizes, derive_part, new_derivatives
from kernelcache import Entry, Packed

if TYPE_CHECKING:
    from formulations.mechanism.mechanism import Mechanism


class Derivation:
    """Of steps of a mechanism, by the rule (``alpha``, ``h``, ``share``), to the ``order`` 2 or 3 of its equations.

    Attributes:
        step: the step that is differentiated, with room for its derivatives.
        order: 2 for first derivatives of the map, 3 for second ones too.
        coupling: what depends on what.
    """

    def __init__(
        self, mechanism: Mechanism, order: int, *, alpha: float, h: float, share: float, forced: Integers
    ) -> None:
        """Of steps with torques along the coordinates ``forced`` as inputs."""
        mechanics, n, m = mechanism.mechanics, mechanism.size, len(mechanism.labels)
        self.coupling, self.order = Coupling(mechanics, mechanism.customs), order
        dynamic, kinematic = np.flatnonzero(mechanics.prescribed == 0), np.flatnonzero(mechanics.prescribed != 0)
        sizes = self.coupling.sizes if order >= 3 else Sizes(0, 0, 0)
        near = [self.coupling.near[j] for j in dynamic]
        self.step = SolvedStep(
            mechanics, alpha, h, share, np.zeros(n), np.zeros(n), np.zeros(m),
            np.zeros((1, 1 + len(mechanism.inputs))), new_derivatives(n, m, mechanics.points.body.shape[0], sizes),
            new_chain(dynamic, kinematic, forced, near, self.coupling.held, order),
        )  # fmt: skip
        self.customs = CustomDerivatives(self.coupling, mechanism.customs) if mechanism.customs else None
        self._packed = Packed(self.step)
        self._derive, self._differentiate = Entry(derive_part, self._packed, order), Entry(first_part, self._packed)

    def place(self, q: Floats, moved: Floats, multiplier: Floats, row: Floats) -> None:
        """Set the step: (n,) where it begins and by how much it changes, (m,) λ, (1, .) inputs."""
        step = self.step
        step.q[:], step.moved[:], step.multiplier[:], step.inputs[:] = q, moved, multiplier, row

    def derive(self) -> Derivatives:
        """The derivatives of its equations; they are written over by the next."""
        self._derive(self.order)
        if self.customs is not None:
            self.customs.add(self.step, self.order)
        return self.step.results

    def differentiate(self) -> int:
        """All first derivatives of the map, from those of the equations; 0, or why there are none."""
        return self._differentiate()

    @cached_property
    def _differentiate_twice(self) -> Entry:
        return Entry(second_part, self._packed)

    @cached_property
    def _add_up(self) -> Entry:
        return Entry(weighted_part, self._packed)

    def differentiate_twice(self) -> None:
        """All second ones, once there are the first."""
        self._differentiate_twice()

    def add_up(self, q: Floats, p: Floats) -> None:
        """One sum of them, with weights of q' and p'."""
        self.step.chain.on_rows[0], self.step.chain.on_rows[1] = q, p
        self._add_up()

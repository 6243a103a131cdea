"""Contributions of user-defined components to the derivatives of a step's equations.

The components are functions of strains z (positions of points and coordinates) and of their rates. Derivatives of
strains by coordinates are exact to the third order. Derivatives that a user does not define are differences of the
sixth order: first derivatives of a gradient, force or Jacobian lose about four of sixteen digits, second ones seven.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from biped.kernels.tree.dynamics import new_tree_data, set_tree_data
from contact.arrays import Floats, Integers
from formulations.mechanism.coupling import Coupling
from formulations.mechanism.custom_arrays import Custom, new_customs
from formulations.mechanism.kernels import custom as kernels
from formulations.mechanism.kernels.chain import SolvedStep
from formulations.mechanism.kernels.derivatives import add_bend
from formulations.mechanism.kernels.jets import add3
from kernelcache import Entry

#: [m, rad, …] relative steps of first differences and of second differences.
SPREAD, WIDE = 2e-3, 1e-2
_SIXTH = ((1, 45.0 / 60.0), (2, -9.0 / 60.0), (3, 1.0 / 60.0))


def differences(function: Callable[[Floats], Floats], y: Floats, spread: float = SPREAD) -> Floats:
    """Return the derivatives (…, y) of an array-valued function at ``y``, by differences of the sixth order."""
    columns = []
    for i in range(y.size):
        move = np.zeros(y.size)
        move[i] = spread * max(1.0, abs(y[i]))
        parts = [w * (function(y + k * move) - function(y - k * move)) for k, w in _SIXTH]
        columns.append(sum(parts[1:], parts[0]) / move[i])
    return np.stack(columns, axis=-1)


class Strains:
    """Strains z of one component at a configuration, and their derivatives by the component's c coordinates.

    Attributes:
        value: strains (s,).
        by: first, second and third derivatives (s, c), (s, c, c) and (s, c, c, c).
    """

    def __init__(self, step: SolvedStep, q: Floats, custom: Custom, members: Integers, above: Any) -> None:
        tree, points, size = step.mechanics.tree, step.mechanics.points, members.size
        data = new_tree_data(q.size, q.size, 0)
        set_tree_data(tree, q, np.zeros(q.size), data)
        shapes = tuple((custom.size, *(size,) * order) for order in (1, 2, 3))
        self.value, self.by = np.zeros(custom.size), tuple(np.zeros(shape) for shape in shapes)
        places: dict[int, tuple[Floats, list[Floats]]] = {}
        for i, (point, axis, coordinate) in enumerate(custom.strains):
            if point < 0:
                self.value[i] = q[coordinate]
                self.by[0][i, np.searchsorted(members, coordinate)] = 1.0
                continue
            if point not in places:
                body, offset = int(points.body[point]), points.offset[point]
                moving = above[body] if body >= 0 else np.zeros(q.size, dtype=bool)
                place = data.poses.com[body] + data.poses.rotation[body].reshape(3, 3) @ offset if body >= 0 else offset
                places[point] = place, _point_derivatives(data.poses.motion[members], moving[members], place)
            place, by = places[point]
            self.value[i] = place[axis]
            for derivative, of_point in zip(self.by, by, strict=True):
                derivative[i] = of_point[..., axis]


def _point_derivatives(motion: Floats, moving: Any, place: Floats) -> list[Floats]:
    """Return a point's derivatives p_k, ω_k × p_l, ω_k × (ω_l × p_m), k ≤ l ≤ m: (c, 3), (c, c, 3), (c, c, c, 3)."""
    size = len(motion)
    first, second, third = (np.zeros((*(size,) * order, 3)) for order in (1, 2, 3))
    on = np.flatnonzero(moving)
    turn = motion[:, 3:]
    first[on] = motion[on, :3] + np.cross(turn[on], place)
    for k, m in itertools.combinations_with_replacement(on, 2):
        second[k, m] = second[m, k] = np.cross(turn[k], first[m])
    for k, middle, m in itertools.combinations_with_replacement(on, 3):
        bent = np.cross(turn[k], second[middle, m])
        for order in set(itertools.permutations((k, middle, m))):
            third[order] = bent
    return [first, second, third]


class CustomDerivatives:
    """Derivatives of all user-defined components of a mechanism."""

    def __init__(self, coupling: Coupling, customs: Sequence[Custom]) -> None:
        self.customs, self.above = customs, coupling.above
        self.members = [coupling.members(custom) for custom in customs]
        border = sum(custom.size for custom in customs if custom.kind != kernels.CONSTRAINT)
        _, self._packed = new_customs(customs, border)
        self._parts = [
            Entry(custom.part, buffers, 0, 0.0) for custom, buffers in zip(customs, self._packed, strict=True)
        ]

    def add(self, step: SolvedStep, order: int) -> None:
        """Add the components' terms to the derivatives of a step's equations, to the order 2 or 3."""
        start, end = step.q, step.q + step.moved
        middle = step.q + step.alpha * step.moved
        for k, custom in enumerate(self.customs):
            if custom.kind == kernels.CONSTRAINT:
                self._add_constraint(step, k, start, 0, order)
                self._add_constraint(step, k, end, 1, 2)
            elif custom.kind == kernels.POTENTIAL:
                self._add_potential(step, k, middle, order)
            else:
                self._add_force(step, k, middle, order)

    def _ask(
        self, k: int, quantity: int, buffer: str, z: Floats, rate: Floats | None = None, time: float = 0.0
    ) -> Floats:
        """Return the ``quantity`` that component k writes to the named ``buffer``."""
        buffers = self._packed[k].value
        buffers.z[:], buffers.rate[:] = z, 0.0 if rate is None else rate
        self._parts[k](quantity, time)
        result: Floats = getattr(buffers, buffer).copy()
        return result

    def _strains(self, step: SolvedStep, k: int, q: Floats) -> Strains:
        return Strains(step, q, self.customs[k], self.members[k], self.above)

    def _add_potential(self, step: SolvedStep, k: int, q: Floats, order: int) -> None:
        strains, members = self._strains(step, k, q), self.members[k]

        def force(z: Floats) -> Floats:
            return self._ask(k, kernels.FORCES, "force", z)

        by_z = differences(force, strains.value)
        by_z = 0.5 * (by_z + by_z.T)
        step.results.hessian[np.ix_(members, members)] += _second(force(strains.value), by_z, strains)
        if order >= 3:
            twice = differences(lambda z: differences(force, z, WIDE), strains.value, WIDE)
            self._list(step.results.triples, members, _third(force(strains.value), by_z, twice, strains))

    def _add_constraint(self, step: SolvedStep, k: int, q: Floats, where: int, order: int) -> None:
        custom, members, strains = self.customs[k], self.members[k], self._strains(step, k, q)

        def slopes(z: Floats) -> Floats:
            return self._ask(k, kernels.JACOBIAN, "jacobian", z)

        by_z, bent = slopes(strains.value), differences(slopes, strains.value)
        rows = slice(custom.row, custom.row + custom.rows)
        step.results.rows[where, rows] = 0.0
        step.results.rows[where, rows, members] = (by_z @ strains.by[0]).T
        for c in range(custom.rows):
            bend = 0.5 * (bent[c] + bent[c].T)
            corner = np.ix_(members, members)
            step.results.curvature[where, custom.row + c][corner] = _second(by_z[c], bend, strains)
            if order >= 3:
                twice = differences(lambda z, c=c: differences(slopes, z, WIDE)[c], strains.value, WIDE)  # type: ignore[misc]
                third = _third(by_z[c], bend, twice, strains)
                self._list(step.results.bent, members, step.multiplier[custom.row + c] * third)

    def _list(self, triples: Any, members: Integers, third: Floats) -> None:
        for a, b, c in itertools.combinations_with_replacement(range(members.size), 3):
            add3(triples, int(members[a]), int(members[b]), int(members[c]), float(third[a, b, c]))

    def _add_force(self, step: SolvedStep, k: int, q: Floats, order: int) -> None:
        """Add the derivatives of f_j = Σ F_i(y) ∂z_i/∂q_j, where y = (z, ż) is a function of x = (q, v)."""
        strains, members, size = self._strains(step, k, q), self.members[k], self.members[k].size
        v, time, s = (step.moved / step.h)[members], float(step.inputs[0, 0]), strains.value.size
        first, second, third = strains.by
        y = np.concatenate([strains.value, first @ v])

        def force(y: Floats) -> Floats:
            return self._ask(k, kernels.FORCES, "force", y[:s], y[s:], time)

        by_x = np.block([[first, np.zeros((s, size))], [second @ v, first]])
        arm = np.concatenate([second, np.zeros((s, size, size))], axis=2)  # ∂²z/∂q∂x
        F, by_y = force(y), differences(force, y)
        slopes = np.einsum("ij,ix->jx", first, by_y @ by_x) + np.einsum("i,ijx->jx", F, arm)
        places = np.concatenate([members, step.q.size + members])
        step.results.force[np.ix_(members, places)] += slopes
        if order >= 3:
            bent = np.zeros((2 * s, 2 * size, 2 * size))  # ∂²y/∂x²
            bent[:s, :size, :size], bent[s:, :size, :size] = second, third @ v
            bent[s:, :size, size:], bent[s:, size:, :size] = second, second
            twice = differences(lambda y: differences(force, y, WIDE), y, WIDE)
            by_xx = np.einsum("iab,ax,bz->ixz", twice, by_x, by_x) + np.einsum("ia,axz->ixz", by_y, bent)
            mixed = np.einsum("ix,ijz->jxz", by_y @ by_x, arm)
            bends = np.einsum("ij,ixz->jxz", first, by_xx) + mixed + mixed.transpose(0, 2, 1)
            bends[:, :size, :size] += np.einsum("i,ijkl->jkl", F, third)
            for j, (a, b) in itertools.product(
                range(size), itertools.combinations_with_replacement(range(2 * size), 2)
            ):
                add_bend(step.results.bends, int(members[j]), int(places[a]), int(places[b]), float(bends[j, a, b]))


def _second(by: Floats, twice: Floats, strains: Strains) -> Floats:
    """Return the second derivatives (c, c) of a function of z by coordinates, from those by z, (s,) and (s, s)."""
    first, second, _ = strains.by
    result: Floats = first.T @ twice @ first + np.einsum("i,iab->ab", by, second)
    return result


def _third(by: Floats, twice: Floats, thrice: Floats, strains: Strains) -> Floats:
    """Return the third derivatives (c, c, c) of a function of z by coordinates, from those by z, up to (s, s, s)."""
    first, second, third = strains.by
    mixed = np.einsum("ij,iab,jc->abc", twice, second, first)
    result: Floats = np.einsum("ijk,ia,jb,kc->abc", thrice, first, first, first) + np.einsum("i,iabc->abc", by, third)
    result += mixed + mixed.transpose(0, 2, 1) + mixed.transpose(2, 1, 0)
    return result

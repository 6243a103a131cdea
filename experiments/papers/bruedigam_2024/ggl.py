"""The variational integrator with constraints on positions and momenta that figure 12 compares with, written out.

It discretizes the principle of Kinon, Betsch and Schneider 2023 ("The GGL variational principle for constrained
mechanical systems", the integrator of their double four-bar linkage): after Gear, Leimkuhler and Gupta, multipliers γ
of the velocity constraints stand beside those of the positions, λ. A bar has a centre and a director d along it
(planar), so that all constraints are linear but for the directors' lengths:

    q' = q + h v + h M⁻¹ G(q̄)ᵀ γ,     q̄ = q + h v,     M v = p' + h Γ M⁻¹ p',
    p' = p − h ∇V − h G(q)ᵀ λ − h Γ M⁻¹ p',     g(q') = 0,     G(q̄) M⁻¹ p' = 0,

where Γ is Σ γ_j times the second derivatives of g_j: a director's multiplier on its two places.

The authors' program (github.com/plkinon/metis, ``Solver.newton_iterate``) corrects a step up to 41 times, and goes on
from what it then has, without a word. ``motion`` does so with ``accept``, and ends at such a step without.
"""

from typing import NamedTuple

import numpy as np

from contact.arrays import Floats

MASS, LENGTH, G = 1.0, 1.0, 9.81
#: Coordinates of a bar: its centre and its director in the plane (y, z).
WIDTH = 4
TOLERANCE, CORRECTIONS = 1e-9, 41


class Linkage(NamedTuple):
    """N four-bar windows of thin bars: first those on the ground, then the couplers."""

    mass: Floats  # (n,) on the diagonal
    director: Floats  # (bars, n) 1 where a coordinate is of a bar's director: the second derivatives of its length
    linear: Floats  # (rows, n) of the joints, constant
    offset: Floats  # (rows,) what they are
    position: Floats  # (n,) where it starts
    velocity: Floats  # (n,) there

    @property
    def weight(self) -> Floats:
        """∇V"""
        return np.tile([0.0, MASS * G, 0.0, 0.0], len(self.director))

    def constraints(self, q: Floats) -> Floats:
        """g: the lengths of directors, then the joints."""
        return np.concatenate([0.5 * (self.director @ q**2 - 1.0), self.linear @ q - self.offset])

    def gradient(self, q: Floats) -> Floats:
        """G"""
        return np.concatenate([self.director * q, self.linear])

    def energy(self, q: Floats, p: Floats) -> tuple[float, float]:
        """[J] kinetic and potential."""
        return float(0.5 * p @ (p / self.mass)), float(self.weight @ q)


def linkage(windows: int, speed: float = 1.0) -> Linkage:
    """Return the linkage of ``formulations.assembly.examples.n_four_bar``: upright, its couplers moving along +y."""
    bars = 2 * windows + 1
    mass = np.tile([MASS, MASS, MASS * LENGTH**2 / 12.0, MASS * LENGTH**2 / 12.0], bars)
    rows: list[Floats] = []
    offset: list[float] = []

    def closed(*ends: tuple[int, float], at: tuple[float, float] = (0.0, 0.0)) -> None:
        """The end of a bar, half a length along its director either way, at a place or on that of another."""
        for axis in range(2):
            row = np.zeros((bars, WIDTH))
            for sign, (bar, end) in zip((1.0, -1.0), ends, strict=False):
                row[bar, axis], row[bar, 2 + axis] = sign, sign * end * 0.5 * LENGTH
            rows.append(row.ravel())
            offset.append(at[axis])

    position, velocity = np.zeros((bars, WIDTH)), np.zeros((bars, WIDTH))
    for k in range(windows + 1):
        closed((k, -1.0), at=(k * LENGTH, 0.0))
        position[k], velocity[k] = (k * LENGTH, 0.5 * LENGTH, 0.0, 1.0), (0.5 * speed, 0.0, speed / LENGTH, 0.0)
    for k in range(windows):
        coupler = windows + 1 + k
        closed((k, 1.0), (coupler, -1.0))
        closed((k + 1, 1.0), (coupler, 1.0))
        position[coupler], velocity[coupler] = ((k + 0.5) * LENGTH, LENGTH, 1.0, 0.0), (speed, 0.0, 0.0, 0.0)
    director = np.tile([0.0, 0.0, 1.0, 1.0], bars) * np.repeat(np.eye(bars), WIDTH, axis=1)
    return Linkage(mass, director, np.array(rows), np.array(offset), position.ravel(), velocity.ravel())


def step(of: Linkage, q: Floats, p: Floats, h: float) -> tuple[Floats, Floats, bool]:
    """Return position and momentum a step later, and whether Newton's method converged to them."""
    n, bars, rows = len(q), len(of.director), len(of.director) + len(of.offset)
    inverse, before = 1.0 / of.mass, of.gradient(q)
    x = np.concatenate([q + h * inverse * p, p, np.zeros(2 * rows)])
    for _ in range(CORRECTIONS):
        after, momentum, lam, gamma = np.split(x, (n, 2 * n, 2 * n + rows))
        curved = of.director.T @ gamma[:bars]
        velocity = inverse * (momentum + h * curved * inverse * momentum)
        between = of.gradient(q + h * velocity)
        left = np.concatenate([
            after - q - h * velocity - h * inverse * (between.T @ gamma),
            momentum - p + h * of.weight + h * before.T @ lam + h * curved * inverse * momentum,
            of.constraints(after),
            between @ (inverse * momentum),
        ])  # fmt: skip
        if np.abs(left).max() <= TOLERANCE:
            return after, momentum, True
        x = x - np.linalg.solve(_tangent(of, after, momentum, before, between, curved, h), left)
    return x[:n], x[n : 2 * n], False


def _tangent(
    of: Linkage, after: Floats, momentum: Floats, before: Floats, between: Floats, curved: Floats, h: float
) -> Floats:
    """Return the derivatives of the residual by q', p', λ and γ."""
    n, rows, bars = len(after), len(before), len(of.director)
    inverse = 1.0 / of.mass
    rate = inverse * momentum
    bends = np.zeros((rows, n))
    bends[:bars] = of.director
    pushed = 1.0 + h * inverse * curved
    by_momentum, by_gamma = pushed * inverse, h * (inverse * rate)[:, None] * bends.T  # of v
    matrix = np.zeros((2 * n + 2 * rows, 2 * n + 2 * rows))
    here, there = slice(0, n), slice(n, 2 * n)
    first, second = slice(2 * n, 2 * n + rows), slice(2 * n + rows, 2 * n + 2 * rows)
    matrix[here, here] = np.eye(n)
    matrix[here, there] = np.diag(-h * pushed * by_momentum)
    matrix[here, second] = -h * (pushed[:, None] * by_gamma + inverse[:, None] * between.T)
    matrix[there, there] = np.diag(pushed)
    matrix[there, first] = h * before.T
    matrix[there, second] = h * rate[:, None] * bends.T
    matrix[first, here] = of.gradient(after)
    matrix[second, there] = between * inverse + h * bends * rate * by_momentum
    matrix[second, second] = h * (bends * rate) @ by_gamma
    return matrix


def motion(of: Linkage, h: float, steps: int, *, accept: bool = False) -> tuple[Floats, Floats, int]:
    """Return positions and momenta from the start, (rows, n), and the number of steps that did not converge.

    Args:
        of: the linkage.
        h: step [s].
        steps: number of steps; there are ``steps`` + 1 rows, or fewer where the motion ends.
        accept: go on after a step that did not converge, as the authors' program does, unless it has no bounds;
            without, the motion ends before such a step.
    """
    q, p, unconverged = of.position, of.mass * of.velocity, 0
    positions, momenta = [q], [p]
    for _ in range(steps):
        q, p, converged = step(of, q, p, h)
        unconverged += not converged
        if not converged and not (accept and np.isfinite([*q, *p]).all()):
            break
        positions.append(q)
        momenta.append(p)
    return np.array(positions), np.array(momenta), unconverged

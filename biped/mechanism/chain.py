"""The chain rule of a step: from derivatives of its equations at the solution to those of its map.

Johnson, Schultz & Murphey 2014, (10)-(32), with the paper's letters. A step maps w = (q, p, u, ρ), where ρ is where
the kinematic coordinates go, to q' and p'; its middle is z = (q_m, v). Unknown are y = (q'_d, λ), d being the dynamic
coordinates:

    E = p + h (1 − α) L_q − L_v + F⁻ − Dh(q)ᵀ λ = 0 (rows d),     h(q') = 0,     p' = h α L_q + L_v + F⁺,
    F⁻ = σ h f,    F⁺ = (1 − σ) h f.

    K y_w = −(E_w, h_w),                        K = [M  −Dh(q)ᵀ; Dh(q')  0],        M = ∂E/∂q'_d,
    K y_{ab} = −(what a second differentiation leaves beside y_{ab}).

Solved as a whole, K need only be regular itself: the paper's (29) and (30), which divide by M first, also need
det M ≠ 0. Kinematic coordinates have q'_k = ρ. The print has slips: F⁻¹ for F⁻ in (12), (18), M_k for M_{k+1} in (29),
(30), and (32) lacks the inverse of its first bracket.
"""

import warnings
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.linalg import LinAlgWarning, lu_factor

from biped.kernels.mechanism.linearization import Derivatives
from biped.mechanism.errors import SingularStepError
from contact.arrays import Floats, Integers

# A pivot below this part of its row's size is nothing but rounding.
_ROUNDING = 1e-13


@dataclass(frozen=True)
class Rule:
    """Of the step.

    Attributes:
        alpha: of the midpoint.
        h: [s] its length.
        share: σ, the part of the forces' impulses that acts at its beginning.
    """

    alpha: float
    h: float
    share: float


def _solved(matrix: Floats, load: Floats) -> Floats:
    """Not by SciPy's lu_solve: on a busy machine its threads wait for each other, much longer than they compute."""
    return np.asarray(np.linalg.solve(matrix, load), dtype=np.float64)


class StepChain:
    """Derivatives of one step's map by w = (q, p, u, ρ); q, q' in the order of the tree.

    Args:
        found: derivatives of the equations, at the solution.
        multiplier: (m,) λ.
        rule: of the step.
        dynamic: (nd,) the tree's places of the dynamic coordinates.
        kinematic: (nk,) those of the kinematic ones.
        inputs: (nu,) places of u in the row of inputs.
        above: for each coordinate, those on one path to the root with it.

    Raises:
        SingularStepError: the step has no derivative.
    """

    def __init__(
        self,
        found: Derivatives,
        multiplier: Floats,
        rule: Rule,
        dynamic: Integers,
        kinematic: Integers,
        inputs: Integers,
        related: list[Integers],
    ) -> None:
        self.found, self.multiplier, self.rule = found, multiplier, rule
        self.dynamic, self.kinematic, self.inputs, self.related = dynamic, kinematic, inputs, related
        n, nd, nu, nk = found.force.shape[0], dynamic.size, inputs.size, kinematic.size
        self.n, self.size = n, n + nd + nu + nk
        self.at_q, self.at_p = slice(0, n), slice(n, n + nd)
        self.at_u, self.at_rho = slice(n + nd, n + nd + nu), slice(n + nd + nu, self.size)
        self._set_equations()
        self._set_first()

    def _set_equations(self) -> None:
        """∂E/∂z, ∂p'/∂z and K."""
        found, rule, n, d = self.found, self.rule, self.n, self.dynamic
        by_q, by_v = found.hessian[:n], found.hessian[n:]
        self.e_by_z = rule.h * (1.0 - rule.alpha) * by_q - by_v + rule.share * rule.h * found.force
        self.p_by_z = rule.h * rule.alpha * by_q + by_v + (1.0 - rule.share) * rule.h * found.force
        self.e_by_end = rule.alpha * self.e_by_z[:, :n] + self.e_by_z[:, n:] / rule.h
        self.p_by_end = rule.alpha * self.p_by_z[:, :n] + self.p_by_z[:, n:] / rule.h
        m = self.multiplier.size
        self.matrix = np.zeros((d.size + m, d.size + m))
        self.matrix[: d.size, : d.size] = self.e_by_end[np.ix_(d, d)]
        self.matrix[: d.size, d.size :] = -found.rows[0][:, d].T
        self.matrix[d.size :, : d.size] = found.rows[1][:, d]
        self._check_regular()

    def _check_regular(self) -> None:
        """Refuse a K with a pivot that is nothing but rounding."""
        if not np.all(np.isfinite(self.matrix)):
            raise SingularStepError("the step's equations have derivatives that are not finite")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", LinAlgWarning)  # of a pivot that is zero, which is told below
            triangle, _ = lu_factor(self.matrix, check_finite=False)
        sizes = np.abs(self.matrix).sum(axis=0)
        sizes[: self.dynamic.size] += self._inertia_sizes()[self.dynamic]
        pivots = np.abs(np.diag(triangle))
        if np.any(pivots <= _ROUNDING * sizes):
            raise SingularStepError(self._reason())

    def _inertia_sizes(self) -> Floats:
        """(n,) of what is summed up in M's diagonal: its size before anything cancels."""
        motion, block = self.found.middle.poses.motion, self.found.beyond.inertia
        slide, turn = np.linalg.norm(motion[:, :3], axis=1), np.linalg.norm(motion[:, 3:], axis=1)
        moment = np.linalg.norm(block[:, :3, 3:], axis=(1, 2))
        inertia = np.trace(block[:, 3:, 3:], axis1=1, axis2=2)
        sizes: Floats = (slide**2 * block[:, 0, 0] + 2.0 * slide * turn * moment + turn**2 * inertia) / self.rule.h
        return sizes

    def _reason(self) -> str:
        rank = np.linalg.matrix_rank(self.found.rows[1][:, self.dynamic])
        if rank < self.multiplier.size:
            return (
                f"the constraints depend on one another: {self.multiplier.size} rows of Dh have rank {rank}; leave out "
                "what others imply"
            )
        return (
            "the step has no derivative: its matrix ∂E/∂q' is singular (det M = 0); a coordinate moves no mass, or the "
            "step is too long"
        )

    @property
    def determinant(self) -> float:
        """Det M of (8)."""
        d = self.dynamic.size
        return float(np.linalg.det(self.matrix[:d, :d]))

    @property
    def constraint_determinant(self) -> float:
        """det[Dh(q') M⁻¹ Dh(q)ᵀ] of section VII; 1 without constraints, NaN where M is singular."""
        d = self.dynamic.size
        M, before, after = self.matrix[:d, :d], -self.matrix[:d, d:], self.matrix[d:, :d]
        try:
            return float(np.linalg.det(after @ np.linalg.solve(M, before)))
        except np.linalg.LinAlgError:
            return float("nan")

    def _set_first(self) -> None:
        """(10)-(15), (29), (30), and alike for all of w."""
        found, rule, n, d = self.found, self.rule, self.n, self.dynamic
        start = np.zeros((n, self.size))  # q_w
        start[:, self.at_q] = np.eye(n)
        inputs = found.by_input[self.inputs].T
        rest = np.zeros((d.size + self.multiplier.size, self.size))
        e_by_start = (1.0 - rule.alpha) * self.e_by_z[:, :n] - self.e_by_z[:, n:] / rule.h
        e_by_start = e_by_start - np.einsum("c,cij->ij", self.multiplier, found.curvature[0])
        rest[: d.size, self.at_q] = e_by_start[d]
        rest[: d.size, self.at_p] = np.eye(d.size)
        rest[: d.size, self.at_u] = rule.share * rule.h * inputs[d]
        rest[: d.size, self.at_rho] = self.e_by_end[np.ix_(d, self.kinematic)]
        rest[d.size :, self.at_rho] = found.rows[1][:, self.kinematic]
        solved = -_solved(self.matrix, rest)
        #: (n, size) ∂q'/∂w.
        self.end = np.zeros((n, self.size))
        self.end[d] = solved[: d.size]
        self.end[self.kinematic, self.at_rho] = np.eye(self.kinematic.size)
        #: (m, size) ∂λ/∂w.
        self.multipliers = solved[d.size :]
        #: (2n, size) ∂(q_m, v)/∂w.
        self.z = np.vstack([(1.0 - rule.alpha) * start + rule.alpha * self.end, (self.end - start) / rule.h])
        #: (nd, size) ∂p'/∂w.
        self.momentum = self.p_by_z[d] @ self.z
        self.momentum[:, self.at_u] += (1.0 - rule.share) * rule.h * inputs[d]

    # --- second derivatives ---

    @cached_property
    def second(self) -> tuple[Floats, Floats, Floats]:
        """(nd, size, size) of q'_d and of p', (m, size, size) of λ: (16)-(27), (31), (32)."""
        rule, d, m = self.rule, self.dynamic, self.multiplier.size
        by_q, by_v = self._lagrangian_terms()
        forces = self._force_terms()
        left = np.empty((d.size + m, self.size, self.size))
        left[: d.size] = (1.0 - rule.alpha) * rule.h * by_q - by_v + rule.share * rule.h * forces
        left[: d.size] -= self._constraint_terms()
        for c in range(m):
            left[d.size + c] = self.end.T @ self.found.curvature[1, c] @ self.end
        flat = -_solved(self.matrix, left.reshape(d.size + m, -1))
        solved = flat.reshape(left.shape)
        momentum = rule.alpha * rule.h * by_q + by_v + (1.0 - rule.share) * rule.h * forces
        momentum += (self.p_by_end[np.ix_(d, d)] @ flat[: d.size]).reshape(momentum.shape)
        return solved[: d.size], momentum, solved[d.size :]

    def _lagrangian_terms(self) -> tuple[Floats, Floats]:
        """D³L(x, z_a, z_b) for the q and the v of all dynamic coordinates; only joints on one path matter."""
        by_q, by_v = (np.empty((self.dynamic.size, self.size, self.size)) for _ in range(2))
        for row, j in enumerate(self.dynamic):
            near = self.related[j]
            both = np.concatenate([near, near + self.n])
            z = self.z[both]
            corner = np.ix_(both, both)
            by_q[row] = z.T @ (self.found.third[j][corner] @ z)
            by_v[row] = z.T @ (self.found.third[self.n + j][corner] @ z)
        return by_q, by_v

    def _force_terms(self) -> Floats:
        """f_zz(z_a, z_b) and f_uq."""
        d, middle = self.dynamic, self.z[: self.n]
        result = np.zeros((d.size, self.size, self.size))
        bent = self.found.force_second
        for row, j in enumerate(d):
            if np.any(bent[j]):
                result[row] = middle.T @ bent[j] @ middle
        for place, i in enumerate(self.inputs):
            mixed = self.found.by_both[i][d] @ middle
            u = self.at_u.start + place
            result[:, u, :] += mixed
            result[:, :, u] += mixed
        return result

    def _constraint_terms(self) -> Floats:
        """Dh(q)ᵀ λ, differentiated twice, but for Dh(q)ᵀ λ_{ab}."""
        d = self.dynamic
        result = np.zeros((d.size, self.size, self.size))
        if self.multiplier.size:
            mixed = np.einsum("cjl,cb->jlb", self.found.curvature[0][:, d], self.multipliers)
            result[:, self.at_q, :] += mixed
            result[:, :, self.at_q] += mixed.transpose(0, 2, 1)
            result[:, self.at_q, self.at_q] += self.found.bent[d]
        return result

    def weighted_second(self, q: Floats, p: Floats) -> Floats:
        """(size, size) q · ∂²q'_d + p · ∂²p', weights (nd,) each, at the price of a first derivative."""
        found, rule, n, d = self.found, self.rule, self.n, self.dynamic
        load = np.zeros(self.matrix.shape[0])
        load[: d.size] = q + self.p_by_end[np.ix_(d, d)].T @ p
        adjoint = _solved(self.matrix.T, load)
        on_e, on_h = np.zeros(n), adjoint[d.size :]
        on_e[d] = -adjoint[: d.size]
        on_p = np.zeros(n)
        on_p[d] = p
        along = np.concatenate([rule.h * ((1.0 - rule.alpha) * on_e + rule.alpha * on_p), on_p - on_e])
        on_f = rule.h * (rule.share * on_e + (1.0 - rule.share) * on_p)
        hessian = np.tensordot(along, found.third, 1)
        hessian[:n, :n] += np.tensordot(on_f, found.force_second, 1)
        result: Floats = self.z.T @ hessian @ self.z
        self._add_weighted_inputs(on_f, result)
        if self.multiplier.size:
            mixed = np.einsum("cjl,j,cb->lb", found.curvature[0], on_e, self.multipliers)
            result[self.at_q, :] -= mixed
            result[:, self.at_q] -= mixed.T
            result[self.at_q, self.at_q] -= np.tensordot(on_e, found.bent, 1)
            result -= self.end.T @ np.tensordot(on_h, found.curvature[1], 1) @ self.end
        return result

    def _add_weighted_inputs(self, on_f: Floats, result: Floats) -> None:
        for place, i in enumerate(self.inputs):
            mixed = on_f @ self.found.by_both[i] @ self.z[: self.n]
            u = self.at_u.start + place
            result[u, :] += mixed
            result[:, u] += mixed

"""Newton's matrix of a step: exact against finite differences, and solved exactly by the two-sided factorization."""

import math

import numpy as np
import pytest

from biped.disturbances import Patch, Platform, compile_ground
from biped.integrators.lee.kernels.dense_newton import fill_columns, new_column_newton
from biped.integrators.lee.kernels.screw_body import ScrewBody
from biped.kernels.solve.dense import factor_dense, solve_dense
from biped.kernels.tree.factorization import eliminate, solve
from biped.kernels.variational.discrete_body import MidpointBody
from biped.kernels.variational.equations import displace, set_newton_blocks
from biped.kernels.variational.newton import evaluate
from biped.model import Model, human, random_tree
from biped.signals import Signal
from contact import Floor
from contact.ground import begin_ground
from contact.modes import SLIDING, STICKING
from tests.conftest import bent_configuration
from tests.differences import jacobian

from .touching_step import TouchingStep

H = 2e-3
KINDS = ("revolute", "prismatic", "helical", "spherical")


class Step(TouchingStep):
    def __init__(self, model: Model, q: np.ndarray, rng: np.random.Generator, body: MidpointBody | ScrewBody) -> None:
        super().__init__(model, q, rng, lambda c: 1e-4 if c % 4 == 1 else 0.05)
        self.body = body
        rates = 8.0 * rng.normal(size=model.nv)
        self.drive(rates, 20.0 * rng.normal(size=model.nv), 300.0, 5.0)
        self.scratch.shift[:] = 0.0
        offset, poses = rates + 2.0 * rng.normal(size=model.nv), self.scratch.motion.poses
        displace(self.tree, poses, self.arrays.q, np.zeros(3), H, offset, self.scratch.q, self.scratch.shift)
        self.base = self.scratch.q.copy(), self.scratch.shift.copy()
        self.evaluate()
        self.axes = self.scratch.next._replace(**{k: v.copy() for k, v in self.scratch.next._asdict().items()})

    def evaluate(self) -> np.ndarray:
        norm = evaluate(self.body, self.tree, self.ground, self.arrays, self.pushes, self.scratch, H)
        assert math.isfinite(norm)
        return self.scratch.residual.copy()

    def at(self, delta: np.ndarray) -> np.ndarray:
        displace(self.tree, self.axes, *self.base, 1.0, delta, self.scratch.q, self.scratch.shift)
        return self.evaluate()

    def departure(self, exact: np.ndarray) -> float:
        found = jacobian(self.at, np.zeros(self.model.nv), 1e-5)
        self.at(np.zeros(self.model.nv))
        return found.departure(-exact, 1e-8, alike=True)

    def assembled(self) -> np.ndarray:
        """Σ J⁻ᵀ G J⁺, longhand from the bodies' blocks and the ancestors of each body."""
        set_newton_blocks(self.body, self.tree, self.ground, self.arrays, self.scratch, H)
        left, right = self.scratch.motion.poses.motion, self.scratch.next.motion
        A = np.diag(self.scratch.diagonal)
        for i in range(self.model.n):
            dofs = self.ancestors(i)
            A[np.ix_(dofs, dofs)] += left[dofs] @ self.scratch.motion.factors.block[i] @ right[dofs].T
        return A

    def ancestors(self, body: int) -> list[int]:
        dofs: list[int] = []
        while body >= 0:
            first = self.tree.first_v[body]
            dofs += range(first, first + self.tree.dofs[body])
            body = int(self.tree.parent[body])
        return dofs

    def solved(self, load: np.ndarray) -> np.ndarray:
        set_newton_blocks(self.body, self.tree, self.ground, self.arrays, self.scratch, H)
        left, right, factors = self.scratch.motion.poses.motion, self.scratch.next.motion, self.scratch.motion.factors
        eliminate(self.tree, left, right, self.scratch.diagonal, factors, 0)
        solution = np.full(self.model.nv, np.nan)
        solve(self.tree, left, right, load, factors, solution)
        return solution


def cases():
    for body in (MidpointBody(), ScrewBody()):
        kind = type(body).__name__
        for seed in range(3):
            for floating in (True, False):
                rng = np.random.default_rng(seed)
                model = random_tree(rng, 7, floating=floating, kinds=KINDS, contacts=6, armature=0.2)
                yield pytest.param(model, seed, body, id=f"{kind}-tree-{seed}-{'floating' if floating else 'fixed'}")
        yield pytest.param(human(), 7, body, id=f"{kind}-human")


def make(model: Model, seed: int, body: MidpointBody | ScrewBody) -> Step:
    rng = np.random.default_rng(100 + seed)
    q = bent_configuration(model, rng, 0.5)
    return Step(model, q, rng, body)


@pytest.mark.parametrize(("model", "seed", "body"), list(cases()))
def test_matrix_is_the_derivative_with_contacts(model, seed, body):
    step = make(model, seed, body)
    assert step.departure(step.assembled()) <= 1.0
    force, mode = step.arrays.force, step.arrays.mode
    pushing = force[:, 2] > 0.0
    assert pushing.any() or not model.is_floating
    if model.name == "human":
        inside = np.hypot(*force[:, :2].T) < 0.999 * step.floor.mu_s * force[:, 2]
        assert (pushing & (mode == SLIDING)).any()
        assert (pushing & (mode == STICKING) & inside).any()
        assert (pushing & (mode == STICKING) & ~inside).any()


@pytest.mark.parametrize("body", [MidpointBody(), ScrewBody()], ids=lambda body: type(body).__name__)
def test_matrix_is_the_derivative_on_a_floor_that_moves_and_has_a_patch(body):
    step = make(human(), 7, body)
    at_rest = step.arrays.force.copy()
    platform = Platform(*[Signal.step(0.02, 0.0, 2.0 * H)] * 6, pivot=(0.1, 0.2, 0.3))
    patch = Patch((-1.0, 1.0), (0.0, 1.0), Floor(k_n=2e5, mu_s=0.2, mu_d=0.1))
    step.ground = compile_ground(step.floor, step.model, platform, [patch])
    begin_ground(step.ground, tuple(step.arrays.q[:3]), step.scratch.motion.poses.contact, 0.5 * H, 1.5 * H)
    step.evaluate()
    assert np.abs(step.arrays.force - at_rest).max() > 10.0
    assert set(step.ground.region) == {0, 1}
    assert step.departure(step.assembled()) <= 1.0


@pytest.mark.parametrize(("model", "seed", "body"), list(cases()))
def test_both_factorizations_solve_it(model, seed, body):
    step = make(model, seed, body)
    A, load = step.assembled(), np.random.default_rng(seed).normal(size=model.nv)
    solution = step.solved(load)
    assert np.linalg.norm(A @ solution - load) <= 1e-9 * np.linalg.norm(load) * np.sqrt(np.linalg.cond(A))
    scratch = step.scratch
    A = step.assembled()
    left, right, factors = scratch.motion.poses.motion, scratch.next.motion, scratch.motion.factors
    columns = new_column_newton(model.n, model.nv)
    block, wrench = factors.block, factors.wrench
    fill_columns(step.tree, left, right, block, scratch.diagonal, columns.moves, wrench, columns.matrix)
    assert np.abs(columns.matrix - A).max() < 1e-13 * np.abs(A).max()
    solution = np.full(model.nv, np.nan)
    factor_dense(columns.matrix, columns.order)
    solve_dense(columns.matrix, columns.order, load, solution)
    assert np.abs(solution - np.linalg.solve(A, load)).max() <= 1e-13 * np.linalg.cond(A) * np.abs(solution).max()


@pytest.mark.parametrize("body", [MidpointBody(), ScrewBody()], ids=lambda body: type(body).__name__)
def test_newton_converges_quadratically(body):
    """From a guess off by 0.3 rad, each residual is bounded by the square of the one before."""
    model = human().without_contacts()
    rng = np.random.default_rng(3)
    step = make(model, 3, body)
    step.scratch.q[:], step.scratch.shift[:] = step.base
    displace(model.tree, step.axes, *step.base, 0.05, rng.normal(size=model.nv), step.scratch.q, step.scratch.shift)
    norms = [float(np.linalg.norm(step.evaluate()))]
    for _ in range(7):
        delta = step.solved(step.scratch.residual)
        q, shift = step.scratch.q.copy(), step.scratch.shift.copy()
        displace(model.tree, step.scratch.next, q, shift, 1.0, delta, step.scratch.q, step.scratch.shift)
        norms.append(float(np.linalg.norm(step.evaluate())))
    above_noise = [n for n in norms if n > 1e-11]
    assert norms[-1] < 1e-9
    orders = np.diff(np.log(above_noise[1:])) / np.diff(np.log(above_noise[:-1]))
    assert len(above_noise) >= 4
    assert orders[-1] == pytest.approx(2.0, abs=0.25)

"""How a step is solved: the first guess, the line search, the factorization that is kept, and when it is given up."""

import math

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from biped import Recursive, State, dynamics, simulate
from biped.disturbances import Push, compile_ground, compile_pushes
from biped.kernels.solve.causes import NOT_CONVERGED, NOT_FINITE, TURNED_TOO_FAR
from biped.kernels.state.simulation_state import LAST_STEP_LENGTH, PATIENCE
from biped.kernels.step.step import begin_substep, prepare
from biped.kernels.tree.factorization import eliminate, solve
from biped.kernels.tree.kinematics import new_poses, place_bodies
from biped.kernels.variational.equations import displace, new_scratch, set_newton_blocks
from biped.kernels.variational.newton import (
    RETRY_AFTER,
    evaluate,
    extrapolate,
    find_by_articulated_newton,
    iterate,
    may_serve,
    note_purpose,
    on_branch,
    round_off,
    search_line,
    solve_step,
    tolerance_of,
)
from biped.model import random_tree
from biped.model.pinocchio_model import orientations
from contact import Floor
from contact.modes import NONE, SLIDING, STICKING
from tests.conftest import bent_configuration

pytestmark = pytest.mark.jit_off

KINDS = ("revolute", "prismatic", "spherical")
H = 1e-3
SEEDS = range(3)


class Search:
    def __init__(self, seed: int, floating: bool = True, **settings) -> None:
        rng = np.random.default_rng(seed)
        self.model = model = random_tree(rng, 7, floating=floating, kinds=KINDS, contacts=4 if floating else 0)
        self.tree, self.method = model.tree, Recursive(**settings).method(model)
        q = bent_configuration(model, rng, 0.5)
        if floating:
            q[2] -= 0.05 + dynamics.forward_kinematics(model, q).contact[:, 2].max()
        self.arrays = arrays = State.at(model, q, 2.0 * rng.normal(size=model.nv)).arrays
        arrays.mode[:] = [SLIDING, STICKING] * (model.nc // 2)
        arrays.clock[LAST_STEP_LENGTH] = 2.0 * H
        self.scratch = new_scratch(model.n, model.nq, model.nv, model.nc)
        self.ground = compile_ground(Floor(b_n=5.0, b_t=5.0), model)
        self.pushes = compile_pushes(model, [Push(model.body_names[-1], (1, 2, 3), 2.0, 0.0, 1.0, point=(0.1, 0, 0.2))])
        prepare(self.tree, arrays, self.scratch)
        begin_substep(self.tree, self.ground, arrays, self.pushes, self.scratch, 0.0, H)
        self.guess()

    @property
    def things(self):
        return self.tree, self.ground, self.arrays, self.pushes, self.scratch

    def guess(self):
        extrapolate(*self.things, self.method.guess, H)

    def norm(self):
        return evaluate(self.method.body, *self.things, H)

    def newton(self):
        norm, motion = self.norm(), self.scratch.motion
        set_newton_blocks(self.method.body, self.tree, self.ground, self.arrays, self.scratch, H)
        factors = motion.factors
        eliminate(self.tree, motion.poses.motion, self.scratch.next.motion, self.scratch.diagonal, factors, 0)
        solve(
            self.tree, motion.poses.motion, self.scratch.next.motion, self.scratch.residual, factors, self.scratch.delta
        )
        return norm

    def keep(self):
        factors = self.scratch.motion.factors
        self.arrays.cache.kept_u[:], self.arrays.cache.kept_w[:], self.arrays.cache.kept_d[:] = (
            factors.u, factors.w, factors.d,
        )  # fmt: skip
        note_purpose(self.arrays, H)

    def beyond(self, base, factor, delta):
        poses = new_poses(self.model.n, self.model.nv, self.model.nc)
        place_bodies(self.tree, base[0], poses)
        displace(self.tree, poses, *base, factor, delta, self.scratch.q, self.scratch.shift)
        return self.norm(), self.here()

    def here(self):
        return self.scratch.q.copy(), self.scratch.shift.copy()

    def put(self, place):
        self.scratch.q[:], self.scratch.shift[:] = place
        return self.norm()


def same(a, b):
    return all(np.array_equal(x, y, equal_nan=True) for x, y in zip(a, b, strict=True))


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("floating", [True, False])
def test_the_first_guess_goes_on_as_the_last_steps_did(seed, floating):
    """By rate + (h + h_last)/2 (change + curve) over h; a root's place is a shift, a turn one in world axes."""
    search = Search(seed, floating)
    arrays, rng = search.arrays, np.random.default_rng(seed)
    arrays.cache.rate_change[:], arrays.cache.rate_curve[:] = 30.0 * rng.normal(size=(2, search.model.nv))
    search.guess()
    v = arrays.cache.rate + 1.5 * H * (arrays.cache.rate_change + arrays.cache.rate_curve)
    R = orientations(search.model, arrays.q)
    for i, body in enumerate(search.model.bodies):
        a, j, parent = search.tree.first_q[i], search.tree.first_v[i], search.tree.parent[i]
        if body.joint.has_axis:
            assert search.scratch.q[a] == pytest.approx(arrays.q[a] + H * v[j], rel=1e-14)
            continue
        if body.joint.kind == "floating":
            assert search.scratch.shift == pytest.approx(H * v[:3], rel=1e-14)
            a, j = a + 3, j + 3
        turn = v[j : j + 3] if parent < 0 else R[parent].T @ v[j : j + 3]
        before, after = (Rotation.from_quat(q[[a + 1, a + 2, a + 3, a]]) for q in (arrays.q, search.scratch.q))
        x, y, z, w = (after * before.inv()).as_quat(canonical=True)
        assert np.array([x, y, z]) / w == pytest.approx(0.5 * H * turn, rel=1e-9, abs=1e-14)


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("overshoot", [1.0, 3.0, 7.0, 20.0])
def test_the_line_search_takes_the_longest_of_halves_that_reduces_the_residual(seed, overshoot):
    search = Search(seed)
    norm = search.newton()
    base, delta = search.here(), overshoot * search.scratch.delta
    factor, tries = 1.0, 1
    while (expected := search.beyond(base, factor, delta))[0] > (1.0 - 1e-4 * factor) * norm:
        factor, tries = 0.5 * factor, tries + 1
    assert (tries > 1) == (overshoot > 2.0)
    for most in (tries, tries - 1):
        search.put(base)
        search.scratch.delta[:] = delta
        method = search.method._replace(solver=search.method.solver._replace(max_backtracks=most))
        found, _ = search_line(*search.things, method, H, 0.0, norm, False)
        if most == tries:
            assert found == expected[0]
            assert same(search.here(), expected[1])
        else:
            assert found == math.inf


@pytest.mark.parametrize("seed", SEEDS)
def test_the_line_search_asks_for_a_little_less_each_time(seed):
    """Less by 1e-4 of the part that is taken; unless the residual is below the tolerance."""
    search = Search(seed)
    search.newton()
    base, delta = search.here(), search.scratch.delta.copy()
    reduced, _ = search.beyond(base, 1.0, delta)
    for norm, tolerance, taken in (
        (reduced / (1.0 - 1.01e-4), 0.0, True),
        (reduced / (1.0 - 0.99e-4), 0.0, False),
        (reduced, reduced, True),
        (reduced, 0.999 * reduced, False),
    ):
        search.put(base)
        search.scratch.delta[:] = delta
        method = search.method._replace(solver=search.method.solver._replace(max_backtracks=1))
        found, _ = search_line(*search.things, method, H, tolerance, norm, False)
        assert (found == reduced) == taken


def test_a_factorization_serves_the_same_contacts_and_step_length_only():
    search = Search(0)
    arrays = search.arrays
    arrays.force[:, 2] = (1.0, 0.0, 2.0, 0.0)
    note_purpose(arrays, H)
    assert may_serve(arrays, H)
    assert not may_serve(arrays, 2.0 * H)
    for c in range(4):
        force, mode = arrays.force[c, 2], arrays.mode[c]
        arrays.force[c] = (5.0, 5.0, 0.0 if force else 1.0)
        assert not may_serve(arrays, H)
        arrays.force[c] = (7.0, 7.0, 3.0 if force else 0.0)  # how hard it pushes does not matter
        assert may_serve(arrays, H)
        arrays.mode[c] = STICKING if mode == SLIDING else SLIDING
        assert not may_serve(arrays, H)
        for other in (1, 2, 3, 4):  # a mode and a push are not another mode
            arrays.mode[c], arrays.force[c, 2] = other, 0.0 if force else 1.0
            assert not may_serve(arrays, H)
        arrays.mode[c], arrays.force[c, 2] = mode, force
    assert may_serve(arrays, H)
    arrays.counts[PATIENCE] = 2
    assert [may_serve(arrays, H) for _ in range(3)] == [False, False, True]
    assert arrays.counts[PATIENCE] == 0


@pytest.mark.parametrize("seed", SEEDS)
def test_a_kept_factorization_takes_a_whole_step_or_none(seed):
    search = Search(seed)
    norm = search.newton()
    search.keep()
    base, delta = search.here(), search.scratch.delta.copy()
    expected = search.beyond(base, 1.0, delta)
    assert expected[0] < norm
    search.put(base)
    assert iterate(*search.things, search.method, H, 0.0, norm, True)[0] == pytest.approx(expected[0], rel=1e-9)
    assert search.here()[0] == pytest.approx(expected[1][0], abs=1e-14, nan_ok=True)  # its place is the shift
    assert search.here()[1] == pytest.approx(expected[1][1], abs=1e-14)
    # What makes it worse is taken back, unless it is still within the tolerance.
    search.put(base)
    residual = search.scratch.residual.copy()
    search.arrays.cache.kept_d[:] *= -1.0
    assert iterate(*search.things, search.method, H, 0.0, norm, True)[0] == norm
    assert same(search.here(), base)
    assert np.array_equal(search.scratch.residual, residual)
    assert norm < iterate(*search.things, search.method, H, 1e6, norm, True)[0] < 1e6
    assert not same(search.here(), base)


def solved(search):
    finder = search.method.root_finder
    return find_by_articulated_newton(*search.things, search.method, finder, H)


@pytest.mark.parametrize("seed", SEEDS)
def test_a_step_is_solved_in_as_few_iterations_as_it_takes(seed):
    search = Search(seed, tolerance=1e-12)
    start = search.here()
    most = solved(search)
    assert 2 <= most <= 12
    assert search.norm() <= tolerance_of(search.method, search.tree, search.scratch, H)
    end = search.here()
    assert search.arrays.cache.kept_for[0] == H
    search.put(end)
    assert solved(search) == 0
    for allowed, found in ((most, most), (most - 1, NOT_CONVERGED)):
        search.put(start)
        search.arrays.cache.kept_for[:] = 0.0
        search.method = search.method._replace(solver=search.method.solver._replace(max_iterations=allowed))
        assert solved(search) == found


@pytest.mark.parametrize("seed", SEEDS)
def test_a_factorization_that_does_not_do_rests_for_a_while(seed):
    """One that does is not given up; one that does not, of another step, waits for 16 steps."""
    search = Search(seed)
    start = search.here()
    solved(search)
    search.put(start)
    fresh = search.newton()
    search.keep()
    search.put(start)
    method = search.method._replace(solver=search.method.solver._replace(tolerance=0.9 * fresh))
    assert find_by_articulated_newton(*search.things, method, method.root_finder, H) == 1
    assert search.arrays.counts[PATIENCE] == 0
    search.put(start)
    search.arrays.cache.kept_d[:] *= -1.0
    assert solved(search) >= 2
    assert search.arrays.counts[PATIENCE] == RETRY_AFTER == 16


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize(("factor", "again"), [(1.1, False), (0.9, True)])
def test_the_last_iteration_goes_by_the_factorization_before_where_that_will_do(seed, factor, again):
    """It is tried if what the first left, reduced by the same part again, is within the tolerance."""
    search = Search(seed)
    search.arrays.mode[:] = NONE  # without the law's kinks, so that Newton's method converges from the start
    search.newton()
    search.beyond(search.here(), -20.0, search.scratch.delta.copy())  # far enough for rounding not to matter
    before, base = search.newton(), search.here()
    search.keep()
    left, _ = search.beyond(base, 1.0, search.scratch.delta)
    first = search.arrays.cache.kept_d.copy()
    search.put(base)
    search.arrays.cache.kept_for[:] = 0.0
    tolerance = factor * left * left / before
    solver = search.method.solver._replace(tolerance=tolerance, max_iterations=2)
    method = search.method._replace(solver=solver)
    assert tolerance_of(method, search.tree, search.scratch, H) == tolerance < left
    find_by_articulated_newton(*search.things, method, method.root_finder, H)
    assert np.array_equal(search.arrays.cache.kept_d, first) == (not again)


def test_a_guess_without_a_residual_is_no_solution():
    search = Search(0)
    search.arrays.momentum[0] = math.nan
    assert solve_step(*search.things, search.method, H) == NOT_FINITE


def test_only_small_turns_are_on_the_branch():
    """Each body turns by 90° at most, a hinge by half a turn; a slide goes as far as it likes."""
    search = Search(1)
    assert solve_step(*search.things, search.method, H) > 0
    kinds = [body.joint.kind for body in search.model.bodies]
    assert {"revolute", "prismatic"} <= set(kinds)
    hinge, slide = (search.tree.first_q[kinds.index(kind)] for kind in ("revolute", "prismatic"))
    check = search.tree, search.arrays, search.scratch
    assert on_branch(*check, 7) == 7
    q, last = search.arrays.q, search.model.n - 1
    for place, change, found in (
        (hinge, 3.14, 7), (hinge, -3.14, 7), (hinge, 3.142, TURNED_TOO_FAR), (hinge, -3.142, TURNED_TOO_FAR),
        (hinge, math.nan, TURNED_TOO_FAR), (slide, 9.0, 7),
    ):  # fmt: skip
        search.scratch.q[place] = q[place] + change
        assert on_branch(*check, 7) == found
        search.scratch.q[place] = q[place]
    for i in (0, last):
        for angle, found in ((1.5707, 7), (1.5709, TURNED_TOO_FAR), (math.nan, TURNED_TOO_FAR)):
            kept = search.scratch.turn[i, 0]
            search.scratch.turn[i, 0] = math.cos(angle / 2.0)
            assert on_branch(*check, 7) == found
            search.scratch.turn[i, 0] = kept


@pytest.mark.parametrize("seed", SEEDS)
def test_the_tolerance_is_what_rounding_leaves_where_that_is_more(seed):
    """ε (n + the farthest coordinate) (Σ m r² + tr J) / h about the reference point, 1e-4 at most."""
    search = Search(seed)
    model, scratch, tree = search.model, search.scratch, search.tree
    places = dynamics.forward_kinematics(model, search.arrays.q).position - search.arrays.q[:3]
    masses = np.array([body.mass for body in model.bodies])
    spread = masses @ (places**2).sum(axis=1) + sum(np.trace(np.array(body.inertia)) for body in model.bodies)
    axes = [first for body, first in zip(model.bodies, tree.first_q, strict=True) if body.joint.has_axis]
    for turns in (0.0, -1e5, 1e12):
        scratch.q[axes[-1]] = turns
        farthest = np.abs(scratch.q[axes]).max()
        for h in (H, -H):
            expected = min((model.n + farthest) * np.finfo(float).eps * spread / H, 1e-4)
            assert round_off(tree, scratch.q, scratch.motion.poses, h) == pytest.approx(expected, rel=1e-9)
            assert tolerance_of(search.method, tree, scratch, h) == pytest.approx(max(1e-8, expected), rel=1e-9)


@pytest.mark.parametrize("seed", SEEDS)
def test_what_the_search_leaves_is_no_loss_of_momentum(seed):
    """Steps solved to a tenth of their first residual keep both momenta about the inertial origin to round-off."""
    search = Search(seed)
    model = search.model.without_contacts().with_gravity((0.0, 0.0, 0.0))
    state = State.at(model, search.arrays.q, search.arrays.cache.rate)
    state.arrays.cache.rate[:] = 0.0  # a guess that is far off
    linear, angular = state.momentum[:3].copy(), state.momentum[3:6] + np.cross(state.q[:3], state.momentum[:3])
    size = np.abs(state.momentum).max()
    state = simulate(model, state=state, step=H, duration=5.0 * H, integrator=Recursive(tolerance=0.1 * size)).state
    assert np.abs(state.momentum[:3] - linear).max() < 1e-13 * size
    assert np.abs(state.momentum[3:6] + np.cross(state.q[:3], state.momentum[:3]) - angular).max() < 1e-13 * size
    exact = State.at(model, search.arrays.q, search.arrays.cache.rate)
    exact = simulate(model, state=exact, step=H, duration=5.0 * H, integrator=Recursive(tolerance=1e-12)).state
    assert np.abs(state.momentum - exact.momentum).max() > 1e-9 * size  # something was left

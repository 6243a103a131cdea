"""Solver of ``contact_qp`` against three libraries, and against the optimality conditions."""

import numpy as np
import pytest

from controllers.kernels.contact_qp import BASE, INFEASIBLE, ITERATIONS, NOT_FINITE, SOLVED, ContactQp, new_contact_qp

from .contact_programs import INPUTS, OPTIONS, drawn, matrices, optimality, ours, own_multipliers, recorded, theirs

#: Of libraries whose end is exact to rounding, or to what they are asked for.
AGREEMENT = 1e-7
#: Of the conditions of optimality, each by its scale.
EXACT = 1e-10


def check(qp: ContactQp, bounded: int, solvers=tuple(OPTIONS)) -> int:
    said = matrices(qp, bounded)
    ended, unknown = ours(qp, bounded)
    assert ended in (SOLVED, INFEASIBLE)
    answers = [theirs(solver, said) for solver in solvers]
    if ended == INFEASIBLE:
        assert answers[0] is None
        assert sum(answer is None for answer in answers) >= 2
        return ended
    held = np.setdiff1d(np.arange(len(unknown)), said.places)
    assert (unknown[held] == 0.0).all()
    assert optimality(said, unknown[said.places], *own_multipliers(qp, bounded)).worst < EXACT
    for answer in answers:
        if answer is not None:  # ProxQP now and then ends at its most iterations; what it says is right
            scale = 1.0 + abs(answer).max()
            np.testing.assert_allclose(unknown[said.places] / scale, answer / scale, rtol=0.0, atol=AGREEMENT)
    assert answers[0] is not None
    return ended


def ends_of_drawn(count: int, seed: int) -> list[int]:
    random = np.random.default_rng(seed)
    return [check(*drawn(random, 10 ** random.uniform(0, 2), 10 ** random.uniform(-8, 0))) for _ in range(count)]


def test_random_programs():
    ends = ends_of_drawn(300, 0)
    assert ends.count(SOLVED) > 200
    assert ends.count(INFEASIBLE) > 10


@pytest.mark.slow
def test_many_random_programs():
    ends_of_drawn(10_000, 1)


@pytest.fixture
def program() -> ContactQp:
    """Return the program of a falling body on four points, six degrees of freedom, without bounds."""
    qp = new_contact_qp(BASE, 4, 4)
    qp.hessian[:], qp.spread[0], qp.friction[0] = np.eye(BASE), 1e-6, 0.5
    qp.base[:], qp.load[2] = np.diag([10.0, 10.0, 10.0, 1.0, 1.0, 1.0]), -98.1
    for point, (x, y) in enumerate([(0.1, 0.1), (0.1, -0.1), (-0.1, 0.1), (-0.1, -0.1)]):
        here = slice(3 * point, 3 * point + 3)
        qp.grasp[:3, here], qp.grasp[3:, here] = np.eye(3), [[0, 0, y], [0, 0, -x], [-y, x, 0]]
    qp.carries[:] = 1
    return qp


def test_at_rest_all_points_bear_alike(program):
    assert check(program, 0) == SOLVED
    forces = program.unknown[BASE:].reshape(4, 3)
    share = 98.1 / (4.0 + 100.0 * program.spread[0])  # of the weight; it sinks by what forces cost
    np.testing.assert_allclose(forces, np.tile([0.0, 0.0, share], (4, 1)), rtol=1e-9, atol=1e-9)
    assert program.counts[ITERATIONS] == 0


def test_points_that_do_not_carry_get_no_force(program):
    program.carries[:2] = 0
    program.gradient[2] = 5.0
    assert check(program, 0) == SOLVED
    assert (program.unknown[BASE : BASE + 6] == 0.0).all()
    assert (program.unknown[BASE + 6 :].reshape(2, 3)[:, 2] > 0.0).all()


def test_in_the_air_nothing_holds_it(program):
    program.carries[:] = 0
    assert check(program, 0) == SOLVED
    np.testing.assert_allclose(program.unknown[:BASE], [0, 0, -9.81, 0, 0, 0], atol=1e-12)


def test_pulled_down_its_points_push_with_nothing(program):
    program.gradient[2] = -50.0
    assert check(program, 0, ("quadprog", "piqp")) == SOLVED
    np.testing.assert_allclose(program.unknown[BASE:], 0.0, atol=1e-9)
    np.testing.assert_allclose(program.unknown[2], -9.81, atol=1e-9)


def test_slid_hard_it_gets_what_friction_gives(program):
    program.gradient[0] = 100.0
    program.hessian[2, 2] = 1e6  # its height counts
    assert check(program, 0) == SOLVED
    forces = program.unknown[BASE:].reshape(4, 3)
    ratio = np.hypot(forces[:, 0], forces[:, 1]) / forces[:, 2]
    np.testing.assert_allclose(ratio, 0.5, rtol=1e-6)


@pytest.mark.parametrize("copies", [2, 3, 4])
def test_duplicated_rows_change_nothing(program, copies):
    rows = np.zeros(BASE + 12)
    rows[0], rows[8] = 1.0, 0.01
    program.gradient[0] = 5.0
    answers = []
    for used in (1, copies):
        program.rows[:], program.lower[:], program.upper[:] = rows, -0.5, 0.5
        assert check(program, used, ("quadprog", "piqp")) == SOLVED
        answers.append(program.unknown.copy())
    np.testing.assert_allclose(*answers, rtol=0.0, atol=1e-9)
    np.testing.assert_allclose(rows @ answers[0], 0.5, atol=1e-9)


def test_rows_that_depend_on_others_and_redundant_bounds(program):
    program.rows[0, 0] = program.rows[1, 1] = 1.0
    program.rows[2] = program.rows[0] + program.rows[1]
    program.lower[:3], program.upper[:3] = -1e3, (0.5, 0.25, 0.75)
    program.rows[3, :BASE], program.rows[3, BASE:] = 2.0 * program.base[0], -2.0 * program.grasp[0]
    program.lower[3], program.upper[3] = -1.0, 1.0
    program.gradient[:2] = 10.0
    assert check(program, 4, ("quadprog", "piqp")) == SOLVED
    np.testing.assert_allclose(program.unknown[:2], [0.5, 0.25], atol=1e-9)


@pytest.mark.parametrize(("bound", "expected"), [(1.0, SOLVED), (-1.0, INFEASIBLE)])
def test_a_row_of_zeros_is_fulfilled_or_not(program, bound, expected):
    program.upper[0] = bound
    assert check(program, 1, ("quadprog", "piqp")) == expected


def test_bounds_that_meet_make_an_equation(program):
    program.rows[0, 4] = 2.0
    program.lower[0] = program.upper[0] = 0.6
    assert check(program, 1) == SOLVED
    np.testing.assert_allclose(program.unknown[4], 0.3, atol=1e-9)


def test_a_body_that_no_friction_can_hold_is_infeasible(program):
    """A body pushed sideways by more than μ times its weight cannot stay: its forces are outside all pyramids."""
    program.rows[0, 0] = program.rows[1, 2] = 1.0
    program.lower[:2] = program.upper[:2] = (10.0, 0.0)  # 100 N, of 0.5 · 98.1 N
    assert check(program, 2) == INFEASIBLE
    assert check(program, 1) == SOLVED  # with leave to rise it has the weight for it


def test_crossed_bounds_are_infeasible(program):
    program.rows[0, 0] = 1.0
    program.lower[0], program.upper[0] = 1.0, 0.5
    assert check(program, 1, ("quadprog", "piqp")) == INFEASIBLE


@pytest.mark.parametrize("tilt", [1e-3, 1e-5])
def test_rows_that_differ_in_accelerations_alone_are_two(program, tilt):
    """Forces cost almost nothing: at most 1e-10 of the second row's length is independent of the first."""
    program.spread[0] = 1e-8
    program.rows[:2, BASE + 2], program.rows[1, 3] = 1.0, tilt
    program.lower[:2], program.upper[0] = (30.0, 30.0 + tilt), 30.0
    assert check(program, 2, ("quadprog", "piqp")) == SOLVED
    np.testing.assert_allclose(program.unknown[BASE + 2], 30.0, atol=1e-6)
    np.testing.assert_allclose(program.unknown[3], 1.0, atol=1e-4)


@pytest.mark.parametrize("name", sorted(set(INPUTS) - {"carries"}))
def test_a_number_that_is_none_is_said(program, name):
    program.rows[:2, 0], program.lower[:2], program.upper[:2] = 1.0, -1.0, 1.0
    getattr(program, name).flat[0] = np.nan
    assert ours(program, 2)[0] == NOT_FINITE


@pytest.mark.parametrize("last", [0.0, -1.0])
def test_a_cost_that_is_not_convex_is_said(program, last):
    program.hessian[-1, -1] = last
    assert ours(program, 0)[0] == NOT_FINITE


def test_the_same_program_has_the_same_answer_bit_for_bit():
    random = np.random.default_rng(2)
    for _ in range(20):
        qp, bounded = drawn(random, 10.0, 1e-4)
        first, second = ours(qp, bounded), ours(qp, bounded)
        assert first[0] == second[0]
        np.testing.assert_array_equal(first[1], second[1])


@pytest.mark.parametrize(
    ("recording", "count", "solved"),
    [((4, 0.6, 7), 121, 101), pytest.param((80, 1.0, 2), 10_000, 9_001, marks=pytest.mark.slow)],
)
def test_recorded_programs(recording, count, solved):
    ends = [check(qp, len(qp.lower)) for qp in recorded(*recording)]
    assert len(ends) >= count
    assert ends.count(SOLVED) >= solved

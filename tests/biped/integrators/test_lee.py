"""What Lee et al. 2016's integrator keeps, how accurate it is, and that all ways to solve it solve the same."""

import numpy as np
import pytest

from biped import InputError, State, dynamics, simulate
from biped.disturbances import compile_ground
from biped.integrators import Lee, LeeBroyden, LeeNewton, LeeRiqn, Recursive
from biped.integrators.lee.kernels.quasi_newton import Riqn, set_correction
from biped.integrators.lee.kernels.screw_body import ScrewBody
from biped.kernels.state.pushes import new_pushes
from biped.kernels.step.step import prepare
from biped.kernels.variational.equations import displace, new_scratch
from biped.kernels.variational.newton import evaluate
from biped.model import Model, random_tree, rigid_box
from contact import RUBBER, Floor

from ...rounding import walked
from .motions import momenta, order_of, thrown

KINDS = ("revolute", "prismatic", "spherical")
WAYS = [
    Lee(), LeeRiqn(), LeeNewton(), LeeBroyden(), LeeRiqn(guess="current"), LeeRiqn(guess="euler"),
    LeeRiqn(guess="dynamics"),
]  # fmt: skip


def named(integrator: Lee) -> str:
    return f"{integrator.name}-{integrator.guess}"


@pytest.fixture(scope="module")
def tree() -> Model:
    model = random_tree(np.random.default_rng(11), 8, kinds=KINDS)
    assert {body.joint.kind for body in model.bodies} == {"floating", *KINDS}
    return model


@pytest.mark.parametrize("way", WAYS, ids=named)
def test_all_ways_lead_to_the_same_trajectory(tree, way):
    reference, state = thrown(tree, 1), thrown(tree, 1)
    reference = simulate(tree, state=reference, step=1e-3, duration=0.3, integrator=Lee(tolerance=1e-12)).state
    run = simulate(tree, state=state, step=1e-3, duration=0.3, integrator=way)
    state = run.state
    assert np.linalg.norm(state.q - thrown(tree, 1).q) > 0.5
    assert np.abs(state.q - reference.q).max() < 1e-7
    assert np.abs(state.momentum - reference.momentum).max() < 1e-6
    assert run.summary["retried_steps"] == 0
    assert run.summary["newton_max"] <= 8


@pytest.mark.parametrize("way", WAYS[:5], ids=named)
def test_momentum_is_kept(tree, way):
    model = tree.with_gravity((0.0, 0.0, 0.0))
    state = thrown(model, 2)
    before = momenta(state)
    state = simulate(model, state=state, step=1e-3, duration=5.0, record_every=1.0, integrator=way).state
    after = momenta(state)
    for part in (slice(0, 3), slice(3, 6)):
        assert np.linalg.norm(after[part] - before[part]) <= 1e-11 * np.linalg.norm(before[part])


def test_spatial_momentum_of_a_free_body_is_exact():
    model = rigid_box(2.0, (0.1, 0.2, 0.4)).without_contacts().with_gravity((0.0, 0.0, 0.0))
    state = State.at(model, None, [1.0, -2.0, 0.5, 3.0, 9.0, -4.0])
    before = momenta(state)
    run = simulate(model, state=state, step=2e-3, duration=20.0, record_every=1.0, integrator=Lee())
    state = run.state
    far, carried = np.linalg.norm(state.q[:3]), np.linalg.norm(before[:3])
    assert np.abs(momenta(state) - before).max() < walked(2 * 10_000, far * carried)
    assert run.summary["momentum_defect"] < 1e-12
    assert run.summary["angular_momentum_defect"] < 1e-11


STEPS = np.array([2e-3, 1e-3, 5e-4])


def end(tree: Model, seed: int, step: float, kind: type = Lee) -> np.ndarray:
    how = {"step": step, "duration": 0.256, "record_every": 0.256, "integrator": kind(tolerance=1e-11)}
    state = simulate(tree, state=thrown(tree, seed), **how).state
    return np.concatenate([state.q, state.momentum])


def test_it_differs_from_the_midpoint_body_in_second_order_only(tree):
    apart = [np.linalg.norm(end(tree, 6, float(h)) - end(tree, 6, float(h), Recursive)) for h in STEPS]
    assert apart[0] > 1e-6
    assert order_of(STEPS, apart) == pytest.approx(2.0, abs=0.05)


def test_energy_stays_near_what_it_was(tree):
    state = thrown(tree, 7)
    errors = []
    for step in (2e-3, 1e-3):
        run = simulate(tree, state=state.copy(), step=step, duration=1.0, integrator=Lee())
        errors.append(np.abs(run.frame["ledger_residual"]).max())
    assert errors[0] / errors[1] == pytest.approx(4.0, rel=0.15)


def test_riqn_converges_linearly(tree):
    """By a factor of the order of h that stays what it is, where Newton's method squares the error."""
    state = thrown(tree, 8)
    arrays, scratch, pushes, h = state.arrays, new_scratch(tree.n, tree.nq, tree.nv, 0), new_pushes(0), 4e-3
    ground = compile_ground(RUBBER, tree)
    prepare(tree.tree, arrays, scratch)
    norms = []
    displace(
        tree.tree, scratch.motion.poses, arrays.q, np.zeros(3), h, 1.5 * arrays.cache.rate, scratch.q, scratch.shift
    )
    for iteration in range(6):
        norms.append(evaluate(ScrewBody(), tree.tree, ground, arrays, pushes, scratch, h))
        arguments = (tree.tree, ground, arrays, scratch, ScrewBody(), h, iteration)
        set_correction(Riqn(), *arguments)
        displace(tree.tree, scratch.next, scratch.q, scratch.shift, 1.0, scratch.delta, scratch.q, scratch.shift)
    rates = np.array(norms[1:]) / np.array(norms[:-1])
    assert norms[0] > 0.1
    assert rates.max() < 0.1
    late = np.log(rates[2:]) / np.log(rates[1:-1])  # 1 where convergence is linear, 2 where it is quadratic
    assert np.abs(late - 1.0).max() < 0.35


def test_accelerations_of_the_third_guess_are_the_continuous_ones(tree):
    from biped.integrators.lee.kernels.initial_guesses import set_accelerations

    state = thrown(tree, 9)
    arrays, scratch = state.arrays, new_scratch(tree.n, tree.nq, tree.nv, 0)
    arrays.torque[6:] = 3.0
    prepare(tree.tree, arrays, scratch)
    set_accelerations(tree.tree, arrays, new_pushes(0), scratch, 1e-3)
    wanted = dynamics.forward_dynamics(tree, arrays.q, arrays.cache.rate, arrays.torque)
    assert np.abs(scratch.delta - wanted).max() < 1e-10 * np.abs(wanted).max()


@pytest.mark.parametrize("way", [Lee(), LeeRiqn(), LeeNewton(), LeeBroyden()], ids=named)
def test_a_box_falls_and_comes_to_rest(way):
    """Contact, which the paper leaves out: impulses at both ends of a step, as for the other integrators."""
    model = rigid_box(2.0, (0.3, 0.2, 0.1))
    floor = Floor()
    state = State.at(model, model.configuration((0.0, 0.0, 0.06)))
    run = simulate(model, floor=floor, state=state, step=1e-3, duration=2.0, integrator=way)
    sag = 2.0 * 9.81 / (4 * floor.k_n)
    assert run.frame["body_z"].iloc[-1] == pytest.approx(0.05 - sag, abs=1e-4)
    assert run.summary["momentum_defect"] < 1e-10
    assert abs(run.frame["ledger_residual"].iloc[-1]) < 1e-3 * 2.0 * 9.81 * 0.01


def test_an_unknown_guess_is_refused():
    with pytest.raises(InputError, match=r"integrator.guess = 'lucky': it must be one of extrapolation, current"):
        Lee(guess="lucky")

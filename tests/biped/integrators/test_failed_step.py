"""A step that has no solution leaves the state as it was when it began."""

import math
from collections.abc import Callable

import numpy as np
import pytest

import biped
from biped import INTEGRATORS, Integrator, State, human, integrator_named, rigid_box, simulate

STEP = 5e-3
#: Iterations and halvings that do for some parts of a violent step, and not for others.
HASTY: list[Callable[[], biped.Integrator]] = [
    lambda: biped.Recursive(tolerance=1e-12, max_iterations=2, max_halvings=2),
    lambda: biped.Midpoint(tolerance=1e-12, max_iterations=2, max_halvings=2),
]


@pytest.mark.parametrize("integrator", HASTY, ids=["recursive", "midpoint"])
def test_time_and_state_belong_together(integrator):
    model = human().without_contacts()
    failed_in_parts = 0
    for seed in range(40):
        rates = 6.25 * np.random.default_rng(seed).normal(size=model.nv)
        start = biped.State.at(model, v=rates)
        first = start.copy()
        with pytest.raises(biped.IntegrationError) as failure:
            biped.simulate(model, state=start, step=STEP, duration=20.0, integrator=integrator())
        stuck = failure.value.run.state
        steps = round(stuck.time / STEP)
        assert stuck.time == pytest.approx(steps * STEP, abs=1e-12)
        if steps:
            first = biped.simulate(model, state=first, step=STEP, duration=steps * STEP, integrator=integrator()).state
        assert np.array_equal(stuck.q, first.q)
        assert np.array_equal(stuck.momentum, first.momentum)
        assert np.array_equal(stuck.arrays.ledger.works, first.arrays.ledger.works)
        assert np.array_equal(stuck.arrays.ledger.impulse, first.arrays.ledger.impulse)
        failed_in_parts += bool(np.any(stuck.arrays.cache.rate != first.arrays.cache.rate))
    assert failed_in_parts > 0


@pytest.mark.parametrize("wrong", [biped.Recursive, 3, "recursiv"])
def test_what_is_no_integrator_is_refused(wrong):
    with pytest.raises(biped.InputError, match="it must be an integrator, such as Recursive|did you mean 'recursive'"):
        biped.simulate(human(), duration=0.01, integrator=wrong)


SPIN = (3.0, -5.0, 2.0)
BOX = biped.Throw(2.0, (0.3, 0.2, 0.1), (50.0, 0.0, 2.0), (1.0, 2.0, 3.0), angular_velocity=SPIN)


def test_it_flies_as_a_tree_of_one_body_does(person):
    human = biped.State.at(person.without_contacts())
    human = biped.simulate(human.model, state=human, step=1e-3, duration=0.5, disturbances=[BOX]).state
    model = biped.rigid_box(BOX.mass, BOX.size).without_contacts()
    tree = biped.State.at(model, model.configuration(BOX.position, BOX.orientation), [*BOX.velocity, *SPIN])
    tree = biped.simulate(model, state=tree, step=1e-3, duration=0.5, integrator=biped.Recursive(tolerance=1e-13)).state
    assert np.abs(human.projectile[:7] - tree.q).max() < 1e-9
    assert np.abs(human.projectile[7:13] - tree.momentum).max() < 1e-9


def test_a_turn_too_large_for_the_step_is_refused(person):
    spinning = biped.Throw(2.0, (0.3, 0.2, 0.1), (50.0, 0.0, 2.0), (0.0, 0.0, 0.0), angular_velocity=(1e4, 1e4, 0.0))
    with pytest.raises(biped.IntegrationError, match="at 0 s: the thrown box's flight or collision has no solution"):
        biped.simulate(person, step=2e-3, duration=0.1, disturbances=[spinning])


RATE, BRANCH_STEP = 100.0, 9e-3
#: sin θ = ω h has two solutions for the turn θ of a midpoint body in a step.
SMALL = math.asin(RATE * BRANCH_STEP)
LARGE = math.pi - SMALL


def started_at(turn: float) -> State:
    """A box that spins about z, whose first candidate for the step turns it by so much."""
    model = rigid_box(2.0, (0.2, 0.3, 0.4)).without_contacts().with_gravity((0.0, 0.0, 0.0))
    state = State.at(model, v=[0.0, 0.0, 0.0, 0.0, 0.0, RATE])
    state.arrays.cache.rate[5] = 2.0 * math.tan(turn / 2.0) / BRANCH_STEP
    return state


def turned(state: State) -> float:
    return 2.0 * math.atan2(state.q[6], state.q[3])


@pytest.mark.parametrize("name", ["recursive", "maximal"])
def test_the_small_turn_is_taken_at_once(name):
    state, tolerance = started_at(RATE * BRANCH_STEP), 1e-12
    integrator = integrator_named(name, tolerance=tolerance)
    run = simulate(state.model, state=state, step=BRANCH_STEP, duration=BRANCH_STEP, integrator=integrator)
    state = run.state
    left = tolerance * BRANCH_STEP / (2.0 / 12.0 * (0.2**2 + 0.3**2) * math.cos(SMALL))  # of I sin θ/h; and rounding
    assert turned(state) == pytest.approx(SMALL, abs=2.0 * left)
    assert run.summary["retried_steps"] == 0


@pytest.mark.parametrize("integrator", [INTEGRATORS["recursive"], INTEGRATORS["maximal"]], ids=lambda i: i.name)
def test_the_large_turn_is_not_taken_for_a_solution(integrator: Integrator):
    state = started_at(LARGE)
    momentum = state.momentum.copy()
    run = simulate(state.model, state=state, step=BRANCH_STEP, duration=BRANCH_STEP, integrator=integrator)
    state = run.state
    assert run.summary["retried_steps"] == 1
    assert turned(state) == pytest.approx(RATE * BRANCH_STEP, abs=0.05)
    assert np.allclose(state.momentum, momentum, rtol=1e-12, atol=1e-12)

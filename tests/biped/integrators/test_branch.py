"""A step has several solutions; only that of small turns is an approximation of the motion."""

import math

import numpy as np
import pytest

from biped import INTEGRATORS, Integrator, State, integrator_named, rigid_box, simulate

RATE, STEP = 100.0, 9e-3
#: sin θ = ω h has two solutions for the turn θ of a midpoint body in a step.
SMALL = math.asin(RATE * STEP)
LARGE = math.pi - SMALL


def started_at(turn: float) -> State:
    """A box that spins about z, whose first candidate for the step turns it by so much."""
    model = rigid_box(2.0, (0.2, 0.3, 0.4)).without_contacts().with_gravity((0.0, 0.0, 0.0))
    state = State.at(model, v=[0.0, 0.0, 0.0, 0.0, 0.0, RATE])
    state.arrays.cache.rate[5] = 2.0 * math.tan(turn / 2.0) / STEP
    return state


def turned(state: State) -> float:
    return 2.0 * math.atan2(state.q[6], state.q[3])


@pytest.mark.parametrize("name", ["recursive", "maximal"])
def test_the_small_turn_is_taken_at_once(name):
    state, tolerance = started_at(RATE * STEP), 1e-12
    integrator = integrator_named(name, tolerance=tolerance)
    run = simulate(state.model, state=state, step=STEP, duration=STEP, integrator=integrator)
    state = run.state
    left = tolerance * STEP / (2.0 / 12.0 * (0.2**2 + 0.3**2) * math.cos(SMALL))  # of I sin θ/h; and rounding
    assert turned(state) == pytest.approx(SMALL, abs=2.0 * left)
    assert run.summary["retried_steps"] == 0


@pytest.mark.parametrize("integrator", [INTEGRATORS["recursive"], INTEGRATORS["maximal"]], ids=lambda i: i.name)
def test_the_large_turn_is_not_taken_for_a_solution(integrator: Integrator):
    state = started_at(LARGE)
    momentum = state.momentum.copy()
    run = simulate(state.model, state=state, step=STEP, duration=STEP, integrator=integrator)
    state = run.state
    assert run.summary["retried_steps"] == 1
    assert turned(state) == pytest.approx(RATE * STEP, abs=0.05)
    assert np.allclose(state.momentum, momentum, rtol=1e-12, atol=1e-12)

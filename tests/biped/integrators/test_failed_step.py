"""A step that has no solution leaves the state as it was when it began."""

from collections.abc import Callable

import numpy as np
import pytest

from biped import Composition, InputError, IntegrationError, Integrator, Midpoint, Recursive, State, human, simulate

STEP = 5e-3
#: Iterations and halvings that do for some parts of a violent step, and not for others.
HASTY: list[Callable[[], Integrator]] = [
    lambda: Recursive(tolerance=1e-12, max_iterations=2, max_halvings=2),
    lambda: Composition(scheme="kahan-li-6", max_iterations=2, max_halvings=2),
    lambda: Midpoint(tolerance=1e-12, max_iterations=2, max_halvings=2),
]


@pytest.mark.parametrize("integrator", HASTY, ids=["recursive", "kahan-li-6", "midpoint"])
def test_time_and_state_belong_together(integrator):
    model = human().without_contacts()
    failed_in_parts = 0
    for seed in range(40):
        rates = 6.25 * np.random.default_rng(seed).normal(size=model.nv)
        start = State.at(model, v=rates)
        first = start.copy()
        with pytest.raises(IntegrationError) as failure:
            simulate(model, state=start, step=STEP, duration=20.0, integrator=integrator())
        stuck = failure.value.run.state
        steps = round(stuck.time / STEP)
        assert stuck.time == pytest.approx(steps * STEP, abs=1e-12)
        if steps:
            first = simulate(model, state=first, step=STEP, duration=steps * STEP, integrator=integrator()).state
        assert np.array_equal(stuck.q, first.q)
        assert np.array_equal(stuck.momentum, first.momentum)
        assert np.array_equal(stuck.arrays.ledger.works, first.arrays.ledger.works)
        assert np.array_equal(stuck.arrays.ledger.impulse, first.arrays.ledger.impulse)
        failed_in_parts += bool(np.any(stuck.arrays.cache.rate != first.arrays.cache.rate))
    assert failed_in_parts > 0 or integrator().order > 2


@pytest.mark.parametrize("wrong", [Recursive, 3, "recursiv"])
def test_what_is_no_integrator_is_refused(wrong):
    with pytest.raises(InputError, match="it must be an integrator, such as Recursive|did you mean 'recursive'"):
        simulate(human(), duration=0.01, integrator=wrong)

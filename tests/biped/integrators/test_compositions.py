"""Compositions: their weights' order conditions, their orders in motion, their books, and what they refuse."""

from dataclasses import replace
from fractions import Fraction
from math import factorial

import numpy as np
import pytest

from biped import INTEGRATORS, Composition, InputError, Model, Push, State, human, simulate
from biped.integrators.composition.weights import SCHEMES
from controllers import JointImpedance
from tests.refusals import refuses

from ...conftest import all_arrays
from .motions import order_of, swinging

Series = dict[tuple[int, ...], Fraction]


def product(a: Series, b: Series, order: int) -> Series:
    result: Series = {}
    for left, x in a.items():
        for right, y in b.items():
            if sum(left) + sum(right) <= order:
                result[left + right] = result.get(left + right, Fraction(0)) + x * y
    return result


def exponential(weight: Fraction, order: int) -> Series:
    """exp(w h Y₁ + (w h)³ Y₃ + …): any symmetric method of order 2."""
    exponent = {(k,): weight**k for k in range(1, order + 1, 2)}
    total: Series = {(): Fraction(1)}
    term: Series = {(): Fraction(1)}
    for n in range(1, order + 1):
        term = {word: x / n for word, x in product(term, exponent, order).items()}
        for word, x in term.items():
            total[word] = total.get(word, Fraction(0)) + x
    return total


def defect(name: str, order: int) -> float:
    """The largest coefficient in which the composition differs from exp(h Y₁)."""
    total: Series = {(): Fraction(1)}
    for decimal in SCHEMES[name].decimals:
        total = product(exponential(Fraction(decimal), order), total, order)
    exact = {(1,) * n: Fraction(1, factorial(n)) for n in range(order + 1)}
    return max(abs(float(x - exact.get(word, 0))) for word, x in total.items())


@pytest.mark.parametrize("name", SCHEMES)
def test_the_weights_solve_the_order_conditions(name):
    scheme = SCHEMES[name]
    assert defect(name, scheme.order) < 1e-25
    assert defect(name, scheme.order + 1) > 1e-5
    assert scheme.weights == scheme.weights[::-1]
    assert sum(scheme.weights) == pytest.approx(1.0, abs=1e-15)


def end(model: Model, start: tuple, integrator, parts: int, span: float) -> np.ndarray:
    how = {"integrator": integrator, "step": span / parts, "duration": span, "record_every": span}
    state = simulate(model, state=State.at(model, *start), **how).state
    return np.concatenate([state.q, state.momentum])


SPAN = 0.48
CHAIN_PARTS = {2: (120, 240, 480, 960), 4: (32, 48, 64, 96), 6: (24, 32, 48, 64), 8: (8, 12, 16, 24)}
HUMAN_PARTS = {2: (120, 240, 480), 4: (24, 32, 48, 64), 6: (12, 16, 24, 32), 8: (8, 9, 10, 12, 14)}
#: By order, that of the integrator that compositions are made of first.
CLOSE = {2: 0.05, 4: 0.15, 6: 0.15, 8: 0.15}
NAMES = ("recursive", *SCHEMES)


@pytest.fixture(scope="module")
def swinging_chain():
    return swinging(4, SPAN)


@pytest.mark.parametrize("name", NAMES)
def test_order_on_a_chain_against_an_independent_integrator(swinging_chain, name):
    model, q, exact = swinging_chain
    order = INTEGRATORS[name].order
    apart = np.array([end(model, (q,), INTEGRATORS[name], n, SPAN) - exact for n in CHAIN_PARTS[order]])
    for errors in (apart, *np.split(apart, 2, axis=1)):  # configuration and momentum, each by itself too
        found = -order_of(CHAIN_PARTS[order], np.linalg.norm(errors, axis=1))
        assert found == pytest.approx(order, abs=CLOSE[order])


@pytest.mark.parametrize("name", NAMES)
def test_order_of_the_human_in_flight(name):
    model = human().without_contacts()
    start = model.neutral(), np.random.default_rng(5).normal(size=model.nv)
    exact = end(model, start, INTEGRATORS["kahan-li-8"], 48, SPAN)
    order = INTEGRATORS[name].order
    errors = [np.linalg.norm(end(model, start, INTEGRATORS[name], n, SPAN) - exact) for n in HUMAN_PARTS[order]]
    assert -order_of(HUMAN_PARTS[order], errors) == pytest.approx(order, abs=CLOSE[order])


#: Of those without contact by an interior point, which a part of a step backwards in time cannot have.
BASES = [
    name
    for name, base in INTEGRATORS.items()
    if base.symplectic and base.symmetric and not isinstance(base, Composition) and name != "rigid"
]


@pytest.mark.slow  # each is compiled by itself
@pytest.mark.parametrize("base", BASES)
def test_every_symmetric_base_gains_the_order(swinging_chain, base):
    model, q, exact = swinging_chain
    composed = Composition(scheme="suzuki-4", base=base)
    parts = CHAIN_PARTS[4]
    errors = [np.linalg.norm(end(model, (q,), composed, n, SPAN) - exact) for n in parts]
    assert -order_of(parts, errors) == pytest.approx(4.0, abs=0.15)


def test_it_takes_no_contact_and_says_which_do(swinging_chain):
    model, q, _ = swinging_chain
    with pytest.raises(InputError, match="integrator.base = 'rigid': only symmetric variational integrators can be"):
        end(model, (q,), Composition(scheme="suzuki-4", base="rigid"), 4, SPAN)
    with pytest.raises(InputError, match=r"takes no contact.*recursive.*without_contacts"):
        simulate(human(), integrator=Composition(), duration=0.01)


def test_the_ledger_closes_to_the_order_with_springs_and_a_push():
    model = human().without_contacts()
    push = Push("trunk", (0.6, 0.8, 0.0), 20.0, start=-0.2, duration=0.8, waveform="half-sine")
    residuals, parts = [], (24, 32, 48, 64)
    for n in parts:
        state = State.at(model, model.neutral(), np.random.default_rng(6).normal(size=model.nv))
        run = simulate(
            model, JointImpedance(stiffness=5.0, damping=0.05, period=0.36 / n), state=state,
            integrator=Composition(scheme="suzuki-4"), step=0.36 / n, duration=0.36, disturbances=[push],
        )  # fmt: skip
        assert run.frame["ledger_pushes"].iloc[-1] > 0.1
        assert run.summary["momentum_defect"] < 1e-11
        assert run.summary["angular_momentum_defect"] < 1e-10
        residuals.append(run.frame["ledger_residual"].abs().max())
    assert -order_of(parts, residuals) == pytest.approx(4.0, abs=0.15)


def test_a_step_that_does_not_converge_is_taken_back_and_halved():
    model = human().without_contacts()
    v = 6.0 * np.random.default_rng(2).normal(size=model.nv)
    state = State.at(model, model.neutral(), v)
    few = replace(INTEGRATORS["kahan-li-6"], max_iterations=2)
    run = simulate(model, state=state, integrator=few, step=2e-2, duration=0.1)
    state = run.state
    assert run.summary["retried_steps"] > 0
    assert run.summary["momentum_defect"] < 1e-10
    fine = State.at(model, model.neutral(), v)
    fine = simulate(model, state=fine, integrator=INTEGRATORS["kahan-li-8"], step=5e-4, duration=0.1).state
    assert np.abs(state.q - fine.q).max() < 1e-4


def test_continuing_is_the_same_bit_for_bit(tmp_path):
    model = human().without_contacts()
    v = np.random.default_rng(3).normal(size=model.nv)
    whole, part = State.at(model, None, v), State.at(model, None, v)
    integrator = INTEGRATORS["yoshida-6"]
    whole = simulate(model, state=whole, integrator=integrator, step=2e-3, duration=0.08).state
    part = simulate(model, state=part, integrator=integrator, step=2e-3, duration=0.032).state
    part.save(tmp_path / "state.npz")
    rest = State.load(tmp_path / "state.npz", model)
    rest = simulate(model, state=rest, integrator=integrator, step=2e-3, duration=0.048).state
    assert np.array_equal(rest.q, whole.q)
    assert np.array_equal(rest.momentum, whole.momentum)
    assert np.array_equal(rest.arrays.cache.history, whole.arrays.cache.history)


def test_other_integrators_go_on_from_its_states():
    model = human().without_contacts()
    state = State.at(model, None, np.random.default_rng(4).normal(size=model.nv))
    for name in ("triple-jump-4", "recursive", "kahan-li-8", "triple-jump-4"):
        run = simulate(model, state=state, integrator=INTEGRATORS[name], step=2e-3, duration=0.02)
        state = run.state
        assert run.summary["retried_steps"] == 0
        kept = all_arrays(state.arrays)
        assert np.isinf(kept.pop("effort")).all()  # nothing bounds torques
        assert all(np.isfinite(array).all() for array in kept.values())


@refuses(
    ({"scheme": "suzuki"}, "scheme"),
    ({"tolerance": 0.0}, "tolerance"),
    ({"base": "rk4"}, "symmetric"),
    ({"base": "kahan-li-6"}, "symmetric"),
    ({"base": "nothing"}, "base"),
)
def test_bad_settings_are_told(settings):
    simulate(human().without_contacts(), integrator=Composition(**settings), duration=0.01)

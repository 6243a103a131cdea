"""The short versions of what is recomputed of Lee et al. 2016: what has nothing to do with a machine's speed."""

import matplotlib
import numpy as np
import pytest

from experiments.reproduce.lee_2016 import PAPER
from experiments.reproduce.lee_2016.chain import INERTIA, LENGTH, MASS, lee_chain, random_start
from experiments.reproduce.lee_2016.speed import OURS, RIQN, WAYS


@pytest.fixture(scope="module")
def outcomes():
    matplotlib.use("Agg")
    return {item.name: item.produce(True, lambda _: None) for item in PAPER.items}


def finding(outcome, begin):
    return next(found for found in outcome.findings if found.quantity.startswith(begin))


def test_every_item_has_statements_tables_and_a_figure(outcomes):
    assert list(outcomes) == ["figure-2b", "figure-3", "figure-4a", "figure-4b"]
    for outcome in outcomes.values():
        assert outcome.findings
        assert outcome.assumptions
        assert outcome.tables
        assert outcome.figures
        for found in outcome.findings:
            assert found.agrees or found.note, found.quantity


def test_the_chain_is_the_authors():
    model = lee_chain(3)
    assert model.total_mass == 3 * MASS
    assert np.allclose(model.tree.inertia.reshape(-1, 3, 3), INERTIA * np.eye(3))
    assert np.allclose(model.tree.com_offset, (0.0, 0.0, LENGTH / 2))
    state = random_start(model)
    assert 0.0 < np.abs(state.q).max() <= np.pi / 2


def test_energy_does_not_drift(outcomes):
    found = outcomes["figure-2b"]
    assert finding(found, "drift of the energy, RIQN").agrees
    assert finding(found, "drift of the energy, exact").agrees


def test_newton_is_quadratic_and_riqn_linear(outcomes):
    found = outcomes["figure-4a"]
    assert finding(found, "iterations to 1e-6 N·s from the current").agrees
    assert finding(found, "order of the last iteration, Newton").agrees
    assert finding(found, "order of the last iteration, RIQN").agrees


def test_newton_needs_fewer_iterations_than_riqn(outcomes):
    found = outcomes["figure-4b"]
    assert finding(found, "Newton needs fewer").agrees
    assert finding(found, "evaluations, exact").agrees


def test_all_root_finders_take_the_same_steps(outcomes):
    """None is retried, and ours takes the fewest iterations but for those with the exact derivative in each."""
    table = outcomes["figure-3"].tables["Time and iterations"].set_index(["method", "bodies"])
    assert set(table.index.get_level_values(0)) == set(WAYS)
    assert (table["steps in parts"] == 0).all()
    iterations = table["iterations a step"]
    for bodies in (10, 100):
        assert iterations[OURS, bodies] < iterations[RIQN, bodies]

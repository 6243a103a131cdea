"""The short versions of what is recomputed of Lee et al. 2016: what has nothing to do with a machine's speed."""

import matplotlib
import numpy as np
import pytest

from biped.integrators.midpoint.kernels.cached import new_cached, set_first_derivatives, set_second_derivatives
from biped.simulation.simulate import simulate
from experiments.papers.lee_2016 import PAPER, speed
from experiments.papers.lee_2016.convergence import _findings, order
from experiments.papers.lee_2016.kernels import new_every_pair, set_every_first_derivative, set_every_second_derivative
from experiments.papers.lee_2016.runs import INERTIA, LENGTH, MASS, STEP, lee_chain, random_start
from experiments.papers.lee_2016.speed import OURS, RIQN, WAYS, Cost

from .conftest import check_kinds

#: How statements begin that may differ: those of times, which a machine and what else it does decide, …
TIMED = (
    "RIQN with DRNEA against", "growth of the time of an iteration", "DRNEA over SVI", "RIQN over Newton's method",
    "exact Newton in O(n) (ours) over RIQN", "factors of RIQN over Newton's method",
)  # fmt: skip
#: … and of those that do not hang on a machine, by item; why is in the item's notes.
MAY_DIFFER = {
    "figure-2b": (),
    "figure-3": TIMED,
    "figure-4a": ("iterations to 1e-6 N·s from the zero",),
    "figure-4b": ("standard deviation, Newton", "standard deviation, RIQN"),
}


#: Of all ways to find the root, each compiled for itself.
SPEED = "figure-3"


@pytest.fixture(scope="module", params=[False, pytest.param(True, marks=pytest.mark.slow)], ids=["but speed", "speed"])
def outcomes(request):
    matplotlib.use("Agg")
    items = [item for item in PAPER.items if item.name != "misprints"]
    return {item.name: item.produce(True, lambda _: None) for item in items if (item.name == SPEED) == request.param}


def test_every_item_has_statements_tables_and_a_figure(outcomes):
    assert list(outcomes) == [SPEED] or list(outcomes) == [name for name in MAY_DIFFER if name != SPEED]
    for outcome in outcomes.values():
        assert outcome.findings
        assert outcome.assumptions
        assert outcome.tables
        assert outcome.figures


def test_only_these_statements_differ_and_say_why(outcomes):
    for name, outcome in outcomes.items():
        for found in outcome.findings:
            assert found.agrees or found.quantity.startswith(MAY_DIFFER[name]), found.quantity
            assert found.agrees or found.note, found.quantity
        for begin in MAY_DIFFER[name]:
            assert any(found.quantity.startswith(begin) for found in outcome.findings), begin


def test_without_an_order_the_statement_differs():
    for errors in ([1.0, 1e-9], [1.0, float("inf")], [1.0, float("nan")]):
        assert np.isnan(order(errors))
    made = _findings({(guess, name): [1.0, 1e-9] for guess in ("zero", "current (IG1)") for name in ("Newton", "RIQN")})
    assert not any(found.agrees for found in made if found.quantity.startswith("order"))
    assert all(isinstance(found.ours, str) for found in made)


def test_what_the_guess_was_chosen_by_is_marked(outcomes):
    chosen = [found.quantity for outcome in outcomes.values() for found in outcome.findings if found.kind == "chosen"]
    assert chosen == ([] if SPEED in outcomes else ["mean evaluations, Newton"])


def test_what_is_not_in_the_paper_is_ours(outcomes):
    check_kinds(outcomes)


def test_the_chain_is_the_authors():
    model = lee_chain(3)
    assert model.total_mass == 3 * MASS
    assert np.allclose(model.tree.inertia.reshape(-1, 3, 3), INERTIA * np.eye(3))
    assert np.allclose(model.tree.com_offset, (0.0, 0.0, LENGTH / 2))
    state = random_start(model)
    assert 0.0 < np.abs(state.q).max() <= np.pi / 2


def test_claims_of_both_parts_can_fail():
    """Made-up times of 10 and 100 bodies: of SVI and DRNEA with each root finder."""
    fair = {speed.SVI: (30, 320), speed.SVI_BROYDEN: (9, 90), speed.SVI_RIQN: (3, 30), speed.NEWTON: (2, 10),
            speed.BROYDEN: (3, 30), RIQN: (1, 1)}  # fmt: skip
    slow_broyden, slow_riqn = fair | {speed.BROYDEN: (3, 91)}, fair | {RIQN: (1, 3)}
    made = [{(name, n): [Cost(float(times[name][k]), 2.0, 0)] for name in times for k, n in enumerate((10, 100))}
            for times in (fair, slow_broyden, slow_riqn)]  # fmt: skip
    assert [speed._same_finder(costs, (10, 100)).agrees for costs in made] == [True, False, True]
    found = [speed._increasingly(costs) for costs in made]
    assert [one.agrees for one in found] == [True, True, False]
    assert found[0].ours == "5.0 and 2.1"


def test_what_is_evaluated_in_vain_is_zero():
    model = lee_chain(4).with_gravity((0.0, 0.0, 0.0))
    state = random_start(model)
    q, v = state.q, np.array([1.0, -2.0, 0.5, 1.5])
    cached, every = new_cached(model.tree), new_every_pair(4)
    set_first_derivatives(model.tree, q, v, cached)
    assert np.isfinite(cached.L_q).all()
    set_second_derivatives(model.tree, q, v, cached)
    set_every_first_derivative(model.tree, q, v, every)
    set_every_second_derivative(model.tree, q, every)
    for name in ("L_q", "L_v", "L_qv"):
        assert getattr(every, name) == pytest.approx(getattr(cached, name), abs=1e-12)
    for name in ("L_qq", "L_vv"):
        assert getattr(every, name) == pytest.approx(getattr(every, name).T, abs=1e-12)
        assert np.triu(getattr(every, name)) == pytest.approx(np.triu(getattr(cached, name)), abs=1e-12)
    assert not every.by_rates.any()


@pytest.mark.slow
@pytest.mark.parametrize("outcomes", [True], indirect=True)
def test_all_root_finders_take_the_same_steps(outcomes):
    """None is retried, and ours takes the fewest iterations but for those with the exact derivative in each."""
    table = outcomes["figure-3"].tables["Time and iterations"].set_index(["method", "bodies"])
    assert set(table.index.get_level_values(0)) == set(WAYS)
    assert (table["steps in parts"] == 0).all()
    start = random_start(lee_chain(3).with_gravity((0.0, 0.0, 0.0)))
    ways = [WAYS[name].integrator for name in (speed.SVI, speed.SVI_BROYDEN, speed.SVI_RIQN)]
    svi, *others = (
        simulate(start.model, state=start, step=STEP, duration=0.02, integrator=way).state.q for way in ways
    )
    assert others == [pytest.approx(svi, abs=1e-9)] * 2
    iterations = table["iterations a step"]
    for bodies in (10, 100):
        assert iterations[OURS, bodies] < iterations[RIQN, bodies]

"""Chapter 2 of the thesis as items: what agrees, and that it could be otherwise."""

from types import SimpleNamespace

import matplotlib
import numpy as np
import pandas as pd
import pytest

from biped.integrators import Maximal, SemiImplicitEuler
from experiments.papers.wendlandt_1997 import CHAPTER_2, claims, convergence, pendulum_items, rigid_body
from experiments.papers.wendlandt_1997.convergence import compared, mean_error, of_second_order, slope


def produced(quick):
    matplotlib.use("Agg")
    done = []
    outcomes = {item.name: item.produce(quick, done.append) for item in CHAPTER_2}
    assert all(0.0 <= fraction <= 1.0 for fraction in done)
    return outcomes


@pytest.fixture(scope="module")
def outcomes():
    return produced(True)


def check(outcomes):
    findings = [
        (name, finding)
        for name, outcome in outcomes.items()
        for finding in outcome.findings
        if not finding.quantity.startswith("CPU time")
    ]
    differing = [f"{name}: {f.quantity}: {f.published} against {f.ours}" for name, f in findings if not f.agrees]
    assert not differing
    assert len(findings) > 60


def test_all_tables_and_figures_are_there(outcomes):
    names = [
        "table-2.1", *(f"figure-2.{k}" for k in range(2, 7)), "table-2.2", *(f"figure-2.{k}" for k in range(7, 13)),
    ]  # fmt: skip
    assert list(outcomes) == names
    for name, outcome in outcomes.items():
        assert outcome.findings
        assert outcome.tables if name.startswith("table") else len(outcome.figures) == 1


def test_what_is_printed_is_met(outcomes):
    check(outcomes)


@pytest.mark.slow
def test_what_is_printed_is_met_by_the_whole():
    check(produced(False))


def test_an_error_is_the_mean_over_samples_and_components():
    """(2.53)."""
    values = np.array([[3.0, 4.0], [0.0, 0.0]])
    assert mean_error(values, np.zeros((2, 2))) == 5.0 / 2.0 / 2.0
    assert mean_error(np.array([1.0, 3.0]), np.zeros(2)) == 2.0


def test_slopes_and_margins_can_be_missed():
    assert slope((1.0, 10.0), (3.0, 300.0)) == pytest.approx(2.0)
    assert not of_second_order("", (1.0, 10.0), (1.0, 100.0), (1.0, 125.0)).agrees
    assert compared("", 1.0, 1.019).agrees
    assert not compared("", 1.0, 1.021).agrees


def test_a_shorter_run_does_not_meet_the_printed_errors(monkeypatch):
    monkeypatch.setattr(pendulum_items, "DURATION", 20.0)
    found = pendulum_items.runs.__wrapped__()
    for row, published in zip(found.em[1:], convergence.PENDULUM_EM["position"][1:], strict=True):
        assert abs(row.position / published - 1.0) > 0.2


def test_the_euler_step_must_be_made_unit():
    """The printed energies tell: without that, those at 1e-4 s would be out of their range."""
    q0, second, energy, _ = rigid_body.start()
    assert np.linalg.norm(second[1e-4]) == pytest.approx(1.0, abs=1e-14)
    assert energy < 33.0 - 1.5e-8
    assert np.linalg.norm(q0) == 1.0


def test_the_refined_start_prints_as_the_start():
    assert np.round(pendulum_items.refined_start(), 3).tolist() == list(pendulum_items.START)
    q, v = pendulum_items.start()
    assert q[:3] @ q[:3] == pytest.approx(16.0, rel=1e-14)
    assert (q[3:] - q[:3]) @ (v[3:] - v[:3]) == pytest.approx(0.0, abs=1e-13)


def test_a_map_that_is_not_symplectic_and_a_method_of_first_order_differ():
    turn = np.array([[0.6, 0.8], [-0.8, 0.6]])
    assert claims.symplectic_defect(turn) < 1e-15
    assert claims.symplectic_defect(1.01 * turn) == pytest.approx(1.01**2 - 1.0)
    assert claims.order(Maximal(tolerance=1e-13)) == pytest.approx(2.0, abs=0.05)
    assert claims.order(SemiImplicitEuler()) == pytest.approx(1.0, abs=0.05)


def test_orientation_errors_settle_from_half_a_turn_too_and_not_without_stiffness():
    starts = np.zeros((2, 7))
    starts[0, :2], starts[1, 1:4] = (1.0, 1e-3), (0.0, 0.6, 0.8)
    assert claims.settled(starts, claims.STIFFNESS).max() < 1e-6
    assert claims.settled(starts, 0.0).min() > 9e-4


@pytest.mark.parametrize("end", [("recovered", 0.0), ("fell", 0.0), ("recovered", 0.02)])
def test_a_set_point_that_is_not_come_to_makes_the_region_smaller(end):
    def run(verdict, error):
        return SimpleNamespace(summary={"verdict": verdict, "position_error": error, "reason": "its reason"})

    found = claims.region("", {"one": run("recovered", 0.0), "other": run(*end)})
    assert found.agrees == (end == ("recovered", 0.0))
    assert found.agrees or (found.ours, found.note) == ("1 of 2", "not other: its reason")


@pytest.mark.parametrize(("rises", "lands", "agree"), [(0.1, 0.4, True), (0.13, 0.4, False), (0.1, 0.3, False)])
def test_a_block_that_explained_the_printed_times_would_be_told(rises, lands, agree):
    rows = [(0.07, 0.09, 0.35, 0.09, 0.39), (0.081, 0.1, 0.35, rises, lands)]
    found = claims.compared(pd.DataFrame(rows, columns=claims.TIMES))
    assert all(one.kind == "ours" for one in found)
    assert all(one.agrees for one in found) == agree


@pytest.mark.slow
def test_what_is_claimed_is_measured_and_no_floor_and_no_block_explains_the_differences():
    findings = [found for item in claims.ITEMS for found in item.produce(True, lambda _: None).findings]
    differing = [found.quantity for found in findings if not found.agrees and not found.quantity.startswith("power")]
    assert differing == ["set points it comes to, moved by 5 cm in a second"]

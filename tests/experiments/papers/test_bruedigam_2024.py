"""The short versions of what is recomputed of Brüdigam et al. 2024, but for times, which hang on a machine."""

import math

import matplotlib
import numpy as np
import pytest
from numpy.testing import assert_allclose

from experiments.papers.bruedigam_2024 import PAPER
from experiments.papers.bruedigam_2024.drift import loop_in_angles
from experiments.papers.bruedigam_2024.pendulums import (
    cubes,
    double_energy,
    double_rates,
    euler,
    heun,
    single_energy,
    single_rates,
    stepped,
)

#: Items of times alone, and those without statements.
TIMED, LISTS = ("figure-8a", "figure-8b", "figure-9a"), ("misprints",)


@pytest.fixture(scope="module")
def outcomes():
    matplotlib.use("Agg")
    return {item.name: item.produce(True, lambda _: None) for item in PAPER.items if item.name not in TIMED}


def test_every_statement_agrees(outcomes):
    for name, outcome in outcomes.items():
        assert outcome.tables
        assert bool(outcome.findings) is (name not in LISTS)
        assert [found.quantity for found in outcome.findings if not found.agrees] == []


def test_the_names_of_items_are_those_of_figures():
    names = [item.name for item in PAPER.items]
    assert names == [
        "figure-7a", "figure-7b", "figure-7c", "figure-7d", "figure-8a", "figure-8b", "figure-9a", "figure-10",
        "misprints",
    ]  # fmt: skip


def test_the_double_pendulum_s_equations_keep_its_energy():
    """Heun's method at a small step: an error of second order, which a wrong term would not leave."""
    start = (1.0, 2.0, 0.5, -0.7)
    lost = []
    for step in (1e-3, 5e-4):
        energy = double_energy(stepped(heun, double_rates, start, step, round(0.5 / step)))
        lost.append(abs(energy[-1] - energy[0]))
    assert lost[1] < 0.3 * lost[0] < 1e-4


def test_pendulums_in_equations_are_those_of_bodies():
    """Energies of the same states, and the first of their motion."""
    assembly = cubes(2)
    start = assembly.place({"joint_1": 0.4, "joint_2": 0.7}, rates={"joint_1": 1.0, "joint_2": -0.5})
    energy = assembly.simulate(0.01, 0.01, start).frame["energy"].iloc[0]
    assert_allclose(double_energy(np.array([[0.4, 1.1, 1.0, 0.5]])), energy, atol=1e-12)
    one = cubes(1)
    energy = one.simulate(0.01, 0.01, one.place({"joint_1": 0.4}, rates={"joint_1": 1.0})).frame["energy"].iloc[0]
    assert_allclose(single_energy(np.array([[0.4, 1.0]])), energy, atol=1e-12)


def test_euler_s_method_is_of_first_order():
    ends = [stepped(euler, single_rates(0.5), (1.0, 0.0), h, round(1.0 / h))[-1, 0] for h in (4e-3, 2e-3, 1e-3)]
    assert_allclose((ends[0] - ends[1]) / (ends[1] - ends[2]), 2.0, atol=0.1)


def test_methods_end_where_the_motion_has_no_bounds():
    assert len(stepped(euler, lambda state: (1e3 * state[0],), (1.0,), 1.0, 100)) < 5


def test_the_loop_in_angles_has_one_freedom():
    mechanism = loop_in_angles()
    q = mechanism.satisfy_constraints({"left": 2.84, "left_tip": -1.2, "right": math.pi})
    assert np.linalg.matrix_rank(mechanism.constraint_jacobian(q)) == 2 == mechanism.size - 1

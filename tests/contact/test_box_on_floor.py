"""A box on the floor, as physics: it sinks by its weight, sticks or slips by the friction angle, and stays."""

import numpy as np
import pytest

from biped.integrators import Recursive
from biped.model import rigid_box
from biped.runs.state import State
from biped.simulation.simulate import simulate
from contact import Floor

MU = 0.5
SIZE = (0.4, 0.6, 0.1)
#: What the solver leaves of its residual is a load: at a point on the edge of its cone it moves a little.
TIGHT = Recursive(tolerance=1e-11)
MASS = 10.0


def resting(model, floor, seconds=2.0):
    """The box after it has come to rest on its lower face."""
    q = model.configuration(position=(0.0, 0.0, SIZE[2] / 2 - 1e-4))
    state = State.at(model, q)
    return simulate(model, state=state, floor=floor, step=1e-3, duration=seconds).state


def test_box_at_rest_sinks_by_its_weight_over_the_springs():
    model = rigid_box(MASS, SIZE)
    floor = Floor(mu_s=MU, mu_d=MU)
    state = resting(model, floor)
    sunk = SIZE[2] / 2 - state.q[2]
    assert sunk == pytest.approx(MASS * 9.81 / (4 * floor.k_n), rel=1e-6)
    assert np.linalg.norm(state.momentum) < 1e-6


@pytest.mark.parametrize("direction", [0.0, 0.7, 2.0])
@pytest.mark.parametrize(("factor", "slips"), [(0.99, False), (1.01, True)])
def test_incline_at_the_friction_angle(direction, factor, slips):
    """Gravity leans to tan⁻¹ μ ± 1% while the box stands: it sticks below the angle and slips above it.

    The lower edge carries 30% more than the upper one, whose points reach their friction cones first: a law
    that lets go of a point's load there lets the box creep a millimetre a second.
    """
    floor = Floor(mu_s=MU, mu_d=MU)
    upright = rigid_box(MASS, SIZE)
    state = resting(upright, floor)
    start = state.q.copy()
    angle = factor * np.arctan(MU)
    lean = np.array([np.cos(direction) * np.sin(angle), np.sin(direction) * np.sin(angle), -np.cos(angle)])
    # The weight turns step by step: turned at once, the box would swing beyond the angle before it came to rest.
    for part in np.linspace(0.0, 1.0, 101):
        turned = (1.0 - part) * np.array([0.0, 0.0, -1.0]) + part * lean
        model = upright.with_gravity(9.81 * turned / np.linalg.norm(turned))
        state.model = model
        state = simulate(model, state=state, floor=floor, step=1e-3, duration=0.05).state
    if not slips:
        state = simulate(model, state=state, floor=floor, step=1e-3, duration=5.0).state
    before = state.q.copy()
    state = simulate(model, state=state, floor=floor, step=1e-3, duration=3.0, integrator=TIGHT).state
    moved = np.linalg.norm((state.q - before)[:2])
    if slips:
        assert moved > 0.05
        assert np.dot((state.q - before)[:2], lean[:2]) > 0.99 * moved * np.linalg.norm(lean[:2])
    else:
        assert moved < 1e-9
        assert np.linalg.norm((state.q - start)[:2]) < 2e-3


def test_sliding_box_decelerates_by_friction():
    """With speed far above the threshold the box loses μ g per second, and stops after v²/(2 μ g)."""
    floor = Floor(mu_s=0.3, mu_d=0.3)
    low = (0.4, 0.6, 0.02)
    model = rigid_box(MASS, low)
    state = State.at(
        model, model.configuration(position=(0, 0, low[2] / 2 - MASS * 9.81 / (4 * floor.k_n))), [1.0, *[0] * 5]
    )
    run = simulate(model, state=state, floor=floor, step=1e-3, duration=1.0)
    assert run.frame["body_x"].iloc[-1] == pytest.approx(1.0 / (2 * 0.3 * 9.81), rel=0.02)
    assert run.summary["foot_slip"] == pytest.approx(run.frame["body_x"].iloc[-1], rel=0.02)
    dissipated = run.frame["ledger_dissipated"].iloc[-1]
    assert dissipated == pytest.approx(0.5 * MASS, rel=0.02)


def test_friction_heat_and_springs_make_up_the_contact_work():
    model = rigid_box(MASS, SIZE)
    orientation = np.array([0.9, 0.3, 0.3, 0.1])
    q = model.configuration(position=(0, 0, 0.45), orientation=orientation / np.linalg.norm(orientation))
    state = State.at(model, q)
    run = simulate(model, state=state, step=5e-4, duration=1.5)
    frame = run.frame
    stored = frame["ledger_contact_stored"]
    assert np.allclose(frame["ledger_contacts"], -(stored + frame["ledger_dissipated"]), atol=1e-9)
    lost = frame["ledger_kinetic"] + frame["ledger_potential"]
    assert lost.iloc[0] - lost.iloc[-1] == pytest.approx(
        frame["ledger_dissipated"].iloc[-1] + stored.iloc[-1], abs=run.summary["ledger_residual"] + 1e-9
    )
    assert run.summary["momentum_defect"] < 1e-11


def test_contacts_dissipate_and_never_create_energy():
    """But for what a landing finds stored in the floor already: at most ½ k d² for the landing depth d."""
    model = rigid_box(MASS, SIZE)
    orientation = np.array([0.9, 0.3, 0.3, 0.1])
    q = model.configuration(position=(0, 0, 0.45), orientation=orientation / np.linalg.norm(orientation))
    run = simulate(model, state=State.at(model, q, [1.0, 0.5, 0, 0, 0, 3]), step=1e-4, duration=1.5, record_every=1e-4)
    found = 0.5 * Floor().k_n * Recursive().landing_depth ** 2
    assert run.frame["ledger_dissipated"].diff().min() > -4 * found
    assert run.frame["ledger_dissipated"].iloc[-1] > 10.0


def test_a_landing_is_resolved_by_halving():
    """Coarse and fine steps land alike, because a landing that would be too deep is taken in parts."""
    model = rigid_box(MASS, SIZE)

    def height(step):
        state = State.at(model, model.configuration(position=(0, 0, 0.3)))
        run = simulate(model, state=state, step=step, duration=0.4, record_every=0.4)
        state = run.state
        return state.q[2], run.summary["retried_steps"]

    fine, _ = height(2.5e-5)
    coarse, halved = height(2e-3)
    assert halved >= 1
    assert coarse == pytest.approx(fine, abs=2e-4)


@pytest.mark.parametrize("step", [1e-3, 2e-3])
def test_the_forces_of_steps_in_parts_are_their_means(step):
    """A box that falls on an edge lands in parts of steps: the force of each row is the change of momentum in it."""
    model = rigid_box(MASS, SIZE)
    q = model.configuration(position=(0.0, 0.0, 0.5), orientation=(np.cos(0.2), np.sin(0.2), 0.0, 0.0))
    fallen = State.at(model, q, np.array([0.3, 0.0, -3.0, 0.0, 0.5, 0.0]))
    run = simulate(model, state=fallen, step=step, record_every=step, duration=0.3)
    assert run.metrics["retried_steps"] > 3
    forces = [run.frame[[f"contact_{name}_f{axis}" for axis in "xyz"]].to_numpy() for name in model.contact_names]
    change = np.diff(run.frame[[f"momentum_p{axis}" for axis in "xyz"]].to_numpy(), axis=0)
    weight = MASS * np.array(model.gravity)
    impulse = step * (sum(forces)[1:] + weight)
    assert np.abs(change - impulse).max() < 1e-9 * np.abs(impulse).max() + 1e-9

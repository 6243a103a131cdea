"""Limits, bearings and motors of joints: what they do is what mechanics says, and the books close."""

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import biped
from biped.kernels.variational.joints import limited_torque, stop_energy, stop_force
from biped.model import random_tree
from biped.runs.state import State

from ...conftest import MASS, Constant, sledge

STEP = 1e-3
EXACT = biped.Recursive(tolerance=1e-14)


class Spring(biped.Controller):
    def torques(self, observation):
        return np.zeros(1)

    def impedance(self, model):
        return biped.Impedance({"rail": 200.0}, {"rail": 1.0}, {"rail": 1.0})


def slid(model, rate=0.0, duration=1.0, controller=None, at=0.0, integrator=EXACT):
    state = State.at(model, np.array([at]), np.array([rate]))
    return biped.simulate(
        model, controller, state=state, duration=duration, step=STEP, record_every=STEP, integrator=integrator
    )


def closes(run) -> None:
    """Bearings and stops only take energy, and what they did is what they store and lost, to rounding."""
    books = run.frame
    size = books["ledger_kinetic"].max() + books["ledger_joints"].abs().max()
    gap = books["ledger_joints"] + books["ledger_stops_stored"] + books["ledger_joints_dissipated"]
    assert (gap - gap.iloc[0]).abs().max() < 1e-12 * size
    assert books["ledger_joints_dissipated"].diff().min() > -1e-14 * size


def test_damping_takes_the_same_share_of_the_speed_every_step():
    """m (v' − v) = −h b (v + v')/2, exactly, and so exp(−b t/m) to the square of the step."""
    run = slid(sledge(damping=0.8), rate=3.0)
    factor = (1.0 - 0.8 * STEP / 4.0) / (1.0 + 0.8 * STEP / 4.0)
    speed = run.frame["rate_rail"].to_numpy()
    assert speed == pytest.approx(3.0 * factor ** np.arange(speed.size), rel=1e-12)
    assert speed[-1] == pytest.approx(3.0 * math.exp(-0.8 / 2.0), rel=1e-7)
    closes(run)


def test_dry_friction_brakes_evenly_and_holds():
    run = slid(sledge(friction=2.0), rate=1.0, duration=1.2)
    time, rate = run.frame["time"].to_numpy(), run.frame["rate_rail"].to_numpy()
    stop = MASS * 1.0 / 2.0
    assert rate[time < 0.9 * stop] == pytest.approx((1.0 - 2.0 / MASS * time)[time < 0.9 * stop], abs=1e-5)
    assert np.abs(rate[time > stop + 0.01]).max() < 1e-3
    closes(run)


@pytest.mark.parametrize(("torque", "moves"), [(1.9, False), (2.5, True)])
def test_dry_friction_bears_as_much_as_it_is(torque, moves):
    run = slid(sledge(friction=2.0), controller=Constant(torque), duration=0.5)
    expected = (torque - 2.0) / MASS * 0.5 if moves else 0.0
    # Where it would stick it creeps, at ε τ/√(f² − τ²).
    creep = 1e-3 * torque / math.sqrt(abs(4.0 - torque**2))
    assert run.frame["rate_rail"].iloc[-1] == pytest.approx(expected, abs=2.0 * creep)
    closes(run)


def test_beyond_its_speed_a_motor_gains_a_twentieth_under_its_effort():
    run = slid(sledge(max_velocity=2.0, max_effort=5.0), controller=Constant(5.0), duration=2.0)
    assert run.frame["rate_rail"].iloc[-1] == pytest.approx(2.0 * 1.05, rel=1e-6)
    closes(run)


@pytest.mark.parametrize(("kind", "depth"), [("prismatic", 1e-3), ("revolute", math.radians(1.0))])
@pytest.mark.parametrize("side", [1.0, -1.0])
def test_a_stop_yields_a_little_under_the_greatest_effort(kind, depth, side):
    model = sledge(kind, lower=-0.1, upper=0.1, max_effort=5.0)
    run = slid(model, controller=Constant(side * 5.0), duration=4.0)
    assert run.frame[model.coordinate_names[0]].iloc[-1] == pytest.approx(side * (0.1 + depth), rel=1e-8)
    closes(run)


def test_a_stop_throws_back_less_than_came_and_lets_go():
    run = slid(sledge(upper=0.1, max_effort=50.0), rate=2.0, duration=0.5)
    rate = run.frame["rate_rail"]
    assert -2.0 < rate.iloc[-1] < -0.05
    assert run.frame["ledger_stops_stored"].iloc[-1] == 0.0
    free = run.frame["position_rail"].to_numpy() < 0.1
    after = free & (rate.to_numpy() < 0.0)
    assert np.ptp(rate[after]) < 1e-12
    lost = 0.5 * MASS * (4.0 - rate.iloc[-1] ** 2)
    assert run.frame["ledger_joints_dissipated"].iloc[-1] == pytest.approx(lost, rel=1e-12)
    closes(run)


def test_a_motor_gives_no_more_than_its_effort():
    run = slid(sledge(max_effort=5.0), controller=Constant(8.0), duration=0.5)
    assert run.frame["torque_rail"].iloc[-1] == 5.0
    assert run.frame["rate_rail"].iloc[-1] == pytest.approx(5.0 * 0.5 / MASS, rel=1e-12)
    assert run.metrics["saturation_time_rail"] == pytest.approx(0.5)


def test_an_impedance_is_within_the_effort_too():
    """200 N/m one metre away would be 200 N: the sledge starts with 5, and the books hold what was given."""
    run = slid(sledge(max_effort=5.0), controller=Spring(), duration=0.1)
    assert run.frame["rate_rail"].iloc[-1] == pytest.approx(5.0 * 0.1 / MASS, rel=1e-9)
    assert run.frame["ledger_actuators"].iloc[-1] == pytest.approx(run.frame["ledger_kinetic"].iloc[-1], rel=1e-12)


def with_bearings(model: biped.Model, rng: np.random.Generator) -> biped.Model:
    def joint(body):
        if not body.joint.has_axis:
            return body
        low, high = -rng.uniform(0.02, 0.2), rng.uniform(0.02, 0.2)
        size = 5.0 if body.joint.kind == "revolute" else 50.0
        limits = {"lower": low, "upper": high, "max_effort": size, "max_velocity": 3.0}
        return replace(body, joint=replace(body.joint, **limits, damping=0.02 * size, friction=0.05 * size))

    return replace(model, bodies=tuple(joint(body) for body in model.bodies))


@pytest.fixture(scope="module")
def tumbling():
    rng = np.random.default_rng(5)
    model = with_bearings(random_tree(rng, 6), rng)
    return model, State.at(model, model.neutral(), rng.normal(scale=2.0, size=model.nv))


def tumble(model, state, integrator):
    return biped.simulate(model, state=state.copy(), duration=0.3, step=5e-4, record_every=5e-4, integrator=integrator)


def test_a_tree_in_its_stops_keeps_its_momentum_and_its_books(tumbling):
    model, state = tumbling
    run = tumble(model, state, EXACT)
    assert run.frame["ledger_stops_stored"].max() > 0.01
    assert run.frame.filter(like="momentum_defect").abs().to_numpy().max() < 1e-10
    closes(run)
    assert run.frame["ledger_residual"].abs().max() < 0.02 * run.frame["ledger_kinetic"].iloc[0]


@pytest.mark.parametrize(("name", "gap"), [("maximal", 1e-7), ("lee", 1e-4), ("midpoint", 1e-4)])
def test_integrators_agree(tumbling, name, gap):
    model, state = tumbling
    ours, others = tumble(model, state, EXACT), tumble(model, state, biped.integrator_named(name, tolerance=1e-14))
    columns = [*model.coordinate_names, "ledger_joints", "ledger_joints_dissipated"]
    assert np.abs(ours.frame[columns] - others.frame[columns]).to_numpy().max() < gap


def test_other_integrators_and_starts_beyond_a_limit_are_refused():
    with pytest.raises(biped.InputError, match="damping or friction .* supported by: recursive.*limits = false"):
        slid(sledge(damping=1.0), integrator=biped.ExplicitEuler())
    with pytest.raises(
        biped.InputError, match="'rail' begins at 0.5, 0.4 outside of its limits, -0.1 to 0.1: begin within"
    ):
        slid(sledge(lower=-0.1, upper=0.1), at=0.5)


@pytest.mark.parametrize("field", ["max_effort", "max_velocity"])
def test_a_limit_of_zero_is_refused(field):
    with pytest.raises(biped.ModelError, match=f"{field} must be above zero"):
        sledge(**{field: 0.0})


DEPTH = st.floats(-0.1, 0.1).filter(lambda depth: abs(depth) > 1e-6)


@given(DEPTH, DEPTH)
def test_a_stop_never_pulls_and_only_damping_takes(begin, end):
    assume(abs(end - begin) > 1e-9)
    stored = 350.0 * (max(end, 0.0) ** 2 - max(begin, 0.0) ** 2)
    force, _ = stop_force(700.0, 0.0, begin, end, STEP)
    assert force * (end - begin) == pytest.approx(stored, abs=1e-12)
    force, _ = stop_force(700.0, 14.0, begin, end, STEP)
    assert force >= 0.0
    assert force * (end - begin) - stored >= -1e-12


@given(st.floats(-0.3, 0.3), st.floats(-0.3, 0.3))
def test_newtons_method_has_the_exact_slope(begin, end):
    joint = {"max_effort": 5.0, "max_velocity": 4.0, "damping": 0.2, "friction": 0.5}
    passive = sledge(lower=-0.1, upper=0.15, **joint).tree.passive
    rate = (end - begin) / 0.01
    edge = 1e-4  # the slope jumps where a limit is met
    assume(min(abs(end - 0.15), abs(end + 0.1), abs(begin - 0.15), abs(begin + 0.1)) > edge)
    assume(abs(abs(rate) - 4.0) > edge and abs(end - begin) > edge)
    _, _, slope = limited_torque(passive, 0, 0.0, begin, end, 0.01)
    ahead, behind = (limited_torque(passive, 0, 0.0, begin, end + d, 0.01)[1] for d in (1e-7, -1e-7))
    pressing = (ahead - behind) / 2e-7
    second = (limited_torque(passive, 0, 0.0, begin, end + 1e-5, 0.01)[2] - slope) * 1e-2
    assert slope == pytest.approx(pressing, rel=1e-4, abs=1e-3 + abs(second))


def test_the_energy_of_a_stop_is_that_of_its_spring():
    model = sledge("revolute", lower=-0.1, upper=0.2, max_effort=math.radians(1.0) * 300.0)
    depths = {-0.2: 0.1, 0.0: 0.0, 0.25: 0.05}
    for at, depth in depths.items():
        assert stop_energy(model.tree, 0, at) == pytest.approx(150.0 * depth**2, rel=1e-12)

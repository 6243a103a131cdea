"""Loops of trees: the exact motion of a four-bar linkage, assemblies of the same, balances, and refusals."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose

import biped
from biped.derivatives.linearization import linearize
from biped.dynamics import forward_dynamics, forward_kinematics
from biped.dynamics.closing import assembled, closed_velocity, loop_gaps
from biped.model import CLOSING_KINDS, Body, ClosingJoint, Model, cylindrical, jointed, revolute, to_pinocchio
from controllers import JointImpedance
from formulations.assembly import from_model, placement_of
from formulations.mechanism import from_model as mechanism_of

from .loops import Y, crank_angle, four_bar, four_bar_start, joined_tree, loop_rate

EXAMPLES = Path(__file__).resolve().parents[3] / "examples"
TAKE_LOOPS = [name for name, integrator in biped.INTEGRATORS.items() if integrator.takes_loops]
SPRINGS = ("recursive", "maximal")  # on floors of springs


def run_of(model, q, v, **how):
    how = {"step": 1e-3, "duration": 0.2, "integrator": "recursive"} | how
    return biped.simulate(model, state=biped.State.at(model, q, v), record_every=how["step"], **how)


def test_the_integrators_that_take_loops():
    assert TAKE_LOOPS == ["recursive", "maximal", "rigid"]


@pytest.mark.parametrize("integrator", TAKE_LOOPS)
def test_a_four_bar_linkage_moves_as_its_energy_says(integrator):
    model = four_bar()
    q, v = four_bar_start(model)
    exact = crank_angle(1.0)
    errors, spreads = [], []
    for step in (4e-3, 2e-3, 1e-3):
        frame = run_of(model, q, v, step=step, duration=1.0, integrator=integrator).frame
        total = frame["ledger_kinetic"] + frame["ledger_potential"]
        errors.append(abs(frame["angle_a"].iloc[-1] - exact))
        spreads.append(float(total.max() - total.min()))
        assert frame["loop_gap_position"].max() < 1e-12
        assert frame["loop_gap_rotation"].max() < 1e-12
    assert exact > 2.0 * np.pi
    assert_allclose(np.log2(np.divide(errors[:-1], errors[1:])), 2.0, atol=0.05)
    assert_allclose(np.log2(np.divide(spreads[:-1], spreads[1:])), 2.0, atol=0.05)
    assert errors[-1] < 1e-4


def test_energy_stays_within_bounds_over_many_turns():
    model = four_bar()
    frame = run_of(model, *four_bar_start(model), duration=20.0).frame
    total = (frame["ledger_kinetic"] + frame["ledger_potential"]).to_numpy()
    spread = [np.ptp(part) for part in np.array_split(total, 4)]
    assert frame["angle_a"].iloc[-1] > 40.0 * np.pi / 2.0
    assert max(spread) < 1.2 * spread[0] < 2e-3


def test_both_coordinates_have_the_same_motion_and_that_of_the_assembly():
    """Wendlandt's Theorem 2.1 with loops; and the same bodies with all joints as constraints."""
    model = four_bar()
    q, v = four_bar_start(model)
    one = run_of(model, q, v, duration=0.5).frame
    other = run_of(model, q, v, duration=0.5, integrator="maximal").frame
    shared = [name for name in one if name.startswith(("angle_", "rate_", "reaction_d"))]
    for name in shared:
        assert_allclose(other[name], one[name], rtol=0.0, atol=1e-9)
    whole = from_model(model).simulate(0.5, 1e-3, placement_of(model, q, v)).frame
    for angle in ("angle_a", "angle_b", "angle_c"):
        assert_allclose(one[angle], whole[angle], rtol=0.0, atol=1e-7)


def test_reactions_are_what_accelerates_the_rocker():
    """In every step, h (both hinges' forces) = Δ (m v) − h m g, to round-off; it is the outboard body of both."""
    model = four_bar()
    frame = run_of(model, *four_bar_start(model), duration=0.3, integrator="maximal").frame
    states = (frame[list(names)].to_numpy() for names in (model.coordinate_names, model.velocity_names))
    velocity = np.array([forward_kinematics(model, q, v).velocity[2] for q, v in zip(*states, strict=True)])
    force = sum(frame[[f"reaction_{joint}_f{axis}" for axis in "xyz"]].to_numpy() for joint in "cd")[1:]
    gained = 1.5 * np.diff(velocity, axis=0) / 1e-3 + [0.0, 0.0, 1.5 * 9.81]
    assert_allclose(force, gained, rtol=0.0, atol=1e-9)
    assert np.abs(force).max() > 20.0


@pytest.mark.parametrize("kind", CLOSING_KINDS)
def test_any_joint_closes_a_loop_of_a_tree_in_flight(kind):
    model, q, v = joined_tree(np.random.default_rng(CLOSING_KINDS.index(kind)), kind)
    assert loop_gaps(model, q)["loop"] < 1e-13
    assert loop_rate(model, q, v) < 1e-12
    frame = run_of(model, q, v).frame
    assert frame["loop_gap_position"].max() < 1e-12
    assert frame["loop_gap_rotation"].max() < 1e-12
    assert frame.filter(like="momentum_defect").abs().to_numpy().max() < 1e-9
    last = frame.iloc[-1]
    assert loop_rate(model, last[list(model.coordinate_names)], last[list(model.velocity_names)]) < 1e-9
    whole = from_model(model).simulate(0.2, 1e-3, placement_of(model, q, v)).frame
    free = run_of(model.without_closing_joints(), q, v).frame
    for own, axis in zip(model.coordinate_names[:3], "xyz", strict=False):
        assert_allclose(frame[own], whole[f"{model.root.name}_{axis}"], rtol=0.0, atol=1e-7)
    assert np.abs(frame[list(model.coordinate_names)] - free[list(model.coordinate_names)]).to_numpy().max() > 1e-4


@pytest.mark.parametrize("integrator", TAKE_LOOPS)
def test_a_universal_joint_between_shafts_is_hooke_s(integrator):
    """tan θ₂ = cos β tan θ₁ through two turns; three of the point's rows say what the shafts' bearings do."""
    c, s = np.cos(0.6), np.sin(0.6)
    inertia = biped.box_inertia(1.0, (0.4, 0.1, 0.1))
    shafts = (
        Body("one", 1.0, inertia, (0.0, 0.0, 0.0), revolute("first", (1.0, 0.0, 0.0))),
        Body("two", 1.0, inertia, (0.0, 0.0, 0.0), revolute("second", (c, 0.0, s))),
    )
    cross = ClosingJoint("cross", "universal", "one", "two", Y, second_axis=(-s, 0.0, c))
    model = Model("coupling", shafts, closing_joints=(cross,))
    v = closed_velocity(model, model.neutral(), [15.0, 0.0], held=["first"])
    frame = run_of(model, model.neutral(), v, duration=1.0, integrator=integrator).frame
    first, second = frame["angle_first"], frame["angle_second"]
    assert first.iloc[-1] > 4.0 * np.pi
    assert_allclose(second, np.unwrap(np.arctan2(c * np.sin(first), np.cos(first))), rtol=0.0, atol=1e-10)
    assert_allclose(np.abs(second - first).max(), np.arcsin((1.0 - c) / (1.0 + c)), rtol=1e-3)
    energy = frame["ledger_kinetic"]
    assert np.ptp(energy) < 1e-4 * energy.iloc[0]


def test_a_helical_joint_on_a_sleeve_is_a_screw():
    """It falls with g m p² / (m p² + I), beyond any number of turns, but for an error of second order in the step."""
    pitch, inertia = 0.05, biped.box_inertia(1.0, (0.1, 0.1, 0.02))
    nut = jointed("nut", cylindrical("sleeve", (0.0, 0.0, 1.0)), 1.0, inertia, (0.0, 0.0, 0.0))
    thread = ClosingJoint("thread", "helical", None, "nut", pitch=pitch)
    model = Model("screw", nut, closing_joints=(thread,))
    rate, errors = 9.81 * pitch**2 / (pitch**2 + inertia[2][2]), []
    for step in (2e-3, 1e-3):
        frame = run_of(model, model.neutral(), np.zeros(2), duration=1.0, step=step).frame
        slide, turn = frame["position_sleeve_slide"], frame["angle_sleeve_turn"]
        errors.append(abs(slide.iloc[-1] + 0.5 * rate))
        assert_allclose(slide, pitch * turn, rtol=0.0, atol=1e-12)
        assert turn.iloc[-1] < -10.0 * np.pi
        assert frame["loop_gap_position"].max() < 1e-12
    assert errors[1] < 2e-3
    assert_allclose(np.log2(errors[0] / errors[1]), 2.0, atol=0.05)


def test_what_cannot_be_assembled_is_told():
    model = four_bar()
    long = replace(model, closing_joints=(replace(model.closing_joints[0], child_position=(0.0, 0.0, 5.0)),))
    with pytest.raises(biped.InputError, match="cannot be closed from this start: closing joint 'd' stays open by"):
        assembled(long, long.neutral())
    with pytest.raises(biped.ModelError, match="unknown joint 'z'"):
        assembled(model, model.neutral(), held=["z"])


@pytest.mark.parametrize("name", [name for name in biped.INTEGRATORS if name not in TAKE_LOOPS])
def test_other_integrators_say_which_take_loops(name):
    model = four_bar()
    with pytest.raises(biped.InputError, match="does not support loops.*recursive, maximal, rigid"):
        biped.Scene(model, integrator=name, state=biped.State.at(model, four_bar_start(model)[0])).prepare()


def test_what_knows_trees_only_says_so():
    model = four_bar()
    q, v = four_bar_start(model)
    for ask in (to_pinocchio, mechanism_of, lambda one: forward_dynamics(one, q, v, np.zeros(3))):
        with pytest.raises(biped.ModelError, match="does not support loops, but .* the closing joints 'd'"):
            ask(model)
    with pytest.raises(biped.ModelError, match="derivative of a step does not support loops"):
        linearize(biped.Scene(model, state=biped.State.at(model, q, v)))
    person = biped.human()
    strut = ClosingJoint("strut", "spherical", "left_thigh", "right_thigh")
    tied = replace(person, closing_joints=(strut,))
    with pytest.raises(biped.InputError, match="open at the start"):
        biped.Scene(tied, state=biped.State.at(tied)).prepare()
    hit = biped.Throw(1.0, (0.1, 0.1, 0.1), (0.0, 0.0, 5.0), (0.0, 0.0, 0.0), target="crank")
    with pytest.raises(biped.InputError, match="which impacts of thrown boxes ignore"):
        biped.Scene(model, state=biped.State.at(model, q), disturbances=[hit]).prepare()


def test_a_push_on_a_linkage_at_rest_does_work_on_its_one_freedom():
    model = four_bar().with_gravity((0.0, 0.0, 0.0))
    q, _ = four_bar_start(model)
    push = biped.Push("coupler", (1.0, 0.0, 0.0), 2.0, start=0.01, duration=0.05)
    frame = run_of(model, q, np.zeros(3), disturbances=[push]).frame
    last = frame.iloc[-1]
    assert last["ledger_kinetic"] > 0.1
    assert_allclose(last["ledger_kinetic"], last["ledger_pushes"], rtol=1e-4)


def braced_human_dropped_into_another_posture(model, integrator, step):
    push = biped.Push("trunk", (0.6, 0.8, 0.0), 4.0, start=0.02, duration=0.05)
    return biped.simulate(
        model, JointImpedance(), state=biped.standing(model), step=step, record_every=1e-3, duration=0.3,
        disturbances=[push], integrator=integrator,
    ).frame  # fmt: skip


def test_a_braced_human_on_the_floor_moves_alike_in_both_coordinates():
    model = biped.load_robot(f"{EXAMPLES / 'exoskeleton.py'}:exoskeleton")
    one, other = (braced_human_dropped_into_another_posture(model, name, 1e-3) for name in SPRINGS)
    for name in (*model.coordinate_names, *model.velocity_names):
        assert_allclose(other[name], one[name], rtol=0.0, atol=1e-7)
    for name in one.filter(like="brace_bottom"):
        assert_allclose(other[name], one[name], rtol=0.0, atol=1e-3)
    assert one["ledger_dissipated"].iloc[-1] > 100.0
    assert one["loop_gap_position"].max() < 1e-12
    assert one.filter(like="momentum_defect").abs().to_numpy().max() < 1e-9
    finer = braced_human_dropped_into_another_posture(model, "recursive", 5e-4)
    residual = [np.ptp(frame["ledger_residual"]) for frame in (one, finer)]
    assert residual[0] / residual[1] == pytest.approx(4.0, rel=0.05)


def test_loads_and_gravity_keep_the_loops():
    model = biped.load_robot(f"{EXAMPLES / 'exoskeleton.py'}:exoskeleton")
    loaded = model.with_load("left_upper_bar", 1.0, (0.01, 0.0, 0.0), biped.box_inertia(1.0, (0.1, 0.1, 0.1)))
    for changed in (loaded, model.with_gravity((0.0, 0.0, -1.6)), model.without_contacts()):
        assert max(loop_gaps(changed, biped.standing(model).q).values()) < 1e-12

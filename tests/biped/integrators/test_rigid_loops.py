"""Loops beside rigid contact: closed in positions and velocities, on the floor, in impacts and between legs."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from biped import Push, Recursive, Rigid, State, load_robot, simulate, standing
from biped.dynamics import body_gaps, forward_kinematics, mass_matrix
from biped.dynamics.closing import assembled, closed_velocity, loop_gaps
from biped.model import Body, ClosingJoint, ContactPoint, Model, box_inertia, floating, revolute
from biped.model.geometry import quaternion_matrix
from contact import Floor
from contact.modes import NONE, STICKING
from controllers import JointImpedance
from experiments.catalogue.registry import experiment_named
from formulations.assembly import from_model, placement_of

from ...conftest import assert_same_arrays
from .loops import Y, joined_tree, loop_rate

EXOSKELETON = f"{Path(__file__).resolve().parents[3] / 'examples' / 'exoskeleton.py'}:exoskeleton"
HALF_TOP, HALF_FOOT, LEG = 0.2, 0.3, 0.5
HEIGHT = np.sqrt(LEG**2 - (HALF_FOOT - HALF_TOP) ** 2)


def trestle():
    """A trapezium of bars in the air: a top, two legs that hang on it, and a foot that closes the loop below."""
    o, lean = (0.0, 0.0, 0.0), np.arcsin((HALF_FOOT - HALF_TOP) / LEG)
    leg, end = box_inertia(1.0, (0.04, 0.04, LEG)), (0.0, 0.0, -LEG)
    bodies = (
        Body("top", 3.0, box_inertia(3.0, (2 * HALF_TOP, 0.2, 0.1)), o, floating("root")),
        Body("left", 1.0, leg, (0.0, 0.0, -LEG / 2), revolute("a", Y, (-HALF_TOP, 0.0, 0.0)), "top"),
        Body("foot", 1.5, box_inertia(1.5, (0.6, 0.2, 0.04)), (HALF_FOOT, 0.0, 0.0), revolute("b", Y, end), "left"),
        Body("right", 1.0, leg, (0.0, 0.0, -LEG / 2), revolute("c", Y, (HALF_TOP, 0.0, 0.0)), "top"),
    )
    hinge = ClosingJoint("d", "revolute", "foot", "right", Y, (2 * HALF_FOOT, 0.0, 0.0), end)
    corners = [("foot", (x, y, 0.0)) for x in (0.0, 2 * HALF_FOOT) for y in (-0.1, 0.1)]
    corners += [("top", (x, y, 0.05)) for x in (-HALF_TOP, HALF_TOP) for y in (-0.1, 0.1)]
    points = tuple(ContactPoint(f"p{k}", body, place) for k, (body, place) in enumerate(corners))
    model = Model("trestle", bodies, contact_points=points, closing_joints=(hinge,))
    q = model.configuration(angles={"a": lean, "b": -lean, "c": -lean})
    q[2] = HEIGHT
    return model, assembled(model, q, held=["root"])


def run_of(model, q, v, integrator, mu=0.5, **how):
    how = {"step": 1e-3, "duration": 0.3} | how
    state, floor = State.at(model, q, v), Floor(mu_s=mu, mu_d=mu)
    return simulate(model, state=state, integrator=integrator, floor=floor, record_every=how["step"], **how)


def states(run):
    model = run.state.model
    return (run.frame[list(names)].to_numpy() for names in (model.coordinate_names, model.velocity_names))


def check_loops(run):
    frame, model = run.frame, run.state.model
    assert frame["loop_gap_position"].max() < 1e-12
    assert frame["loop_gap_rotation"].max() < 1e-12
    for q, v in zip(*states(run), strict=True):
        assert max(loop_gaps(model, q).values()) < 1e-12
        assert loop_rate(model, q, v) < 1e-11
    assert frame["deepest_point"].max() < 1e-9
    assert frame["solver_residual"].max() <= 1e-8
    assert frame["unresolved"].sum() == 0
    assert frame.filter(like="momentum_defect").abs().to_numpy().max() < 1e-9


@pytest.mark.parametrize("kind", ["revolute", "spherical", "fixed"])
def test_in_flight_it_is_the_recursive_integrator(kind):
    model, q, v = joined_tree(np.random.default_rng(3), kind)
    ours, theirs = (run_of(model, q, v, one(tolerance=1e-11)) for one in (Rigid, Recursive))
    check_loops(ours)
    for name in (*model.coordinate_names, *model.velocity_names, *ours.frame.filter(like="reaction")):
        assert np.abs(ours.frame[name] - theirs.frame[name]).max() < 1e-7, name
    assert ours.frame.filter(like="reaction_loop").abs().to_numpy().max() > 0.1


def landing_velocity(model, q, v, held):
    """(nv,) v − M⁻¹ Aᵀ (A M⁻¹ Aᵀ)⁺ A v with A the rows of the loop's hinge and of the points that are held."""
    rows = np.array([np.concatenate(speeds(model, q, unit, held)) for unit in np.eye(model.nv)]).T
    response = np.linalg.solve(mass_matrix(model, q), rows.T)
    return v - response @ (np.linalg.pinv(rows @ response, rcond=1e-11, hermitian=True) @ (rows @ v))


def speeds(model, q, v, held):
    motion = forward_kinematics(model, q, v)

    def of_point(body, place):
        i = model.body_index(body)
        arm = quaternion_matrix(motion.orientation[i]) @ np.subtract(place, model.bodies[i].com)
        return motion.velocity[i] + np.cross(motion.angular_velocity[i], arm)

    (hinge,) = model.closing_joints
    opens = of_point(hinge.parent, hinge.position) - of_point(hinge.child, hinge.child_position)
    turns = (
        motion.angular_velocity[model.body_index(hinge.parent)] - motion.angular_velocity[model.body_index(hinge.child)]
    )
    points = [of_point(model.contact_points[k].body, model.contact_points[k].position) for k in held]
    return [opens, turns[[0, 2]], *points]


@pytest.mark.parametrize("rate", [0.0, 1.5])
def test_an_impact_obeys_the_floor_and_the_loop(rate):
    """All four points of the foot stick: velocities are those of the dense mass matrix, to the step's order."""
    model, q = trestle()
    model = model.with_gravity((0.0, 0.0, 0.0))
    v = closed_velocity(model, q, [0.2, 0.1, -2.0, 0.0, 0.0, 0.0, rate, 0.0, 0.0], held=["a"])
    expected = landing_velocity(model, q, v, range(4))
    errors = []
    for step in (1e-4, 1e-5):
        run = run_of(model, q, v, Rigid(), mu=5.0, step=step, duration=step)
        check_loops(run)
        assert (run.state.arrays.mode[:4] == STICKING).all()
        errors.append(np.abs(list(states(run))[1][-1] - expected).max())
    assert np.abs(expected - v).max() > 1.0
    assert errors[0] < 1e-3
    assert errors[1] < 1e-5 + 0.2 * errors[0]


def test_it_lands_and_moves_on_as_the_assembly_in_maximal_coordinates():
    """The same bodies, all of whose joints are constraints (Brüdigam et al. 2024): it falls flat, and its top sways."""
    model, q = trestle()
    q[2] += 0.02
    v = closed_velocity(model, q, [0.3, 0.0, 0.0, 0.0, 0.0, 0.0, 0.5, 0.0, 0.0], held=["a"])
    run = run_of(model, q, v, Rigid(directions=4))
    check_loops(run)
    theirs = from_model(model, friction=0.5).simulate(0.3, 1e-3, placement_of(model, q, v))
    assert np.abs(theirs.position("top")[-1] - run.state.q[:3]).max() < 1e-6
    for angle in ("angle_a", "angle_b", "angle_c"):
        assert abs(theirs.frame[angle].iloc[-1] - run.frame[angle].iloc[-1]) < 1e-6
    assert abs(run.frame["angle_a"].iloc[-1] - q[7]) > 0.05
    assert (run.state.arrays.mode[:4] != NONE).any()


@pytest.mark.parametrize("seed", range(3))
def test_what_is_thrown_tumbles_and_gains_no_energy(seed):
    model, q = trestle()
    rng = np.random.default_rng(seed)
    q[2] += 0.4
    v = closed_velocity(model, q, rng.normal(size=model.nv) * 2.0)
    run = run_of(model, q, v, Rigid(restitution=0.3 * seed), duration=1.0)
    check_loops(run)
    total = (run.frame["ledger_kinetic"] + run.frame["ledger_potential"]).to_numpy()
    assert np.diff(total).max() < 1e-3 * total[0]
    assert total[-1] < 0.9 * total[0]


def test_it_goes_on_as_if_it_had_not_stopped():
    model, q = trestle()
    q[2] += 0.01
    v = closed_velocity(model, q, [0.5, 0.0, -0.5, 0.0, 0.5, 0.0, 1.0, 0.0, 0.0], held=["a"])
    whole = run_of(model, q, v, Rigid(), duration=0.2).state
    half = run_of(model, q, v, Rigid(), duration=0.1).state
    assert (half.arrays.mode[:4] != NONE).any()
    floor = Floor(mu_s=0.5, mu_d=0.5)
    rest = simulate(model, state=half, integrator=Rigid(), floor=floor, step=1e-3, duration=0.1).state
    assert_same_arrays(whole.arrays._replace(counts=rest.arrays.counts), rest.arrays)


def test_a_braced_human_is_pushed_on_the_rigid_floor():
    model, residual = load_robot(EXOSKELETON), []
    push = Push("trunk", (0.6, 0.8, 0.0), 4.0, start=0.02, duration=0.05)
    for step in (1e-3, 5e-4):
        run = simulate(
            model, JointImpedance(), state=standing(model), step=step, record_every=5e-3, duration=0.3,
            disturbances=[push], integrator=Rigid(),
        )  # fmt: skip
        check_loops(run)
        residual.append(np.ptp(run.frame["ledger_residual"]))
    assert residual[0] / residual[1] == pytest.approx(4.0, rel=0.05)
    assert run.frame.filter(regex="reaction_.*_brace_bottom_f").abs().to_numpy().max() > 5.0


def test_braced_legs_touch_one_another():
    model = load_robot(EXOSKELETON).without_contacts().with_gravity((0.0, 0.0, 0.0))
    q, v = assembled(model, State.at(model).q), np.zeros(model.nv)
    v[model.dof("left_hip_roll")], v[model.dof("right_hip_roll")], v[model.dof("left_knee_pitch")] = 3.0, -3.0, 2.0
    v = closed_velocity(model, q, v, held=["left_knee_pitch"])
    run = run_of(model, q, v, Rigid(touching="body"), duration=0.4)
    check_loops(run)
    configurations, _ = states(run)
    gaps = [min(body_gaps(model, row).values()) for row in configurations]
    assert -1e-9 < min(gaps) < 1e-6
    assert run.frame.filter(like="press_").to_numpy().max() > 10.0


@pytest.mark.slow
def test_an_exoskeleton_stands_and_is_pushed_on_the_rigid_floor():
    push = Push("trunk", (-1.0, 0.0, 0.0), 8.0, start=0.2, duration=0.1)
    scene = experiment_named("balance", "workspace", (), EXOSKELETON).build()
    run = replace(scene, duration=2.0, step=1e-3, record_every=1e-2, integrator=Rigid(), disturbances=(push,)).run()
    check_loops(run)
    assert run.summary["verdict"] == "recovered"
    assert run.frame["com_x"].min() < run.frame["com_x"].iloc[0] - 0.005

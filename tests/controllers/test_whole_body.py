"""Whole-body controller in closed loop: capture point, symmetry, limits, and behaviour beyond them."""

import math
from dataclasses import replace

import numpy as np
import pytest

from biped import Fall, Observation, Push, human, simulate, standing
from biped.metrics.layout import standing_height
from contact import RUBBER, ContactState, Floor
from controllers.kernels.contact_qp import ENDED, SOLVED
from controllers.kernels.whole_body import HELD, WITHOUT_RANGES
from controllers.whole_body import WholeBodyController
from experiments.catalogue.registry import experiment_named

from .contact_programs import Kept, limited, run_of, scenes

PUSH = 0.1  # [s] when it begins


def pushed(model, controller, angle, impulse, duration=1.5, **options):
    push = Push("trunk", (math.cos(angle), math.sin(angle), 0.0), impulse=impulse, start=PUSH, duration=0.1)
    options = {"step": 5e-4, "fall": Fall(), "disturbances": (push,), **options}
    return simulate(model, controller, duration=duration, **options)


def test_standing_still_is_an_equilibrium():
    run = simulate(human(), WholeBodyController(), duration=2.0, step=5e-4)
    frame = run.frame
    last = frame[frame["time"] > 1.9]
    for axis in "xyz":
        assert np.ptp(frame[f"com_{axis}"]) < 2e-4
        assert np.ptp(last[f"com_{axis}"]) < 1e-6
    torques = last.filter(like="torque_")
    assert len(torques.columns) == 12
    assert (torques.max() - torques.min()).max() < 0.05
    assert (frame["qp_ended"] == SOLVED).all()
    assert program_check(run).passed == "ok"


@pytest.mark.parametrize("axis", [0, 1])
@pytest.mark.parametrize("capture", [4.0, 12.0])
def test_the_divergent_component_decays_at_the_rate_that_is_asked_for(capture, axis):
    """ξ̇ = ω (ξ − p) with p held over a tick T: from tick to tick ξ shrinks by 1 − (k/ω)(e^{ωT} − 1). Englsberger 2013.

    With a stiff floor, and negligible weights of the other tasks.
    """
    controller = WholeBodyController(
        capture=capture, friction=0.7, weight_momentum=0.0, weight_trunk=1e-5, weight_posture=1e-6, weight_force=1e-4
    )
    floor = Floor(k_n=3e6, b_n=1e4, k_t=3e6, b_t=1e4, mu_s=0.8, mu_d=0.8)
    direction = tuple(float(axis == k) for k in range(3))
    push = Push("trunk", direction, impulse=1.0, start=1.5, duration=0.01)
    frame = simulate(human(), controller, floor=floor, duration=2.2, step=1e-4, disturbances=(push,)).frame
    omega = math.sqrt(9.81 / frame["com_z"].iloc[-1])
    com = frame[("com_x", "com_y")[axis]].to_numpy()
    extrapolated = com + np.gradient(com, frame["time"]) / omega
    extrapolated -= extrapolated[frame["time"] < 1.49][-1]
    decaying = frame["time"].between(1.53, 1.53 + 1.2 / capture)
    found = -np.polyfit(frame["time"][decaying], np.log(abs(extrapolated[decaying])), 1)[0]
    tick = controller.period
    expected = -math.log(1.0 - capture / omega * math.expm1(omega * tick)) / tick
    assert found == pytest.approx(expected, rel=3e-3)


@pytest.mark.parametrize("angle", [0.5, 1.2, 2.5])
def test_mirrored_pushes_have_mirrored_runs(angle):
    one, other = (pushed(human(), WholeBodyController(), sign * angle, 12.0, 1.0).frame for sign in (1, -1))
    assert abs(one["com_y"]).max() > 2e-3
    for column, sign in (("com_x", 1), ("com_y", -1), ("com_z", 1)):
        np.testing.assert_allclose(one[column], sign * other[column], rtol=0.0, atol=1e-9)
    for joint, sign in (("hip_roll", -1), ("hip_pitch", 1), ("knee_pitch", 1), ("ankle_roll", -1)):
        left, right = one[f"torque_left_{joint}"], other[f"torque_right_{joint}"]
        np.testing.assert_allclose(left, sign * right, rtol=0.0, atol=1e-5)


@pytest.mark.parametrize(("integrator", "step"), [("recursive", 1e-3), ("rigid", 1e-3), ("rigid", 2e-3)])
def test_it_lands_rises_and_takes_the_block(integrator, step):
    experiment = experiment_named("thrown-block").driven_by("whole-body")
    scene = experiment.build(experiment.parse({"run.step": str(step)}))
    run = replace(scene, integrator=integrator).run()
    frame = run.frame
    falls = frame[frame["time"] <= 0.02]
    assert falls.filter(regex="contact_.*_fz").to_numpy().max() < 1e-9  # [N] what an interior point leaves of none
    body, foot = (falls[name].to_numpy() for name in ("com_z", "contact_left_1_z"))
    assert foot - foot[0] == pytest.approx(body - body[0], rel=0.05, abs=2e-5)
    assert run.summary["verdict"] == "recovered"
    assert run.metrics["settling_time"] < 1.0
    assert (frame["qp_ended"] == SOLVED).all()


def test_where_it_wants_to_stand_goes_by_its_feet():
    controller, model = WholeBodyController(), human()
    q = controller.initial_configuration(model, RUBBER)
    assert controller.set_point_from(model, q) == controller.set_point(model)
    q[:2] += (0.3, -0.2)
    assert controller.set_point_from(model, q).position == pytest.approx(
        np.add(controller.set_point(model).position, (0.3, -0.2, 0.0))
    )


def test_torques_and_ranges_are_kept_in_violent_runs():
    model = limited(human())
    joints = {body.joint.name: body.joint for body in model.bodies if body.joint.has_axis}
    reached = 0.0
    for scene in scenes(16):
        frame = run_of(scene, WholeBodyController(torque_limit=90.0), 1.2).frame
        torques = frame.filter(like="torque_")
        assert np.isfinite(torques.to_numpy()).all()
        assert abs(torques.to_numpy()).max() <= 90.0
        if scene.model != model:
            continue
        for name, joint in joints.items():
            angle = frame[f"angle_{name}"]
            assert joint.lower - 0.02 < angle.min()
            assert angle.max() < joint.upper + 0.02
            reached = max(reached, float((angle - joint.upper).max()), float((joint.lower - angle).max()))
    assert reached > -0.01  # some range was come to the end of


def flung(seed):
    rng, model = np.random.default_rng(seed), human()
    q = standing(model).q + 0.0
    q[7:] += rng.normal(0.0, 0.3, model.nq - 7)
    return observed(model, q, rng.normal(0.0, 6.0, model.nv), np.zeros(12))


def test_a_joint_that_nothing_limits_is_asked_for_what_holds_the_weight_at_its_height_at_most():
    beyond = 0
    for seed in range(40):
        seen = flung(seed)
        most = seen.model.total_mass * 9.81 * standing_height(seen.model)
        torques = WholeBodyController().torques(seen)
        assert abs(torques).max() <= most
        np.testing.assert_allclose(torques, WholeBodyController(torque_limit=most).torques(seen), atol=1e-6 * most)
        free = WholeBodyController(torque_limit=1e9).torques(seen)
        if abs(free).max() < most:
            np.testing.assert_array_equal(torques, free)
        else:
            assert abs(torques).max() == pytest.approx(most, rel=1e-9)
            beyond += 1
    assert 5 < beyond < 35


def beyond_its_range(model):
    """Return a state with knees that bend so fast near the end of their range that no torque can stop them."""
    q, v = standing(model).q.copy(), np.zeros(model.nv)
    joints = {body.joint.name: body.joint for body in model.bodies}
    for joint in ("left_knee_pitch", "right_knee_pitch"):
        q[model.coordinate(joint)], v[model.dof(joint)] = joints[joint].lower + 0.01, -6.0
    return q, v


def observed(model, q, v, held):
    forces = np.tile([0.0, 0.0, 90.0], (model.nc, 1))
    return Observation(model, 0.0, q, v, forces, np.full(model.nc, ContactState.STICKING), held)


def test_ranges_yield_to_what_actuators_can_do():
    model = limited(human())
    controller = Kept(torque_limit=5.0)
    seen = observed(model, *beyond_its_range(model), np.zeros(12))
    torques = controller.torques(seen)
    assert controller.kept.qp.counts[ENDED] == SOLVED  # without the ranges
    assert abs(torques).max() <= 5.0
    without = WholeBodyController(torque_limit=5.0).torques(observed(human(), seen.q, seen.v, np.zeros(12)))
    np.testing.assert_allclose(torques, without, atol=1e-8)


def test_without_a_solution_the_last_torques_are_held():
    model, held = human(), np.linspace(-5.0, 5.0, 12)
    state = standing(model)
    seen = observed(model, state.q, 1e-3 * np.ones(model.nv), held)
    assert not np.allclose(WholeBodyController().torques(seen), held, atol=1.0)
    np.testing.assert_array_equal(WholeBodyController(capture=1e308).torques(seen), held)
    weak = WholeBodyController(capture=1e308, torque_limit=3.0).torques(seen)
    np.testing.assert_array_equal(weak, np.clip(held, -3.0, 3.0))


@pytest.mark.parametrize(
    ("model", "settings", "ended"),
    [(limited(human()), {"torque_limit": 5.0}, WITHOUT_RANGES), (human(), {"capture": 1e308}, HELD)],
)
def test_what_had_no_solution_is_recorded_and_warned_of(model, settings, ended):
    run = pushed(model, WholeBodyController(**settings), 0.0, 40.0)
    assert run.summary["verdict"] == "fell"
    assert set(run.frame["qp_ended"]) <= {SOLVED, ended}
    part = np.mean(run.frame["qp_ended"] == ended)
    assert part > 0.1
    assert np.isfinite(run.frame.filter(like="torque_").to_numpy()).all()
    check = program_check(run)
    assert (check.passed, check.value) == ("warning", part)


def program_check(run):
    return next(check for check in run.trust if check.name == "control program")

"""Bodies of a tree that touch one another rigidly: legs, and balls whose collisions have closed forms."""

from dataclasses import replace
from itertools import product

import numpy as np
import pytest

from biped import Body, Capsule, InputError, Model, ModelError, Rigid, State, box_inertia, human, prismatic, simulate
from biped.dynamics import body_gaps, mass_matrix
from biped.integrators.rigid.kernels.step import put_back, set_aside
from biped.model.archive import model_from_json, model_to_json
from contact.modes import NONE
from experiments.catalogue.registry import experiment_named

STEP = 1e-3


def ball(name, parent, axis, mass, at):
    inertia = box_inertia(mass, (0.2, 0.2, 0.2)) if mass else np.zeros((3, 3))
    return Body(name, mass, inertia, (0.0, 0.0, 0.0), prismatic(f"{name}_rail", axis, at), parent)


def two_balls(aside=0.0):
    """One on a rail along x, the other on rails along x and y, free of gravity, with radii of 0.1 m."""
    x, y, o = (1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 0.0)
    bodies = (
        ball("a", None, x, 2.0, (-0.3, 0.0, 0.0)),
        ball("sledge", None, x, 0.0, (0.3, aside, 0.0)),
        ball("b", "sledge", y, 3.0, o),
    )
    spheres = (Capsule("a", o, o, 0.1), Capsule("b", o, o, 0.1))
    return Model("balls", bodies, gravity=(0.0, 0.0, 0.0), capsules=spheres, touching=(("a", "b"),))


def collide(model, velocity, duration=0.3, step=STEP, **settings):
    state = State.at(model, None, velocity)
    integrator = Rigid(touching="body", **settings)
    return simulate(model, state=state, step=step, duration=duration, integrator=integrator, record_every=step)


@pytest.mark.parametrize("restitution", [0.0, 0.5, 1.0])
def test_balls_that_meet_in_the_middle(restitution):
    """They part with a share of the speed at which they came; the momentum stays."""
    run = collide(two_balls(), [2.0, -1.0, 0.0], restitution=restitution)
    mean, apart = (2.0 * 2.0 - 3.0 * 1.0) / 5.0, restitution * 3.0
    expected = mean - 0.6 * apart, mean + 0.4 * apart
    assert run.state.momentum[0] / 2.0 == pytest.approx(expected[0], abs=2e-6)
    assert run.state.momentum[1] / 3.0 == pytest.approx(expected[1], abs=2e-6)
    assert run.state.momentum[:2].sum() == pytest.approx(1.0, abs=1e-12)
    lost = 0.5 * 1.2 * (9.0 - apart**2)
    assert run.frame["ledger_dissipated"].iloc[-1] == pytest.approx(lost, abs=1e-5)
    assert run.frame["solver_residual"].max() <= 1e-8


def test_balls_that_meet_aside_without_friction():
    """The impulse is along the line of centers where they touch; the first is held by its rail from going aside.

    With n the normal, J = −n · v/(n_x²/m_a + 1/m_b): the one that cannot go along y has no mobility there.
    """
    aside = 0.1
    run = collide(two_balls(aside), [2.0, 0.0, 0.0], body_friction=0.0, step=1e-4, duration=0.4)
    n = np.array([np.sqrt(0.2**2 - aside**2), aside]) / 0.2
    J = 2.0 * n[0] / (n[0] ** 2 / 2.0 + 1.0 / 3.0)
    velocity = run.state.momentum / [2.0, 3.0, 3.0]
    assert velocity == pytest.approx([2.0 - J * n[0] / 2.0, J * n[0] / 3.0, J * n[1] / 3.0], abs=2e-3)  # of the step
    along = 0.6 + run.frame["position_sledge_rail"] - run.frame["position_a_rail"]
    gap = np.hypot(along, aside + run.frame["position_b_rail"])
    assert (gap - 0.2).min() > -1e-9


@pytest.mark.parametrize(("friction", "left"), [(0.0, 1.0), (0.2, 1.0 - 0.2 * 2.4 / 3.0), (2.0, 0.0)])
def test_friction_between_balls_is_coulombs(friction, left):
    """They meet in the middle at 2 m/s, with 2.4 N·s, and one goes aside at 1 m/s: it slides on, or is held."""
    run = collide(two_balls(aside=-0.2), [0.0, -2.0, 1.0], duration=0.21, body_friction=friction)
    first = int(np.argmax(run.frame["press_1_a_b"] > 1.0))
    assert run.frame["rate_b_rail"].iloc[first] == pytest.approx(left, abs=5e-3)  # of a step's way aside


def test_a_ball_rests_on_another_one():
    x, z, o = (1.0, 0.0, 0.0), (0.0, 0.0, 1.0), (0.0, 0.0, 0.0)
    bodies = ball("low", None, x, 2.0, o), ball("high", None, z, 3.0, (0.0, 0.0, 0.25))
    model = Model(
        "pile", bodies, capsules=(Capsule("low", o, o, 0.1), Capsule("high", o, o, 0.1)), touching=(("low", "high"),)
    )
    run = collide(model, [0.0, 0.0], 0.5)
    late = run.frame[run.frame["time"] > 0.2]
    assert late["press_1_low_high"].to_numpy() == pytest.approx(3.0 * 9.81, abs=1e-6)
    assert late["position_high_rail"].to_numpy() == pytest.approx(-0.05, abs=1e-9)
    assert late["rate_high_rail"].abs().max() < 1e-9
    assert late["position_low_rail"].abs().max() < 1e-9


def legs_apart(model, q):
    """[m]"""
    return min(body_gaps(model, q).values())


def swung(rates, duration=0.4, **settings):
    model = human().without_contacts().with_gravity((0.0, 0.0, 0.0))
    v = np.zeros(model.nv)
    for joint, rate in rates.items():
        v[model.dof(joint)] = rate
    return collide(model, v, duration, **settings)


@pytest.mark.parametrize("rates", [
    {"left_hip_roll": 3.0, "right_hip_roll": -3.0},
    {"left_hip_roll": 6.0, "left_hip_pitch": 1.0, "right_knee_pitch": -2.0, "right_hip_yaw": 1.0},
])  # fmt: skip
def test_legs_do_not_pass_through_one_another(rates):
    run = swung(rates)
    model, frame = run.state.model, run.frame
    q = frame[list(model.coordinate_names)].to_numpy()
    gaps = np.array([legs_apart(model, row) for row in q])
    assert gaps.min() > -1e-9
    assert gaps.min() < 1e-6
    assert frame["solver_residual"].max() <= 1e-8
    start = State.at(model, q[0], frame[list(model.velocity_names)].to_numpy()[0])
    before, after = start.momentum[:6], run.state.momentum[:6]
    moment = np.cross(start.q[:3], before[:3]) + before[3:]
    assert np.abs(after[:3] - before[:3]).max() < 1e-12
    assert np.abs(np.cross(run.state.q[:3], after[:3]) + after[3:] - moment).max() < 1e-12


def displaced(model, q, rates, span):
    """The configuration after a time at these rates; first order in the root's turn."""
    state = State.at(model, q)
    return state.q + span * np.concatenate([rates[:3], quaternion_rate(q[3:7], rates[3:6]), rates[6:]])


def quaternion_rate(q, omega):
    w, x, y, z = q
    along = np.array([[-x, -y, -z], [w, z, -y], [-z, w, x], [y, -x, w]])
    return 0.5 * along @ omega


def slope_of_gap(model, q):
    """(nv,) how the least distance changes with each velocity, by differences."""
    eps, unit = 1e-6, np.eye(model.nv)
    gaps = [[legs_apart(model, displaced(model, q, way * e, eps)) for way in (1.0, -1.0)] for e in unit]
    return -np.diff(gaps)[:, 0] / (2.0 * eps)


def test_a_knock_of_two_legs_is_that_of_the_dense_mass_matrix():
    """Without friction v⁺ = v⁻ − M⁻¹ gᵀ (g M⁻¹ gᵀ)⁻¹ g v⁻ with g the slope of their distance, to the step's order."""
    run = swung(
        {"left_hip_roll": 6.0, "left_hip_pitch": 1.0, "right_knee_pitch": -2.0}, 0.05, body_friction=0.0, step=1e-4
    )
    model, frame = run.state.model, run.frame
    q, v = (frame[list(names)].to_numpy() for names in (model.coordinate_names, model.velocity_names))
    first = int(np.argmax(np.abs(np.diff(v, axis=0)).max(axis=1)))
    g = slope_of_gap(model, q[first])
    inverse = np.linalg.inv(mass_matrix(model, q[first]))
    expected = v[first] - inverse @ g * (g @ v[first]) / (g @ inverse @ g)
    jump = np.abs(expected - v[first]).max()
    assert jump > 1.0
    assert np.abs(v[first + 1] - expected).max() < 0.02 * jump


def test_a_step_that_fails_gives_back_what_it_set_aside():
    """As Python, where an index beyond an array's end is an error."""
    model = human()
    method = Rigid(touching="body").method(model)
    state = State.at(model).arrays
    state.mode[:], state.momentum[:] = np.arange(model.nc), np.arange(model.nv)
    set_aside(state, method.unknowns)
    assert (state.mode == NONE).all()
    state.momentum[:] = 0.0
    put_back(state, method.unknowns)
    assert state.mode.tolist() == list(range(model.nc))
    assert state.momentum.tolist() == list(range(model.nv))


def test_halved_steps_keep_legs_apart():
    run = swung({"left_hip_roll": 6.0, "left_hip_pitch": 1.0, "right_knee_pitch": -2.0}, max_iterations=8)
    assert run.summary["retried_steps"] > 0
    q = run.frame[list(run.state.model.coordinate_names)].to_numpy()
    assert min(legs_apart(run.state.model, row) for row in q) > -1e-9


def test_who_stands_does_not_notice_that_legs_may_touch():
    scenes = (
        replace(experiment_named("balance").build(), step=STEP, duration=0.3, integrator=integrator)
        for integrator in (Rigid(), Rigid(touching="body"))
    )
    apart, together = (scene.run().state for scene in scenes)
    assert np.abs(apart.q - together.q).max() < 1e-9


def test_gaps_of_legs_that_hang():
    gaps = body_gaps(human(), human().neutral())
    assert gaps["left_thigh", "right_thigh"] == pytest.approx(0.3 - 2 * 0.075, abs=1e-12)
    assert gaps["left_shank", "right_thigh"] == pytest.approx(np.hypot(0.3, 0.04) - 0.075 - 0.052, abs=1e-12)


def test_legs_that_begin_in_one_another_are_refused():
    model = human().without_contacts()
    q = model.configuration(angles={"left_hip_roll": 0.3})
    with pytest.raises(InputError, match=r"bodies 'left_.*' and 'right_.*', which may touch, overlap by 0\.\d+ m"):
        simulate(model, state=State.at(model, q), integrator=Rigid(touching="body"), duration=0.01)


def test_pairs_come_back_from_a_file_and_a_body_does_not_touch_itself():
    model = human()
    assert set(model.touching) == set(
        product(*([f"{side}_{part}" for part in ("thigh", "shank", "foot")] for side in ("left", "right")))
    )
    assert model_from_json(model_to_json(model)) == model
    with pytest.raises(ModelError, match="touch itself"):
        replace(model, touching=(("trunk", "trunk"),))
    with pytest.raises(ModelError, match="unknown body 'tail'"):
        replace(model, touching=(("trunk", "tail"),))
    with pytest.raises(InputError, match=r"integrator.body_friction = -1.0: it must be finite"):
        Rigid(body_friction=-1.0)

"""Balls of trees on rigid contact: they roll without slipping, slide until they roll, and stand on floors that move."""

from dataclasses import replace

import numpy as np
import pytest

from biped import InputError, Push, Rigid, Run, Signal, State, human, load_urdf, save_urdf, simulate, standing
from biped.disturbances import Platform
from biped.dynamics import forward_kinematics
from biped.model import Body, ContactPoint, Model, ModelError, floating, revolute
from biped.model.archive import model_from_json, model_to_json
from biped.model.ragdoll import body_points
from biped.simulation.collapse import collapse, has_fallen, limp
from contact import Floor
from contact.modes import NONE, STICKING
from experiments.catalogue.registry import experiment_named
from formulations.assembly import from_model, placement_of

G = 9.81
MASS, RADIUS = 3.0, 0.2
STEP = 1e-3


def ball(gravity=(0.0, 0.0, -G), *more: Body) -> Model:
    inertia = np.diag(np.full(3, 0.4 * MASS * RADIUS**2))
    one = Body("ball", MASS, inertia, (0.0, 0.0, 0.0), floating("ball"))
    return Model("ball", (one, *more), (ContactPoint("below", "ball", (0.0, 0.0, 0.0), RADIUS),), gravity=gravity)


def rolled(model: Model, v=None, mu: float = 0.3, duration: float = 0.5, **options) -> Run:
    v = [0.0] * model.nv if v is None else v
    height = options.pop("height", RADIUS)
    start = State.at(model, [0.0, 0.0, height, 1.0, 0.0, 0.0, 0.0, *[0.0] * (model.nq - 7)], v)
    return simulate(
        model, state=start, floor=Floor(mu_s=mu, mu_d=mu), integrator=Rigid(), step=STEP, duration=duration,
        record_every=STEP, **options,
    )  # fmt: skip


def leaning(angle: float) -> tuple[float, float, float]:
    return (G * np.sin(angle), 0.0, -G * np.cos(angle))


def rates(run: Run) -> np.ndarray:
    return run.frame[list(run.state.model.velocity_names)].to_numpy()


def test_it_rolls_down_an_incline_as_its_inertia_lets_it():
    """5/7 of what a sliding body has: friction turns it, and takes no energy."""
    run = rolled(ball(leaning(0.5)))
    acceleration = 5.0 / 7.0 * G * np.sin(0.5)
    time = run.frame["time"].to_numpy()
    v = rates(run)
    assert v[1:, 0] == pytest.approx(acceleration * time[1:], abs=1e-9)
    assert v[:, 4] * RADIUS == pytest.approx(v[:, 0], abs=1e-9)
    assert run.state.q[0] == pytest.approx(0.5 * acceleration * 0.25, rel=1e-9)
    assert run.state.q[2] == pytest.approx(RADIUS, abs=1e-9)
    assert abs(run.frame["ledger_dissipated"].iloc[-1]) < 1e-9
    assert run.frame["ledger_residual"].abs().max() < 1e-9
    assert run.frame["deepest_point"].max() < 1e-12


def test_it_slides_down_where_friction_cannot_turn_it_so_fast():
    angle, mu = 0.5, 0.1  # rolling would take 2/7 tan 0.5 = 0.156
    run = rolled(ball(leaning(angle)), mu=mu)
    v = rates(run)
    assert v[-1, 0] == pytest.approx(G * (np.sin(angle) - mu * np.cos(angle)) * 0.5, rel=1e-5)
    assert v[-1, 4] == pytest.approx(2.5 * mu * G * np.cos(angle) / RADIUS * 0.5, rel=1e-5)
    slip = v[-1, 0] - v[-1, 4] * RADIUS
    lost = mu * MASS * G * np.cos(angle) * 0.25 * slip
    assert run.frame["ledger_dissipated"].iloc[-1] == pytest.approx(lost, rel=1e-5)
    assert run.frame["ledger_residual"].abs().max() < 1e-7


def test_a_bowling_ball_rolls_with_five_sevenths_of_its_speed():
    speed, mu = 2.0, 0.3
    run = rolled(ball(), [speed, 0.0, 0.0, 0.0, 0.0, 0.0], mu, duration=0.4)
    v, time = rates(run), run.frame["time"].to_numpy()
    rolls = 2.0 / 7.0 * speed / (mu * G)
    assert 0.1 < rolls < 0.3
    sliding = (time > 0.0) & (time < rolls - 2 * STEP)
    assert v[sliding, 0] == pytest.approx(speed - mu * G * time[sliding], abs=mu * G * STEP)
    assert v[time > rolls + 2 * STEP, 0] == pytest.approx(5.0 / 7.0 * speed, abs=1e-6)
    assert v[-1, 4] * RADIUS == pytest.approx(5.0 / 7.0 * speed, abs=1e-6)
    assert run.frame["ledger_dissipated"].iloc[-1] == pytest.approx(MASS * speed**2 / 7.0, rel=1e-6)


def test_one_that_lands_spinning_is_off_as_its_impact_says():
    """One that grips keeps 2/7 of its spin: the impulse is 2/7 m r ω, within μ times that of the landing."""
    spin, speed = 3.0, 1.5
    run = rolled(ball(), [0.0, 0.0, -speed, 0.0, spin, 0.0], height=RADIUS + 1e-4, duration=0.05)
    v = rates(run)
    assert 2.0 / 7.0 * RADIUS * spin < 0.3 * speed
    assert v[-1] == pytest.approx([2.0 / 7.0 * RADIUS * spin, 0.0, 0.0, 0.0, 2.0 / 7.0 * spin, 0.0], abs=1e-8)


def test_on_a_floor_that_shakes_it_takes_two_sevenths_of_the_motion():
    shake = Platform(x=Signal.sine(0.05, 1.0, start=0.1, duration=2.0, fade=0.5))
    run = rolled(ball(), duration=0.5, disturbances=(shake,))
    assert abs(run.frame["platform_x"].iloc[-1]) > 0.01
    assert run.state.q[0] == pytest.approx(2.0 / 7.0 * run.frame["platform_x"].iloc[-1], abs=1e-5)


def with_rider() -> Model:
    rod = Body("rod", 1.0, np.diag([0.02, 0.02, 0.001]), (0.0, 0.05, 0.3), revolute("hinge", (0.0, 1.0, 0.0)), "ball")
    return ball((0.0, 0.0, -G), rod)


def test_what_touches_stands_still_whatever_rides_on_it():
    model, v = with_rider(), np.array([0.0, 0.0, 0.0, -1.0, 0.5, 2.0, 3.0])
    v[:2] = RADIUS * v[4], -RADIUS * v[3]
    run = rolled(model, v, mu=1.5, duration=0.3)
    for q, rate in zip(run.frame[list(model.coordinate_names)].to_numpy(), rates(run), strict=True):
        motion = forward_kinematics(model, q, rate)
        below = motion.velocity[0] + np.cross(motion.angular_velocity[0], [0.0, 0.0, -RADIUS])
        assert below == pytest.approx([0.0, 0.0, 0.0], abs=1e-9)
        assert motion.position[0, 2] == pytest.approx(RADIUS, abs=1e-9)
    assert (run.frame["contact_below_mode"].iloc[1:] == STICKING).all()
    assert run.frame["ledger_residual"].abs().max() < 1e-4
    start = placement_of(model, run.frame[list(model.coordinate_names)].to_numpy()[0], v)
    theirs = from_model(model, friction=1.5).simulate(0.3, STEP, start).frame.iloc[-1]
    assert run.state.q[:2] == pytest.approx(theirs[["ball_x", "ball_y"]].to_numpy(dtype=float), abs=1e-7)


def on_balls() -> Model:
    person = human()
    points = (replace(p, position=np.add(p.position, (0.0, 0.0, 0.01)), radius=0.01) for p in person.contact_points)
    return replace(person, contact_points=tuple(points))


def test_a_human_on_balls_stands_where_it_stands_on_points():
    model = on_balls()
    assert standing(model).q == pytest.approx(standing(human()).q, abs=1e-12)


def test_files_have_the_radius(tmp_path):
    model = on_balls()
    assert model_from_json(model_to_json(model)) == model
    save_urdf(model, tmp_path / "balls.urdf")
    assert load_urdf(tmp_path / "balls.urdf").contact_radii == pytest.approx(np.full(8, 0.01), abs=1e-15)


def test_other_integrators_say_that_they_know_points_only():
    with pytest.raises(InputError, match="does not support contact points with a radius.*supported by: rigid"):
        simulate(ball(), step=STEP, duration=0.01)
    with pytest.raises(ModelError, match="contact point 'below': radius"):
        ContactPoint("below", "ball", (0.0, 0.0, 0.0), -0.1)
    with pytest.raises(InputError, match="integrator.touching = 'skin': it must be one of points, body"):
        Rigid(touching="skin")


def balance(**changes):
    return replace(experiment_named("balance").build(), step=STEP, record_every=STEP, **changes)


def heights(run):
    return run.frame[[f"contact_{name}_z" for name in run.state.model.contact_names]].to_numpy()


def check_lies(run):
    """Nothing is in the floor, bodies are at rest on points that are not soles, and the energy has only gone down."""
    frame = run.frame
    assert heights(run).min() > -1e-9
    assert frame["ledger_kinetic"].iloc[-1] < 1e-3
    down = [name for name in run.state.model.contact_names if frame[f"contact_{name}_mode"].iloc[-1] != NONE]
    assert {point.name for point in body_points(experiment_named("balance").build().model)} & set(down)
    carried = sum(frame[f"contact_{name}_fz"].iloc[-1] for name in run.state.model.contact_names)
    assert carried == pytest.approx(9.81 * run.state.model.total_mass, rel=1e-3)
    assert frame["solver_residual"].max() <= 1e-8
    energy = (frame["ledger_kinetic"] + frame["ledger_potential"]).to_numpy()
    assert np.diff(energy).max() < 1e-9


def test_who_is_left_alone_falls_and_lies_on_the_floor():
    run = balance(integrator=Rigid(touching="body"), controller=None, fall=None, duration=3.0).run()
    check_lies(run)
    assert run.state.model.nc == 8 + len(run.state.model.contact_points[8:]) > 30


def test_nobody_notices_what_is_far_from_the_floor():
    push = Push("trunk", (-1.0, 0.0, 0.0), 10.0, start=0.05, duration=0.1)
    soles, all_over = (
        balance(integrator=Rigid(touching=touching), disturbances=(push,), duration=0.4).run()
        for touching in ("points", "body")
    )
    assert np.abs(soles.state.q - all_over.state.q).max() < 1e-9
    assert (heights(all_over)[:, 8:] > 0.01).all()
    assert all_over.frame["newton_iterations"].max() <= soles.frame["newton_iterations"].max() + 2


def test_a_fall_on_the_rigid_floor_ends_on_it():
    push = Push("trunk", (-1.0, 0.0, 0.0), 25.0, start=0.05, duration=0.1)
    scene = balance(integrator=Rigid(), disturbances=(push,), duration=3.0)
    assert has_fallen(scene.run())
    after = collapse(scene, 2.5)
    assert "solver_complementarity" in after.frame
    assert heights(after).min() > -1e-9
    assert after.frame["ledger_kinetic"].iloc[-1] < 1.0


def test_it_goes_on_limp_from_all_over():
    scene = balance(integrator=Rigid(touching="body"), duration=0.05)
    state = scene.run().state
    assert limp(scene, state, 0.01).run().state.model.contact_names == state.model.contact_names

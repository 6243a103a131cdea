"""After a fall the model goes limp and ends up lying on the floor; what was before stays as it was."""

from dataclasses import replace

import numpy as np
import pytest

import biped
from biped.model import box_inertia
from biped.model.ragdoll import body_points
from biped.simulation.collapse import has_fallen
from experiments.catalogue.registry import experiment_named


def heights(run):
    """(rows, points) [m] of all contact points."""
    return run.frame[[f"contact_{name}_z" for name in run.state.model.contact_names]].to_numpy()


def pushed(azimuth, *others):
    scene = experiment_named("balance").build({"run.duration": 1.5})
    push = biped.Push("trunk", (np.cos(azimuth), np.sin(azimuth), 0.0), 60.0, start=0.2)
    return replace(scene, disturbances=(*scene.disturbances, push, *others))


def toppling(model):
    return biped.State.at(model, v=np.eye(model.nv)[0])


def lies(run):
    frame = run.frame
    momenta = frame[[name for name in frame if name.startswith("momentum_defect")]].to_numpy()
    assert run.summary["verdict"] not in ("failed", "interrupted")
    assert frame["body_z"].iloc[-1] < 0.25
    assert frame["ledger_kinetic"].iloc[-1] < 1.0 < frame["ledger_kinetic"].max()
    assert -0.05 < heights(run).min() < 0.0
    assert heights(run)[-1].min() > -0.01
    assert np.abs(momenta).max() < 1e-8
    assert frame["ledger_residual"].abs().max() < 0.02 * frame["ledger_kinetic"].max()


@pytest.mark.parametrize("azimuth", [0.0, 0.5 * np.pi, np.pi])
def test_the_fallen_human_ends_up_lying(azimuth):
    scene = pushed(azimuth)
    run, after = scene.run(), biped.collapse(scene, 2.5)
    assert has_fallen(run)
    lies(after)
    begins = after.frame["time"].iloc[0]
    last = run.frame[np.isclose(run.frame["time"], begins)]
    assert len(last) == 1
    motion = [*run.state.model.coordinate_names, *run.state.model.velocity_names]
    np.testing.assert_allclose(after.frame[motion].iloc[0], last[motion].iloc[0], atol=1e-9)
    modes = [f"contact_{name}_mode" for name in run.state.model.contact_names]
    assert (after.frame[modes].iloc[0] == last[modes].iloc[0]).all()
    assert run.frame.equals(scene.run().frame)


def test_it_falls_with_its_load_on_a_floor_that_moves():
    tilt = biped.Platform(pitch=biped.Signal.sine(0.05, frequency=0.5, start=0.05, duration=4.0, fade=0.2))
    after = biped.collapse(pushed(np.pi, biped.Load("trunk", 10.0, (0.15, 0.0, 0.1)), tilt), 1.0)
    assert after.state.model.total_mass == pytest.approx(biped.human().total_mass + 10.0)
    above = heights(after)[-1] - after.frame["platform_z"].iloc[-1]
    assert after.frame["body_z"].iloc[-1] < 0.5
    assert above.min() > -0.2


def test_a_limp_human_lies_where_one_without_a_body_sinks():
    assert biped.simulate(biped.human(), duration=2.0).frame["body_z"].iloc[-1] < 0.0
    lies(biped.simulate(biped.ragdoll(biped.human()), state=toppling(biped.ragdoll(biped.human())), duration=3.0))


def test_what_came_after_is_saved_and_goes_with_the_run(tmp_path):
    run = pushed(0.0).run()
    run.after = biped.collapse(pushed(0.0), 0.1)
    run.save(tmp_path)
    found = biped.Run.load(tmp_path).after
    assert found.frame.equals(run.after.frame)
    assert found.state.model == run.after.state.model
    run.after = None
    run.save(tmp_path)
    assert biped.Run.load(tmp_path).after is None


def test_a_model_that_names_no_points_falls_on_the_corners_of_its_boxes():
    model = replace(biped.human(), body_points=())
    corners = body_points(model)
    assert {point.body for point in corners} == {"trunk"}
    assert len(corners) == 8
    fallen = biped.simulate(biped.ragdoll(model), state=toppling(biped.ragdoll(model)), duration=3.0)
    assert 0.0 < fallen.frame["body_z"].iloc[-1] < 0.3


def test_joints_keep_to_their_ranges_but_begin_where_they_are():
    q = biped.human().configuration(angles={"left_knee_pitch": 0.4})
    joints = {body.joint.name: body.joint for body in biped.ragdoll(biped.human(), q).bodies}
    assert joints["left_knee_pitch"].upper == 0.4
    assert joints["right_knee_pitch"].upper == 0.0
    assert joints["left_hip_roll"].upper == pytest.approx(np.radians(30.0))  # adduction
    assert joints["right_hip_roll"].lower == pytest.approx(np.radians(-30.0))


def test_what_hangs_does_not_fall():
    with pytest.raises(biped.InputError, match="does not float"):
        biped.collapse(biped.Scene(biped.chain(2)), 1.0)


EDGE = 0.1216


def thrown(position, velocity, **changes):
    return biped.Throw(1.8, (EDGE,) * 3, position, velocity, **{"target": "all"} | changes)


def impacts(run):
    return run.events[run.events["kind"] == "impact"]


def momenta(state):
    """Linear and angular momentum about the origin, of the model and the block."""
    block, p, center = state.projectile, state.momentum, state.q[:3]
    linear = p[:3] + block[7:10]
    return linear, p[3:6] + np.cross(center, p[:3]) + block[10:13] + np.cross(block[:3], block[7:10])


@pytest.mark.parametrize("restitution", [0.0, 0.5, 1.0])
def test_a_block_hits_a_ball_in_the_middle(restitution):
    ball = biped.Model(
        "ball", (biped.Body("ball", 3.0, box_inertia(3.0, (0.2, 0.2, 0.2)), (0.0, 0.0, 0.0), biped.floating("body")),),
        gravity=(0.0, 0.0, 0.0), capsules=(biped.Capsule("ball", (0.0, 0.0, 0.0), (0.0, 0.0, 0.0), 0.1),),
    )  # fmt: skip
    block = thrown((-0.5, 0.0, 0.0), (4.0, 0.0, 0.0), restitution=restitution)
    state = biped.State.at(ball)
    state = biped.simulate(ball, state=state, step=1e-3, duration=0.2, disturbances=[block]).state
    after = (1.8 - restitution * 3.0) / 4.8 * 4.0, (1.0 + restitution) * 1.8 / 4.8 * 4.0
    assert state.projectile[7] / 1.8 == pytest.approx(after[0], abs=1e-9)
    assert state.momentum[0] / 3.0 == pytest.approx(after[1], abs=1e-9)
    meets = (0.5 - 0.1 - EDGE / 2) / 4.0
    assert state.q[0] == pytest.approx(after[1] * (0.2 - meets), abs=1e-6)


@pytest.mark.parametrize("integrator", [biped.Recursive(), biped.Rigid()])
@pytest.mark.parametrize(
    ("height", "body"), [(0.3, "left_shank"), (0.7, "left_thigh"), (0.03, "left_foot"), (1.66, "trunk")]
)
def test_momenta_stay_when_it_hits_a_human_in_flight(height, body, integrator):
    model = biped.human().without_contacts().with_gravity((0.0, 0.0, 0.0))
    state = biped.State.at(model)
    aside = 0.0 if body == "trunk" else -0.17
    block = thrown((0.4, aside, height), (-5.0, 0.3, 0.2), angular_velocity=(3.0, -2.0, 5.0))
    run = biped.simulate(model, state=state, step=1e-3, duration=0.15, integrator=integrator, disturbances=[block])
    state = run.state
    assert impacts(run)["subject"].iloc[0] == body
    linear, angular = momenta(state)
    begin = 1.8 * np.array(block.velocity)
    spin = np.cross(block.position, begin) + 1.8 * EDGE**2 / 6.0 * np.array(block.angular_velocity)
    assert np.abs(linear - begin).max() < 1e-12
    assert np.abs(angular - spin).max() < 1e-12
    assert run.frame["ledger_residual"].abs().max() < 1e-2  # of the 20 J of the block; of second order in the step


def test_what_flies_past_the_trunk_hits_a_leg_only_where_it_may():
    setup = experiment_named("thrown-block")
    low = {"block.position": (0.5, -0.15, 0.3), "block.velocity": (-4.5, 0.0, 0.4), "run.duration": 0.12}
    past = setup.run(low)
    assert impacts(past).empty
    hit = setup.run(low | {"block.target": "all"})
    assert list(impacts(hit)["subject"])[:1] == ["left_shank"]
    one = setup.run(low | {"block.target": "left_shank"})
    assert np.array_equal(impacts(one).to_numpy()[0, 2:], impacts(hit).to_numpy()[0, 2:])


def test_a_target_without_a_shape_and_a_start_inside_are_refused():
    with pytest.raises(
        biped.InputError, match="'left_ankle' has no box or capsule to hit; bodies that have one: trunk"
    ):
        biped.simulate(biped.human(), disturbances=[thrown((1.0, 0.0, 1.0), (0.0, 0.0, 0.0), target="left_ankle")])
    with pytest.raises(biped.InputError, match="inside of the box of 'left_shank'"):
        biped.simulate(biped.human(), disturbances=[thrown((0.0, -0.15, 0.3), (0.0, 0.0, 0.0))])

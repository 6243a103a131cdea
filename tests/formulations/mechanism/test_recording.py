"""Motions of mechanisms as ordinary runs: their columns, saved and opened again, and how a mechanism looks."""

from pathlib import Path

import numpy as np
import pytest

from biped import Run, dynamics
from formulations import mechanism as mech
from formulations.mechanism import rx, ry, rz, tx, ty, tz
from formulations.mechanism.drawing import GROUND, HELD, SPRING, picture_of, poses_at, visuals_of

LISTING = Path(__file__).parents[3] / "examples" / "closed-chain.trep"


@pytest.fixture(scope="module")
def device():
    return mech.load_mechanism(LISTING)


@pytest.fixture(scope="module")
def motion(device):
    near = {"J": -0.523599, "H": 1.21009, "K": 0.523599, "M": -1.34537, "A": -0.523599, "C": 1.5385, "E": 1.22497}
    return device.simulate(1.0, 0.01, q=device.satisfy_constraints(near))


def driven():
    arm = ry("a", tz(-1.0, name="bob", mass=(1.0, 0.1, 0.2, 0.15)), name="hinge")
    return mech.Mechanism(
        "driven",
        [tx(mech.kinematic("rail"), arm, name="cart", mass=2.0)],
        potentials=[mech.LinearSpring("bob", "world", 2.0)],
        forces=[mech.Damper("a", 0.3), mech.Torque("a", lambda t: np.sin(3.0 * t))],
    )


def test_a_motion_is_a_run_of_the_mechanisms_model(motion, device):
    run = motion.run
    assert isinstance(run, Run)
    assert run.summary["verdict"] == "completed"
    assert run.state.model.joint_names == device.coordinates
    assert run.summary["metrics"]["steps"] == 100
    for name in (*motion.frame.columns,):
        if name not in ("kinetic_energy", "potential_energy", "work"):
            np.testing.assert_array_equal(run.frame[name], motion.frame[name])
            assert run.units[name] == motion.units[name]
    np.testing.assert_array_equal(run.frame["ledger_kinetic"], motion.frame["kinetic_energy"])
    np.testing.assert_array_equal(run.state.q, motion.q[-1])


def test_its_whole_momentum_and_centre_of_mass_are_those_of_its_rates(motion):
    run, model = motion.run, motion.run.state.model
    for row in (0, 57, 100):
        whole = dynamics.momentum(model, motion.q[row], motion.v[row])
        recorded = run.frame.iloc[row][[f"momentum_{part}" for part in ("px", "py", "pz", "lx", "ly", "lz")]]
        np.testing.assert_allclose(recorded, np.concatenate([whole.linear, whole.angular]), atol=1e-12)
        com = dynamics.centre_of_mass(model, motion.q[row])
        np.testing.assert_allclose(run.frame.iloc[row][["com_x", "com_y", "com_z"]], com, atol=1e-13)


def test_its_ledger_closes_up_to_the_steps_error():
    mechanism = driven()
    rail = {"rail": lambda t: 0.1 * np.sin(2.0 * t)}
    worst = []
    for step in (0.01, 0.005):
        run = mechanism.simulate(2.0, step, q={"a": 0.4}, kinematic=rail).run
        assert run.frame["ledger_actuators"].abs().max() > 0.05
        worst.append(run.frame["ledger_residual"].abs().max())
        middle = run.frame.iloc[len(run.frame) // 2]
        assert middle["torque_a"] == pytest.approx(np.sin(3.0 * middle["time"]))
        assert middle["torque_rail"] == middle["driving_rail"]
    assert worst[1] < 0.4 * worst[0]
    assert worst[0] < 5e-3


def test_a_saved_motion_is_opened_by_what_opens_runs(motion, tmp_path):
    from experiments.visualization import trajectory_of

    again = Run.load(motion.save(tmp_path))
    np.testing.assert_array_equal(again.frame["multiplier_G_G2"], motion.frame["multiplier_G_G2"])
    seen = trajectory_of(again)
    assert seen.rows.position.shape == (101, 7, 3)
    assert not seen.scenery.floor  # it hangs where the floor would hide it
    assert again.plot("joint-angles").axes


def test_a_variable_that_would_take_a_columns_name_is_refused():
    mechanism = mech.Mechanism("m", [tx("px", mass=1.0)])
    with pytest.raises(mech.MechanismError, match="'px': a run has another column momentum_px"):
        _ = mechanism.simulate(0.1, 0.01).run


def test_links_go_between_the_frames_that_matter(device):
    picture = picture_of(device)
    names = [node.frame.name for node in picture.nodes]
    drawn = [(link.first, link.second) for link in picture.links if link.body >= 0]
    links = {(names[a] if a >= 0 else "world", names[b]) for a, b in drawn}
    assert {("J", "I"), ("H", "G"), ("H", "O2"), ("K", "L"), ("M", "N"), ("M", "O"), ("A", "B"), ("C", "D")} <= links
    assert len(picture.held) == 4
    assert {names[row] for pair in picture.held for row in pair} == {"G", "G2", "O", "O2"}


@pytest.mark.parametrize("seed", range(3))
def test_surfaces_are_where_the_frames_are(seed):
    rng = np.random.default_rng(seed)
    tip = tz(-0.7, name="tip", mass=0.5)
    mechanism = mech.Mechanism("drawn", [
        tx(0.3, rz("a", ty(0.4, rx("b", tx("c", rx(0.4, tip, name="cart", mass=2.0))), name="mid"))),
    ], constraints=[mech.PointAlong("tip", "mid", (1, 2, 3))])  # fmt: skip
    q = rng.standard_normal(3)
    model = mechanism.model
    poses = dict(zip([n.frame.name for n in picture_of(mechanism).nodes], poses_at(mechanism, q), strict=True))
    moved = dynamics.forward_kinematics(model, q)
    balls = [visual for visual in model.visuals if visual.form == "sphere"]
    assert len(balls) == 4
    for visual in balls:
        i = model.body_index(visual.body)
        w, xyz = moved.orientation[i][0], moved.orientation[i][1:]
        arm = np.subtract(visual.center, model.bodies[i].com)
        arm = arm + 2.0 * np.cross(xyz, np.cross(xyz, arm) + w * arm)
        place = moved.position[i] + arm
        assert min(np.abs(place - poses[name][:3, 3]).max() for name in ("tip", "cart", "mid")) < 1e-12
    np.testing.assert_allclose(mechanism.frame("tip").transform(q), poses["tip"], atol=1e-14)


def test_springs_and_wires_are_stretched_between_their_frames():
    from experiments.visualization import trajectory_of
    from experiments.visualization.viewer.model_view import line_ends

    arm = ry("a", tz(-1.0, name="bob", mass=(1.0, 0.1, 0.2, 0.15)))
    mechanism = mech.Mechanism(
        "strung",
        [tx(0.4, name="post"), tx("cart", arm, mass=2.0), tx("s", rz("b", tx(0.3, name="end", mass=1.0)), mass=1.0)],
        potentials=[mech.LinearSpring("bob", "post", 2.0), mech.LinearSpring("end", "bob", 3.0)],
        constraints=[mech.Distance("bob", "end", 1.5)],
    )
    motion = mechanism.simulate(0.3, 0.01, q=mechanism.satisfy_constraints({"a": 0.3, "s": 0.5}))
    trajectory, found = trajectory_of(motion.run), 0
    for row in (0, 17, 30):
        places = {name: mechanism.frame(name).position(motion.q[row]) for name in ("bob", "end", "post", "world")}
        expected = {
            GROUND: [("world", "post")], SPRING: [("bob", "post"), ("end", "bob")], HELD: [("bob", "end")],
        }  # fmt: skip
        ends = line_ends(mechanism.model, trajectory.at(0.01 * row))
        for color, pairs in expected.items():
            chosen = [pair for line, pair in zip(mechanism.model.lines, ends, strict=True) if line.color == color]
            np.testing.assert_allclose(chosen, [[places[a], places[b]] for a, b in pairs], atol=1e-12)
            found += len(chosen)
    assert found == 12


def test_boxes_have_the_moments_of_their_masses():
    box, ball = mech.Mechanism(
        "m", [tx("a", tx(1.0, mass=(12.0, 0.02, 0.01, 0.02))), ty("b", tx(1.0, mass=(1, 0, 1, 0)))]
    ).model.visuals[-2:]
    assert (box.form, ball.form) == ("box", "sphere")
    np.testing.assert_allclose(box.size, np.sqrt([0.005, 0.015, 0.005]), rtol=1e-12)


def test_a_mechanism_plots_itself(device):
    flat = device.plot({"J": 0.1})
    assert flat.axes[0].get_xlabel() == "x [m]"
    assert flat.axes[0].get_ylabel() == "z [m]"
    space = driven().plot({"a": 0.3}, names=False)
    assert space.axes[0].get_ylabel() == "z [m]"
    deep = mech.Mechanism("deep", [rx("a", ty(0.3, ry("b", tz(1.0, mass=1.0)))), tx(0.4, name="post")])
    assert hasattr(deep.plot({"a": 0.2, "b": 0.4}).axes[0], "get_zlabel")


def test_every_surface_is_on_a_body(device):
    names = set(device.coordinates)
    assert {visual.body for visual in visuals_of(device)} == names

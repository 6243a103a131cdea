"""A scene file of MuJoCo as an engine: the same motion as in MuJoCo alone, and the quantities of other engines."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("mujoco")

import mujoco

from biped import Box, Controller, Impedance, Push, Scene, Throw, standing
from biped.disturbances import sorted_disturbances
from biped.dynamics.whole_body import WholeBody
from biped.model import load_robot
from biped.model.geometry import quaternion_matrix
from contact import Floor
from controllers.impedance import JointImpedance
from experiments import experiment_named
from experiments.catalogue.parameters.disturbances import idle
from experiments.engines import Case, new_arrival
from experiments.engines.engine_integrator import EngineIntegrator
from experiments.engines.registry import engine_named
from tests.refusals import refuses

STEP, KP, KD = 2e-3, 30.0, 1.0
TARGETS = np.array([0.3, -0.2])
#: A torso on one wide foot, turned at home, with an offset centre of mass, joints not at zero at home, one undriven.
SCENE = f"""<mujoco model="toy"><compiler angle="radian"/>
  <option timestep="0.005" integrator="implicitfast" cone="elliptic" iterations="20"/>
  <default><joint damping="0.2" frictionloss="0.05" armature="0.01"/></default>
  <worldbody>
    <geom name="floor" type="plane" size="0 0 0.01" friction="0.7"/>
    <body name="base" pos="0 0 0.12" quat="0.8 0 0 0.6">
      <freejoint name="root"/>
      <inertial pos="0.01 0.02 0.03" mass="3" fullinertia="0.03 0.04 0.05 0.002 0.001 -0.001"/>
      {
    "".join(
        f'<geom name="corner{k}" type="sphere" size="0.02" pos="{x} {y} -0.1"/>'
        for k, (x, y) in enumerate(((0.1, 0.1), (0.1, -0.1), (-0.1, 0.1), (-0.1, -0.1)))
    )
}
      <body name="arm" pos="0 0 0.1" quat="0.7 0.1 0.7 0">
        <joint name="shoulder" axis="0 1 0" ref="0.4" range="-1 2"/>
        <inertial pos="0 0.01 0.1" mass="1" diaginertia="0.004 0.005 0.001"/>
        <body name="hand" pos="0 0 0.2">
          <joint name="wrist" axis="1 0 0" range="-0.15 1"/>
          <inertial pos="0 0 0.05" mass="0.3" diaginertia="0.001 0.001 0.001"/>
        </body>
      </body>
    </body>
  </worldbody>
  <actuator>
    <position name="wrist" joint="wrist" kp="{KP}" kv="{KD}" ctrlrange="-0.1 1" forcerange="-8 8"/>
    <position name="shoulder" joint="shoulder" kp="{KP}" kv="{KD}" gear="1"/>
  </actuator>
</mujoco>"""


class Servo(Controller):
    """Servos with the gains of the scene's actuators, at their fixed targets."""

    period = STEP

    def torques(self, observation):
        return KP * (TARGETS - observation.angles) - KD * observation.rates


@pytest.fixture
def toy(tmp_path):
    (tmp_path / "toy.xml").write_text(SCENE)
    (tmp_path / "toy.toml").write_text('mjcf = "toy.xml"\nfeet = ["base"]\ncontacts = "collision"\n')
    return load_robot(tmp_path / "toy.toml"), str(tmp_path / "toy.xml")


def scene(model, file, **changes):
    members = {"state": standing(model), "controller": Servo(), "integrator": EngineIntegrator(engine_named(file))}
    members |= {"floor": Floor(mu_s=1.0, mu_d=1.0), "step": STEP, "duration": 0.6, "record_every": STEP}
    return Scene(model, **members | changes)


def alone(file, q, force):
    """Return the base's centre of mass, its rotation and the joint angles at each step of MuJoCo alone from q."""
    engine = mujoco.MjModel.from_xml_path(file)
    engine.opt.timestep = STEP
    data, shown = mujoco.MjData(engine), mujoco.MjData(engine)
    data.qpos[7:] = q[7:] + np.array([0.4, 0.0])
    mujoco.mj_forward(engine, data)
    data.qpos[:3] += q[:3] - data.xipos[1]
    rows = []
    for k in range(301):
        shown.qpos[:] = data.qpos
        mujoco.mj_kinematics(engine, shown)
        rows.append([*shown.xipos[1], *shown.xmat[1], *data.qpos[7:] - (0.4, 0.0)])
        data.ctrl[:] = TARGETS[1], TARGETS[0] + 0.4
        data.xfrc_applied[1, :3] = force if 50 <= k < 100 else (0.0, 0.0, 0.0)
        mujoco.mj_step(engine, data)
    return np.array(rows)


def test_the_motion_is_that_of_mujoco_alone(toy):
    model, file = toy
    state = standing(model)
    push = Push("base", (0.0, 1.0, 0.0), 1.5, start=0.1, duration=0.1)
    run = scene(model, file, state=state.copy(), disturbances=(push,)).run()
    rows = alone(file, state.q, (0.0, 15.0, 0.0))
    frame = run.frame
    home = quaternion_matrix((0.8, 0.0, 0.0, 0.6))
    turned = np.array([quaternion_matrix(row) @ home for row in frame.filter(regex="root_q").to_numpy()])
    # Both compute the same in another order: rounding errors of 1e-16 grow little in 300 steps of a body that stands.
    np.testing.assert_allclose(frame[["root_x", "root_y", "root_z"]], rows[:, :3], rtol=0.0, atol=1e-10)
    np.testing.assert_allclose(turned.reshape(-1, 9), rows[:, 3:12], rtol=0.0, atol=1e-9)
    np.testing.assert_allclose(frame[["angle_shoulder", "angle_wrist"]], rows[:, 12:], rtol=0.0, atol=1e-9)
    assert np.ptp(frame.root_y) > 1e-3
    vertical = frame.filter(regex="contact_.*_fz").sum(axis=1)
    assert vertical.iloc[-1] == pytest.approx(model.total_mass * 9.81, rel=1e-3)
    assert {check["name"] for check in run.summary["trust"] if check["passed"] != "ok"} == set()


def test_a_state_comes_back_from_mujoco_and_its_momentum_is_ours(toy):
    model, file = toy
    engine, random = engine_named(file), np.random.default_rng(4)
    simulation = engine.start(Case.of(model, Floor(), STEP, Impedance(), sorted_disturbances((), model)))
    q, v = model.neutral(), random.normal(size=model.nv)
    q[:3], q[3:7], q[7:] = random.normal(size=3), (0.5, -0.1, 0.7, 0.5), random.normal(0.0, 0.1, 2)
    simulation.place(q, v, np.zeros(13))
    arrival = new_arrival(model.nq, model.nv, model.nc)
    simulation.read(arrival)
    np.testing.assert_allclose(arrival.q, q, atol=1e-14)
    np.testing.assert_allclose(arrival.v, v, atol=1e-14)
    data = simulation.data
    mujoco.mj_subtreeVel(simulation.engine, data)
    momentum = WholeBody(model, q, v).momentum
    np.testing.assert_allclose(model.total_mass * data.subtree_linvel[1], momentum.linear, atol=1e-12)
    np.testing.assert_allclose(data.subtree_angmom[1], momentum.angular, atol=1e-12)


def test_actuators_exert_the_commanded_torques_at_the_start_of_a_step(toy):
    model, file = toy
    general = '<general name="wrist" joint="wrist" gear="-3" gainprm="2" biastype="affine" biasprm="0.4 -1.5 -0.3"/>'
    velocity = '<velocity name="shoulder" joint="shoulder" kv="4" gear="0.5"/>'
    changed(file, (WRIST, general), (SHOULDER, velocity))
    simulation = engine_named(file).start(Case.of(model, Floor(), STEP, Impedance(), sorted_disturbances((), model)))
    v = np.zeros(model.nv)
    v[6:] = 0.7, -0.4
    simulation.place(standing(model).q, v, np.zeros(13))
    torque = np.array([0.0] * 6 + [1.3, -0.6])
    simulation.step(torque, ())
    np.testing.assert_allclose(simulation.data.qfrc_actuator[6:], torque[6:], rtol=1e-12)


def test_friction_is_scaled_to_that_of_the_floor(toy):
    model, file = toy
    assert model.floor_friction == 1.0  # the greater one of floor and foot
    chosen = scene(model, file, floor=Floor(mu_s=0.45, mu_d=0.45))
    chosen.run()
    contacts = chosen.integrator._simulation.data.contact
    assert len(contacts.friction) == 4
    np.testing.assert_allclose(contacts.friction[:, 0], 0.45, rtol=1e-12)


def changed(file, *changes):
    text = Path(file).read_text()
    for old, new in changes:
        assert old in text
        text = text.replace(old, new)
    Path(file).write_text(text)


INTEGRATED = '<intvelocity name="wrist" joint="wrist" kp="1" actrange="-1 1"/>'
SHOULDER = f'<position name="shoulder" joint="shoulder" kp="{KP}" kv="{KD}" gear="1"/>'
LIMITS = 'ctrlrange="-0.1 1" forcerange="-8 8"'
WRIST = f'<position name="wrist" joint="wrist" kp="{KP}" kv="{KD}" {LIMITS}/>'


@refuses(
    ([('"wrist"', '"elbow"')], "the joints .*elbow.*wrist"),
    ([('name="base"', 'name="trunk"')], "it has no bodies base, which 'toy' has"),
    ([('mass="3"', 'mass="4"')], "its robot is not 'toy': its kinetic energy is"),
    ([('axis="1 0 0"', 'axis="0 0 1"')], "its robot is not 'toy': its kinetic energy is"),
    ([('damping="0.2"', 'damping="0.3"')], "its joints have another damping than 'toy'"),
    ([(WRIST, INTEGRATED)], "each joint may have one actuator without dynamics"),
    (
        [('<geom name="floor" type="plane" size="0 0 0.01" friction="0.7"/>', "")],
        "the feet touch no floor with friction",
    ),
    ids=["joints", "bodies", "mass", "axis", "damping", "actuator", "floor"],
)
def test_a_scene_of_another_robot_is_refused(toy, changes):
    model, file = toy
    changed(file, *changes)
    scene(model, file).run()


@refuses(
    ({"controller": JointImpedance()}, "no springs and dampers of controllers"),
    ({"disturbances": (Throw(1.0, (0.1, 0.1, 0.1), (1.0, 0.0, 0.2), (-5.0, 0.0, 0.0), target="base"),)}, "thrown box"),
)
def test_what_a_scene_cannot_have_is_refused(toy, members):
    model, file = toy
    scene(replace(model, shapes=(Box("base", (0.1, 0.1, 0.1)),)), file, **members).run()


@refuses(("none.xml", "engine 'none.xml': this file does not exist"))
def test_a_missing_scene_is_refused(name):
    experiment_named("balance").values({"integrator.name": name})


def test_a_changed_scene_is_another_engine(toy):
    model, file = toy
    before = scene(model, file).run().frame.root_z.iloc[-1]
    changed(file, ('gear="1"', 'gear="2"'))
    assert scene(model, file).run().frame.root_z.iloc[-1] != before
    assert engine_named(file).files == (Path(file),)


def test_the_files_of_a_scene_are_all_that_change_its_motion(tmp_path):
    (tmp_path / "parts").mkdir()
    (tmp_path / "parts/foot.stl").write_bytes(b"")
    (tmp_path / "robot.xml").write_text('<mujoco><asset><mesh name="foot" file="foot.stl"/></asset></mujoco>')
    file = tmp_path / "scene.xml"
    file.write_text('<mujoco><compiler meshdir="parts"/><include file="robot.xml"/></mujoco>')
    assert set(engine_named(str(file)).files) == {file, tmp_path / "robot.xml", tmp_path / "parts/foot.stl"}


def test_settings_of_the_floor_that_a_scene_ignores_are_named():
    changes = {"integrator.name": "/robot/scene.xml", "floor.k_n": 5e4, "floor.mu_s": 0.5}
    assert idle(changes, changes) == ["floor.k_n: without effect, since contacts are those of /robot/scene.xml"]
    assert idle(changes | {"integrator.name": "mujoco"}, changes) == []

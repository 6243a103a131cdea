"""The model in another engine is ours: masses, gravity, velocities and places agree to 1e-9 of the largest number."""

from dataclasses import replace

import numpy as np
import pytest

from biped import Impedance, InputError, human
from biped.disturbances.sorting import sorted_disturbances
from biped.dynamics import energy, forward_dynamics, forward_kinematics, inverse_dynamics, mass_matrix
from biped.model import chain, random_tree
from contact import Floor
from experiments.engines import Applied, Case, new_arrival
from experiments.engines.engine_integrator import EngineIntegrator
from experiments.engines.mujoco.mjcf import velocity_map
from experiments.engines.pybullet.urdf import principal_urdf
from experiments.engines.pybullet.world import POINT_RADIUS

from ...conftest import random_configuration
from .conftest import installed

STEP = 1e-3
HINGED = ("revolute", "prismatic")
MODELS = {
    "human": human(),
    "chain": chain(5),
    "tree": random_tree(np.random.default_rng(1), 9, kinds=HINGED, contacts=5),
    "bush": random_tree(np.random.default_rng(2), 12, kinds=HINGED, contacts=5),
    "hung": random_tree(np.random.default_rng(3), 7, kinds=HINGED, floating=False),
}


@pytest.fixture(params=MODELS)
def model(request):
    return MODELS[request.param]


def postures(model, count=3):
    rng = np.random.default_rng(4)
    for _ in range(count):
        q = random_configuration(model, rng)
        if model.is_floating:
            q[2] += 100.0
        yield q, rng.normal(size=model.nv)


def simulation(engine, model, step=STEP):
    return engine.start(Case(model, Floor(), step, Impedance(), None))


def arrival(model):
    return new_arrival(model.nq, model.nv, model.nc)


def close(theirs, ours):
    np.testing.assert_allclose(theirs, ours, rtol=0.0, atol=1e-9 * np.max(np.abs(ours)))


def test_what_is_placed_is_read(engine, model):
    simulated, found = simulation(engine, model.without_contacts()), arrival(model.without_contacts())
    for q, v in postures(model):
        simulated.place(q, v, np.zeros(13))
        simulated.read(found)
        close(found.q, q)
        close(found.v, v)


def test_velocities_lag_behind_positions_as_is_said(engine, model):
    free = model.without_contacts()
    joints = [free.coordinate(name) for name in free.joint_names], [free.dof(name) for name in free.joint_names]
    simulated, found = simulation(engine, free), arrival(free)
    assert engine.velocity_offset == 0.5
    for q, v in postures(free):
        simulated.place(q, v, np.zeros(13))
        simulated.step(np.zeros(model.nv), [])
        simulated.read(found)
        np.testing.assert_allclose((found.q - q)[joints[0]], STEP * found.v[joints[1]], atol=1e-12)
        if model.is_floating:
            np.testing.assert_allclose((found.q - q)[:3], STEP * found.v[:3], atol=1e-12)


def test_mass_matrix_is_ours(engine, model):
    weightless = model.with_gravity((0.0, 0.0, 0.0)).without_contacts()
    simulated, found = simulation(engine, weightless), arrival(weightless)
    for q, _ in postures(weightless):
        columns = []
        for torque, forces in unit_forces(weightless, q):
            simulated.place(q, np.zeros(model.nv), np.zeros(13))
            simulated.step(torque, forces)
            simulated.read(found)
            columns.append(found.v / STEP)
        close(np.linalg.inv(np.transpose(columns)), mass_matrix(weightless, q))


def test_rotors_are_in_the_mass_matrix_or_refused(engine):
    rotors = random_tree(np.random.default_rng(6), 6, kinds=HINGED, armature=0.5)
    if engine.takes_armature:
        test_mass_matrix_is_ours(engine, rotors)
    else:
        with pytest.raises(InputError, match="does not simulate the joints' armature in 'random_tree_6'"):
            EngineIntegrator(engine).bind(rotors, Floor(), sorted_disturbances((), rotors))


def test_what_ours_does_not_simulate_pybullet_is_not_told():
    """Limits, damping and friction of joints, which a model keeps."""
    whole = random_tree(np.random.default_rng(7), 6, kinds=HINGED)
    passive = {"lower": -0.1, "upper": 0.1, "max_effort": 1.0, "max_velocity": 0.1, "damping": 5.0, "friction": 5.0}
    bodies = [replace(b, joint=replace(b.joint, **passive)) if b.joint.has_axis else b for b in whole.bodies]
    told = principal_urdf(replace(whole, bodies=tuple(bodies)), [])
    assert told.split() == principal_urdf(whole, []).split()


def unit_forces(model, q):
    for k in range(model.nv):
        torque, forces = np.zeros(model.nv), []
        if model.is_floating and k < 6:
            axis = np.eye(3)[k % 3]
            if k < 3:
                forces = [Applied(0, axis, q[:3])]
            else:  # a couple with an arm of 1 m about the axis
                arm, force = 0.5 * np.eye(3)[(k + 1) % 3], np.eye(3)[(k + 2) % 3]
                forces = [Applied(0, force, q[:3] + arm), Applied(0, -force, q[:3] - arm)]
        else:
            torque[k] = 1.0
        yield torque, forces


def test_gravity_is_ours(engine, model):
    free = model.without_contacts()
    simulated, found, still = simulation(engine, free), arrival(free), np.zeros(model.nv)
    for q, _ in postures(free):
        simulated.place(q, still, np.zeros(13))
        simulated.step(still, [])
        simulated.read(found)
        close(mass_matrix(free, q) @ found.v / STEP, -inverse_dynamics(free, q, still, still))


def test_a_force_on_any_body_is_ours(engine, model):
    weightless = model.with_gravity((0.0, 0.0, 0.0)).without_contacts()
    simulated, found = simulation(engine, weightless), arrival(weightless)
    rng = np.random.default_rng(5)
    for q, v in postures(weightless):
        simulated.place(q, 5.0 * v, np.zeros(13))
        simulated.step(np.zeros(model.nv), [])
        simulated.read(found)
        q, v, i = found.q.copy(), found.v.copy(), int(rng.integers(model.n))
        force, arm = rng.normal(size=3), rng.normal(size=3)
        wrench = np.zeros((model.n, 6))
        wrench[i] = (*force, *np.cross(arm, force))
        place = forward_kinematics(weightless, q).position[i] + arm
        ends = []
        for pushes in ([Applied(i, force, place)], []):
            again = simulation(engine, weightless)
            again.place(q, v, np.zeros(13))
            again.step(np.zeros(model.nv), pushes)
            again.read(found)
            ends.append(found.v.copy())
        simulated.step(np.zeros(model.nv), [Applied(i, force, place)])
        simulated.read(found)
        zero = np.zeros(model.nv)
        gained = forward_dynamics(weightless, q, v, zero, wrench) - forward_dynamics(weightless, q, v, zero)
        close((ends[0] - ends[1]) / STEP, gained)
        np.testing.assert_allclose(found.v, ends[0], atol=1e-9)


def test_inertial_forces_are_ours_in_pybullet(model):
    free = model.without_contacts()
    simulated, found = simulation(installed("pybullet"), free), arrival(free)
    for q, v in postures(free):
        simulated.place(q, v, np.zeros(13))
        simulated.step(np.zeros(model.nv), [])
        simulated.read(found)
        close((found.v - v) / STEP, forward_dynamics(free, q, v, np.zeros(model.nv)))


def test_inertial_forces_are_ours_in_mujoco(model):
    simulated = simulation(installed("mujoco"), model)
    for q, v in postures(model):
        simulated.place(q, v, np.zeros(13))
        theirs = velocity_map(model, q).T @ simulated.data.qfrc_bias[: model.nv]
        close(theirs, inverse_dynamics(model, q, v, np.zeros(model.nv)))


def test_bodies_and_points_are_ours_in_pybullet(model):
    simulated = simulation(installed("pybullet"), model)
    client = simulated.client
    for q, v in postures(model):
        simulated.place(q, v, np.zeros(13))
        motion, kinetic = forward_kinematics(model, q, v), 0.0
        centres = []
        for i, link in enumerate(simulated.world.links):
            place, turn, velocity, spin = body_of(simulated, link)
            close(place, motion.position[i])
            close(velocity, motion.velocity[i])
            close(spin, motion.angular_velocity[i])
            info = client.getDynamicsInfo(simulated.world.robot, link)
            R = np.reshape(client.getMatrixFromQuaternion(turn), (3, 3))
            kinetic += 0.5 * info[0] * np.dot(velocity, velocity) + 0.5 * np.dot((spin @ R) ** 2, info[2])
            shapes = client.getCollisionShapeData(simulated.world.robot, link)
            centres += [place + R @ shape[5] for shape in shapes]
        assert kinetic == pytest.approx(energy(model, q, v).kinetic, rel=1e-9)
        same_spheres(model, q, centres)


def body_of(simulated, link):
    """Place and turn of a body's inertia, its velocity and its angular velocity."""
    client, robot = simulated.client, simulated.world.robot
    if link < 0:
        pose = client.getBasePositionAndOrientation(robot)
        motion = client.getBaseVelocity(robot)
    else:
        state = client.getLinkState(robot, link, 1, 1)
        pose, motion = state[:2], state[6:8]
    return np.array(pose[0]), pose[1], np.array(motion[0]), np.array(motion[1])


def same_spheres(model, q, centres):
    """Each contact point has a sphere above it, in its body's axes, and there are no other spheres."""
    motion = forward_kinematics(model, q)
    bodies = [model.body_index(point.body) for point in model.contact_points]
    up = np.array([model_up(motion.orientation[i]) for i in bodies]).reshape(-1, 3)
    wanted = motion.contact + POINT_RADIUS * up
    assert len(centres) == model.nc
    for point in wanted:
        assert min(np.linalg.norm(np.subtract(centres, point), axis=1)) < 1e-9


def model_up(quaternion):
    w, x, y, z = quaternion
    return 2.0 * (x * z + w * y), 2.0 * (y * z - w * x), w * w - x * x - y * y + z * z


def test_bodies_and_points_are_ours_in_mujoco(model):
    simulated = simulation(installed("mujoco"), model)
    mujoco, engine, data = simulated.mujoco, simulated.engine, simulated.data
    theirs = np.zeros(6)
    for q, v in postures(model):
        simulated.place(q, v, np.zeros(13))
        motion = forward_kinematics(model, q, v)
        close(data.xipos[1:], motion.position)
        for i in range(model.n):
            mujoco.mj_objectVelocity(engine, data, mujoco.mjtObj.mjOBJ_BODY, i + 1, theirs, 0)
            close(theirs[3:], motion.velocity[i])
            close(theirs[:3], motion.angular_velocity[i])
        mujoco.mj_energyVel(engine, data)
        assert data.energy[1] == pytest.approx(energy(model, q, v).kinetic, rel=1e-9)
        spheres = [k for k in range(engine.ngeom) if engine.geom_type[k] == mujoco.mjtGeom.mjGEOM_SPHERE]
        same_spheres(model, q, data.geom_xpos[spheres])


def test_a_spherical_joint_is_told_in_one_line():
    model = random_tree(np.random.default_rng(6), 4, kinds=("spherical",))
    with pytest.raises(InputError, match="spherical, which URDF does not support") as error:
        simulation(installed("pybullet"), model)
    assert "\n" not in str(error.value)

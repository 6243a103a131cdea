"""Drake behind the adapter: the same mechanics as ours, its forces booked where they act, and the human stands."""

from dataclasses import replace

import numpy as np
import pytest

pytest.importorskip("pydrake", reason="Drake is not installed: pip install 'biped-balance[drake]'")

from biped import Impedance, human
from biped.disturbances import Throw
from biped.dynamics import centre_of_mass, forward_kinematics, inverse_dynamics, mass_matrix, momentum
from biped.errors import InputError
from biped.model import chain, random_tree, rigid_box
from contact import Floor
from experiments.catalogue.registry import experiment_named
from experiments.catalogue.rollout import rollout
from experiments.engines.drake.adapter import Drake
from experiments.engines.drake.contact import block_contact, thrown_back
from experiments.engines.drake.plant import RADIUS
from experiments.engines.engine import Applied, Case
from experiments.engines.kernels.external import new_arrival

APPROXIMATIONS = ("sap", "similar", "lagged")
WEIGHTLESS = (0.0, 0.0, 0.0)


def random_posture(model, rng):
    """A configuration with unit quaternions; spherical joints well away from the singularity of Drake's angles."""
    q = model.neutral()
    for body in model.bodies:
        place = model.coordinates(body.joint.name)
        if body.joint.has_axis:
            q[place] = rng.uniform(-1.0, 1.0)
        else:
            spread = 1.0 if body.joint.kind == "floating" else 0.3
            quaternion = (1.0, 0.0, 0.0, 0.0) + spread * rng.uniform(-1.0, 1.0, 4)
            q[place.stop - 4 : place.stop] = quaternion / np.linalg.norm(quaternion)
    return q


def started(model, q, v=None, step=5e-4, engine=None, impedance=None, throw=None, projectile=None, floor=None):
    """A simulation at q, v and what it writes into."""
    case = Case(model, floor or Floor(), step, impedance or Impedance(), throw)
    simulation = (engine or Drake()).start(case)
    simulation.place(q, np.zeros(model.nv) if v is None else v, np.zeros(13) if projectile is None else projectile)
    return simulation, new_arrival(model.nq, model.nv, model.nc)


def stepped(simulation, arrival, model, steps, forces=(), torque=None):
    for _ in range(steps):
        simulation.step(np.zeros(model.nv) if torque is None else torque, forces)
    simulation.read(arrival)
    return arrival


def velocity_map(simulation, model):
    """(nv of Drake, nv) T with Drake's velocity T v."""
    return np.transpose([simulation.coordinates.velocities(simulation.context, row) for row in np.eye(model.nv)])


MODELS = [pytest.param(human(), id="human")] + [
    pytest.param(
        random_tree(np.random.default_rng(seed), 8, floating=floating, contacts=5), id=f"tree-{seed}-{floating}"
    )
    for seed in range(3)
    for floating in (True, False)
]


@pytest.mark.parametrize("model", MODELS)
def test_mass_matrix_gravity_and_contact_points_are_ours(model):
    rng = np.random.default_rng(1)
    for _ in range(5):
        q = random_posture(model, rng)
        simulation, _ = started(model, q)
        plant, context = simulation.plant, simulation.context
        T = velocity_map(simulation, model)
        np.testing.assert_allclose(T.T @ plant.CalcMassMatrix(context) @ T, mass_matrix(model, q), atol=1e-9)
        zero = np.zeros(model.nv)
        gravity = T.T @ plant.CalcGravityGeneralizedForces(context)
        np.testing.assert_allclose(gravity, -inverse_dynamics(model, q, zero, zero), atol=1e-9)
        np.testing.assert_allclose(lowest_points(simulation), forward_kinematics(model, q).contact, atol=1e-9)


def lowest_points(simulation):
    """(nc, 3) the points of Drake's spheres that are lowest in the home configuration."""
    inspector = simulation._built.diagram.GetSubsystemByName("scene_graph").model_inspector()
    places = np.zeros((len(simulation._built.points), 3))
    for geometry, k in simulation._built.points.items():
        body = simulation.plant.GetBodyFromFrameId(inspector.GetFrameId(geometry))
        in_body = inspector.GetPoseInFrame(geometry).translation() - (0.0, 0.0, RADIUS)
        places[k] = simulation.plant.EvalBodyPoseInWorld(simulation.context, body).multiply(in_body)
    return places


def test_inertial_forces_are_ours(person):
    rng = np.random.default_rng(2)
    q, v = random_posture(person, rng), rng.normal(size=person.nv)
    simulation, _ = started(person, q, v)
    plant, context = simulation.plant, simulation.context
    bias = plant.CalcBiasTerm(context) - plant.CalcGravityGeneralizedForces(context)
    ours = inverse_dynamics(person, q, v, np.zeros(person.nv))
    np.testing.assert_allclose(velocity_map(simulation, person).T @ bias, ours, atol=1e-9)


@pytest.mark.parametrize("model", MODELS)
def test_what_is_placed_is_read(model):
    rng = np.random.default_rng(3)
    q, v = random_posture(model, rng), rng.normal(size=model.nv)
    simulation, arrival = started(model, q, v)
    simulation.read(arrival)
    R = forward_kinematics(model, q), forward_kinematics(model, arrival.q)
    np.testing.assert_allclose(np.abs(np.sum(R[0].orientation * R[1].orientation, axis=1)), 1.0, atol=1e-12)
    np.testing.assert_allclose(R[0].position, R[1].position, atol=1e-12)
    np.testing.assert_allclose(arrival.v, v, atol=1e-12)


def test_free_flight_conserves_to_first_order():
    model = human().without_contacts()
    rng = np.random.default_rng(4)
    q, v = random_posture(model, rng), rng.normal(size=model.nv)
    spins, falls = [], []
    for step in (1e-3, 5e-4):
        simulation, arrival = started(model, q, v, step)
        stepped(simulation, arrival, model, round(0.2 / step))
        before, after = momentum(model, q, v), momentum(model, arrival.q, arrival.v)
        spins.append(np.linalg.norm(after.angular - before.angular))
        fallen = before.linear / model.total_mass * 0.2 + 0.5 * np.array(model.gravity) * 0.04
        falls.append(np.linalg.norm(centre_of_mass(model, arrival.q) - centre_of_mass(model, q) - fallen))
    assert 1.7 < spins[0] / spins[1] < 2.4
    assert 1.7 < falls[0] / falls[1] < 2.4


def test_a_push_acts_where_it_is():
    model = rigid_box(2.0, (0.3, 0.2, 0.1)).with_gravity(WEIGHTLESS)
    q = model.configuration((0.0, 0.0, 1.0), (np.cos(0.4), 0.0, np.sin(0.4), 0.0))
    force, arm = np.array([3.0, -2.0, 5.0]), np.array([0.1, 0.05, -0.02])
    simulation, arrival = started(model, q, step=1e-3)
    stepped(simulation, arrival, model, 1, [Applied(0, force, q[:3] + arm)])
    gained = momentum(model, q, arrival.v)
    np.testing.assert_allclose(gained.linear, 1e-3 * force, atol=1e-13)
    np.testing.assert_allclose(gained.angular, 1e-3 * np.cross(arm, force), atol=1e-13)
    stepped(simulation, arrival, model, 9)
    np.testing.assert_allclose(model.total_mass * arrival.v[:3], 1e-3 * force, atol=1e-13)


def test_joint_torques_act_between_bodies():
    model = human().without_contacts().with_gravity(WEIGHTLESS)
    q = random_posture(model, np.random.default_rng(5))
    torque = np.zeros(model.nv)
    torque[model.dof("left_knee_pitch")] = 10.0
    simulation, arrival = started(model, q, step=1e-4)
    stepped(simulation, arrival, model, 1, torque=torque)
    np.testing.assert_allclose(mass_matrix(model, q) @ arrival.v, 1e-4 * torque, atol=1e-12)


def test_springs_hold_their_own_joints():
    model = chain(3).without_contacts()
    springs = Impedance({"joint_1": 50.0, "joint_3": 5.0}, dict.fromkeys(model.joint_names, 1.0), {"joint_3": 0.4})
    simulation, arrival = started(model, np.array([0.3, 0.2, -0.1]), step=1e-2, impedance=springs)
    stepped(simulation, arrival, model, 10_000)
    rest, zero = np.array([0.0, 0.0, 0.4]), np.zeros(3)
    holding = np.array([50.0, 0.0, 5.0]) * (rest - arrival.q)
    # Drake's solver stops at a relative residual of 1e-6
    np.testing.assert_allclose(inverse_dynamics(model, arrival.q, zero, zero), holding, atol=1e-5)


@pytest.mark.parametrize("approximation", APPROXIMATIONS)
def test_a_box_slides_to_rest_under_coulomb_friction(approximation):
    model, floor = rigid_box(10.0, (0.4, 0.4, 0.1)), Floor(mu_s=0.3)
    depth = 10.0 * 9.81 / 4 / floor.k_n
    q = model.configuration((0.0, 0.0, 0.05 - depth))
    simulation, arrival = started(model, q, np.eye(6)[0], engine=Drake(approximation), floor=floor)
    for step in range(1, 3001):
        stepped(simulation, arrival, model, 1)
        load = np.hypot(arrival.force[:, 0], arrival.force[:, 1])
        assert np.all(load <= 0.3 * arrival.force[:, 2] * (1.0 + 1e-6) + (0.5 if approximation == "lagged" else 1e-9))
        if step == 400:
            np.testing.assert_allclose(arrival.v[0], 1.0 - 0.3 * 9.81 * 0.2, rtol=0.02)
    np.testing.assert_allclose(arrival.v, 0.0, atol=1e-4)
    np.testing.assert_allclose(arrival.force[:, 2].sum(), 98.1, rtol=1e-4)
    np.testing.assert_allclose(arrival.force[:4, 2], floor.k_n * (0.05 - arrival.q[2]), rtol=0.02)


def test_sap_lifts_what_slides_as_stated():
    model, floor, step, speed = rigid_box(10.0, (0.4, 0.4, 0.1)), Floor(mu_s=0.3), 5e-4, 0.02
    rest = 10.0 * 9.81 / 4 / floor.k_n
    q = model.configuration((0.0, 0.0, 0.05 - rest))
    simulation, arrival = started(model, q, speed * np.eye(6)[0], floor=floor)
    arrival.q[:] = q
    for _ in range(1000):
        drag = Applied(0, np.array([0.3 * 98.1, 0.0, 0.0]), arrival.q[:3] - (0.0, 0.0, 0.05))
        stepped(simulation, arrival, model, 1, [drag])
    lifted = rest - (0.05 - arrival.q[2])
    assert lifted == pytest.approx((floor.b_n / floor.k_n + step) * 0.3 * speed, rel=1e-2)


@pytest.mark.parametrize("approximation", APPROXIMATIONS)
@pytest.mark.parametrize("restitution", [0.0, 0.2, 0.8])
def test_a_block_is_thrown_back_by_a_wall(approximation, restitution):
    wall = rigid_box(1e6, (1.0, 1.0, 1.0)).without_contacts().with_gravity(WEIGHTLESS)
    corner = np.array([1.0, 1.0, 1.0]) / np.sqrt(3.0)  # ahead, so that it hits in line with the centre of mass
    axis, half = np.cross(corner, (-1.0, 0.0, 0.0)), 0.5 * np.arccos(-corner[0])
    turned = (np.cos(half), *np.sin(half) * axis / np.linalg.norm(axis))
    place = (0.5 + 0.06 * np.sqrt(3.0) + 10.5 * 5e-4 * 4.5, 0.0, 0.0)  # half a step deep when it is found
    throw = Throw(1.8, (0.12, 0.12, 0.12), place, (-4.5, 0.0, 0.0), turned, restitution=restitution, target="box")
    projectile = np.array([*throw.position, *turned, *throw.velocity, 0.0, 0.0, 0.0])
    simulation, arrival = started(wall, wall.neutral(), throw=throw, projectile=projectile, engine=Drake(approximation))
    impact = np.zeros(3)
    for _ in range(200):
        stepped(simulation, arrival, wall, 1)
        impact += arrival.impact
    np.testing.assert_allclose(1.8 * (arrival.projectile[7:10] - throw.velocity), -impact, atol=1e-9)
    np.testing.assert_allclose(1e6 * arrival.v[:3], impact, atol=1e-6)
    law = block_contact(throw, 5e-4)
    expected = thrown_back(law, approximation, throw, 5e-4)
    np.testing.assert_allclose(arrival.projectile[7] / 4.5, expected, atol=1e-3)
    if restitution <= 0.2:
        assert expected == pytest.approx(restitution, abs=0.03)
    fine = thrown_back(block_contact(throw, 1e-5), approximation, throw, 1e-5)
    assert fine == pytest.approx(restitution, abs=0.01)


@pytest.mark.parametrize("approximation", APPROXIMATIONS)
def test_the_human_stands(approximation):
    run = rollout(experiment_named("stand-tilted"), {}, Drake(approximation)).run
    assert run.summary["verdict"] == "recovered"
    assert run.summary["settling_time"] == pytest.approx(0.504, abs=0.02)
    forces = run.frame.filter(regex=r"contact_.*_fz").iloc[-1].to_numpy()
    depths = -run.frame.filter(regex=r"contact_.*_z").iloc[-1].to_numpy()[-8:]
    assert forces.sum() == pytest.approx(9.81 * human().total_mass, rel=1e-3)
    if approximation == "sap":
        np.testing.assert_allclose(forces, Floor().k_n * depths, rtol=1e-3, atol=0.5)


def test_natural_settings_stand():
    natural = Drake().vendor_defaults
    run = rollout(experiment_named("stand-tilted"), {"run.step": natural.step}, natural.engine).run
    assert run.summary["verdict"] == "recovered"


def test_the_thrown_block_hits_and_is_withstood():
    experiment = experiment_named("thrown-block")
    run = rollout(experiment, {}, "drake").run
    assert run.summary["verdict"] == "recovered"
    blows = run.events[run.events["kind"] == "impact"]
    assert blows["time"].iloc[0] == pytest.approx(0.0705, abs=1e-3)
    impulse = blows[["impulse_x", "impulse_y", "impulse_z"]].sum().to_numpy()
    assert 1.8 * 4.5 < -impulse[0] < 1.8 * 4.5 * 1.25  # it is stopped, and thrown back by little
    assert run.summary["momentum_defect"] < 0.05


def test_it_is_deterministic_and_starts_anew(person):
    rng = np.random.default_rng(6)
    q, v = person.configuration((0.0, 0.0, 1.22)), 0.3 * rng.normal(size=person.nv)
    simulation, first = started(person, q, v)
    stepped(simulation, first, person, 200)
    assert first.force.any()
    _, second = started(person, q, v)
    simulation.place(q, v, np.zeros(13))
    stepped(simulation, second, person, 200)
    for a, b in zip(first, second, strict=True):
        np.testing.assert_array_equal(a, b)


def test_a_passive_rollout_is_stepping(person):
    rng = np.random.default_rng(7)
    q, v = person.configuration((0.0, 0.0, 1.22)), 0.3 * rng.normal(size=person.nv)
    simulation, stepping = started(person, q, v)
    stepped(simulation, stepping, person, 333)
    simulation, coasting = started(person, q, v)
    for steps in (1, 300, 32):
        simulation.passive_rollout(steps)
    simulation.read(coasting)
    for a, b in zip(stepping, coasting, strict=True):
        np.testing.assert_array_equal(a, b)


def test_a_step_that_fails_is_seen(person):
    simulation, arrival = started(person, person.neutral())
    stepped(simulation, arrival, person, 1, torque=np.full(person.nv, np.nan))
    assert not np.all(np.isfinite(arrival.q))


def test_settings_and_targets_are_checked(person):
    case = Case(person, Floor(), 5e-4, Impedance(), None)
    for engine in (Drake("tamsi"), Drake(contact="soft")):
        with pytest.raises(InputError, match="it must be"):
            engine.start(case)
    throw = Throw(1.0, (0.1, 0.1, 0.1), (1.0, 0.0, 1.0), (-1.0, 0.0, 0.0), target="left_thigh")
    with pytest.raises(InputError, match="no box"):
        Drake().start(replace(case, throw=throw))


@pytest.mark.parametrize("engine", [*map(Drake, APPROXIMATIONS), Drake().vendor_defaults.engine], ids=str)
def test_differences_are_stated(engine, person):
    throw = Throw(1.8, (0.1, 0.1, 0.1), (1.0, 0.0, 1.0), (-4.5, 0.0, 0.0))
    said = engine.differences(Case(person, Floor(mu_s=0.37), 5e-4, Impedance(), throw))
    assert len(said) == 3
    assert any("0.37" in sentence for sentence in said)

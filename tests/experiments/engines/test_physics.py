"""What physics demands of a run in another engine: momentum, energy, weight, blows, as far as its step allows."""

from dataclasses import replace

import numpy as np
import pytest

from biped import Fall, Impedance, InputError, Push, State, Throw, human, momentum, rigid_box, simulate
from biped.model import random_tree
from biped.runs.postures import standing
from contact import Floor
from controllers.impedance import JointImpedance
from experiments import experiment_named, rollout
from experiments.engines import Case, new_arrival
from experiments.engines.engine_integrator import EngineIntegrator
from experiments.engines.mujoco.adapter import Mujoco
from experiments.engines.registry import engine_named
from experiments.engines.restitution import damping_ratio, restitution_of
from experiments.work_precision.problems import tumbling

from ...conftest import MASS, Constant, sledge
from .conftest import installed

WEIGHTLESS = (0.0, 0.0, 0.0)
THROWN = experiment_named("thrown-block")
BLOCK = Throw(1.8, (0.12,) * 3, (0.4, 0.0, 1.2), (-4.5, 0.0, 0.0))


def defect(run):
    """[N·s] and [N·m·s] how much momentum at the end no impulse accounts for."""
    last = run.frame.iloc[-1]
    return [np.linalg.norm([last[f"momentum_defect_{kind}{axis}"] for axis in "xyz"]) for kind in "pl"]


def flight(engine, step, moving=True, disturbances=(), gravity=(0.0, 0.0, -9.81)):
    model = human().without_contacts().with_gravity(gravity)
    state = State.at(model, *tumbling(model)) if moving else State.at(model)
    return simulate(
        model, None, state=state, step=step, duration=0.3, disturbances=disturbances,
        integrator=EngineIntegrator(engine),
    )  # fmt: skip


def test_a_free_fall_keeps_momentum_and_energy_to_first_order(engine):
    runs = [flight(engine, step) for step in (1e-3, 5e-4)]
    for errors in (
        [abs(run.frame.ledger_residual.iloc[-1]) for run in runs],
        *zip(*(defect(run) for run in runs), strict=True),
    ):
        assert errors[1] == pytest.approx(0.5 * errors[0], rel=0.1)
    exchanged = abs(runs[1].frame.ledger_potential.iloc[-1] - runs[1].frame.ledger_potential.iloc[0])
    assert abs(runs[1].frame.ledger_residual.iloc[-1]) < 0.02 * exchanged
    assert defect(runs[1])[0] < 1e-3 * 74.5 * 9.81 * 0.3


@pytest.mark.parametrize("body", ["trunk", "left_shank"])
def test_a_push_gives_its_impulse(engine, body):
    push = Push(body, (0.6, 0.0, 0.8), 20.0, start=0.1, duration=0.1, waveform="half-sine", point=(0.05, 0.0, -0.02))
    coarse, fine = (flight(engine, step, False, [push], WEIGHTLESS) for step in (5e-4, 2.5e-4))
    last = fine.frame.iloc[-1]
    assert [last[f"momentum_p{axis}"] for axis in "xyz"] == pytest.approx([12.0, 0.0, 16.0], abs=0.02)
    for errors in zip(defect(coarse), defect(fine), strict=True):
        assert errors[1] < 0.02
        assert errors[1] == pytest.approx(0.5 * errors[0], rel=0.15)


def test_the_workspace_controller_stands(engine):
    result = rollout(experiment_named("stand-tilted"), {"run.duration": 2.0}, engine)
    assert result.error is None
    assert result.run.summary["verdict"] == "recovered"
    stands_still(result.run, rel=1e-4)


def test_soles_that_are_boxes_stand_on_their_corners(engine):
    run = rollout(experiment_named("stand-tilted"), {"run.duration": 2.0}, replace(engine, soles="boxes")).run
    assert run.summary["verdict"] == "recovered"
    last, names = run.frame.iloc[-1], human().contact_names
    force = np.array([last[f"contact_{point}_fz"] for point in names])
    assert force.sum() == pytest.approx(9.81 * human().total_mass, rel=1e-4)
    assert all((force[foot] > 0.0).sum() >= 3 for foot in (slice(0, 4), slice(4, 8)))


def test_sliding_feet_have_the_floors_friction(engine):
    low = {"floor.mu_s": 0.1, "floor.mu_d": 0.1, "push.impulse": 30.0, "push.start": 0.1, "push.azimuth": 1.57}
    run = experiment_named("balance").run(low | {"integrator.name": engine.name, "run.duration": 0.4})
    loads = [
        np.column_stack([run.frame[f"contact_{name}_f{axis}"] for axis in "xyz"]) for name in human().contact_names
    ]
    force = np.concatenate(loads)
    force = force[force[:, 2] > 20.0]
    assert np.max(np.hypot(force[:, 0], force[:, 1]) / force[:, 2]) == pytest.approx(0.1, abs=1e-6)


def stands_still(run, rel):
    """The floor bears the weight and nothing sideways; each point is as deep as our floor's spring lets it be."""
    last, model = run.frame.iloc[-1], run.state.model
    total = [sum(last[f"contact_{point}_f{axis}"] for point in model.contact_names) for axis in "xyz"]
    weight = 9.81 * model.total_mass
    assert total == pytest.approx([0.0, 0.0, weight], abs=rel * weight)
    for point in model.contact_names:
        depth = -last[f"contact_{point}_z"]
        assert last[f"contact_{point}_fz"] == pytest.approx(Floor().k_n * depth, abs=0.02 * weight / 8)


def swaying(integrator, step, duration=1.5):
    model = human()
    return simulate(
        model, JointImpedance(), state=State.at(model), step=step, duration=duration, fall=Fall(),
        integrator=integrator,
    )  # fmt: skip


def sways_as_ours(run):
    """The trunk sways by 14 mm; each foot bears what it bears in ours, in the mean of the last second."""
    ours, model = swaying("recursive", 5e-4), run.state.model
    assert run.summary["verdict"] == "recovered"
    for axis in "xyz":
        np.testing.assert_allclose(run.frame[f"body_{axis}"], ours.frame[f"body_{axis}"], atol=1e-4)
    late = run.frame.time > 0.5
    for side in ("left", "right"):
        columns = [f"contact_{point}_fz" for point in model.contact_names if point.startswith(side)]
        theirs, wanted = (frame.loc[late, columns].sum(axis=1) for frame in (run.frame, ours.frame))
        assert theirs.mean() == pytest.approx(wanted.mean(), rel=1e-3)


def test_stiff_joints_sway_in_mujoco_as_in_ours():
    sways_as_ours(swaying(EngineIntegrator(installed("mujoco")), 5e-4))


@pytest.mark.slow
def test_stiff_joints_sway_in_pybullet_as_in_ours_where_explicit_springs_are_stable():
    engine = installed("pybullet")
    with pytest.raises(InputError, match=r"at a time step of 0\.0005 s: reduce the time step") as error:
        swaying(EngineIntegrator(engine), 5e-4)
    assert "\n" not in str(error.value)
    sways_as_ours(swaying(EngineIntegrator(engine), 1e-4))


def head_on(engine, restitution, step=5e-4, steps=160):
    model = human().without_contacts().with_gravity(WEIGHTLESS)
    throw = Throw(1.8, (0.12,) * 3, (0.4, 0.0, 1.2), (-4.5, 0.0, 0.0), restitution=restitution, friction=0.0)
    simulated = engine.start(Case(model, Floor(), step, Impedance(), throw))
    found, q = new_arrival(model.nq, model.nv, model.nc), model.neutral()
    found.projectile[:] = (q[0] + 0.4, q[1], q[2], 1.0, 0.0, 0.0, 0.0, -4.5, 0.0, 0.0, 0.0, 0.0, 0.0)
    simulated.place(q, np.zeros(model.nv), found.projectile)
    impact = np.zeros(3)
    for _ in range(steps):
        simulated.step(np.zeros(model.nv), [])
        simulated.read(found)
        impact += found.impact
    return model, found, impact


@pytest.mark.parametrize("restitution", [0.0, 0.2, 0.8])
def test_a_blow_is_what_the_block_loses_and_the_human_gains(engine, restitution):
    model, found, impact = head_on(engine, restitution)
    lost = 1.8 * (np.array([-4.5, 0.0, 0.0]) - found.projectile[7:10])
    np.testing.assert_allclose(impact, lost, atol=1e-6)
    gained = momentum(model, found.q, found.v).linear
    np.testing.assert_allclose(gained, impact, atol=5e-3 * abs(impact[0]))
    back = (found.projectile[7] - found.v[0]) / 4.5
    if engine.name == "mujoco":  # a spring and a damper
        assert back == pytest.approx(restitution_of(damping_ratio(restitution)), abs=0.03)
    else:
        assert back == pytest.approx(restitution, abs=1e-3)


def test_a_blow_is_one_event(engine):
    model = rigid_box(20.0, (0.4, 0.4, 0.4)).with_gravity(WEIGHTLESS).without_contacts()
    throw = Throw(
        1.8, (0.12,) * 3, (0.4, 0.0, 5.0), (-4.5, 0.0, 0.0), restitution=0.5, friction=0.0, target=model.body_names[0]
    )
    state = State.at(model, model.configuration((0.0, 0.0, 5.0)))
    run = simulate(
        model, None, state=state, duration=0.1, record_every=5e-4, disturbances=[throw],
        integrator=EngineIntegrator(engine),
    )  # fmt: skip
    blows = run.events[run.events.kind == "impact"]
    assert len(blows) == 1
    x = run.frame.projectile_x.to_numpy()
    lost = 1.8 * ((x[1] - x[0]) - (x[-1] - x[-2])) / 5e-4
    assert blows.impulse_x.iloc[0] == pytest.approx(lost, abs=1e-6)
    assert blows.velocity_x.iloc[0] == pytest.approx(-4.5, abs=1e-3)
    assert [blows[axis].iloc[0] for axis in "yz"] == pytest.approx([0.0, 5.0], abs=1e-3)
    assert defect(run) == pytest.approx([0.0, 0.0], abs=1e-6)


def test_the_human_withstands_the_thrown_block(engine):
    result = rollout(experiment_named("thrown-block"), {}, engine)
    assert result.run.summary["verdict"] == "recovered"
    ours = rollout(experiment_named("thrown-block"), {}, "recursive").run
    blows = [run.events[run.events.kind == "impact"] for run in (result.run, ours)]
    assert blows[0].time.iloc[0] == pytest.approx(blows[1].time.iloc[0], abs=1e-3)
    early = [found[found.time < 0.2].impulse_x.sum() for found in blows]
    assert early[0] == pytest.approx(early[1], rel=0.15)


def test_the_books_of_a_blow_and_of_landing_feet_close_to_first_order(engine):
    changes = {"run.duration": 0.3}
    coarse, fine = (rollout(THROWN, changes | {"run.step": step}, engine).run for step in (5e-4, 2.5e-4))
    assert fine.summary["ledger_residual"] == pytest.approx(0.5 * coarse.summary["ledger_residual"], rel=0.25)
    ours = rollout(THROWN, changes, "recursive").run.frame.iloc[-1]
    for column in ("ledger_actuators", "ledger_contacts"):
        assert fine.frame[column].iloc[-1] == pytest.approx(ours[column], rel=0.2), column
    assert fine.frame["ledger_impacts"].iloc[-1] == pytest.approx(ours["ledger_impacts"], abs=1.0)


def test_a_blow_that_outlasts_the_run_is_an_event():
    result = rollout(THROWN, {"run.duration": 0.072}, installed("mujoco"))
    (impact,) = result.run.summary["events"]["impacts"]
    assert result.run.events["kind"].tolist().count("impact") == 1
    flying = result.run.state.projectile  # momentum is at 7, of the block that was thrown with 1.8 kg · -4.5 m/s
    assert impact["impulse"][0] == pytest.approx(1.8 * -4.5 - flying[7], rel=1e-9)
    assert result.run.summary["metrics"]["impact_impulse"] == pytest.approx(np.linalg.norm(impact["impulse"]))


def test_a_passive_rollout_is_stepping_without_torques(engine):
    model = human().without_contacts()
    q, v = tumbling(model)
    ends = []
    for at_once in (False, True):
        simulated = engine.start(Case(model, Floor(), 1e-3, Impedance(), None))
        simulated.place(q, v, np.zeros(13))
        if at_once:
            simulated.passive_rollout(50)
        for _ in range(0 if at_once else 50):
            simulated.step(np.zeros(model.nv), ())
        found = new_arrival(model.nq, model.nv, model.nc)
        simulated.read(found)
        ends.append(np.concatenate([found.q, found.v]))
    np.testing.assert_array_equal(*ends)


def test_the_damping_ratio_is_that_of_the_restitution():
    for restitution in (0.15, 0.2, 0.5, 0.8, 0.99):
        assert restitution_of(damping_ratio(restitution)) == pytest.approx(restitution, abs=1e-9)
    assert restitution_of(0.0) == 1.0
    assert restitution_of(damping_ratio(0.0)) == pytest.approx(np.exp(-2.0), abs=1e-6)


def slid(model, rate=0.0, duration=1.0, force=0.0):
    run = simulate(
        model, Constant(force), state=State.at(model, np.zeros(1), np.array([rate])), duration=duration, step=1e-3,
        record_every=1e-3, integrator=EngineIntegrator(engine_named("mujoco")),
    )  # fmt: skip
    books = run.frame
    assert books["ledger_residual"].abs().max() < 2e-3 * books["ledger_kinetic"].max()
    return books


def test_dry_friction_brakes_evenly_and_its_work_is_in_the_books():
    books = slid(sledge(friction=2.0), rate=1.0, duration=0.9)
    assert books["rate_rail"].to_numpy() == pytest.approx(1.0 - 2.0 / MASS * books["time"].to_numpy(), abs=1e-3)
    assert books["ledger_joints_dissipated"].iloc[-1] == pytest.approx(0.5 * MASS * (1.0 - 0.1**2), rel=5e-3)


def test_damping_is_not_taken_for_the_actuators_work():
    books = slid(sledge(damping=0.8), rate=3.0)
    assert books["rate_rail"].iloc[-1] == pytest.approx(3.0 * np.exp(-0.8 / MASS), rel=1e-3)
    assert books["ledger_actuators"].iloc[-1] == 0.0
    assert books["ledger_joints"].iloc[-1] == pytest.approx(books["ledger_kinetic"].diff().sum(), rel=2e-3)


@pytest.mark.parametrize("side", [1.0, -1.0])
def test_a_stop_yields_as_ours_under_the_greatest_effort(side):
    books = slid(sledge(lower=-0.1, upper=0.1, max_effort=5.0), force=side * 5.0, duration=4.0)
    assert books["position_rail"].iloc[-1] == pytest.approx(side * 0.101, rel=1e-5)


def test_who_has_none_refuses_them():
    pytest.importorskip("pybullet")
    with pytest.raises(InputError, match="'pybullet' does not support .* supported by: mujoco, recursive, maximal"):
        simulate(sledge(damping=1.0), duration=0.1, integrator=EngineIntegrator(engine_named("pybullet")))


@pytest.mark.parametrize("cone", ["elliptic", "pyramidal"])
def test_contact_forces_are_those_of_mujoco(person, cone):
    mujoco = pytest.importorskip("mujoco")
    stiff = Impedance(dict.fromkeys(person.joint_names, 1500.0), dict.fromkeys(person.joint_names, 20.0))
    simulation = Mujoco(cone=cone).start(Case(person, Floor(), 1e-3, stiff, None))
    simulation.place(standing(person).q, np.eye(person.nv)[0] + 0.5 * np.eye(person.nv)[1], np.zeros(13))
    arrival, total, local = new_arrival(person.nq, person.nv, person.nc), np.zeros(3), np.zeros(6)
    for _ in range(5):  # the knees extend and the feet slide
        simulation.step(np.zeros(person.nv), ())
    simulation.read(arrival)
    touching = simulation.data.contact
    for k in range(simulation.data.ncon):
        mujoco.mj_contactForce(simulation.engine, simulation.data, k, local)
        total += (
            (1.0 if simulation.is_floor[touching.geom[k, 0]] else -1.0) * local[:3] @ touching.frame[k].reshape(3, 3)
        )
    assert abs(total[:2]).min() > 1.0
    np.testing.assert_allclose(arrival.force.sum(axis=0), total, rtol=1e-12)


def test_a_warning_of_mujoco_ends_a_run_with_spherical_joints():
    pytest.importorskip("mujoco")
    model = random_tree(np.random.default_rng(6), 4, kinds=("spherical",))
    simulation = Mujoco().start(Case(model, Floor(), 1e-3, Impedance(), None))
    simulation.place(model.neutral(), np.full(model.nv, 1e11), np.zeros(13))
    simulation.step(np.zeros(model.nv), ())
    arrival = new_arrival(model.nq, model.nv, model.nc)
    simulation.read(arrival)
    assert simulation.failure
    assert np.isnan(arrival.q).any()

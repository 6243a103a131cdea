"""Rigid contact of trees: nothing goes into the floor, what sticks stays, friction is Coulomb's, the ledger closes."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from biped import InputError, IntegrationError, Push, Recursive, Rigid, Run, Signal, State, human, rigid_box, simulate
from biped.disturbances import Patch, Platform
from biped.dynamics import forward_kinematics
from biped.model import Body, ContactPoint, Model, box_inertia, floating, random_tree, revolute
from contact import RUBBER, Floor
from contact.modes import NONE, SLIDING, STICKING
from experiments.catalogue.registry import experiment_named
from formulations.assembly import from_model, placement_of
from tests.refusals import refuses

from ...conftest import assert_same_arrays

MU = 0.3
G = 9.81
#: [N·m] of a force and a gap, [W·s] of a friction and a way: products over the step.
SIGNORINI = 1e-8


def icy(mu: float) -> Floor:
    return Floor(mu_s=mu, mu_d=mu)


def box_on_incline(
    angle: float, mu: float = MU, duration: float = 0.5, heading: float = 0.0, directions: int = 8
) -> Run:
    across = G * np.sin(angle)
    gravity = (across * np.cos(heading), across * np.sin(heading), -G * np.cos(angle))
    model = rigid_box(2.0, (0.4, 0.3, 0.2)).with_gravity(gravity)
    start = State.at(model, [0.0, 0.0, 0.1, 1.0, 0.0, 0.0, 0.0])
    return simulate(
        model, state=start, floor=icy(mu), integrator=Rigid(directions=directions), step=1e-3, duration=duration,
        record_every=1e-3,
    )  # fmt: skip


def points(frame: pd.DataFrame, model: Model, part: str) -> np.ndarray:
    return frame[[f"contact_{name}_{part}" for name in model.contact_names]].to_numpy()


def experiment(name: str, duration: float, step: float = 1e-3, restitution: float = 0.0, **changes) -> Run:
    setup, integrator = experiment_named(name).build(), Rigid(restitution=restitution)
    return replace(setup, duration=duration, step=step, record_every=step, integrator=integrator, **changes).run()


def test_in_flight_it_is_the_recursive_integrator():
    model = human().without_contacts()
    v = np.random.default_rng(1).normal(size=model.nv)
    ours, theirs = (
        simulate(model, state=State.at(model, None, v), step=1e-3, duration=0.5, integrator=integrator).state
        for integrator in (Rigid(tolerance=1e-11), Recursive(tolerance=1e-11))
    )
    assert np.abs(ours.q - theirs.q).max() < 1e-9
    assert np.abs(ours.momentum - theirs.momentum).max() < 1e-8
    assert np.abs(ours.q[7:]).max() > 0.3


@pytest.mark.parametrize("heading", [0.0, np.pi / 4, np.pi])
def test_a_box_sticks_below_the_angle_of_friction(heading):
    run = box_on_incline(0.99 * np.arctan(MU), heading=heading)
    assert np.abs(run.state.q[:2]).max() < 1e-8
    assert (run.state.arrays.mode[:4] == STICKING).all()


@pytest.mark.parametrize("more", [1.02, 1.5])
def test_a_box_slides_beyond_it_as_coulomb_says(more):
    angle, duration = more * np.arctan(MU), 0.5
    run = box_on_incline(angle, duration=duration)
    acceleration = G * (np.sin(angle) - MU * np.cos(angle))
    way = 0.5 * acceleration * duration**2
    assert run.state.q[0] == pytest.approx(way, rel=2e-3)
    assert run.state.momentum[0] == pytest.approx(2.0 * acceleration * duration, rel=2e-3)
    assert (run.state.arrays.mode[:4] == SLIDING).all()
    lost = MU * 2.0 * G * np.cos(angle) * way
    assert run.frame["ledger_dissipated"].iloc[-1] == pytest.approx(lost, rel=2e-3)
    assert run.frame["ledger_residual"].abs().max() < 1e-5


def test_without_friction_it_slides_freely():
    run = box_on_incline(0.2, mu=0.0)
    assert run.state.q[0] == pytest.approx(0.5 * G * np.sin(0.2) * 0.25, rel=1e-9)


def test_friction_between_two_of_its_directions_is_weaker_by_a_cosine():
    angle, duration = 1.5 * np.arctan(MU), 0.5
    run = box_on_incline(angle, heading=np.pi / 8, duration=duration)
    acceleration = G * (np.sin(angle) - MU * np.cos(np.pi / 8) * np.cos(angle))
    assert np.hypot(*run.state.q[:2]) == pytest.approx(0.5 * acceleration * duration**2, rel=3e-3)


@pytest.mark.parametrize("heading", [0.0, np.pi / 8, 2.0])
def test_friction_in_the_true_cone_is_coulombs_in_any_direction(heading):
    """Each row's friction is μ of the load, against the slip, but for products over ways; below its angle it sticks."""
    angle, duration = 1.5 * np.arctan(MU), 0.5
    run = box_on_incline(angle, heading=heading, duration=duration, directions=0)
    across = np.array([np.cos(heading), np.sin(heading)])
    force = np.array([points(run.frame, run.state.model, part).sum(axis=1) for part in ("fx", "fy", "fz")]).T[2:]
    assert force[:, 2] == pytest.approx(2.0 * G * np.cos(angle), rel=1e-9)
    off = np.linalg.norm(force[:, :2] + MU * force[:, 2:] * across, axis=1)
    acceleration = G * (np.sin(angle) - MU * np.cos(angle))
    way = acceleration * (run.frame["time"].to_numpy()[2:] - 1e-3) * 1e-3
    product = run.frame["solver_complementarity"].max()
    assert (off <= 2 * 4 * product / way / 1e-3).all()  # two solutions of four points in a step
    assert off[-1] < 1e-9
    assert run.state.q[:2] == pytest.approx(0.5 * acceleration * duration**2 * across, abs=2e-3)
    still = box_on_incline(0.99 * np.arctan(MU), heading=heading, directions=0)
    assert np.abs(still.state.q[:2]).max() < 1e-8


@pytest.mark.parametrize("law", ["workspace", "whole-body"])
def test_the_human_is_pushed_with_the_true_cone(law):
    push = Push("trunk", (-1.0, 0.0, 0.0), 10.0, start=0.2, duration=0.1)
    setup = experiment_named("balance").driven_by(law).build()
    run = replace(
        setup, duration=1.0, step=1e-3, record_every=1e-3, integrator=Rigid(directions=0), disturbances=(push,)
    ).run()
    check_contact(run)
    assert run.summary["verdict"] == "recovered"
    late = run.frame[run.frame["time"] > 0.05]
    for part in "xy":
        places = points(late, run.state.model, part)
        assert np.abs(places - places[0]).max() < 1e-10


def test_an_impact_loses_all_of_the_approach_and_nothing_more():
    model = rigid_box(2.0, (0.4, 0.3, 0.2))
    start = State.at(model, [0.0, 0.0, 0.3, 1.0, 0.0, 0.0, 0.0])
    run = simulate(model, state=start, integrator=Rigid(), step=1e-3, duration=0.4, record_every=1e-3)
    frame = run.frame
    landed = points(frame, model, "mode")[:, 0] != NONE
    first = int(np.argmax(landed))
    assert frame["time"].iloc[first] == pytest.approx(np.sqrt(2 * 0.2 / G), abs=1e-3)
    assert landed[first:].all()
    assert frame["ledger_kinetic"].iloc[first:].max() < 1e-12
    assert frame["ledger_dissipated"].iloc[-1] == pytest.approx(2.0 * G * 0.2, rel=3e-3)  # a step's way at landing
    assert np.abs(points(frame, model, "z")[first:, :4]).max() < 1e-9


@pytest.mark.parametrize("restitution", [0.3, 0.8, 1.0])
def test_an_impact_gives_back_its_part_of_the_approach(restitution):
    """A box that falls flat leaves with e times its speed, and rises to e² times its height, again and again."""
    model = rigid_box(2.0, (0.4, 0.3, 0.2))
    start, h = State.at(model, [0.0, 0.0, 0.3, 1.0, 0.0, 0.0, 0.0]), 5e-4
    integrator = Rigid(restitution=restitution)
    run = simulate(model, state=start, integrator=integrator, step=h, duration=1.0, record_every=h)
    frame = run.frame
    speed = frame["momentum_pz"].to_numpy() / 2.0
    jumps = np.flatnonzero(np.diff(speed) > 0.2)
    assert len(jumps) >= 2
    for k in jumps[:2]:
        assert speed[k + 1] == pytest.approx(-restitution * speed[k], abs=2.0 * G * h)
    height = frame["body_z"].to_numpy() - 0.1
    first = height[jumps[0] + 1 : jumps[1]]
    assert first.max() == pytest.approx(0.2 * restitution**2, abs=0.1 * restitution**2 * 0.2)
    energy = frame["ledger_kinetic"] + frame["ledger_potential"]
    assert energy.max() <= energy.iloc[0] * (1.0 + 1e-9) + 2.0 * G * G * h * h
    assert frame["ledger_residual"].abs().max() < 4.0 * G * 2.0 * h
    assert np.ptp(frame["body_x"]) < 1e-9


def test_what_rests_does_not_bounce():
    dead, bouncy = (experiment("balance", 1.0, restitution=part).frame for part in (0.0, 0.8))
    assert np.abs(bouncy["body_z"] - dead["body_z"]).max() < 1e-9


def sliding_rod(tilt: float, mu: float, step: float) -> pd.DataFrame:
    """The first steps of Painlevé's rod of 1 m and 1 kg, whose end on the floor slides at 2 m/s."""
    rod = Body("rod", 1.0, np.diag([1.0 / 12.0, 1.0 / 12.0, 1e-4]), (0.0, 0.0, 0.0), floating("free"), None)
    model = Model("rod", (rod,), (ContactPoint("end", "rod", (0.0, 0.0, -0.5)),))
    q = [0.0, 0.0, 0.5 * np.cos(tilt), np.cos(0.5 * tilt), 0.0, np.sin(0.5 * tilt), 0.0]
    state = State.at(model, q, [2.0, 0.0, 0.0, 0.0, 0.0, 0.0])
    return simulate(
        model, state=state, floor=icy(mu), integrator=Rigid(), step=step, duration=4 * step, record_every=step
    ).frame


@pytest.mark.parametrize("step", [2e-3, 1e-3])
def test_painleves_rod_jams_by_an_impulse_without_a_collision(step):
    """Where sliding on would need ever more force, it stops within a step, by an impulse that no step changes.

    With W of the point's end, normal and along the way, sliding has no solution for μ W_nt > W_nn (Génot and Brogliato
    1999); what takes the velocity at once is W⁻¹ v (Stewart and Trinkle 1996). Below that it slides on.
    """
    tilt = -0.6
    x, z = -0.5 * np.sin(tilt), -0.5 * np.cos(tilt)
    W = np.array([[1.0 + 12.0 * z * z, -12.0 * x * z], [-12.0 * x * z, 1.0 + 12.0 * x * x]])
    tangential, normal = np.linalg.solve(W, [-2.0, 0.0])
    assert -tangential < 1.5 * normal  # friction can give it
    assert 1.2 * W[0, 1] < W[1, 1] < 1.5 * W[0, 1]
    jams, slides = (sliding_rod(tilt, mu, step) for mu in (1.5, 1.2))
    impulse = step * jams[["contact_end_fx", "contact_end_fz"]].iloc[1].to_numpy()
    assert impulse == pytest.approx([tangential, normal], rel=20.0 * step)
    assert np.ptp(jams["contact_end_x"]) < 1e-9
    assert jams["ledger_residual"].abs().max() < 1.0 * step
    speed = np.diff(slides["contact_end_x"]) / step
    assert (speed > 1.4).all()


@pytest.mark.parametrize("step", [5e-4, 2e-4, 1e-4])
def test_painleves_rod_stops_or_the_run_says_that_it_has_no_solution(step):
    try:
        frame, said = sliding_rod(-0.6, 1.5, step), ""
    except IntegrationError as error:
        frame, said = error.run.frame, str(error)
    assert np.isfinite(frame.to_numpy(dtype=float)).all()
    assert "no solution of the time step at 0 s" in said or (len(frame) == 5 and np.ptp(frame["contact_end_x"]) < 1e-9)


def check_contact(run: Run, mu: float = MU) -> None:
    frame, model = run.frame, run.state.model
    gap, normal = points(frame, model, "z"), points(frame, model, "fz")
    across = np.hypot(points(frame, model, "fx"), points(frame, model, "fy"))
    assert gap[1:].min() > -1e-9
    assert normal.min() >= 0.0
    assert (across <= mu * normal * (1.0 + 1e-9) + 1e-9).all()
    assert frame["deepest_point"].max() < 1e-9
    assert frame["solver_complementarity"].max() / run.summary["integrator"]["step"] <= SIGNORINI
    assert frame["solver_residual"].max() <= 1e-8
    assert frame["unresolved"].sum() == 0
    assert run.summary["momentum_defect"] < 1e-10
    assert run.summary["angular_momentum_defect"] < 1e-10


@pytest.mark.parametrize("step", [1e-3, 2e-3])
def test_the_human_stands_without_creeping(step):
    run = experiment("balance", 2.0, step)
    check_contact(run)
    late = run.frame[run.frame["time"] > 0.05]
    for part in "xy":
        places = points(late, run.state.model, part)
        assert np.abs(places - places[0]).max() < 1e-10
    assert run.summary["verdict"] == "recovered"
    assert late["newton_iterations"].mean() < 3.0


@pytest.mark.parametrize("step", [1e-3, 2e-3])
def test_the_human_is_pushed(step):
    push = Push("trunk", (-1.0, 0.0, 0.0), 10.0, start=0.2, duration=0.1)
    run = experiment("balance", 2.0, step, disturbances=(push,))
    check_contact(run)
    assert run.summary["verdict"] == "recovered"
    assert run.frame["com_x"].min() < run.frame["com_x"].iloc[0] - 0.005


@pytest.mark.slow
@pytest.mark.parametrize("step", [1e-3, 2e-3])
def test_the_human_is_hit_by_a_block_and_recovers(step):
    run = experiment("thrown-block", 3.0, step)
    check_contact(run)
    assert run.summary["verdict"] == "recovered"
    heels = points(run.frame, run.state.model, "z").max(axis=1)
    assert heels.max() > 0.01


def test_it_goes_on_bit_for_bit():
    setup = replace(experiment_named("balance").build(), integrator=Rigid(), step=1e-3)
    whole = replace(setup, duration=0.1).run().state
    half = replace(setup, duration=0.05).run().state
    rest = replace(setup, duration=0.05, state=half).run().state
    assert_same_arrays(whole.arrays._replace(counts=rest.arrays.counts), rest.arrays)


def test_a_start_in_the_floor_is_raised_onto_it():
    setup = experiment_named("balance").build()
    assert forward_kinematics(setup.model, setup.initial_state.q).contact[:, 2].min() < -1e-4
    run = replace(setup, integrator=Rigid(), duration=0.01).run()
    assert points(run.frame, run.state.model, "z")[0].min() == pytest.approx(0.0, abs=1e-12)
    assert abs(run.frame["ledger_residual"].iloc[0]) < 1e-9


def test_what_is_on_a_platform_moves_with_it():
    """Below friction's limit all the way: 0.05 m there at most 0.12 g, and a tilt of 3°."""
    model = rigid_box(2.0, (0.4, 0.3, 0.2))
    start = State.at(model, [0.1, 0.0, 0.1, 1.0, 0.0, 0.0, 0.0])
    platform = Platform(x=Signal.step(0.05, start=0.1, rise=0.5), pitch=Signal.step(0.05, start=0.1, rise=0.5))
    run = simulate(
        model, state=start, floor=icy(0.6), integrator=Rigid(), step=1e-3, duration=0.8, disturbances=[platform],
        record_every=1e-3,
    )  # fmt: skip
    lifted = np.array([np.cos(0.05), -np.sin(0.05)])
    expected = 0.05 + 0.1 * lifted[0] + 0.1 * np.sin(0.05), 0.1 * lifted[1] + 0.1 * np.cos(0.05)
    assert run.state.q[[0, 2]] == pytest.approx(expected, abs=1e-7)
    assert (run.state.arrays.mode[:4] == STICKING).all()
    assert abs(run.frame["ledger_dissipated"].iloc[-1]) < 1e-6
    assert run.frame["ledger_platform"].iloc[-1] == pytest.approx(run.frame["ledger_contacts"].iloc[-1], abs=1e-6)
    assert run.frame["ledger_residual"].abs().max() < 1e-5
    assert run.summary["momentum_defect"] < 1e-12


def test_patches_have_friction_of_their_own():
    model = rigid_box(2.0, (0.4, 0.3, 0.2)).with_gravity((2.0, 0.0, -9.0))
    start = State.at(model, [0.0, 0.0, 0.1, 1.0, 0.0, 0.0, 0.0])
    ice = Patch((-1.0, 1.0), (-1.0, 1.0), icy(0.0))
    stays, goes = (
        simulate(
            model, state=start.copy(), floor=icy(0.5), integrator=Rigid(), step=1e-3, duration=0.1, disturbances=patches
        ).state.q[0]
        for patches in ([], [ice])
    )
    assert abs(stays) < 1e-9
    assert goes == pytest.approx(0.01, rel=1e-6)


@pytest.mark.parametrize("speed", [0.0, 1.0])
def test_it_moves_as_the_assembly_of_the_same_bodies_does(speed):
    box = rigid_box(5.0, (0.6, 0.4, 0.1))
    hinge = revolute("hinge", (0.0, 1.0, 0.0), (0.0, 0.0, 0.05))
    pole = Body("pole", 1.0, box_inertia(1.0, (0.05, 0.05, 0.6)), (0.0, 0.0, 0.35), hinge, "box")
    model = Model("box with a pole", (*box.bodies, pole), box.contact_points)
    q, v = model.neutral(), np.zeros(model.nv)
    q[2], q[7], v[0], v[6] = 0.05, 0.3, speed, 1.0
    ours = simulate(
        model, state=State.at(model, q, v), floor=icy(MU), integrator=Rigid(directions=4), step=1e-3, duration=0.2
    ).state
    theirs = from_model(model, friction=MU).simulate(0.2, 1e-3, placement_of(model, q, v))
    assert np.abs(theirs.position("box")[-1] - ours.q[:3]).max() < 1e-7
    assert abs(theirs.frame["angle_hinge"].iloc[-1] - ours.q[7]) < 1e-7
    assert abs(ours.q[7] - q[7]) > 0.1
    assert (ours.arrays.mode[:4] == (SLIDING if speed else STICKING)).all()


@refuses(
    ({"directions": 5}, "even number"), ({"directions": 2}, "even number"),
    ({"directions": -2}, "or 0 for Coulomb's friction cone"),
    ({"complementarity": 0.0}, "above zero"), ({"tolerance": -1.0}, "above zero"),
    ({"restitution": 1.1}, "from 0 to 1"), ({"restitution": np.nan}, "from 0 to 1"),
)  # fmt: skip
def test_settings_out_of_range_are_refused(changes):
    Rigid(**changes)


@pytest.mark.parametrize("floor", [Floor(mu_s=0.5, mu_d=0.3), RUBBER.with_(friction="printed")])
def test_floors_with_two_frictions_are_refused(floor):
    model = rigid_box(2.0, (0.4, 0.3, 0.2))
    with pytest.raises(InputError, match="one coefficient"):
        simulate(model, floor=floor, integrator=Rigid(), duration=0.01)


def test_it_does_not_go_on_from_feet_in_springs():
    setup = replace(experiment_named("balance").build(), duration=0.01)
    with pytest.raises(InputError, match="below the floor"):
        replace(setup, state=setup.run().state, integrator=Rigid()).run()


def test_a_tree_on_the_ground_cannot_be_raised():
    model = random_tree(np.random.default_rng(1), 3, floating=False, contacts=6)
    assert forward_kinematics(model, model.neutral()).contact[:, 2].min() < 0.0
    with pytest.raises(InputError, match="below the floor"):
        simulate(model, integrator=Rigid(), duration=0.01)


@pytest.mark.slow
def test_random_trees_thrown_on_the_floor_end_where_they_are_or_say_why():
    failed = 0
    for seed in range(60):
        rng = np.random.default_rng(seed)
        model = random_tree(rng, int(rng.integers(2, 10)), contacts=6)
        state = State.at(model, None, rng.normal(size=model.nv))
        state.q[2] += 1.0
        try:
            run = simulate(
                model, state=state, floor=icy(float(rng.choice([0.0, 0.3, 1.0]))), integrator=Rigid(), step=1e-3,
                duration=0.8, record_every=1e-3,
            )  # fmt: skip
        except IntegrationError:
            failed += 1
            continue
        assert np.isfinite(run.frame.to_numpy(dtype=float)).all()
        assert run.frame["deepest_point"].max() < 1e-9
    assert failed <= 2

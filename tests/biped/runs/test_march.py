"""Motions of the four formulations: off-constraint starts and unsuitable steps are refused, and motions are runs."""

import csv
import json
from dataclasses import replace

import numpy as np
import pytest
import sympy

from biped import InputError, IntegrationError, Run, Scene, State
from biped.dynamics.numerics import project
from biped.runs.trust import FAILED, OK
from biped.runs.world import WORLD
from experiments.cli.main import main
from experiments.visualization import load_run, shapes_of, trajectory_of
from formulations.assembly import Assembly, AssemblyError
from formulations.assembly.examples import arch, pendulum, thin_rod, three_link_loop
from formulations.lagrangian import System, rate
from formulations.mechanism import Coincident, Mechanism, MechanismError, PointAlong, Torque, integrate, ry, tx, tz

from ..integrators import loops

x, z = sympy.symbols("x z", real=True)
#: A pendulum of 2 kg and 1.5 m, starting horizontally.
CIRCLE = System((x, z), (2, 2), 2 * 9.81 * z, constraints=[x**2 + z**2 - sympy.Rational(9, 4)])
#: The same pendulum without gravity.
FREE = System((x, z), (2, 2), constraints=CIRCLE.constraints, conserved={"turning": x * rate(z) - z * rate(x)})
SIDE, STILL = [1.5, 0.0], [0.0, 0.0]
CRANK = tz(-0.5, mass=1.0), tz(-1.0, ry("b", tz(-1.0, mass=1.0), tz(-2.0, name="end")))
FOUR_BAR = Mechanism(
    "four-bar", [ry("a", *CRANK), tx(2.0, ry("c", tz(-0.75, mass=1.0), tz(-1.5, name="top")))],
    constraints=[Coincident("end", "top", "xz")],
)  # fmt: skip
TWICE = replace(FOUR_BAR, constraints=(*FOUR_BAR.constraints, PointAlong("end", "top", (1, 0, 1), "again")))
FLAT = Mechanism("flat", FOUR_BAR.frames, constraints=[Coincident("end", "top")])
NEAR = {"a": -0.9, "b": -0.8, "c": 0.3}


def lagrangian(q0=SIDE, v0=STILL, step=0.01, duration=0.1, **options):
    return CIRCLE.integrate("rattle", q0, v0, step=step, duration=duration, **options)


def mechanism(what=FOUR_BAR, duration=0.1, step=0.01, **options):
    return what.simulate(duration, step, **{"q": FOUR_BAR.satisfy_constraints(NEAR)} | options)


def linkage(turned, factor=(1.0, 1.0, 1.0)):
    model = loops.four_bar()
    q, v = loops.four_bar_start(model)
    start = State.at(model, model.neutral() if turned else q, v * factor)
    return Scene(model, state=start, integrator="recursive", duration=0.01, step=0.01).prepare()


def corner(method="rattle"):
    return System((x, z), (1, 1), constraints=[x**2]).integrate(method, STILL, [0.0, 1.0], step=0.1, duration=1.0)


@pytest.mark.parametrize(
    ("begin", "error", "told"),
    [
        (lambda: lagrangian([1.5, 1e-3]), InputError, "q0 is off the constraints: constraint 1 is 1e-06 there"),
        (lambda: lagrangian(v0=[1e-6, 1.0]), InputError, "v0 leaves the constraints: constraint 1 changes at 3e-06"),
        (lambda: lagrangian([np.nan, 0.0]), InputError, "q0 = .* must be finite"),
        (corner, InputError, "depend on each other at q0, where the Jacobian of the constraints is singular"),
        (lambda: mechanism(q={"a": 0.3}), MechanismError, "the start is off the constraints: 'end_top_.*satisfy"),
        (lambda: mechanism(v={"a": 1.0}), MechanismError, "rates at the start leave the constraints: 'end_top_.*/s"),
        (lambda: mechanism(TWICE), MechanismError, "depend on each other at the start.*: remove one of .*'again'"),
        (lambda: mechanism(FLAT), MechanismError, "'end_top_y', or free the coordinates"),
        (lambda: integrate(TWICE, 0.1, q=FOUR_BAR.satisfy_constraints(NEAR)), MechanismError, "depend on each other"),
        (lambda: three_link_loop()[0].simulate(0.1, 0.01), AssemblyError, r"joint '\w+' is open by 1 at the start"),
        (lambda: pendulum(1).simulate(0.1, 0.01, pendulum(1).place().moving(np.ones(6))), AssemblyError,
         "the velocities at the start open joint 'joint_1', at"),
        (lambda: linkage(True, 0.0), InputError, r"are open at the start: closing joint 'd' by 0\.\d+ m .*assembled"),
        (lambda: linkage(False, (1.0, 1.0, 0.0)), InputError,
         r"open at the start: closing joint 'd' at 0\.\d+ m/s .*biped.closed_velocity"),
    ],
)  # fmt: skip
def test_a_start_off_the_constraints_is_refused_with_the_worst_of_them(begin, error, told):
    with pytest.raises(error, match=told):
        begin()


@pytest.mark.parametrize(("change", "told"), [
    ({"step": 0.0}, "step = 0.0"),
    ({"step": np.nan}, "step = nan"),
    ({"duration": -1.0}, "duration = -1.0"),
    ({"duration": 0.015}, "duration = 0.015 s: it must be a whole number of steps of 0.01 s"),
    ({"every": 0}, "= 0: it must be one or more"),
    ({"every": np.nan}, "= nan"),
    ({"every": 3}, "= 3: it must divide the number of steps, 10"),
])  # fmt: skip
@pytest.mark.parametrize("world", ["mechanism", "assembly", "Lagrangian"])
def test_steps_that_do_not_fit_are_refused(world, change, told):
    how = {"duration": 0.1, "step": 0.01, "every": 1} | change
    every = how.pop("every")
    march = {
        "mechanism": lambda: mechanism(**how, record_every=every),
        "assembly": lambda: pendulum(1).simulate(**how, record_every=every),
        "Lagrangian": lambda: lagrangian(**how, every=every),
    }
    with pytest.raises(InputError, match=told):
        march[world]()


def test_projections_stop_at_a_cap_and_where_nothing_moves():
    unit = lambda place: (np.array([place @ place - 1.0]), 2.0 * place[None])  # noqa: E731
    least = lambda _, rows, change: np.linalg.lstsq(rows, change, rcond=None)[0]  # noqa: E731
    near = lambda _, values: abs(values[0]) < 1e-12  # noqa: E731
    ways = []

    def displace(place, change):
        ways.append(np.abs(change).max())
        return place + change

    found, is_closed = project(np.array([30.0, 40.0]), unit, least, displace, near, longest=2.0, rounds=60)
    assert is_closed
    np.testing.assert_allclose(found, [0.6, 0.8], rtol=0, atol=1e-12)
    assert max(ways) == pytest.approx(2.0)
    assert not project(np.zeros(2), unit, least, displace, near, longest=2.0, rounds=60)[1]
    assert not project(np.array([np.nan, 0.0]), unit, least, displace, near, longest=2.0, rounds=60)[1]


@pytest.fixture(scope="module")
def motions():
    loop, start = three_link_loop()
    stones, standing = arch(3, 0.3)
    return {
        "mechanism": mechanism(duration=0.5),
        "assembly": loop.simulate(0.5, 0.01, start),
        "arch": stones.simulate(0.02, 0.01, standing),
        "Lagrangian": lagrangian(duration=0.5),
    }


@pytest.mark.parametrize("world", ["mechanism", "assembly", "arch", "Lagrangian"])
def test_the_motion_of_every_world_is_a_run(world, motions, tmp_path):
    motion = motions[world]
    assert isinstance(motion, Run)
    assert motion.summary["verdict"] == "completed"
    assert motion.summary["newton_max"] >= 1
    assert {check.passed for check in motion.trust} == {OK}
    assert {check.name for check in motion.trust} >= {"energy residual"}
    assert "completed" in repr(motion)
    again = Run.load(motion.save(tmp_path))
    assert again.frame.equals(motion.run.frame)
    assert again.units == motion.run.units
    assert again.trust == motion.trust
    assert again.plot("ledger" if world == "mechanism" else "overview").axes
    assert motion.report(tmp_path / "report.html").stat().st_size > 10_000
    main(["export", str(tmp_path), "--csv"])
    with open(tmp_path / "run.csv", encoding="utf-8") as file:
        rows = list(csv.reader(file))
    assert rows[0][0] == "time [s]"
    assert len(rows) == 1 + len(motion.frame)
    assert load_run(tmp_path).name == motion.run.name


def test_bodies_are_seen_where_they_are(motions, tmp_path):
    for world in ("assembly", "arch"):
        motion = motions[world]
        seen = trajectory_of(Run.load(motion.save(tmp_path / world)))
        for i, body in enumerate(motion.assembly.bodies):
            np.testing.assert_array_equal(seen.rows.position[:, i], motion.position(body.name))
            np.testing.assert_array_equal(seen.rows.quaternion[:, i], motion.orientation(body.name))
        assert {shape.body for shape in shapes_of(seen.model)} == set(range(len(motion.assembly.bodies)))
    stone = next(shape for shape in shapes_of(seen.model) if shape.body == 0).mesh
    hull = motion.assembly.bodies[0].shape.array
    np.testing.assert_allclose(stone.bounds, [hull.min(axis=0), hull.max(axis=0)], atol=1e-12)
    assert seen.scenery.floor
    weight = 9.81 * sum(body.mass for body in motion.assembly.bodies)
    assert seen.rows.contact_force[-1].sum(axis=0)[2] == pytest.approx(weight, rel=0.05)
    moved = motion.placement()
    np.testing.assert_array_equal(moved.position[0], motion.position("stone_1")[-1])


def test_what_has_no_bodies_or_no_tree_says_so(motions, tmp_path):
    with pytest.raises(InputError, match="is a Lagrangian system: it has coordinates, but no bodies to show in space"):
        trajectory_of(motions["Lagrangian"])
    with pytest.raises(InputError, match="'three_link_loop' is an assembly: only runs of a Model"):
        _ = motions["assembly"].state
    motions["assembly"].save(tmp_path)
    assert main(["export", str(tmp_path), "--sto"]) == 2
    motions["mechanism"].save(tmp_path)  # nothing of the other world stays
    assert not (tmp_path / WORLD).exists()
    assert Run.load(tmp_path).state.model.name == "four-bar"
    (tmp_path / WORLD).write_text(json.dumps({"kind": "a mechanism"}), encoding="utf-8")
    with pytest.raises(InputError, match="damaged, or not written by Run.save"):
        Run.load(tmp_path)


def test_free_bodies_keep_their_momentum_and_a_drift_is_told():
    free = Assembly("free", (thin_rod("rod", 1.0, 2.0),))
    start = free.place().moving([0.3, 0.0, 1.0, 2.0, 0.0, 0.5])
    checks = {check.name: check for check in free.simulate(0.5, 0.01, start).trust}
    assert checks["linear momentum"].passed == checks["angular momentum"].passed == OK
    assert checks["linear momentum"].value < 1e-10
    turning = FREE.integrate("rattle", SIDE, [0.0, 1.0], step=0.01, duration=1.0).trust
    assert [(check.name, check.passed) for check in turning] == [("energy residual", OK), ("turning", OK)]
    drifting = integrate(FOUR_BAR, 100.0, 0.1, q=FOUR_BAR.satisfy_constraints(NEAR))
    constraint = next(check for check in drifting.trust if check.name == "constraint residual")
    assert constraint.value == drifting.constraint_errors.max() > 1e-6
    if constraint.passed == FAILED:
        assert drifting.run.summary["verdict"] == "unreliable"


def test_a_motion_that_fails_has_what_was_before(tmp_path):
    fast = Mechanism("fast", [ry("a", tz(-1.0, mass=1.0))], forces=[Torque("a", lambda t: np.where(t < 0.3, 0.0, 1e9))])
    for march in (
        lambda: fast.simulate(1.0, 0.01),
        lambda: CIRCLE.integrate("rattle", SIDE, [0.0, 3.0], step=1.0, duration=20.0),
    ):
        with pytest.raises(IntegrationError, match="at t = ") as caught:
            march()
        run = caught.value.run
        assert len(run.frame)
        assert run.summary["verdict"] == "failed"
        assert str(caught.value) == run.summary["reason"]
        assert not run.frame.iloc[:, :2].isna().any(axis=None)
        assert Run.load(run.save(tmp_path)).summary["verdict"] == "failed"

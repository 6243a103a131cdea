"""Massless variables held by constraints: a massless rod is a wire."""

import re

import numpy as np
import pytest
from numpy.testing import assert_allclose

from biped import IntegrationError, Run
from formulations import mechanism as mech
from formulations.mechanism import Distance, Mechanism, MechanismError, PointAlong, kinematic, rx, ry, rz, tx, ty, tz
from tests.differences import jacobian

from .random_frames import tangent_rates
from .twin import twin_of

ROD = 1.1


def bars(constraints: list[mech.Constraint], *coupler: mech.Frame) -> mech.Mechanism:
    crank = ry("crank", tz(-0.6, *coupler, name="A", mass=1.0))
    rocker = tx(1.2, ry("rocker", tz(-1.0, name="B", mass=(0.5, 0.01, 0.02, 0.01))))
    springs = [mech.LinearSpring("A", "B", 3.0, 0.4), mech.LinearSpring("B", "world", 2.0)]
    return mech.Mechanism("bars", [crank, rocker], potentials=springs, constraints=constraints)


@pytest.fixture(scope="module")
def wired():
    return bars([mech.Distance("A", "B", ROD)])


@pytest.fixture(scope="module")
def coupled():
    return bars([mech.Coincident("tip", "B", "xz")], ry("coupler", tx(ROD, name="tip")))


@pytest.fixture(scope="module")
def start(coupled):
    q = coupled.satisfy_constraints({"crank": 0.8, "coupler": -0.5})
    return q, tangent_rates(coupled, q, np.array([5.0, 0.1, 2.0]))


def without_coupler(values: np.ndarray) -> np.ndarray:
    return values[..., [0, 2]]


@pytest.mark.parametrize("alpha", [0.5, 0.25])
def test_a_rod_without_mass_is_a_wire(wired, coupled, start, alpha):
    """The two discrete systems are the same: so are their motions, to rounding, and the forces along the rod."""
    q, v = start
    rod = coupled.simulate(3.0, 0.01, q=q, v=v, alpha=alpha, tolerance=1e-13)
    wire = wired.simulate(3.0, 0.01, q=without_coupler(q), v=without_coupler(v), alpha=alpha, tolerance=1e-13)
    assert np.ptp(wire.q, axis=0).min() > 0.5
    assert_allclose(without_coupler(rod.q), wire.q, atol=1e-10)
    assert_allclose(rod.frame["energy"], wire.frame["energy"], atol=1e-10)
    forces = rod.frame.filter(like="multiplier_").to_numpy()
    tension = wire.frame["multiplier_A_B"].to_numpy()
    assert_allclose(np.hypot(*forces.T), np.abs(tension), atol=1e-7)
    assert np.abs(rod.frame["momentum_coupler"]).max() < 1e-12


def test_its_steps_and_accelerations_are_the_papers(coupled, start):
    q, v = start
    twin = twin_of(coupled)
    state = twin.step(twin.start(q, v), 0.01, 1e-12)
    motion = coupled.simulate(0.01, 0.01, q=q, v=v, tolerance=1e-13)
    assert_allclose(motion.q[1], state.q, atol=1e-11)
    assert_allclose(motion.momentum[1], state.p, atol=1e-10)
    assert_allclose(mech.accelerations(coupled, q, v).coordinates, twin.accelerations(q, v)[0], atol=1e-9)
    exact = mech.integrate(coupled, 0.5, 0.001, q=q, v=v).q[-1]
    assert_allclose(coupled.simulate(0.5, 0.001, q=q, v=v).q[-1], exact, atol=1e-5)


def test_its_step_has_derivatives_though_det_M_is_zero(coupled, start):
    q, v = start
    system, nothing = (
        mech.DiscreteMechanism(coupled, 0.01, tolerance=1e-14),
        np.zeros(0),
    )  # its rest is no smooth function
    x = np.concatenate([q, coupled.momentum(q, v)])
    found = system.linearize(x, nothing)
    assert jacobian(lambda x: system.advance(x, nothing), x, 1e-4).departure(found.A, 1e-7) <= 1.0
    assert (found.determinant, found.constraint_determinant) == (0.0, np.inf)


def test_its_model_stands_and_its_motion_is_a_run(coupled, start):
    assert coupled.loose.keys() == {"coupler"}
    model = coupled.model
    assert [body.joint.armature > 0.0 for body in model.bodies] == [False, True, False]
    assert any("move no mass" in note for note in model.notes)
    run = coupled.simulate(0.1, 0.01, q=start[0]).run
    assert isinstance(run, Run)
    assert np.abs(run.frame["ledger_residual"]).max() < 1e-3


def test_what_nothing_holds_is_told():
    loose = ry("loose", tx(1.0, name="end"))
    held = mech.PointAlong("A", "world", (0, 0, 1), offset=-0.5)
    mechanism = mech.Mechanism("m", [tx("x", ry("a", tz(-0.6, loose, name="A", mass=1.0)))], constraints=[held])
    with pytest.raises(mech.MechanismError, match="'loose' moves no mass, and no constraint holds it there"):
        mechanism.simulate(1.0, 0.01, q=mechanism.satisfy_constraints({"a": 0.5}))


def test_mechanisms_without_constraints_have_none():
    assert not mech.Mechanism("m", [ry("a", tz(-1.0, ry("b"), mass=1.0))]).loose


def spherical(mass: float = 1.0) -> Mechanism:
    """Section VII-A: the angle about the vertical moves nothing where the pendulum hangs."""
    return Mechanism("spherical", [rz("phi", ry("theta", tz(-1.0, mass=mass)))])


@pytest.mark.parametrize("mass", [1.0, 1e-6])
def test_a_motion_through_the_pole_of_a_chart_says_that_M_is_singular_and_at_which_variable(mass: float) -> None:
    with pytest.raises(IntegrationError, match=r"M is nearly \(.*\) singular there \(det M = 0\): 'phi'") as caught:
        spherical(mass).simulate(5.0, 0.01, q={"theta": 0.5}, v={"phi": 1e-3}, tolerance=1e-10 * mass)
    angles = caught.value.run.q[:, 1]
    assert np.abs(angles[-1]) < 0.05 < np.abs(angles).max()


def test_far_from_the_origin_it_is_told_alike_and_nothing_is_told_that_is_not_so() -> None:
    far = Mechanism("far", [tx(300.0, rz("phi", ry("theta", tz(-1.0, mass=1.0))))])
    with pytest.raises(IntegrationError, match="'phi'"):
        far.simulate(5.0, 0.01, q={"theta": 0.5}, v={"phi": 1e-3})
    swing = Mechanism("swing", [tx(300.0, ry("theta", tz(-1.0, mass=1.0)))])
    with pytest.raises(IntegrationError) as caught:
        swing.simulate(5.0, 5.0, q={"theta": 0.5}, v={"theta": 40.0})
    assert "singular" not in str(caught.value)


def test_axes_in_one_line_are_told() -> None:
    gimbal = Mechanism("gimbal", [rx("a", ry("b", rx("c", mass=(1.0, 1.0, 2.0, 3.0))))], gravity=None)
    with pytest.raises(IntegrationError, match=r"M is singular there \(det M = 0\): 'a'"):
        gimbal.simulate(5.0, 0.01, q={"b": 0.5}, v={"b": -1.0})
    with pytest.raises(MechanismError, match=r"M is singular there \(det M = 0\): 'a'"):
        gimbal.simulate(5.0, 0.01)


def test_constraints_that_become_dependent_on_the_way_are_told() -> None:
    bead = tx("x", ty("y", name="bead", mass=1.0))
    lift = ty(kinematic("lift"), name="height")
    held = [Distance("bead", "world", 1.0, name="hoop"), PointAlong("bead", "height", (0, 1, 0), name="lifted")]
    mechanism = Mechanism("bead", [bead, lift], None, constraints=held)
    with pytest.raises(IntegrationError, match=r"\[Dh M⁻¹ Dhᵀ\] is .*singular there") as caught:
        mechanism.simulate(2.0, 0.01, q={"x": 1.0}, v={"y": 1.0}, kinematic={"lift": lambda t: t})
    assert re.search("'hoop'|'lifted'", str(caught.value))
    assert 0.9 < len(caught.value.run.frame) * 0.01 < 1.1

"""The law of Hunt and Crossley against its closed forms, in kernels, in trials and in every integrator."""

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.integrate import quad
from scipy.optimize import brentq

from biped import Push, Scene, Session, human, standing
from biped.derivatives.gradients import gradient
from biped.derivatives.linearization import linearize
from biped.integrators import INTEGRATORS
from biped.model import rigid_box
from biped.runs.state import State
from biped.simulation.simulate import simulate
from contact import HuntCrossley
from contact.modes import SLIDING, STICKING
from contact.point_law import normal_force, pressure, pressure_energy, stored_energy
from contact.regimes import derivative_in, force_in, regime_of
from controllers import WorkspaceController
from tests.differences import derivative, jacobian

LAW = HuntCrossley(k_n=1.7e6, exponent=1.4, dissipation=3.0, mu_s=0.5, mu_d=0.4)
MASS, SIZE = 10.0, (0.4, 0.6, 0.1)
COMPLIANT = [name for name, one in INTEGRATORS.items() if one.takes_contact and name != "rigid"]

depths = st.floats(1e-5, 1e-2)
speeds = st.floats(-2.0, 2.0)


@given(depths, speeds)
def test_the_force_is_the_formula_and_never_pulls(depth, sinking):
    expected = LAW.k_n * depth**LAW.exponent * (1.0 + LAW.dissipation * sinking)
    assert normal_force(LAW.parameters, -depth, -sinking) == pytest.approx(max(expected, 0.0), rel=1e-12)
    assert normal_force(LAW.parameters, depth, -sinking) == 0.0
    assert pressure(LAW.normal, depth, -sinking) < 0.0


@given(depths)
def test_the_energy_is_the_work_of_the_spring(depth):
    work, _ = quad(lambda at: pressure(LAW.normal, -at, 0.0), 0.0, depth, epsabs=0.0, epsrel=1e-11)
    assert pressure_energy(LAW.normal, -depth) == pytest.approx(work, rel=1e-9)
    assert stored_energy(LAW.parameters, SLIDING, (0.0, 0.0, -depth), (0.0, 0.0)) == pytest.approx(work, rel=1e-9)


@given(st.floats(1e-3, 1e4))
def test_the_static_depth_and_the_slopes_there(load):
    depth = (load / LAW.k_n) ** (1.0 / LAW.exponent)
    assert LAW.sink(load) == pytest.approx(depth, rel=1e-11)
    assert LAW.sink(3.0 * load, 3) == pytest.approx(depth, rel=1e-11)
    stiffness, damping = LAW.slopes_at(depth)
    assert stiffness == pytest.approx(LAW.exponent * load / depth, rel=1e-11)
    assert damping == pytest.approx(LAW.dissipation * load, rel=1e-11)


def test_points_at_several_heights_share_a_load():
    heights = np.array([3e-4, -1e-3, 0.0, 0.5])
    lowered = LAW.lowered(200.0, heights)
    assert sum(max(LAW.k_n * max(lowered - at, 0.0) ** LAW.exponent, 0.0) for at in heights) == pytest.approx(200.0)


@pytest.mark.parametrize("seed", range(20))
def test_the_derivative_in_every_regime(seed):
    """Differentiate the force by the end and by the start of the chord, and compare with differences."""
    rng, h, floor = np.random.default_rng(seed), 1e-3, LAW.parameters
    mode = (SLIDING, STICKING)[seed % 2]
    p, v = np.array([*rng.normal(size=2) * 1e-4, -(10.0 ** rng.uniform(-3.5, -2.5))]), rng.normal(size=3) * 0.1
    anchor = tuple(p[:2] + rng.normal(size=2) * 10.0 ** rng.uniform(-5, -3))
    regime = regime_of(floor, mode, tuple(p), tuple(v), anchor)
    for sign in (1.0, -1.0):

        def force(way, sign=sign):
            return force_in(floor, regime, tuple(p + 0.5 * way), tuple(v + sign * way / h), anchor)

        found = np.reshape(derivative_in(floor, regime, tuple(p), tuple(v), anchor, sign * h), (3, 3))
        assert jacobian(force, np.zeros(3), 1e-8, 1e-7, 1e-6).departure(found, 1e-6, alike=True) <= 1.0


def rebound(speed, dissipation):
    """[m/s] at which what lands leaves: v/c − ln(1 + cv)/c² is the same for v = speed and v = −rebound."""

    def left(v):
        return v / dissipation - math.log1p(dissipation * v) / dissipation**2

    return brentq(lambda v: left(-v) - left(speed), 0.0, min(speed, (1.0 - 1e-12) / dissipation))


def bounced(integrator, speed, floor):
    """The run of a box that lands flat on its lower face, without gravity, and leaves again."""
    model = rigid_box(MASS, SIZE).with_gravity((0.0, 0.0, 0.0))
    start = model.configuration(position=(0.0, 0.0, SIZE[2] / 2.0 + 1e-6))
    state = State.at(model, start, [0.0, 0.0, -speed, 0.0, 0.0, 0.0])
    return simulate(model, state=state, floor=floor, step=5e-5, duration=0.06, integrator=integrator)


@pytest.mark.parametrize(
    "integrator",
    [pytest.param(name, marks=[] if name in ("recursive", "rk4") else pytest.mark.slow) for name in COMPLIANT],
)
def test_restitution_and_energy_of_a_bounce(integrator):
    """The rebound is that of the closed form, whatever mass and stiffness are: for small speeds 1 − 2/3 c v."""
    speed, floor = 0.1, HuntCrossley(dissipation=1.0, k_t=0.0, b_t=0.0)
    expected = rebound(speed, floor.dissipation)
    assert expected / speed == pytest.approx(1.0 - 2.0 / 3.0 * speed, abs=speed**2 / 2.0)
    run = bounced(integrator, speed, floor)
    left = float(run.state.momentum[2]) / MASS
    assert left == pytest.approx(expected, rel=1e-3 if integrator != "explicit-euler" else 2e-2)
    lost = 0.5 * MASS * (speed**2 - left**2)
    residual = float(run.frame["ledger_residual"].iloc[-1])
    assert float(run.frame["ledger_dissipated"].iloc[-1]) - residual == pytest.approx(lost, rel=1e-9, abs=1e-12)


def test_a_box_sinks_by_its_weight():
    model, floor = rigid_box(MASS, SIZE), HuntCrossley()
    state = State.at(model, model.configuration(position=(0.0, 0.0, SIZE[2] / 2.0 - 1e-4)))
    rest = simulate(model, state=state, floor=floor, step=1e-3, duration=2.0).state
    depth = (MASS * 9.81 / 4.0 / floor.k_n) ** (1.0 / floor.exponent)
    assert SIZE[2] / 2.0 - rest.q[2] == pytest.approx(depth, rel=1e-5)


@pytest.mark.slow
def test_trials_have_derivatives():
    """A linearized step against a step, and gradients of a trial by the law's numbers against differences of trials."""
    model, floor = human(), HuntCrossley(dissipation=20.0)
    session = Session(Scene(model, WorkspaceController(), floor=floor, state=standing(model, floor), step=1e-3))
    session.advance(400)
    scene = replace(session.scene, state=session.state)
    found = linearize(scene, session.state, span="step")
    assert np.isfinite(found.A).all()
    push = Push("trunk", (-1.0, -0.4, 0.0), impulse=2.0, start=session.time, duration=0.05)
    scene = replace(scene, duration=0.1, disturbances=(push,))
    exact = gradient(scene, "rms_torque", ("floor.k_n", "floor.dissipation", "floor.exponent"))
    for name in ("k_n", "dissipation", "exponent"):
        value = getattr(floor, name)

        def metric(part, name=name, value=value):
            changed = floor.with_(**{name: value * (1.0 + part)})
            return replace(scene, floor=changed).run().metrics["rms_torque"]

        slope = derivative(metric, 1e-3, 1e-2)
        assert slope.departure(exact[f"floor.{name}"] * value, 1e-3) <= 1.0, name

"""Conservation by the methods: constraints, momenta, energy, symplectic form, time reversal."""

import numpy as np
import pytest
import sympy

from formulations.lagrangian import System, double_spherical_pendulum, rigid_body

from ...rounding import summed, walked
from .conftest import BODY_START, DSP, QUATERNION, crystal, dsp_start, kepler, pendulum, quartic
from .test_methods import dsp_start_in

CONSTRAINED = ("midpoint-dvp", "first-order-dvp", "shake", "rattle", "energy-momentum")
#: A body of 13.4 N m s and 33 J for 30,000 steps of ten sums each.
TURNING = {f"angular_momentum_{x}": walked(30_000 * 10, 13.4) for x in "xyz"}


def spread(values):
    return float(np.ptp(np.asarray(values), axis=0).max())


@pytest.mark.parametrize("name", CONSTRAINED)
@pytest.mark.parametrize("h", [0.1, 0.01, 0.001])
def test_constraints_hold_at_every_step(dsp, name, h):
    q = dsp.integrate(name, *dsp_start(), step=h, duration=10.0).frame[DSP].to_numpy()
    left = 2.0 * 1e-14 * np.abs(q).max()  # what a step is solved to, relative to slope and place; and rounding
    assert np.abs((q[:, :3] ** 2).sum(axis=1) - 16.0).max() < left * 2.0 * 4.0
    assert np.abs(((q[:, 3:] - q[:, :3]) ** 2).sum(axis=1) - 9.0).max() < left * 2.0 * 3.0


@pytest.mark.parametrize("name", CONSTRAINED)
@pytest.mark.parametrize("down", [(0.0, 0.0, 1.0), (0.6, 0.0, 0.8), (2.0 / 3.0, -1.0 / 3.0, 2.0 / 3.0)])
def test_what_hangs_stays_where_it_hangs(name, down):
    """Where forces cancel, all that is left of the momenta is rounding of weights: no step may fail for it."""
    steps, h, unit = 100, 0.01, np.array(down)
    hung, weight = np.concatenate([-4.0 * unit, -7.0 * unit]), sympy.symbols("gx gy gz", real=True)
    upper, lower = (sympy.Matrix(sympy.symbols(f"x{i} y{i} z{i}", real=True)) for i in (1, 2))
    system = System(
        coordinates=(*upper, *lower), mass=(2, 2, 2, 7, 7, 7), potential=(2 * upper + 7 * lower).dot(weight),
        constraints=[upper.dot(upper) - 16, (lower - upper).dot(lower - upper) - 9],
        parameters=dict(zip(weight, 9.81 * unit, strict=True)),
    )  # fmt: skip
    run = system.integrate(name, hung, np.zeros(6), step=h, duration=steps * h)
    assert run.metrics["residual"] < 1e-14
    # a sideways rounding of the weight in each step, as it would add up without the rods' restoring it
    drift = np.finfo(float).eps * (7.0 + 9.81 * (steps * h) ** 2)
    assert np.abs(run.frame[DSP].to_numpy() - hung).max() < steps * drift


@pytest.mark.parametrize("name", ["midpoint-dvp", "rigid-energy-momentum"])
def test_quaternions_stay_unit(body, name):
    q = body.integrate(name, *BODY_START, step=0.01, duration=100.0).frame[QUATERNION].to_numpy()
    assert np.abs((q**2).sum(axis=1) - 1.0).max() < 1e-12


SYSTEMS = {
    "pendulum": double_spherical_pendulum, "body": lambda: rigid_body((1.0, 2.0, 3.0)),
    "planet": kepler, "crystal": crystal, "springs": quartic,
}  # fmt: skip
STARTS = {
    "body": BODY_START, "planet": ([1.0, 0.0], [0.1, 0.8]), "crystal": ([0.5, 0.3], [0.1, -0.4]),
    "springs": ([0.0, 1.0, 3.0], [1.0, 0.0, -1.0]),
}  # fmt: skip


@pytest.mark.parametrize(
    ("system", "name", "duration", "bounds"),
    [
        *(("pendulum", name, 30.0, {"angular_momentum_z": 2e-10}) for name in CONSTRAINED[:-1]),
        ("pendulum", "energy-momentum", 30.0, {"angular_momentum_z": 2e-10, "energy": 1e-10}),  # 500 J are exchanged
        pytest.param("pendulum", "generalized-dvp", 5.0, {"angular_momentum_z": 1e-9}, marks=pytest.mark.slow),
        *(("body", name, 30.0, TURNING) for name in ("midpoint-dvp", "first-order-dvp")),
        ("body", "rigid-energy-momentum", 30.0, TURNING | {"energy": walked(30_000 * 10, 33.0)}),
        *(
            pytest.param(name, "energy-momentum", 20.0, bounds, marks=pytest.mark.slow)
            for name, bounds in (
                ("planet", {"energy": 1e-11, "angular_momentum": 1e-11}),
                ("crystal", {"energy": 1e-11}),
                ("springs", {"energy": 1e-10, "momentum": 1e-11}),
            )
        ),
    ],
)
def test_energies_and_momenta_are_conserved(system, name, duration, bounds):
    for h in (0.01,) if name == "generalized-dvp" else (0.2 if name == "rigid-energy-momentum" else 0.1, 0.001):
        start = dsp_start_in(name) if system == "pendulum" else STARTS[system]
        frame = SYSTEMS[system]().integrate(name, *start, step=h, duration=duration).frame
        for column, bound in bounds.items():
            assert spread(frame[column]) < bound


@pytest.mark.parametrize("h", [0.1, 0.01, 0.001])
@pytest.mark.parametrize("centre", [pytest.param(0.0, marks=pytest.mark.slow), 1e3, 1e5, 1e7])
def test_energy_is_conserved_far_from_the_origin(h, centre):
    """To what a place is rounded by, twice a step, times a force of 1.2; the midpoint rule's changes by 0.02 h²."""
    x, c = sympy.symbols("x c", real=True)
    system = System(coordinates=(x,), mass=(1,), potential=sympy.cosh(x - c), parameters={c: centre})
    energy = system.integrate("energy-momentum", [centre], [1.0], step=h, duration=20.0).frame["energy"]
    assert spread(energy) < walked(2.0 * 20.0 / h, 1.2 * (1.0 + centre))


def test_small_motions_far_from_the_origin_conserve_energy():
    """Where the correction is below all rounding: of the energy, and of places by forces no greater than the speed."""
    x, c = sympy.symbols("x c", real=True)
    system = System(coordinates=(x,), mass=(1,), potential=1 - sympy.cos(x - c), parameters={c: 50.0})
    for speed in (1e-2, 1e-4, 1e-6):
        energy = system.integrate("energy-momentum", [50.0], [speed], step=0.1, duration=20.0).frame["energy"]
        assert spread(energy) < 2.0 * summed(4.0, 1.0) + walked(2.0 * 20.0 / 0.1, 50.0 * speed)


def test_the_energy_of_a_symplectic_method_oscillates_about_a_constant(dsp):
    """The energy does not drift (section 2.3): the second half has the same mean."""
    energy = dsp.integrate("midpoint-dvp", *dsp_start(), step=0.01, duration=200.0).frame["energy"].to_numpy()
    halves = np.array_split(energy, 2)
    assert spread(energy) > 1e-3
    assert abs(halves[0].mean() - halves[1].mean()) < 0.02 * spread(energy)


def off_its_start(system, name, columns, q0, v0):
    there = system.integrate(name, q0, v0, step=0.02, duration=1.0).frame.iloc[-1]
    v = -there[[f"v_{x}" for x in columns]].to_numpy()
    back = system.integrate(name, there[columns].to_numpy(), v, step=0.02, duration=1.0).frame.iloc[-1]
    return np.linalg.norm(back[columns] - q0)


def test_motions_run_backwards_but_for_the_first_order_variant(dsp, body):
    for name in ("midpoint-dvp", "shake", "rattle", "energy-momentum"):
        assert off_its_start(dsp, name, DSP, *dsp_start()) < 1e-10
    for name in ("midpoint-dvp", "rigid-energy-momentum"):
        assert off_its_start(body, name, QUATERNION, *BODY_START) < 1e-10
    assert off_its_start(dsp, "first-order-dvp", DSP, *dsp_start()) > 1e-3


def form_error(system, name, q0, v0, mass, h=0.2, steps=5, small=1e-5):
    """Return ‖DᵀΩD − Ω‖ of the map (q, p) → (q', p'), by central differences."""
    names = [s.name for s in (system.chart.coordinates if name == "generalized-dvp" else system.coordinates)]
    columns = [*names, *(f"p_{x}" for x in names)]
    n = len(names)

    def flow(x):
        v = np.linalg.solve(mass, x[n:])
        return system.integrate(name, x[:n], v, step=h, duration=h * steps).frame[columns].to_numpy()[-1]

    x0 = np.concatenate([q0, mass @ v0])
    D = np.array([(flow(x0 + small * e) - flow(x0 - small * e)) / (2 * small) for e in np.eye(2 * n)]).T
    omega = np.block([[np.zeros((n, n)), np.eye(n)], [-np.eye(n), np.zeros((n, n))]])
    return np.abs(D.T @ omega @ D - omega).max()


@pytest.mark.parametrize(
    ("name", "symplectic"),
    [("midpoint-dvp", True), ("first-order-dvp", True), ("shake", True), ("rattle", True), ("energy-momentum", False)],
)
def test_the_symplectic_form_is_preserved_or_not(name, symplectic):
    error = form_error(kepler(), name, [1.0, 0.0], [0.1, 0.6], 2.0 * np.eye(2))
    assert (error < 1e-8) == symplectic


def test_the_symplectic_form_is_preserved_in_generalized_coordinates():
    error = form_error(pendulum(), "generalized-dvp", [0.8], [1.5], np.array([[2.0 * 1.5**2]]))
    assert error < 1e-8


def test_the_symplectic_form_is_preserved_by_the_constrained_twin():
    system, h = pendulum(), 0.1

    def flow(x):
        angle, turning = x[0], x[1] / (2.0 * 1.5**2)
        q = 1.5 * np.array([np.sin(angle), -np.cos(angle)])
        v = 1.5 * turning * np.array([np.cos(angle), np.sin(angle)])
        end = system.integrate("midpoint-dvp", q, v, step=h, duration=10 * h).frame.iloc[-1]
        angle = np.arctan2(end["x"], -end["z"])
        return np.array([angle, 1.5 * (np.cos(angle) * end["p_x"] + np.sin(angle) * end["p_z"])])

    x0 = np.array([0.8, 4.0])
    D = np.array([(flow(x0 + 1e-5 * e) - flow(x0 - 1e-5 * e)) / 2e-5 for e in np.eye(2)]).T
    assert np.linalg.det(D) == pytest.approx(1.0, abs=1e-8)


def test_a_damper_takes_the_energy_that_it_does_work_for():
    """The energy-momentum method: Δ(energy) = h F(u)·u in every step, exactly."""
    c, h = 0.4, 0.05
    frame = pendulum(c).integrate("energy-momentum", [1.5, 0.0], [0.0, 0.0], step=h, duration=10.0).frame
    moved = np.diff(frame[["x", "z"]].to_numpy(), axis=0)
    np.testing.assert_allclose(np.diff(frame["energy"]), -c * (moved**2).sum(axis=1) / h, atol=1e-12)
    assert frame["energy"].iloc[-1] < frame["energy"].iloc[0] - 10.0


@pytest.mark.parametrize("name", ["midpoint-dvp", "shake", "rattle"])
def test_a_dampers_work_is_second_order_in_the_variational_methods(name):
    c, losses = 0.4, []
    for h in (0.02, 0.01, 0.005):
        frame = pendulum(c).integrate(name, [1.5, 0.0], [0.0, 0.0], step=h, duration=5.0).frame
        moved = np.diff(frame[["x", "z"]].to_numpy(), axis=0)
        scratch = -c * (moved**2).sum() / h
        losses.append(abs(frame["energy"].iloc[-1] - frame["energy"].iloc[0] - scratch))
    assert losses[0] / losses[1] == pytest.approx(4.0, rel=0.1)
    assert losses[1] / losses[2] == pytest.approx(4.0, rel=0.1)

"""Joints beyond hinges, slides and balls: screws, and chains of several joints."""

import math

import numpy as np
import pinocchio as pin
import pytest
from numpy.testing import assert_allclose

from biped import INTEGRATORS, InputError, Recursive, State, dynamics, simulate
from biped import model as bm
from formulations.assembly import Assembly, RigidBody, from_model, joint, placement_of
from tests.refusals import refuses

X, Y, Z = (1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0)
TILTED = (0.48, 0.6, 0.64)
ACROSS = (0.8, -0.64, 0.0)  # not at a right angle to TILTED: made so below
G = 9.81


def brick(name, on, parent=None):
    return bm.Body(name, 2.0, bm.box_inertia(2.0, (0.3, 0.2, 0.1)), (0.05, 0.02, -0.2), on, parent)


def nut(pitch, mass=3.0, size=(0.1, 0.1, 0.02)):
    return bm.Model(
        "nut", (bm.Body("nut", mass, bm.box_inertia(mass, size), (0.0, 0.0, 0.0), bm.helical("screw", Z, pitch)),)
    )


@pytest.mark.parametrize("pitch", [0.05, -0.02])
def test_a_nut_runs_down_its_screw(pitch):
    """(I + m p²) θ̈ = −m g p, up to the sines of half the steps' turns."""
    model = nut(pitch)
    inertia, mass = model.bodies[0].inertia[2][2], model.bodies[0].mass
    angle = -0.5 * mass * G * pitch / (inertia + mass * pitch * pitch) * 0.2**2
    errors = []
    for h in (4e-3, 2e-3, 1e-3):
        run = simulate(model, duration=0.2, step=h)
        errors.append(abs(run.state.q[0] / angle - 1.0))
        assert_allclose(run.frame["com_z"].iloc[-1], pitch * run.state.q[0], rtol=1e-12)
    assert_allclose(np.log2(np.divide(errors[:-1], errors[1:])), 2.0, atol=0.02)
    assert errors[-1] < 5e-5


@pytest.mark.parametrize("seed", range(3))
def test_screws_are_pinocchios(seed):
    rng = np.random.default_rng(seed)
    model = bm.random_tree(rng, 7, floating=False, kinds=("helical", "revolute", "prismatic"))
    assert len(model.tree.pitch)
    twin = bm.to_pinocchio(model)
    data = twin.createData()
    q, v = rng.normal(size=model.nq), rng.normal(size=model.nv)
    q_there = bm.configuration_to_pinocchio(model, q)
    pin.forwardKinematics(twin, data, q_there)
    places = [pose.act(offset) for pose, offset in zip(list(data.oMi)[1:], model.tree.com_offset, strict=True)]
    assert_allclose(dynamics.forward_kinematics(model, q).position, places, atol=1e-12)
    upper = np.triu(pin.crba(twin, data, q_there))
    assert_allclose(dynamics.mass_matrix(model, q), upper + np.triu(upper, 1).T, atol=1e-11)
    bias = pin.nonLinearEffects(twin, data, q_there, v)
    assert_allclose(dynamics.inverse_dynamics(model, q, v, np.zeros(model.nv)), bias, atol=1e-10)
    assert bm.from_pinocchio(twin).bodies[-1].joint.pitch == pytest.approx(model.bodies[-1].joint.pitch, abs=1e-15)


def test_a_chain_of_screws_moves_as_in_maximal_coordinates():
    """Theorem 2.1 of Wendlandt 1997: the same discrete bodies, whose joints are constraints there."""
    model = bm.Model("screws", (
        brick("a", bm.helical("one", TILTED, 0.1)),
        brick("b", bm.helical("two", X, -0.3, (0.1, 0.0, -0.4)), "a"),
        brick("c", bm.revolute("three", Y, (0.0, 0.0, -0.4)), "b"),
    ))  # fmt: skip
    q, v = np.array([0.7, -0.4, 0.2]), np.array([1.0, 2.0, -3.0])
    placement, end = swung_alike(model, from_model(model), placement_of(model, q, v), q, v)
    assert_allclose(placement.position, placement_of(model, end).position, atol=1e-9)
    assert np.abs(end - q).max() > 0.1


def square(axis, other):
    a, b = np.array(axis), np.array(other)
    across = b - (a @ b) / (a @ a) * a
    return tuple((across / np.linalg.norm(across)).tolist())


@pytest.mark.parametrize(
    ("kind", "joints", "options"),
    [
        ("universal", bm.universal("hook", TILTED, square(TILTED, ACROSS), (0.1, 0.0, -0.4)),
         {"second_axis": square(TILTED, ACROSS)}),
        ("cylindrical", bm.cylindrical("sleeve", TILTED, (0.1, 0.0, -0.4)), {}),
        ("planar_axis", bm.planar("plane", TILTED, (0.1, 0.0, -0.4)), {}),
    ],
)  # fmt: skip
def test_joints_in_a_row_are_the_joint_of_two_constraints(kind, joints, options):
    inertia = bm.box_inertia(2.0, (0.3, 0.2, 0.1))
    lower = bm.jointed("lower", joints, 2.0, inertia, (0.05, 0.02, -0.2), "upper")
    model = bm.Model("pair", (brick("upper", bm.revolute("hinge", Y)), *lower))
    bodies = (RigidBody("upper", 2.0, inertia), RigidBody("lower", 2.0, inertia))
    out = tuple(-np.array((0.05, 0.02, -0.2)))
    links = (
        joint("revolute", "hinge", None, "upper", Y, outboard_point=out),
        joint(kind, "below", "upper", "lower", TILTED, outboard_point=out,
              inboard_point=tuple(np.array((0.1, 0.0, -0.4)) + out), **options),
    )  # fmt: skip
    assembly = Assembly("pair", bodies, links)
    q, v = np.linspace(0.3, -0.2, model.nv), np.linspace(1.0, -1.5, model.nv)
    solid = [k for k, body in enumerate(model.bodies) if body.mass]
    whole = placement_of(model, q, v)
    start = type(whole)(whole.position[solid], whole.orientation[solid], whole.velocity[solid])
    placement, end = swung_alike(model, assembly, start, q, v)
    assert_allclose(placement.position, dynamics.forward_kinematics(model, end).position[solid], atol=1e-9)
    assert np.abs(placement.position - start.position).max() > 0.05


def swung_alike(model, assembly, start, q, v, steps=40, h=5e-3):
    motion = assembly.simulate(steps * h, h, start, tolerance=1e-12)
    run = simulate(
        model, state=State.at(model, q, v), integrator=Recursive(tolerance=1e-13), duration=steps * h, step=h
    )
    return motion.placement(), run.state.q


def test_energy_of_screws_does_not_drift():
    """Ten thousand steps without gravity, under which they would fall for ever: bounded error of second order."""
    model = bm.Model("screws", (brick("a", bm.helical("one", X, 0.1)), brick("b", bm.helical("two", Y, -0.2), "a")))
    model = model.with_gravity((0.0, 0.0, 0.0))
    state = State.at(model, [0.5, -0.3], [1.5, -2.0])
    swings = []
    for h in (2e-3, 1e-3):
        frame = simulate(model, state=state.copy(), duration=10.0, step=h).frame
        energy = frame["ledger_kinetic"]
        half = len(energy) // 2
        swings.append(np.abs(energy - energy[0]).max())
        assert np.abs(energy[half:] - energy[0]).max() < 1.5 * np.abs(energy[:half] - energy[0]).max()
    assert 3.5 < swings[0] / swings[1] < 4.5


@pytest.mark.parametrize("name", ["maximal", "midpoint"])
def test_integrators_that_know_no_screws_say_which_do(name):
    with pytest.raises(InputError, match=r"does not support helical joints.*recursive"):
        simulate(nut(0.05), duration=0.1, integrator=INTEGRATORS[name])


def test_urdf_has_no_word_for_screws():
    with pytest.raises(bm.ModelError, match="'screw' is helical, which URDF"):
        bm.urdf_text(nut(0.05))


@refuses(
    (lambda: bm.helical("screw", Z, 0.0), "'screw': pitch = 0.0: helical joints need a pitch"),
    (lambda: bm.helical("screw", Z, math.nan), "'screw': pitch"),
    (lambda: bm.Joint("hinge", "revolute", Z, pitch=0.1), "'hinge': pitch = 0.1: .* all others pitch = 0"),
    (lambda: bm.universal("hook", X, (1.0, 1.0, 0.0)), "'hook': second_axis .* right angle"),
    (lambda: bm.planar("plane", (0.0, 0.0, 0.0)), "'plane': normal"),
    (lambda: bm.jointed("arm", (), 1.0, np.eye(3), X), "'arm': joints is empty; give at least one joint"),
    error=bm.ModelError,
)
def test_wrong_joints(make):
    make()


def test_a_planar_joint_slides_across_its_normal():
    first, second, turn = bm.planar("plane", TILTED)
    axes = np.array([first.axis, second.axis, turn.axis])
    assert_allclose(axes @ axes.T, np.eye(3), atol=1e-12)
    assert np.linalg.det(axes) == pytest.approx(1.0)
    assert_allclose(axes[2], TILTED, atol=1e-12)


def test_bodies_between_carry_the_names_of_their_joints():
    bodies = bm.jointed(
        "thigh", (bm.prismatic("lift", Z), bm.spherical("hip")), 1.0, bm.box_inertia(1.0, (0.1, 0.1, 0.4)), X
    )
    assert [(body.name, body.parent) for body in bodies] == [("thigh_at_lift", None), ("thigh", "thigh_at_lift")]

"""Massless bodies, points and rods between joints, several trees on the ground: every joint must move inertia."""

from dataclasses import replace

import numpy as np
import pinocchio as pin
import pytest

from biped import INTEGRATORS, InputError, State, dynamics, simulate
from biped import model as bm
from biped.model.archive import model_from_json, model_to_json
from biped.model.urdf import load_urdf, urdf_text
from experiments.engines.engine_integrator import EngineIntegrator
from experiments.engines.registry import engine_named
from tests.conftest import random_configuration

NONE = np.zeros((3, 3))
X, Y, Z = np.eye(3)


def universal(cross_mass=0.0):
    ball = 0.4 * cross_mass * 1e-4 * np.eye(3)
    return bm.Model(
        "universal",
        (bm.Body("input", 2.0, bm.box_inertia(2.0, (0.1, 0.2, 0.3)), (0.0, 0.0, -0.1), bm.revolute("drive", Z)),
         bm.Body("cross", cross_mass, ball, (0, 0, 0), bm.revolute("yoke", X, (0, 0, -0.3)), "input"),
         bm.Body("shaft", 1.5, bm.box_inertia(1.5, (0.1, 0.1, 0.6)), (0.02, 0, -0.3), bm.revolute("fork", Y), "cross")),
    )  # fmt: skip


def hung():
    rod = np.diag([0.02, 0.02, 0.0])
    return bm.Model(
        "hung",
        (
            bm.Body("carriage", 0.0, NONE, (0, 0, 0), bm.prismatic("rail", X)),
            bm.Body("swing", 0.0, NONE, (0, 0, 0), bm.revolute("pitch", Y, (0.1, 0.0, 0.2)), "carriage"),
            bm.Body("bob", 0.5, 0.01 * np.eye(3), (0.2, 0.1, -0.4), bm.revolute("roll", X), "swing"),
            bm.Body("stick", 0.3, rod, (0.0, 0.0, -0.2), bm.revolute("knee", Y, (0.2, 0.1, -0.4)), "bob"),
            bm.Body("plumb", 0.2, NONE, (0.0, 0.0, -0.3), bm.revolute("thread", Y, (0.0, 0.0, -0.1)), "bob"),
            bm.Body("gimbal", 0.0, NONE, (0, 0, 0), bm.revolute("yaw", Z, (1.0, 0, 0))),
            bm.Body(
                "arm",
                1.0,
                bm.box_inertia(1.0, (0.1, 0.2, 0.3)),
                (0, 0.3, 0),
                bm.spherical("ball", (0, 0.1, 0)),
                "gimbal",
            ),
        ),
    )


@pytest.fixture(params=[universal, hung])
def model(request):
    return request.param()


def drawn(model, seed):
    rng = np.random.default_rng(seed)
    return random_configuration(model, rng), rng.standard_normal(model.nv)


@pytest.mark.parametrize("seed", range(3))
def test_dynamics_are_pinocchios(model, seed):
    q, v = drawn(model, seed)
    theirs, T = bm.to_pinocchio(model), bm.velocity_map(model, q)
    data, there = theirs.createData(), bm.configuration_to_pinocchio(model, q)
    M = pin.crba(theirs, data, there)
    M = np.triu(M) + np.triu(M, 1).T
    np.testing.assert_allclose(dynamics.mass_matrix(model, q), T.T @ M @ T, atol=1e-13)
    force = dynamics.inverse_dynamics(model, q, v, np.zeros(model.nv))
    np.testing.assert_allclose(
        dynamics.inverse_dynamics(model, q, v, dynamics.forward_dynamics(model, q, v, force)), force, atol=1e-11
    )
    kinetic = pin.computeKineticEnergy(theirs, data, there, bm.velocity_to_pinocchio(model, q, v))
    assert dynamics.energy(model, q, v).kinetic == pytest.approx(kinetic, rel=1e-13)


def end(model, q, v, integrator="recursive", step=1e-3):
    options = {"duration": 0.25, "step": step, "record_every": 0.1, "integrator": INTEGRATORS[integrator]}
    return simulate(model, state=State.at(model, q, v), **options).state.arrays.q


def test_the_cross_is_the_limit_of_small_ones():
    q, v = np.array([0.2, 0.4, -0.3]), np.array([1.0, -0.5, 2.0])
    off = [np.abs(end(universal(mass), q, v) - end(universal(), q, v)).max() for mass in (0.02, 0.002)]
    assert off[1] == pytest.approx(0.1 * off[0], rel=0.01)
    assert off[0] > 1e-6


@pytest.mark.parametrize("integrator", ["recursive", "maximal"])
def test_the_variational_integrators_step_them_in_second_order(model, integrator):
    q, v = drawn(model, 5)
    true = end(model, q, v, "rk4", 5e-4)
    coarse, fine = (np.abs(end(model, q, v, integrator, step) - true).max() for step in (2e-3, 1e-3))
    assert coarse < 1e-3
    assert coarse / fine == pytest.approx(4.0, abs=0.4)


def body(name, parent, joint, mass=0.0, inertia=NONE, com=(0, 0, 0)):
    return bm.Body(name, mass, inertia, com, joint, parent)


SOLID = bm.box_inertia(1.0, (0.1, 0.2, 0.3))
UNRESISTED = {
    "a tip": (
        [body("arm", None, bm.revolute("a", Y), 1.0, SOLID), body("tip", "arm", bm.revolute("b", X))],
        "joint 'b' of body 'tip' moves no inertia: the body has no mass, .* or the joint an armature",
    ),
    "a point on the axis": (
        [body("arm", None, bm.revolute("a", Y), 1.0, com=(0, 0.5, 0))],
        "joint 'a' of body 'arm' moves no inertia: its inertia is that of a point or a thin rod",
    ),
    "a point on a ball joint": (
        [body("arm", None, bm.spherical("a"), 1.0, com=(0, 0.5, 0))],
        "joint 'a' of body 'arm' moves no inertia about some axis: its inertia is that of a point",
    ),
    "two joints about one axis": (
        [body("cross", None, bm.revolute("a", Y)), body("arm", "cross", bm.revolute("b", Y), 1.0, SOLID)],
        "joint 'a' of body 'cross' moves no inertia: the body has no mass",
    ),
    "a rod that floats": (
        [body("rod", None, bm.floating("a"), 1.0, np.diag([0.1, 0.1, 0.0]))],
        "joint 'a' of body 'rod' moves no inertia about some axis",
    ),
    "nothing": ([body("arm", None, bm.revolute("a", Y))], "a model needs a body with mass"),
}


@pytest.mark.parametrize("case", UNRESISTED)
def test_a_joint_that_nothing_resists_is_refused(case):
    bodies, sentence = UNRESISTED[case]
    with pytest.raises(bm.ModelError, match=sentence) as caught:
        bm.Model("m", bodies)
    assert "\n" not in str(caught.value)


def test_a_rotor_resists_too():
    bodies, _ = UNRESISTED["a tip"]
    tip = replace(bodies[1], joint=replace(bodies[1].joint, armature=0.01))
    model = bm.Model("m", [bodies[0], tip])
    np.testing.assert_allclose(np.diag(dynamics.mass_matrix(model, [0.1, 0.2]))[1], 0.01)


def test_a_long_chain_of_points_is_regular():
    links = [
        body(f"l{i}", f"l{i - 1}" if i else None, bm.revolute(f"j{i}", Y), 1.0, com=(0, 0, -1)) for i in range(100)
    ]
    assert bm.Model("m", links).nv == 100


def test_they_are_saved_and_written(model):
    assert model_from_json(model_to_json(model)) == model
    if model.name == "universal":
        again = load_urdf(urdf_text(model))
        assert [body.mass for body in again.bodies] == [body.mass for body in model.bodies]


def test_an_engine_says_that_it_cannot():
    engine = engine_named("pybullet")
    try:
        engine.check_installed()
    except InputError:
        pytest.skip("PyBullet is not installed")
    with pytest.raises(InputError, match="PyBullet needs bodies with mass and inertia; 'cross' of 'universal'"):
        simulate(universal(), duration=0.01, step=1e-3, integrator=EngineIntegrator(engine))

"""Mechanisms as models and models as mechanisms: the same kinematics, mass matrix and energy, and back again."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from biped import dynamics
from biped import model as bm
from formulations import mechanism as mech
from formulations.mechanism import from_model, rx, ry, to_model, tx, tz

from .longhand import System, Tree
from .random_frames import GRAVITY, regular_frames


def longhand(frames, q, gravity):
    system = System(Tree(frames)).with_gravity(gravity)
    system.tree.set(q, q)
    return system.L_vv(), system.potential_energy()


def close(value, expected):
    scale = np.abs(expected).max()
    np.testing.assert_allclose(value, expected, rtol=0.0, atol=1e-12 * scale)


def fell(frames, q):
    """[J] less than at home: a model does not know what a mechanism has on the ground."""
    return longhand(frames, q, GRAVITY)[1] - longhand(frames, np.zeros(len(q)), GRAVITY)[1]


@pytest.mark.parametrize("seed", range(8))
def test_a_mechanism_is_its_model(seed):
    rng = np.random.default_rng(seed)
    frames = regular_frames(rng, 9)
    mechanism = mech.Mechanism("drawn", frames, GRAVITY)
    model = to_model(mechanism)
    n = len(mechanism.coordinates)
    assert model.joint_names == mechanism.coordinates
    for _ in range(3):
        q, v = rng.standard_normal((2, n))
        M, _ = longhand(frames, q, GRAVITY)
        close(dynamics.mass_matrix(model, q), M)
        close(mechanism.momentum(q, v), M @ v)
        energy, start = dynamics.energy(model, q, v), dynamics.energy(model, np.zeros(n), v)
        assert energy.kinetic == pytest.approx(0.5 * v @ M @ v, rel=1e-12)
        assert energy.potential - start.potential == pytest.approx(fell(frames, q), rel=1e-12, abs=1e-10)


@pytest.mark.parametrize("seed", range(4))
def test_a_mechanisms_model_is_the_mechanism_again(seed):
    rng = np.random.default_rng(seed + 100)
    model = bm.random_tree(rng, 8, floating=False, kinds=("revolute", "prismatic"))
    again = to_model(from_model(model))
    joint_of = {None: None} | {b.name: b.joint.name for b in model.bodies}
    assert [(b.name, b.parent) for b in again.bodies] == [(b.joint.name, joint_of[b.parent]) for b in model.bodies]
    for body, other in zip(again.bodies, model.bodies, strict=True):
        assert body.joint.kind == other.joint.kind
        assert body.mass == pytest.approx(other.mass, rel=1e-14)
        close(body.joint.axis, other.joint.axis)
        np.testing.assert_allclose(body.joint.position, other.joint.position, atol=1e-14)
        np.testing.assert_allclose(body.com, other.com, atol=1e-14)
        np.testing.assert_allclose(body.inertia, other.inertia, atol=1e-14)


def state_of(model, values, rates):
    """Return the model's configuration and velocity for values and rates of the mechanism's variables, by name."""
    q, v, turns = [], [], {None: Rotation.identity()}
    for body in model.bodies:
        joint, turn = body.joint, turns[body.parent]
        ends = [""] if joint.has_axis else ["_x", "_y", "_z", "_yaw", "_pitch", "_roll"][6 - joint.nv :]
        at, rate = ([table[joint.name + end] for end in ends] for table in (values, rates))
        if joint.has_axis:
            turn *= Rotation.from_rotvec(np.multiply(joint.axis, at[0] * joint.turns))
        else:
            first, second, own = (Rotation.from_euler("ZYX"[:k], at[-3:][:k]) for k in (1, 2, 3))
            axes = np.column_stack([(0, 0, 1), first.as_matrix()[:, 1], second.as_matrix()[:, 0]])
            at[-3:], rate[-3:] = np.roll(own.as_quat(), 1), turn.apply(axes @ rate[-3:])
            turn *= own
        turns[body.name], q, v = turn, [*q, *at], [*v, *rate]
    return np.array(q), np.array(v)


@pytest.mark.filterwarnings("ignore::biped.model.errors.ModelWarning")
@pytest.mark.parametrize("case", ["human", "random", "ground"])
def test_a_model_is_its_mechanism(case):
    rng = np.random.default_rng(3)
    model = bm.human() if case == "human" else bm.random_tree(rng, 7, floating=case == "random")
    mechanism = from_model(model)
    assert len(mechanism.coordinates) == model.nv
    for _ in range(3):
        values, rates = (dict(zip(mechanism.coordinates, rng.normal(size=model.nv), strict=True)) for _ in range(2))
        q, v = state_of(model, values, rates)
        for body, at in zip(model.bodies, dynamics.forward_kinematics(model, q).position, strict=True):
            np.testing.assert_allclose(mechanism.frame(f"{body.name}_com").position(values), at, atol=1e-12)
        energy = dynamics.energy(model, q, v)
        assert mechanism.kinetic_energy(values, rates) == pytest.approx(energy.kinetic, rel=1e-11)
        assert mechanism.potential_energy(values) == pytest.approx(energy.potential, rel=1e-12)


def test_a_robot_from_urdf_goes_through():
    rng = np.random.default_rng(1)
    model = bm.random_tree(rng, 5, floating=False, kinds=("revolute", "prismatic"))
    mechanism = from_model(bm.load_urdf(bm.urdf_text(model)))
    q = rng.standard_normal(5)
    M = np.column_stack([mechanism.momentum(q, e) for e in np.eye(5)])
    close(M, dynamics.mass_matrix(model, q))


def test_what_a_model_does_not_carry_is_told():
    frames = [
        tx(mech.kinematic("rail"), ry("a", tz(-1.0, name="bob", mass=1.0)), name="rail"),
        tx(0.5, ry("b", tz(-1.0, name="other", mass=(1.0, 0.0, 0.3, 0.0)))),
    ]
    mechanism = mech.Mechanism(
        "told", frames, None, potentials=[mech.LinearSpring("bob", "other", 3.0)],
        constraints=[mech.Distance("bob", "other", 0.5), mech.PointAlong("bob", "other", (0, 0, 1))],
        forces=[mech.Damper("a", 0.1), mech.Damper("a", 0.2), mech.Torque("b", 1.0)],
    )  # fmt: skip
    model = to_model(mechanism)
    assert model.gravity == (0.0, 0.0, 0.0)
    assert [body.joint.damping for body in model.bodies] == [0.0, pytest.approx(0.3), 0.0]
    assert [body.joint.armature for body in model.bodies] == [1.0, 0.0, 0.0]
    assert model.notes == (
        "2 constraints of the mechanism are left out, so that loops are open",
        "1 potentials of the mechanism are left out",
        "1 forces of the mechanism are left out",
        "joints with a prescribed motion are free in the model, with an armature of 1: rail",
        "body b has an impossible inertia, a moment above the sum of the other two: the smaller ones were raised",
    )
    np.testing.assert_allclose(np.linalg.eigvalsh(model.bodies[2].inertia), (0.15, 0.15, 0.3), atol=1e-15)
    M, _ = longhand(frames, np.array([0.1, 0.2, 0.3]), (0, 0, 0))
    M[0, 0] += 1.0
    close(dynamics.mass_matrix(model, [0.1, 0.2, 0.3]), M)  # what was raised does not turn here


def test_what_a_mechanism_does_not_carry_is_told():
    hinge = replace(bm.revolute("j", (0, 1, 0)), lower=-1.0, friction=0.1, armature=0.2, damping=0.3)
    body = bm.Body("arm", 1.0, 0.1 * np.eye(3), (0, 0, -0.5), hinge)
    with pytest.warns(bm.ModelWarning) as told:
        mechanism = from_model(bm.Model("arm", (body,)))
    assert [str(one.message) for one in told] == [
        f"arm: a mechanism has no {what}, left out of j" for what in ("limits", "dry friction", "armature")
    ]
    assert mechanism.forces == (mech.Damper("j", 0.3),)


@pytest.mark.parametrize("axis", [(1, 0, 0), (0, -1, 0), (0, 0, -1), (0.3, -0.5, 0.7), (-1, 1e-9, 0)])
@pytest.mark.parametrize("make", [bm.revolute, bm.prismatic])
def test_an_axis_of_any_direction(axis, make):
    model = bm.Model(
        "one", (bm.Body("b", 1.0, np.diag([0.1, 0.2, 0.25]), (0.1, 0.2, -0.3), make("j", axis, (1, 2, 3))),)
    )
    mechanism = from_model(model)
    at = mechanism.frame("b_com").position({"j": 0.7})
    np.testing.assert_allclose(at, dynamics.forward_kinematics(model, [0.7]).position[0], atol=1e-14)


def test_a_variable_that_moves_nothing_makes_no_model():
    with pytest.raises(bm.ModelError, match="joint 'b' of body 'b' moves no inertia: the body has no mass"):
        to_model(mech.Mechanism("spare", [rx("a", tz(-1.0, ry("b"), mass=1.0))]))


def test_a_floating_root_has_the_place_of_its_centre_of_mass():
    body = bm.Body("b", 1.0, np.diag([0.1, 0.2, 0.25]), (0.1, 0.2, -0.3), bm.floating("free", (0, 0, 1)))
    mechanism = from_model(bm.Model("one", (body,)))
    assert mechanism.coordinates == tuple(f"free_{name}" for name in ("x", "y", "z", "yaw", "pitch", "roll"))
    at = mechanism.frame("b_com").position({"free_x": 1.0, "free_y": 2.0, "free_z": 3.0, "free_roll": 0.4})
    np.testing.assert_allclose(at, (1.0, 2.0, 3.0), atol=1e-15)

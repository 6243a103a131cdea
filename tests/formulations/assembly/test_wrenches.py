"""Pushes, forces and torques on an assembly's bodies: closed forms, and the motion's energy balance.

A node gets the exact impulse of its interval, so that momenta are those of the signals but for rounding: of so many
steps, each of the size of the momentum.
"""

import math

import numpy as np
import pytest
from numpy.testing import assert_allclose

from biped import Force, Load, Push, Signal
from biped.model.geometry import quaternion_matrix
from formulations import assembly as asm
from tests.refusals import refuses

from .random_assemblies import random_placement, random_tree_assembly

NO_WEIGHT = (0.0, 0.0, 0.0)
BALL = ((0.02, 0.0, 0.0), (0.0, 0.02, 0.0), (0.0, 0.0, 0.02))
UNEVEN = ((0.02, 0.0, 0.0), (0.0, 0.03, 0.0), (0.0, 0.0, 0.04))
ROUNDING = 1e-13  # 1e-16 times a thousand operations on numbers of order one


def free(inertia=BALL, mass=2.0, gravity=NO_WEIGHT):
    return asm.Assembly("free", (asm.RigidBody("body", mass, inertia),), gravity=gravity)


def momentum(assembly, motion, row):
    """Return the momentum (6,): linear, and angular about the common centre of mass."""
    bodies = assembly.bodies
    mass = sum(body.mass for body in bodies)
    com = sum(body.mass * motion.position(body.name)[row] for body in bodies) / mass
    linear, angular = np.zeros(3), np.zeros(3)
    for body in bodies:
        v, R = motion.velocity(body.name)[row], quaternion_matrix(motion.orientation(body.name)[row])
        linear += body.mass * v[:3]
        angular += R @ np.array(body.inertia) @ R.T @ v[3:]
        angular += body.mass * np.cross(motion.position(body.name)[row] - com, v[:3])
    return np.concatenate([linear, angular])


def is_trusted(motion):
    return {check.passed for check in motion.trust} == {"ok"}


def ledger(motion):
    frame = motion.frame
    return frame[[f"external_{what}_{axis}" for what in ("impulse", "moment") for axis in "xyz"]].to_numpy()


@pytest.mark.parametrize("step", [0.1, 0.01])
def test_a_constant_force_moves_a_body_by_its_parabola(step):
    """x = F t²/2 m at nodes whatever the step: they get F h each, F h/2 the first, and half a sum of odd numbers."""
    force = Force("body", (0.0, 3.0, 4.0), Signal.rectangle(5.0, 0.0, 9.0))
    assembly = free()
    motion = assembly.simulate(1.0, step, disturbances=(force,))
    t, along = motion.time, np.array([0.0, 0.6, 0.8])
    assert_allclose(motion.position("body"), np.outer(5.0 * t**2 / 4.0, along), atol=ROUNDING)
    assert_allclose(motion.velocity("body")[:, :3], np.outer(2.5 * t, along), atol=ROUNDING)
    assert_allclose(motion.frame["external_work"], 0.5 * 2.0 * (2.5 * t) ** 2, atol=ROUNDING)
    assert_allclose(ledger(motion)[:, :3], np.outer(5.0 * t, along), atol=ROUNDING)


def test_a_constant_torque_turns_a_ball_by_its_parabola():
    """Momenta are τ t to rounding. A step turns by asin(h L/J), so that turns are off by (h L/J)³/6 each."""
    step = 0.01
    motion = free().simulate(
        1.0, step, disturbances=(asm.Torque("body", (0.0, 0.0, 1.0), Signal.rectangle(0.1, 0.0, 9.0)),)
    )
    t = motion.time
    spin = 0.1 / 0.02 * t
    assert_allclose(motion.velocity("body"), np.outer(spin, [0, 0, 0, 0, 0, 1.0]), atol=ROUNDING)
    turned = 2.0 * np.unwrap(np.arctan2(motion.orientation("body")[:, 3], motion.orientation("body")[:, 0]))
    bound = np.cumsum(1.01 * (step * spin) ** 3 / 6.0)  # 1.01: of the series' next term at 0.05 rad a step
    assert np.all(np.abs(turned - 0.5 * 0.1 / 0.02 * t**2) <= bound + ROUNDING)
    assert is_trusted(motion)


@pytest.mark.parametrize("order", [1, 2])
@pytest.mark.parametrize("waveform", ["rectangle", "half-sine"])
def test_a_push_gives_its_impulse_whatever_the_step(order, waveform):
    push = Push("body", (1.0, 0.0, 0.0), 0.3, 0.0137, 0.0271, waveform, point=(0.0, 0.0, 0.5))
    assembly = free(UNEVEN)
    motion = assembly.simulate(0.1, 0.01, order=order, disturbances=(push,), tolerance=1e-13)
    assert_allclose(momentum(assembly, motion, -1)[:3], (0.3, 0.0, 0.0), atol=ROUNDING)
    assert_allclose(ledger(motion)[-1][:3], (0.3, 0.0, 0.0), atol=ROUNDING)
    assert motion.summary["events"]["pushes"] == [
        {"time": 0.0137, "body": "body", "impulse": pytest.approx([0.3, 0.0, 0.0], abs=ROUNDING)}
    ]


def test_momenta_of_a_floating_tree_are_those_given():
    """Momenta match at every row, to the tolerance of each step's equations [N·s] and arms of 1-2 m."""
    rng = np.random.default_rng(5)
    tree = random_tree_assembly(rng, 5, grounded=False)
    assembly = asm.Assembly("floating", tree.bodies, tree.joints)
    start = random_placement(rng, assembly)
    names, steps = assembly.body_names, 50
    disturbances = (
        Push(names[0], (1.0, -2.0, 0.5), 0.8, 0.05, 0.13, "half-sine", point=(0.1, 0.0, 0.2)),
        Force(names[3], (0.0, 1.0, 1.0), Signal.rectangle(3.0, 0.1, 0.3), point=(0.0, 0.2, 0.0)),
        asm.Torque(names[2], (1.0, 1.0, 0.0), Signal.rectangle(0.4, 0.0, 0.41)),
    )
    motion = assembly.simulate(steps * 0.01, 0.01, start, disturbances=disturbances, tolerance=1e-12)
    given = ledger(motion)
    mass = sum(body.mass for body in assembly.bodies)
    for row in (1, 20, -1):  # a node's momentum is the mean of before and after: its joints' impulses cancel in the sum
        before, now = momentum(assembly, motion, 1), momentum(assembly, motion, row)
        weight = mass * (motion.time[row] - motion.time[1]) * np.array(assembly.gravity)
        expected = before + given[row] - given[1] + np.concatenate([weight, np.zeros(3)])
        assert_allclose(now, expected, atol=10.0 * steps * 1e-12)
    assert np.abs(given[-1]).min() > 0.02
    assert {"linear momentum", "angular momentum"} < {check.name for check in motion.trust}
    assert is_trusted(motion)


def test_the_energy_that_pushes_give_is_that_which_there_is():
    """What is left falls with h²; without the work in the ledger it would be the work, which is most of the energy."""
    bar = asm.RigidBody("bar", 1.0, UNEVEN)
    other = asm.RigidBody("other", 0.5, BALL)
    hinge = asm.joint("revolute", "hinge", None, "bar", (1.0, 0.0, 0.0), outboard_point=(0.0, 0.0, 0.5))
    elbow = asm.joint(
        "spherical", "elbow", "bar", "other", inboard_point=(0.0, 0.0, -0.5), outboard_point=(0.0, 0.0, 0.3)
    )
    assembly = asm.Assembly("arm", (bar, other), (hinge, elbow))
    given = (
        Force("other", (0.3, 1.0, 0.2), Signal.half_sine(8.0, 0.0, 1.0), point=(0.0, 0.1, -0.2)),
        asm.Torque("bar", (1.0, 0.0, 0.0), Signal.half_sine(1.0, 0.0, 0.7)),
    )
    left = []
    for step in (0.004, 0.002, 0.001):
        motion = assembly.simulate(1.0, step, disturbances=given, tolerance=1e-12)
        energy = motion.frame["energy"] - motion.frame["external_work"]
        left.append(np.abs(energy - energy[0]).max())
        assert is_trusted(motion)
    assert np.all(np.abs(np.log2(np.array(left[:-1]) / left[1:]) - 2.0) < 0.2)
    assert motion.frame["external_work"].max() > 1.0


def test_rows_are_the_same_however_seldom():
    push = Push("body", (1.0, 1.0, 0.0), 0.5, 0.03, 0.11, point=(0.0, 0.0, 0.1))
    ground = asm.Assembly(
        "ground", (asm.RigidBody("body", 2.0, BALL),), contacts=(asm.PointContact("foot", "body", (0.0, 0.0, -0.1)),)
    )
    start = ground.place(poses={"body": ((0.0, 0.0, 0.1), (1.0, 0.0, 0.0, 0.0))})
    often = ground.simulate(0.4, 0.005, start, disturbances=(push,)).frame.iloc[::8]
    seldom = ground.simulate(0.4, 0.005, start, disturbances=(push,), record_every=8).frame
    assert np.array_equal(often.to_numpy(), seldom.to_numpy())


@pytest.mark.parametrize("given", ["push", "torque"])
def test_bodies_that_a_push_makes_fast_are_seen_to_meet(given):
    """In the step of the push itself: at rest and without weight, neither would come nearer by itself.

    At 8 m/s the one would be 7 cm in the other, at 10 rad/s on an arm of 0.4 m 3 cm; a turn by 0.1 rad is off the
    straight way of its point by an arm's 0.1²/2.
    """
    rod = asm.capsule((-0.4, 0.0, 0.0), (0.4, 0.0, 0.0), 0.05)
    bodies = (asm.RigidBody("wall", 1000.0, BALL, asm.sphere(0.1)), asm.RigidBody("body", 1.0, BALL, rod))
    assembly = asm.Assembly("pair", bodies, gravity=NO_WEIGHT, touching=(asm.BodyContact("touch", "wall", "body"),))
    acts, beside = Push("body", (0.0, 0.0, -1.0), 8.0, 0.051, 0.002), 0.0
    if given == "torque":
        acts, beside = asm.Torque("body", (0.0, -1.0, 0.0), Signal.rectangle(20.0, 0.05, 0.01)), 0.4
    start = assembly.place(poses={"body": ((beside, 0.0, 0.16), (1.0, 0.0, 0.0, 0.0))})
    motion = assembly.simulate(0.1, 0.01, start, disturbances=(acts,))
    assert motion.frame["touch_normal"].max() > 10.0
    assert motion.frame["touch_gap"].min() > -(1e-9 + 2.0 * beside * 0.1**2 / 2.0)


def test_a_held_body_takes_no_work():
    plate = asm.RigidBody("plate", 1.0, BALL)
    assembly = asm.Assembly("held", (plate,), (asm.joint("fixed", "bolts", None, "plate"),), gravity=NO_WEIGHT)
    motion = assembly.simulate(0.1, 0.01, disturbances=(Push("plate", (0.0, 1.0, 0.0), 2.0, 0.02, 0.05),))
    assert_allclose(motion.frame["external_work"], 0.0, atol=2.0 * 1e-10 / 0.01)  # tolerance's way, by 2 N·s
    assert ledger(motion)[-1, 1] == pytest.approx(2.0, abs=ROUNDING)


def test_a_push_that_gives_much_is_no_created_energy():
    """A body that is hit within a step: the guard asks after its work is accounted for, and every row's is its energy.

    The ledger is exact of a body that does not turn; what is left is the spring's (h ω)²/8 of the energy, ω² = 5/s².
    """
    assembly = asm.Assembly(
        "slide", (asm.RigidBody("body", 1.0, BALL),),
        (asm.joint("prismatic", "rail", None, "body", (1.0, 0.0, 0.0), freedoms=(asm.Freedom(stiffness=5.0),)),),
    )  # fmt: skip
    motion = assembly.simulate(0.3, 0.01, disturbances=(Push("body", (1.0, 0.0, 0.0), 100.0, 0.1, 0.001),))
    energy, work = motion.frame["energy"].to_numpy(), motion.frame["external_work"].to_numpy()
    assert_allclose(energy, work, atol=5000.0 * 0.01**2 * 5.0 / 8.0 * 1.1)
    assert work[10] == pytest.approx(1250.0, rel=1e-9)  # the node at 0.1 s has half of the impulse
    assert is_trusted(motion)


@refuses(
    (Load("body", 1.0), "must be a Push, a Force or a Torque"),
    (Push("nobody", (1.0, 0.0, 0.0), 1.0), "Push: unknown body 'nobody'"),
    error=asm.AssemblyError,
)
def test_what_cannot_act_is_refused(given):
    free().simulate(0.1, 0.01, disturbances=(given,))


def test_a_torque_needs_a_signal_and_a_direction():
    with pytest.raises(Exception, match=r"torque\.signal"):
        asm.Torque("body", (1.0, 0.0, 0.0), 3.0)
    with pytest.raises(Exception, match=r"torque\.direction is zero"):
        asm.Torque("body", (0.0, 0.0, 0.0), Signal.rectangle(1.0, 0.0, 1.0))
    assert math.isclose(
        asm.Torque("body", (2.0, 0.0, 0.0), Signal.rectangle(1.0, 0.0, 1.0)).delivered(0.0, 0.5)[0], 0.5
    )

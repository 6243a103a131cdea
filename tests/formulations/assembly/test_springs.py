"""Springs between points of bodies: closed forms of the steps, twins, and conservation."""

import math

import numpy as np
import pytest
from numpy.testing import assert_allclose

from biped.model.geometry import quaternion_matrix
from formulations.assembly import Assembly, AssemblyError, Freedom, Placement, RigidBody, Spring, joint
from tests.refusals import refuses

from .test_wrenches import BALL, NO_WEIGHT, UNEVEN, is_trusted, momentum

STILL = ((0.0,) * 6,) * 2
AWAY, UPRIGHT = (0.0, 0.0, 0.0), (1.0, 0.0, 0.0, 0.0)


def pair(spring, gravity=NO_WEIGHT, joints=()):
    return Assembly(
        "pair", (RigidBody("a", 2.0, UNEVEN), RigidBody("b", 0.5, BALL)), joints, gravity=gravity, springs=spring
    )


def apart(way, velocity=STILL):
    return Placement(np.array([AWAY, way]), np.array([UPRIGHT, UPRIGHT]), np.asarray(velocity, dtype=float))


@pytest.mark.parametrize("step", [0.02, 0.005])
def test_two_bodies_swing_with_their_reduced_mass(step):
    """x'' = −(k/μ)(x − L). The steps' own motion from rest is A cos(k θ), sin(θ/2) = h ω/2, to the tolerance.

    An error ε of the equations [N·s] at each of n steps moves what it acts on by h ε/μ a step from there on.
    """
    stiffness, rest, amplitude, mass = 30.0, 0.6, 0.1, 2.0 * 0.5 / 2.5
    assembly = pair((Spring("coil", "a", "b", stiffness, rest),))
    motion = assembly.simulate(2.0, step, apart((0.0, 0.42, 0.56)), tolerance=1e-13)
    steps = np.arange(len(motion.time))
    omega = math.sqrt(stiffness / mass)
    expected = rest + amplitude * np.cos(2.0 * math.asin(0.5 * step * omega) * steps)
    assert_allclose(motion.frame["position_coil"], expected, atol=steps[-1] ** 2 * step * 1e-13 / mass + 1e-12)
    assert is_trusted(motion)


def test_a_start_that_has_moved_already_is_that_of_the_paper():
    """(10), (11): x₁ = x₀ + h v₀ before any force, then m (x₂ − 2 x₁ + x₀) = h² F(x₁), written out here.

    Tolerances are as above; of two bodies on one another both errors count, the lighter one's the most.
    """
    stiffness, rest, step, tolerance, masses = 30.0, 0.6, 0.01, 1e-13, np.array([[2.0], [0.5]])
    velocity = np.array([(0.1, -0.2, 0.0, 0.0, 0.0, 0.0), (0.5, 0.4, -0.3, 0.0, 0.0, 0.0)])
    before = apart((0.0, 0.42, 0.56), velocity)
    moved = Placement(before.position + step * velocity[:, :3], before.orientation, velocity)
    written = [before.position, moved.position]
    for _ in range(100):
        between = written[-1][1] - written[-1][0]
        pull = stiffness * (1.0 - rest / np.linalg.norm(between)) * between
        written.append(2.0 * written[-1] - written[-2] + step**2 * np.array([pull, -pull]) / masses)
    motion = pair((Spring("coil", "a", "b", stiffness, rest),)).simulate(
        100 * step, step, moved, order=1, tolerance=tolerance
    )
    found = np.stack([motion.position("a"), motion.position("b")], axis=1)
    assert_allclose(found, written[1:], atol=100**2 * step * 2.0 * tolerance / 0.5 + 1e-12)


def test_a_damped_spring_falls_as_its_step_says():
    """The damper's force is that of the step's way: (1 + h d/μ) Δ₁ = Δ₀ − h² ω² (x₁ − L), to the tolerance."""
    stiffness, rest, damping, mass, step = 30.0, 0.6, 1.5, 0.4, 0.01
    assembly = pair((Spring("coil", "a", "b", stiffness, rest, damping),))
    motion = assembly.simulate(1.0, step, apart((0.0, 0.0, 0.7)), tolerance=1e-13)
    length, way = [0.7], 0.0
    for k in range(100):
        share = 0.5 if k == 0 else 1.0
        way = (way - share * step**2 * stiffness / mass * (length[-1] - rest)) / (1.0 + step * damping / mass)
        length.append(length[-1] + way)
    assert_allclose(motion.frame["position_coil"], length, atol=100**2 * step * 1e-13 / mass + 1e-12)
    assert is_trusted(motion)


def test_a_spring_is_that_of_a_slide():
    body = (RigidBody("b", 0.5, BALL),)
    along = (0.0, 0.0, 1.0)
    rail = joint("prismatic", "s", None, "b", along, freedoms=(Freedom(stiffness=20.0, rest=0.5, damping=0.4),))
    held, free = (
        Assembly("held", body, (rail,)),
        Assembly("free", body, springs=(Spring("s", None, "b", 20.0, 0.5, 0.4),)),
    )
    ends = []
    for assembly, start in ((held, held.place({"s": 0.4})), (free, free.place(poses={"b": ((0, 0, 0.4), UPRIGHT)}))):
        motion = assembly.simulate(0.5, 0.01, start, forces={"s": lambda t: np.sin(9.0 * t)}, tolerance=1e-13)
        ends.append(motion.frame[["b_z", "b_vz", "position_s", "energy"]].to_numpy())
    assert_allclose(ends[0], ends[1], atol=50**2 * 0.01 * 1e-13 / 0.5 + 1e-12)


def tumbling(step, damping=0.0, duration=0.5):
    """Return a run of two turning bodies on a stretched off-centre spring."""
    spring = Spring("coil", "a", "b", 40.0, 0.3, damping, (0.1, 0.2, 0.0), (0.0, -0.1, 0.15))
    assembly = pair((spring,))
    velocity = [[0.2, 0.0, 0.3, 1.0, -2.0, 0.5], [-0.4, 0.2, 0.0, 0.0, 3.0, 1.0]]
    return assembly, assembly.simulate(duration, step, apart((0.1, 0.6, 0.2), velocity), tolerance=1e-13)


@pytest.mark.parametrize("damping", [0.0, 2.0])
def test_momenta_of_bodies_on_a_spring_are_kept_to_rounding(damping):
    """Both get the same impulse along the line of their points. 50 steps leave 1e-13 each, a node's mean is of two."""
    assembly, motion = tumbling(0.01, damping)
    assert_allclose(momentum(assembly, motion, -1), momentum(assembly, motion, 1), atol=50 * 4.0 * 1e-13)
    assert np.abs(momentum(assembly, motion, 1)).min() > 0.01
    if damping:
        assert motion.frame["energy"].iloc[-1] < 0.9 * motion.frame["energy"].iloc[0]


def test_energy_on_a_spring_is_of_second_order():
    errors = []
    for step in (0.004, 0.002, 0.001):
        _, motion = tumbling(step)
        energy = motion.frame["energy"].to_numpy()
        errors.append(np.abs(energy - energy[0]).max())
        assert is_trusted(motion)
    slope = np.polyfit(np.log([0.004, 0.002, 0.001]), np.log(errors), 1)[0]
    assert abs(slope - 2.0) < 0.1
    assert np.ptp(motion.frame["kinetic_energy"]) > 100.0 * errors[-1]


def test_a_length_is_the_way_between_points():
    _, motion = tumbling(0.01)
    for row in (0, 20, -1):
        (a, b), (p, q) = (
            [motion.position(name)[row] for name in "ab"],
            [quaternion_matrix(motion.orientation(name)[row]) for name in "ab"],
        )
        way = b + q @ (0.0, -0.1, 0.15) - a - p @ (0.1, 0.2, 0.0)
        assert motion.frame["position_coil"].iloc[row] == pytest.approx(np.linalg.norm(way), abs=1e-14)


@pytest.mark.parametrize("damping", [0.0, 0.5])
def test_springs_close_no_loops_of_joints(damping):
    bars = tuple(RigidBody(name, 1.0, UNEVEN) for name in "ab")
    hinges = tuple(
        joint(
            "revolute",
            f"hinge_{name}",
            None,
            name,
            inboard_point=(0.0, y, 0.0),
            outboard_point=(0.0, 0.0, 0.5),
            axis=(1.0, 0.0, 0.0),
        )
        for name, y in (("a", 0.0), ("b", 0.6))
    )
    coil = Spring("coil", "a", "b", 8.0, 0.6, damping, (0.0, 0.0, -0.5), (0.0, 0.0, -0.5))
    assembly = Assembly("coupled", bars, hinges, springs=(coil,))
    start = assembly.place({"hinge_a": 0.5})
    assert assembly.closing_joints == ()
    assert assembly.degrees_of_freedom(start) == 2
    motion = assembly.simulate(2.0, 0.005, start)
    assert np.abs(motion.frame["angle_hinge_b"]).max() > 0.1
    assert is_trusted(motion)


def test_points_on_one_another_have_no_force():
    assembly = pair((Spring("coil", "a", "b", 10.0),))
    motion = assembly.simulate(0.1, 0.01, apart(AWAY))
    assert_allclose(motion.position("b"), 0.0, atol=0.0)


@refuses(
    ({"outboard": "a"}, "inboard = outboard = 'a'"),
    ({"stiffness": -1.0}, "spring 'coil': stiffness"),
    ({"rest": -0.1}, "the rest length must be zero or above"),
    error=AssemblyError,
)
def test_what_is_no_spring_is_refused(change):
    given = {"name": "coil", "inboard": "a", "outboard": "b", "stiffness": 1.0} | change
    Spring(**given)


def test_a_spring_needs_bodies_and_a_name_of_its_own():
    with pytest.raises(AssemblyError, match="spring 'coil': unknown body 'c'"):
        pair((Spring("coil", "a", "c", 1.0),))
    hinge = joint("revolute", "coil", None, "a")
    with pytest.raises(AssemblyError, match="a joint's coordinate has this name"):
        pair((Spring("coil", "a", "b", 1.0),), joints=(hinge,))

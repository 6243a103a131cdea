"""Mechanisms of the paper: closed chains and degrees of freedom."""

import math
from pathlib import Path

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from biped.errors import InputError
from formulations import mechanism as mech
from formulations.mechanism import examples, rx, ry, rz, tx, ty, tz
from formulations.mechanism.frames import primitive
from formulations.mechanism.marionette import STRINGS, marionette, marionette_start

LISTING = Path(__file__).parents[3] / "examples" / "closed-chain.trep"


def freedom(mechanism, q):
    return len(mechanism.coordinates) - np.linalg.matrix_rank(mechanism.constraint_jacobian(q))


@pytest.mark.parametrize("segments", [1, 2, 5])
def test_a_scissor_lift_has_one_degree_of_freedom(segments):
    lift = examples.scissor_lift(segments)
    assert len(lift.coordinates) == 2 * segments + 1
    for angle in (0.1, 1.0, 2.0):
        q = examples.scissor_configuration(segments, angle)
        assert np.abs(lift.constraint_values(q)).max() < 1e-12
        assert freedom(lift, q) == 1
        for one, other in examples.scissor_pins(segments):
            assert lift.frame(one).position(q) == pytest.approx(lift.frame(other).position(q))
        bottom = lift.frame(f"L{segments} end").position(q)
        assert bottom == pytest.approx([5.0 * math.cos(angle), 0.0, -5.0 * segments * math.sin(angle)])


def test_the_device_is_closed_near_its_start_and_has_three_degrees_of_freedom():
    device = examples.closed_chain_device()
    assert device.coordinates == ("J", "H", "K", "M", "A", "C", "E")
    q = device.satisfy_constraints(examples.CLOSED_CHAIN_START)
    assert freedom(device, q) == 3
    for one, other in examples.CLOSED_CHAIN_PINS:
        assert device.frame(one).position(q) == pytest.approx(device.frame(other).position(q), abs=1e-11)
    assert np.abs(q - device.configuration(examples.CLOSED_CHAIN_START)).max() < 0.6


def test_the_device_is_that_of_listing_1():
    printed, device = mech.load_mechanism(LISTING), examples.closed_chain_device()
    assert list(printed.frames) == list(device.frames)
    assert printed.gravity == device.gravity
    assert {(c.first, c.second, c.direction) for c in printed.constraints} == {
        (c.first, c.second, c.direction) for c in device.constraints
    }


def test_a_pendulum_hangs_link_below_link():
    pendulum = examples.n_link_pendulum(3, length=0.5, mass=2.0, inertia=0.1)
    assert pendulum.frame("end 3").position({}) == pytest.approx([0.0, 0.0, -1.5])
    assert pendulum.frame("end 3").position({"J1": math.pi / 2.0}) == pytest.approx([-1.5, 0.0, 0.0])
    assert pendulum.kinetic_energy({}, {"J3": 1.0}) == pytest.approx(0.5 * (2.0 * 0.25 + 0.1))
    with pytest.raises(InputError, match="links = 0"):
        examples.n_link_pendulum(0)
    with pytest.raises(InputError, match="segments = 0"):
        examples.scissor_lift(0)


def test_the_human_weighs_75_kg_and_falls():
    human = examples.planar_human()
    assert len(human.coordinates) == 11
    assert human.kinetic_energy({}, {"z": 1.0}) == pytest.approx(0.5 * 75.05)
    assert human.frame("head").position({})[2] - human.frame("left toes").position({})[2] == pytest.approx(1.73)
    assert human.frame("left toes").position({})[0] > 0.1  # it faces +x


@pytest.fixture(scope="module")
def puppet():
    return marionette()


def test_it_has_as_many_variables_as_the_paper_counts(puppet):
    assert len(puppet.dynamic_coordinates) == 22
    assert len(puppet.kinematic_coordinates) == 18
    assert len(puppet.constraint_names) == 6
    system = mech.DiscreteMechanism(puppet, 0.01)
    assert (system.states, system.inputs) == (80, 18)


def test_its_strings_hang_straight_at_the_start(puppet):
    q = marionette_start(puppet)
    assert np.abs(puppet.constraint_values(q)).max() < 1e-14
    assert np.linalg.matrix_rank(puppet.constraint_jacobian(q)) == 6
    for string in STRINGS:
        hook, above = (puppet.frame(f"{string}_{end}").position(q) for end in ("hook", "above"))
        length = q[puppet.coordinates.index(f"{string}_length")]
        assert above - hook == pytest.approx([0.0, 0.0, length], abs=1e-14)


def test_left_and_right_are_mirror_images(puppet):
    q = marionette_start(puppet)
    for name in puppet.structure.named:
        if name.startswith("left"):
            left, right = (puppet.frame(one).position(q) for one in (name, name.replace("left", "right")))
            assert left == pytest.approx(right * [-1.0, 1.0, 1.0], abs=1e-14)


def test_a_string_that_is_pulled_in_lifts_what_it_holds(puppet):
    system = mech.DiscreteMechanism(puppet, 0.01)
    x = system.state(marionette_start(puppet))
    u = x[22:40].copy()
    knee = puppet.frame("left_knee_hook")
    before = knee.position(system.configuration_of(x))[2]
    for _ in range(20):
        u[puppet.kinematic_coordinates.index("left_knee_length")] -= 0.005
        x = system.advance(x, u)
    q = system.configuration_of(x)
    assert knee.position(q)[2] == pytest.approx(before + 0.1, abs=0.01)
    assert np.abs(puppet.constraint_values(q)).max() < 1e-11


def pendulum() -> mech.Frame:
    return ry("theta", tz(-1.0, name="bob", mass=2.0), tx(mech.kinematic("u"), name="hand"), name="hinge")


def test_a_tree_stands_parents_first_each_branch_to_its_end():
    nodes = mech.tree_of([pendulum(), tx(0.5, rz("phi"))])
    assert [node.frame.transform for node in nodes] == ["ry", "tz", "tx", "tx", "rz"]
    assert [node.parent for node in nodes] == [-1, 0, 0, -1, 3]


def test_masses_are_points_or_principal():
    assert tz(-1, mass=2).mass == (2.0, 0.0, 0.0, 0.0)
    assert tz(-1, mass=[2, 0.1, 0.2, 0.3]).mass == (2.0, 0.1, 0.2, 0.3)
    assert tz(-1).mass is None


@pytest.mark.parametrize("axis", "xyz")
def test_the_six_transformations_are_those_of_their_names(axis):
    shift, turn = primitive(f"t{axis}", 0.7), primitive(f"r{axis}", 0.7)
    np.testing.assert_array_equal(shift[:3, 3], 0.7 * np.eye(3)["xyz".index(axis)])
    np.testing.assert_array_equal(shift[:3, :3], np.eye(3))
    np.testing.assert_allclose(turn[:3, :3], Rotation.from_euler(axis, 0.7).as_matrix(), atol=1e-15)
    np.testing.assert_array_equal(turn[:3, 3], 0.0)
    for g, transform in ((shift, f"t{axis}"), (turn, f"r{axis}")):  # g⁻¹(x) = g(−x), section III-D
        np.testing.assert_allclose(g @ primitive(transform, -0.7), np.eye(4), atol=1e-15)


def test_quarter_turns_are_exact():
    for quarters in range(-5, 6):
        turn = primitive("rx", quarters * math.pi / 2)
        np.testing.assert_array_equal(turn, np.round(turn))
        expected = Rotation.from_euler("x", 90 * quarters, degrees=True).as_matrix()
        np.testing.assert_allclose(turn[:3, :3], expected, atol=1e-14)


def test_a_frame_gives_its_own_transformation():
    np.testing.assert_array_equal(rx(0.2).matrix(), primitive("rx", 0.2))
    np.testing.assert_array_equal(ry("q").matrix(0.3), primitive("ry", 0.3))
    with pytest.raises(mech.MechanismError, match="moves with 'q': give its value"):
        ry("q").matrix()


def test_equal_trees_are_equal_and_others_are_not():
    assert pendulum() == pendulum()
    assert hash(pendulum()) == hash(pendulum())
    assert pendulum() != ry("theta", tz(-1.1, name="bob", mass=2.0), name="hinge")
    assert tx(0, ty(0), tz(0)) != tx(0, ty(0, tz(0)))
    assert tx("a") != tx(mech.kinematic("a"))
    assert tx(0) != "tx"


def test_a_chain_of_thousands_is_no_trouble():
    def long() -> mech.Frame:
        frame = tz(-1.0, mass=1.0)
        for i in range(3000):
            frame = ry(f"q{i}", tz(-1.0, frame, mass=1.0))
        return frame

    assert len(mech.tree_of([long()])) == 6001
    assert long() == long()
    assert len(repr(long())) < 100


def shared() -> list[mech.Frame]:
    tip = tz(-1.0, name="tip")
    return [ry("a", tip), ry("b", tip)]


REFUSED = {
    "shared": (shared, "'tip' is in the tree twice"),
    "names": (lambda: [tx(0, name="A"), ty(0, name="A")], "two frames are named 'A'"),
    "coordinates": (lambda: [tx("q"), ty("q")], "configuration variable 'q'; each variable moves one"),
    "both kinds": (lambda: [tx("q"), ty(mech.kinematic("q"))], "configuration variable 'q'; each variable moves one"),
    "world": (lambda: [tx(0, name="world")], "this name is reserved"),
    "no frame": (lambda: [tx(0), "ty"], "must be a frame, such as .* got 'ty'"),
    "child": (lambda: [tx(0, 1.0)], r"each child of tx\(0.0\) must be a frame"),
    "nan": (lambda: [tx(math.nan)], "the parameter of tx must be a finite number"),
    "flag": (lambda: [rz(True)], "the parameter of rz must be a finite number"),
    "empty": (lambda: [ry("")], "a configuration variable of ry needs a name"),
    "kinematic": (lambda: [ry(mech.kinematic(" "))], "a kinematic configuration variable needs a name"),
    "unnamed": (lambda: [ry(0, name="")], "needs a name, a string that is not empty"),
    "negative": (lambda: [tz(0, mass=-1.0)], r"the mass of tz\(0.0\) must be m"),
    "moments": (lambda: [tz(0, mass=(1.0, 0.1, -0.1, 0.1), name="B")], "the mass of 'B' must be m"),
    "three": (lambda: [tz(0, mass=(1.0, 0.1, 0.1))], r"must be m \[kg\], or \(m, Ixx, Iyy, Izz\)"),
    "nan mass": (lambda: [tz(0, mass=math.nan)], "finite and not below zero; got nan"),
    "transform": (lambda: [mech.Frame("tw", 0.0)], "unknown transform 'tw': it must be tx, ty, tz, rx, ry, rz"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_no_tree_can_be_is_refused_in_a_sentence(case):
    make, sentence = REFUSED[case]
    with pytest.raises(mech.MechanismError, match=sentence) as caught:
        mech.tree_of(make())
    assert isinstance(caught.value, InputError)
    assert "\n" not in str(caught.value)

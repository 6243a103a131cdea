"""Joints: every pair of translation and turn, by differences and by the bodies' placement."""

import math

import numpy as np
import pytest
from numpy.testing import assert_allclose

from formulations.assembly import KINDS, Assembly, AssemblyError, Freedom, Joint, RigidBody, joint
from formulations.assembly.placement import displaced
from tests.differences import jacobian
from tests.refusals import refuses

from .random_assemblies import PAIRS, anywhere, pair_of_bodies, random_coordinates

ALL = (*((*pair, 0.0) for pair in PAIRS), ("line", "axis", 0.1))
FREE = {"point": 0, "line": 1, "plane": 2, "free": 3, "fixed": 0, "axis": 1, "cardan": 2, "homokinetic": 2}


@pytest.mark.parametrize(("translation", "turn", "pitch"), ALL)
def test_gradients_are_those_of_differences(translation, turn, pitch):
    rng = np.random.default_rng(hash_of(translation, turn, pitch))
    for _ in range(5):
        assembly = pair_of_bodies(rng, translation, turn, pitch)
        place = anywhere(rng, assembly)
        dense, _ = assembly.gradients(place)

        def value(change, place=place, assembly=assembly):
            return assembly.gradients(displaced(place, change.reshape(2, 6)))[1]

        assert jacobian(value, np.zeros(12), 1e-3).departure(dense, 2e-9, alike=True) <= 1.0
    assert np.abs(dense).max() > 0.1 or (translation, turn) == ("free", "free")


@pytest.mark.parametrize(("translation", "turn", "pitch"), ALL)
def test_a_joint_puts_bodies_where_its_coordinates_say(translation, turn, pitch):
    rng = np.random.default_rng(hash_of(translation, turn, pitch) + 1)
    for _ in range(5):
        assembly = pair_of_bodies(rng, translation, turn, pitch)
        one = assembly.joints[0]
        turning = 3 if turn == "free" else FREE[turn]
        assert len(one.free_rows) == FREE[translation] + turning - (pitch != 0.0)
        assert len(one.free_rows) + len(one.rigid_rows) == 6
        given = random_coordinates(rng, one)
        place = assembly.place({"joint": given}, {"a": (rng.normal(size=3), (0.6, 0.0, 0.8, 0.0))})
        _, value = assembly.gradients(place)
        assert_allclose(value[assembly.rigid_mask], 0.0, atol=1e-14)
        assert_allclose(value[list(assembly.coordinates.values())], given, atol=1e-14)
        assert assembly.degrees_of_freedom(place) == 6 + len(one.free_rows)


@pytest.mark.parametrize(("translation", "turn", "pitch"), ALL)
def test_rates_move_the_coordinates_and_nothing_else(translation, turn, pitch):
    rng = np.random.default_rng(hash_of(translation, turn, pitch) + 2)
    assembly = pair_of_bodies(rng, translation, turn, pitch)
    one = assembly.joints[0]
    given, rates = random_coordinates(rng, one), rng.normal(size=len(one.free_rows))
    place = assembly.place({"joint": given}, rates={"joint": rates})
    later = displaced(place, 1e-6 * place.velocity)
    before, after = (assembly.gradients(p)[1] for p in (place, later))
    change = (after - before) / 1e-6
    assert_allclose(change[assembly.rigid_mask], 0.0, atol=1e-5)
    assert_allclose(change[list(assembly.coordinates.values())], rates, atol=1e-5)


def hash_of(translation, turn, pitch):
    return 17 * PAIRS.index((translation, turn)) + (pitch != 0.0)


def test_named_kinds_are_pairs_of_the_table():
    assert {tuple(kind) for kind in KINDS.values()} <= set(PAIRS)
    for kind, options in KINDS.items():
        made = joint(
            kind, "j", None, "b", (1.0, 0.0, 0.0), second_axis=(0.0, 1.0, 0.0) if kind == "universal" else None,
            pitch=0.2 if kind == "helical" else 0.0,
        )  # fmt: skip
        assert (made.translation, made.turn) == tuple(options)


def test_a_cardan_joint_turns_about_both_axes_and_a_homokinetic_one_does_not_twist():
    """R = R_x(α) R_y(β) of the first, which has a twist sin(α/2) sin(β/2); none of the second."""
    first, second = 0.6, -0.7
    cardan = joint("universal", "j", None, "b", (1.0, 0.0, 0.0), second_axis=(0.0, 1.0, 0.0))
    _, rho = cardan.relative_pose((first, second))
    c, s, d, t = math.cos(first / 2), math.sin(first / 2), math.cos(second / 2), math.sin(second / 2)
    assert_allclose(rho, (c * d, s * d, c * t, s * t), atol=1e-15)
    even = joint("homokinetic", "j", None, "b", (0.0, 0.0, 1.0))
    _, rho = even.relative_pose((0.3, -0.4))
    assert_allclose(rho[3], 0.0, atol=1e-15)
    assert_allclose(np.linalg.norm(rho[1:]), 0.25, atol=1e-15)


@refuses(
    (lambda: joint("rotary", "j", None, "b"), "must be one of fixed, prismatic"),
    (lambda: joint("revolute", "j", "b", "b"), "inboard = outboard = 'b'"),
    (lambda: joint("revolute", "j", None, "b", (0.0, 0.0, 0.0)), "axis"),
    (lambda: joint("universal", "j", None, "b"), "needs a second_axis"),
    (lambda: joint("universal", "j", None, "b", second_axis=(0.0, 0.1, 1.0)), "right angle"),
    (lambda: joint("revolute", "j", None, "b", second_axis=(0.0, 1.0, 0.0)), "only a cardan joint"),
    (lambda: joint("helical", "j", None, "b"), "must be nonzero if helical"),
    (lambda: joint("revolute", "j", None, "b", pitch=0.1), "else zero"),
    (lambda: Joint("j", None, "b", "point", "axis", pitch=0.1), "needs translation = 'line'"),
    (lambda: Joint("j", None, "b", "spot", "axis"), "it must be one of"),
    (lambda: joint("cylindrical", "j", None, "b", freedoms=[Freedom()] * 3), "freedoms has 3 items"),
    (lambda: Freedom(damping=-1.0), "damping"),
    (lambda: Freedom(lower=1.0, upper=1.0), "must be below"),
    (lambda: Freedom(stiffness=math.nan), "stiffness"),
    error=(AssemblyError, ValueError),
)
def test_what_is_no_joint_is_refused(make):
    make()


def test_a_limit_holds_without_weight():
    """A body slides onto a limit and stays.

    Products of 1e-14 N·s·m let it go at (κ/h m)^½ = 1e-6 m/s a step, and less later.
    """
    body = RigidBody("body", 1.0, ((0.1, 0.0, 0.0), (0.0, 0.1, 0.0), (0.0, 0.0, 0.1)))
    slide = joint("prismatic", "slide", None, "body", (1.0, 0.0, 0.0), freedoms=(Freedom(upper=0.5),))
    assembly = Assembly("stop", (body,), (slide,), gravity=(0.0, 0.0, 0.0))
    motion = assembly.simulate(1.0, 0.01, assembly.place(rates={"slide": 1.0}), complementarity=1e-14)
    at = motion.frame["position_slide"].to_numpy()
    np.testing.assert_allclose(at[:50], motion.time[:50], atol=1e-9)
    assert at.max() <= 0.5 + 1e-10
    assert at[51:].min() >= 0.5 - 50 * 0.5 * 1e-6

"""User-defined components against equivalent built-in ones, and refusals."""

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pytest

from formulations import mechanism as mech
from formulations.mechanism import ry, tx, tz
from tests.differences import jacobian

from .random_frames import tangent_rates


@dataclass(frozen=True)
class OwnSpring(mech.CustomPotential):
    """½ k (|p₁ − p₂| − x₀)²."""

    word: ClassVar[str] = "own-spring"
    first: mech.FrameName
    second: mech.FrameName
    stiffness: float
    length: float

    @staticmethod
    def energy(z, c):
        x = math.sqrt((z[0] - z[3]) ** 2 + (z[1] - z[4]) ** 2 + (z[2] - z[5]) ** 2)
        return 0.5 * c[0] * (x - c[1]) ** 2

    @staticmethod
    def gradient(z, c, g):
        x = math.sqrt((z[0] - z[3]) ** 2 + (z[1] - z[4]) ** 2 + (z[2] - z[5]) ** 2)
        for i in range(3):
            g[i] = c[0] * (x - c[1]) / x * (z[i] - z[i + 3])
            g[i + 3] = -g[i]


class OwnSpringWithHessian(OwnSpring):
    """Spring with ∂²V."""

    word: ClassVar[str] = ""

    @staticmethod
    def hessian(z, c, H):
        x = math.sqrt((z[0] - z[3]) ** 2 + (z[1] - z[4]) ** 2 + (z[2] - z[5]) ** 2)
        for i in range(3):
            for j in range(3):
                n = (z[i] - z[i + 3]) * (z[j] - z[j + 3]) / (x * x)
                k = c[0] * n + c[0] * (x - c[1]) / x * ((1.0 if i == j else 0.0) - n)
                H[i, j] = H[i + 3, j + 3] = k
                H[i, j + 3] = H[i + 3, j] = -k


@dataclass(frozen=True)
class OwnDamper(mech.CustomForce):
    frame: mech.FrameName
    coordinate: mech.CoordinateName
    damping: float
    wind: float

    @staticmethod
    def force(z, rate, t, c, f):  # noqa: ARG004
        f[0] = c[1] * t
        f[1] = f[2] = 0.0
        f[3] = -c[0] * rate[3]


@dataclass(frozen=True)
class OwnRod(mech.CustomConstraint):
    """(|p₁ − p₂|² − L²) / 2L."""

    first: mech.FrameName
    second: mech.FrameName
    length: float

    @staticmethod
    def value(z, c, h):
        h[0] = ((z[0] - z[3]) ** 2 + (z[1] - z[4]) ** 2 + (z[2] - z[5]) ** 2 - c[0] ** 2) / (2.0 * c[0])

    @staticmethod
    def jacobian(z, c, D):
        for i in range(3):
            D[0, i] = (z[i] - z[i + 3]) / c[0]
            D[0, i + 3] = -D[0, i]


def arms(**options) -> mech.Mechanism:
    left = ry("a", tz(-1.0, ry("b", tz(-0.7, name="left", mass=1.0)), mass=2.0))
    right = tx(1.5, ry("c", tz(-1.2, name="right", mass=1.5)))
    return mech.Mechanism("arms", [left, right], **options)


START = {"a": 0.3, "b": -0.8, "c": 0.4}


@pytest.mark.parametrize("own", [OwnSpring, OwnSpringWithHessian])
def test_a_potential_of_ones_own_is_as_good_as_the_one_it_repeats(own: type) -> None:
    runs = [
        arms(potentials=[one("left", "right", 40.0, 0.6)]).simulate(1.0, q=START) for one in (mech.LinearSpring, own)
    ]
    np.testing.assert_allclose(runs[1].frame.iloc[:, :-1], runs[0].frame.iloc[:, :-1], rtol=0, atol=1e-8)
    assert runs[1].summary["newton_mean"] <= runs[0].summary["newton_mean"] + 0.1


def test_a_force_of_ones_own_sees_rates_and_time() -> None:
    own = arms(forces=[OwnDamper("left", "c", 0.8, 0.0)]).simulate(1.0, q=START)
    known = arms(forces=[mech.Damper("c", 0.8)]).simulate(1.0, q=START)
    np.testing.assert_allclose(own.frame.iloc[:, :-1], known.frame.iloc[:, :-1], rtol=0, atol=1e-8)
    wind = mech.Mechanism(
        "wind", [tx("x", name="a", mass=2.0), tx("y", mass=1.0)], None, forces=[OwnDamper("a", "y", 0, 3)]
    )
    end = wind.simulate(1.0).frame.iloc[-1]
    assert end["position_x"] == pytest.approx(3.0 / 2.0 / 6.0, rel=1e-4)
    assert end["work"] == pytest.approx(end["energy"], rel=1e-4)


def test_a_constraint_of_ones_own_is_the_one_it_repeats() -> None:
    start = arms().configuration(START)
    apart = float(np.linalg.norm(arms().frame("left").position(start) - arms().frame("right").position(start)))
    runs = [arms(constraints=[rod("left", "right", apart)]).simulate(1.0, q=start) for rod in (mech.Distance, OwnRod)]
    np.testing.assert_allclose(runs[1].frame.to_numpy(), runs[0].frame.to_numpy(), rtol=0, atol=1e-9)
    assert "multiplier_OwnRod_left_right" in runs[1].frame


@dataclass(frozen=True)
class OwnWind(mech.CustomForce):
    """A drag by the cube of the speed that grows with the height and in time; and a force along a coordinate."""

    frame: mech.FrameName
    coordinate: mech.CoordinateName
    drag: float

    @staticmethod
    def force(z, rate, t, c, f):
        speed = rate[0] * rate[0] + rate[1] * rate[1] + rate[2] * rate[2]
        for i in range(3):
            f[i] = -c[0] * (1.0 + z[2] * z[2] + math.sin(t)) * speed * rate[i]
        f[3] = c[0] * z[0] * z[3]


def maps(mechanism: mech.Mechanism, share: float = 0.5) -> tuple[mech.DiscreteMechanism, np.ndarray, np.ndarray]:
    system = mech.DiscreteMechanism(mechanism, 0.01, force_share=share, tolerance=1e-14)
    q = mechanism.satisfy_constraints(START)
    v = tangent_rates(mechanism, q, mechanism.rates({"a": 0.8, "b": -1.3, "c": 0.5}))
    return system, system.state(q, v), np.zeros(0)


@pytest.mark.parametrize("own", [OwnSpring, OwnSpringWithHessian])
def test_it_is_differentiated_as_the_one_that_it_repeats(own: type) -> None:
    apart = 1.4
    kinds = ((mech.LinearSpring, mech.Distance), (own, OwnRod))
    found = []
    for spring, rod in kinds:
        mechanism = arms(
            potentials=[spring("left", "right", 40.0, 0.6)],
            constraints=[rod("right", "left", apart)],
            forces=[mech.Damper("c", 0.8)] if rod is mech.Distance else [OwnDamper("left", "c", 0.8, 0.0)],
        )
        system, x, u = maps(mechanism)
        found.append(system.linearize(x, u))
    weights = np.arange(1.0, 1.0 + found[0].A.shape[0])
    np.testing.assert_allclose(found[1].A, found[0].A, rtol=0, atol=1e-10 * np.abs(found[0].A).max())
    np.testing.assert_allclose(found[1].multipliers_by_state, found[0].multipliers_by_state, rtol=1e-9, atol=1e-9)
    for one, other in (
        (found[1].second(), found[0].second()),
        (found[1].weighted_second(weights), found[0].weighted_second(weights)),
    ):
        assert np.abs(other).max() > 0.0
        np.testing.assert_allclose(one, other, rtol=0, atol=1e-8 * np.abs(other).max())


def test_a_force_that_is_not_linear_is_differentiated_too() -> None:
    system, x, u = maps(arms(forces=[OwnWind("left", "b", 0.7)]), share=0.3)

    def first(x: np.ndarray) -> np.ndarray:
        return system.linearize(x, u, 0.4).A

    A, second = first(x), system.linearize(x, u, 0.4).second()
    assert jacobian(lambda x: system.advance(x, u, 0.4), x, 1e-4).departure(A, 1e-9, alike=True) <= 1.0
    assert jacobian(first, x, 1e-3).departure(second, 1e-7, alike=True) <= 1.0


def test_one_can_be_named_in_words() -> None:
    assert mech.COMPONENTS["own-spring"] is OwnSpring
    assert OwnSpring.from_words(["left", "right", 40.0], {"length": 0.6}) == OwnSpring("left", "right", 40.0, 0.6)


def test_what_is_missing_is_told() -> None:
    @dataclass(frozen=True)
    class NoGradient(mech.CustomPotential):
        coordinate: mech.CoordinateName

        @staticmethod
        def energy(z, c):  # noqa: ARG004
            return z[0]

    with pytest.raises(mech.MechanismError, match="NoGradient has no function gradient"):
        arms(potentials=[NoGradient("a")])

    @dataclass(frozen=True)
    class OfNothing(mech.CustomForce):
        size: float

    with pytest.raises(mech.MechanismError, match="depends on no frame or variable"):
        arms(forces=[OfNothing(1.0)])
    with pytest.raises(mech.MechanismError, match=r"length = nan"):
        arms(potentials=[OwnSpring("left", "right", 1.0, math.nan)])


def test_accelerations_are_those_of_the_built_in_ones() -> None:
    """With a constraint's ∂²h from differences, and the wind at its time."""
    v = {"a": 0.5, "b": -1.0, "c": 0.8}
    length = float(np.linalg.norm(arms().frame("left").position(START) - arms().frame("right").position(START)))
    own = arms(
        constraints=[OwnRod("left", "right", length)],
        potentials=[OwnSpring("left", "right", 30.0, 0.4)],
        forces=[OwnDamper("left", "b", 0.3, 0.9)],
    )
    built_in = arms(
        constraints=[mech.Distance("left", "right", length)],
        potentials=[mech.LinearSpring("left", "right", 30.0, 0.4)],
        forces=[mech.Damper("b", 0.3), mech.HybridWrench("left", (lambda t: 0.9 * t, 0.0, 0.0))],
    )
    found, expected = (mech.accelerations(one, START, v, time=0.7) for one in (own, built_in))
    np.testing.assert_allclose(found.coordinates, expected.coordinates, rtol=1e-9)
    np.testing.assert_allclose(found.multipliers, expected.multipliers, rtol=1e-9)
    one, other = (mech.integrate(each, 0.5, 0.05, q=START).frame for each in (own, built_in))
    np.testing.assert_allclose(one["work"], other["work"], atol=1e-8)
    np.testing.assert_allclose(one["energy"], other["energy"], rtol=1e-8)

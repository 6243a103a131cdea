"""Frames that a general twist moves: its exponential, what it is made of otherwise, its derivatives, and its text."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.linalg import expm

from biped import Body, Model, box_inertia, dynamics, helical
from formulations import mechanism as mech
from formulations.mechanism import rx, ry, rz, tx, ty, tz
from formulations.mechanism.frames import exponential, hat
from tests.differences import jacobian
from tests.refusals import refuses

AXIS = np.array([2.0, -1.0, 2.0]) / 3.0
PLACE, PITCH = (0.3, 0.2, -0.4), 0.15
BODY = (1.5, 0.05, 0.07, 0.04)


def xi() -> tuple[float, ...]:
    return (*(np.cross(PLACE, AXIS) + PITCH * AXIS), *AXIS)


def screwed() -> mech.Mechanism:
    """A chain with a general screw, a hinge and an oblique slide, a branch, a spring and a rod between two of them."""
    slide = mech.twist("slide", (*AXIS[[1, 2, 0]], 0.0, 0.0, 0.0), tz(-0.3, rx(0.4, name="tip", mass=BODY)))
    hinge = ry("hinge", tx(0.5, slide, mass=BODY))
    branch = mech.screw("branch", (1.0, 2.0, -1.0), ty(0.4, name="other", mass=BODY), point=(0.1, 0.0, 0.2), pitch=-0.1)
    moved = mech.twist("screw", xi(), rz(0.3, tx(0.4, hinge, branch, mass=BODY)))
    return mech.Mechanism(
        "screwed", [tz(0.2, moved)],
        potentials=[mech.LinearSpring("tip", "other", 20.0, 0.3)],
        constraints=[mech.Distance("tip", "world", 0.8)],
        forces=[mech.Damper("screw", 0.2), mech.Torque("hinge", 0.0)],
    )  # fmt: skip


Q, V = np.array([0.4, -0.7, 0.2, 0.5]), np.array([0.6, 1.0, -0.4, 0.8])


@pytest.mark.parametrize("along", [xi(), (*AXIS, 0.0, 0.0, 0.0), (0.0, 0.0, 0.0, *AXIS)])
@pytest.mark.parametrize("value", [0.0, 0.7, -2.9, 8.0])
def test_a_frames_matrix_is_the_exponential(along: tuple[float, ...], value: float) -> None:
    found = mech.Frame("twist", value, twist=along).matrix()
    assert_allclose(found, expm(hat(along) * value), atol=1e-14 * (1.0 + abs(value)))
    assert_allclose(exponential(along, value), found, atol=0.0)


def test_places_are_products_of_exponentials() -> None:
    mechanism = mech.Mechanism("one", [tz(0.2, ry("a", mech.twist("q", xi(), tx(0.4, name="tip", mass=1.0))))])
    base, arm = tz(0.2).matrix() @ ry(0.5).matrix(), tx(0.4).matrix()
    expected = base @ expm(0.9 * hat(xi())) @ arm
    assert_allclose(mechanism.frame("tip").transform({"a": 0.5, "q": 0.9}), expected, atol=1e-14)


def test_a_hinge_about_any_axis_is_a_hinge_between_constants() -> None:
    """To rounding, for a whole motion: the axis is turned onto z and back."""
    around, down = float(np.arctan2(AXIS[1], AXIS[0])), float(np.arccos(AXIS[2]))
    x, y, z = PLACE
    back = ry(-down, rz(-around, tx(-x, ty(-y, tz(-z, tx(0.4, mass=BODY))))))
    composed = mech.Mechanism("a", [tx(x, ty(y, tz(z, rz(around, ry(down, rz("q", back))))))])
    direct = mech.Mechanism("b", [mech.screw("q", AXIS, tx(0.4, mass=BODY), point=PLACE)])
    one, other = (mechanism.simulate(2.0, 0.01, q={"q": 0.5}, v={"q": 1.0}) for mechanism in (composed, direct))
    assert_allclose(other.q, one.q, atol=1e-10)
    assert_allclose(other.frame["energy"], one.frame["energy"], atol=1e-10)


def test_a_screw_is_a_turn_and_a_shift_that_a_constraint_couples() -> None:
    body = tx(0.4, mass=BODY)
    direct = mech.Mechanism("a", [rx(0.6, mech.screw("q", (0.0, 0.0, 1.0), body, pitch=PITCH))])
    coupled = mech.Mechanism("b", [rx(0.6, rz("q", tz("d", body)))], constraints=[mech.Screw("q", "d", PITCH)])
    found = mech.accelerations(direct, {"q": 0.5}, {"q": 2.0}).coordinates
    expected = mech.accelerations(coupled, {"q": 0.5, "d": 0.5 * PITCH}, {"q": 2.0, "d": 2.0 * PITCH}).coordinates
    assert_allclose(found[0], expected[0], rtol=1e-12)
    motions = (
        direct.simulate(1.0, 0.001, q={"q": 0.5}, v={"q": 2.0}),
        coupled.simulate(1.0, 0.001, q={"q": 0.5, "d": 0.5 * PITCH}, v={"q": 2.0, "d": 2.0 * PITCH}),
    )
    assert_allclose(motions[0].q[:, 0], motions[1].q[:, 0], atol=1e-5)  # both are of second order


def test_its_energy_stays() -> None:
    mechanism = mech.Mechanism("screw", [rx(0.6, mech.screw("q", AXIS, tx(0.4, mass=BODY), point=PLACE, pitch=PITCH))])
    energy = [mechanism.simulate(5.0, h, v={"q": 3.0}).frame["energy"].to_numpy() for h in (0.01, 0.005)]
    drift = [np.abs(one - one[0]).max() for one in energy]
    assert drift[0] / drift[1] == pytest.approx(4.0, rel=0.1)


def test_its_steps_have_exact_derivatives() -> None:
    mechanism = screwed()
    system = mech.DiscreteMechanism(mechanism, 0.01, tolerance=1e-14)
    x, k = system.state(mechanism.satisfy_constraints(Q), V), system.states
    w = np.append(x, 0.3)

    def slopes(w: np.ndarray) -> np.ndarray:
        found = system.linearize(w[:k], w[k:])
        return np.hstack([found.A, found.B])

    assert jacobian(lambda w: system.advance(w[:k], w[k:]), w, 2e-4).departure(slopes(w), 1e-8, alike=True) <= 1.0
    assert jacobian(slopes, w, 2e-4).departure(system.linearize(x, w[k:]).second(), 1e-8, alike=True) <= 1.0


def test_text_says_it_and_is_read_back() -> None:
    text = mech.mechanism_text(screwed())
    assert mech.load_mechanism(text).frames == screwed().frames
    read = mech.load_mechanism('(system (twist "q" (0 0 0.1 0 0 1) tx 0.4 (name "tip") (mass 1)))')
    assert (
        read.frames
        == mech.Mechanism("m", [mech.twist("q", (0, 0, 0.1, 0, 0, 1), tx(0.4, name="tip", mass=1.0))]).frames
    )
    assert (
        read.frames
        != mech.Mechanism("m", [mech.twist("q", (0, 0, 0.2, 0, 0, 1), tx(0.4, name="tip", mass=1.0))]).frames
    )


@pytest.mark.parametrize(
    "text", ['(system (twist "q" (mass 1)))', '(system (twist "q"))', '(system (twist "q" (0 1) (mass 1)))']
)
def test_text_that_lacks_its_six_numbers_is_refused(text: str) -> None:
    with pytest.raises(mech.MechanismError, match="twist"):
        mech.load_mechanism(text)


def test_a_model_with_screws_goes_there_and_back() -> None:
    bodies = (
        Body("nut", 2.0, box_inertia(2.0, (0.2, 0.3, 0.1)), (0.1, 0.0, 0.2), helical("a", (1.0, 1.0, 0.0), 0.2)),
        Body("arm", 1.0, box_inertia(1.0, (0.1, 0.1, 0.6)), (0.0, 0.1, -0.3),
             helical("b", (0.0, 1.0, 0.5), -0.1, (0.3, 0.0, 0.1)), "nut"),
    )  # fmt: skip
    model = Model("screws", bodies)
    mechanism = mech.from_model(model)
    q, v = np.array([0.4, -0.8]), np.array([1.0, 2.0])
    expected = dynamics.forward_dynamics(model, q, v, np.zeros(2))
    assert_allclose(mech.accelerations(mechanism, q, v).coordinates, expected, rtol=1e-11)
    back = mechanism.model
    assert [body.joint.kind for body in back.bodies] == ["helical", "helical"]
    assert_allclose([body.joint.pitch for body in back.bodies], [0.2, -0.1], rtol=1e-14)
    assert_allclose(dynamics.forward_dynamics(back, q, v, np.zeros(2)), expected, rtol=1e-11)


def test_it_is_drawn_on_its_axis() -> None:
    mechanism = mech.Mechanism("one", [tz(0.2, mech.screw("q", AXIS, tx(0.4, name="tip", mass=BODY), point=PLACE))])
    pin = next(one for one in mechanism.model.visuals if one.form == "cylinder")
    off = pin.center + mechanism.structure.coordinates[0].origin - np.add(PLACE, (0.0, 0.0, 0.2))
    assert_allclose(np.cross(AXIS, off), 0.0, atol=1e-12)
    assert mechanism.plot({"q": 0.3}) is not None


@refuses(
    (lambda: mech.twist("q", (0.0, 0.0, 0.1, 0.0, 0.0, 2.0)), "of length 2"),
    (lambda: mech.twist("q", (0.0,) * 6), "of length 0"),
    (lambda: mech.twist("q", (1.0, 2.0, 3.0)), "6 finite numbers"),
    (lambda: mech.twist("q", (1.0, 0.0, np.nan, 0.0, 0.0, 0.0)), "6 finite numbers"),
    (lambda: mech.screw("q", (0.0, 0.0, 0.0)), "must not be zero"),
    (lambda: mech.screw("q", (0.0, 0.0, 1.0), pitch=np.inf), "pitch of a screw"),
    (lambda: mech.Frame("tx", "q", twist=(0.0, 0.0, 0.0, 0.0, 0.0, 1.0)), "does not use twist"),
    error=mech.MechanismError,
)
def test_what_is_no_twist_is_refused(make):
    make()

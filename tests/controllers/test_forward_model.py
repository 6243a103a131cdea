"""Forward model of commanded accelerations: longhand twin of its kernels, and benefits in runs."""

import numpy as np
import pytest
from scipy.linalg import null_space

from biped import InputError, Scene, Sensors, Session, WholeBody, human, mass_matrix
from biped.derivatives.linearization.coordinates import displaced, displacement
from controllers import LQR, ForwardModel, Predicted, Stepping, WholeBodyController
from controllers.kernels.contact_qp import ENDED, SOLVED
from controllers.kernels.forward_model import BLOCK, SOFT
from controllers.kernels.stepping import PHASE, STANDS, SWING, SWINGS, TAKEN
from experiments.catalogue.registry import experiment_named
from tests.conftest import assert_goes_back
from tests.refusals import refuses
from tests.rounding import summed

DELAY, MUSCLES = 0.05, {"stiffness": 300.0, "damping": 30.0}


def session_of(name="whole-body", delay=DELAY, **changes):
    late = {
        "controller.name": name,
        "sensors.delay": delay,
        "sensors.force.delay": delay,
        "sensors.proprioceptive.joint_noise": 1e-4,
    }
    return Session(experiment_named("balance").build(late | changes))


def is_anew(law):
    return law.since[0] == 1


def at_swing(session):
    law = session.plan.law
    for _ in range(600):
        session.advance(1)
        if law.swings[0] >= 0 and session.time > 0.75 and is_anew(law):
            return law
    raise AssertionError("it takes no step")


def freedom(law, q):
    """Return M, P and N, longhand, with stance feet held and muscles implicit; and the effect of SOFT."""
    model = human()
    at, goes = WholeBody(model, q), law.goes
    mass = at.mass_matrix + goes.span * np.diag(goes.drag)
    standing = [foot for k, foot in enumerate(model.feet) if k != law.swings[0]]
    rows = np.vstack([at.jacobian(foot) for foot in standing])
    ways = null_space(rows)
    free = ways @ np.linalg.solve(ways.T @ mass @ ways, ways.T)
    softness = SOFT * np.linalg.cond(rows @ np.linalg.solve(mass, rows.T)) + summed(len(mass), np.linalg.cond(mass))
    return at.mass_matrix, free, free @ mass, softness


@pytest.fixture(scope="module", params=["whole-body", "stepping"])
def begun(request):
    if request.param == "whole-body":
        session = session_of(**{"push.impulse": 15.0})
        session.advance(280)
        while not is_anew(session.plan.law):
            session.advance(1)
        assert session.time < 0.7
        return session, session.plan.law
    session = session_of("stepping", delay=0.02, **{"push.impulse": 48.0})
    return session, at_swing(session)


def latest(law):
    row = int(law.ticks[0] - 1) % len(law.past_q)
    return row, law.past_q[row], law.past_rates[row]


def test_errors_go_on_with_the_feet_held_that_stand(begun):
    """Errors follow backward Euler of M ë = −G e − D ė in the motions that the feet allow, up to soft feet."""
    _, law = begun
    row, q, _ = latest(law)
    mass, free, allowed, buffers = freedom(law, q)
    nv, goes = len(mass), law.goes
    np.testing.assert_allclose(goes.free, free, rtol=0, atol=buffers * np.abs(free).max())
    np.testing.assert_allclose(goes.allowed.T, allowed, rtol=0, atol=buffers * np.abs(allowed).max())
    by_place, by_rate = -goes.span * free @ goes.pull[1 + law.swings[0]].T, free @ mass
    onward = law.onward[law.which[row]]
    np.testing.assert_allclose(onward[:nv].T, by_place, rtol=0, atol=buffers * np.abs(by_place).max())
    np.testing.assert_allclose(onward[nv:].T, by_rate, rtol=0, atol=buffers * np.abs(by_rate).max())


def test_a_foot_that_swings_is_free_and_the_other_is_not(begun):
    _, law = begun
    at = WholeBody(human(), latest(law)[1])
    for k, foot in enumerate(human().feet):
        left = np.abs(at.jacobian(foot) @ law.goes.allowed.T).max()
        assert left > 0.1 if k == law.swings[0] else left < freedom(law, latest(law)[1])[3]


def test_what_is_foreseen_is_what_was_asked_for(begun):
    _, law = begun
    _, q, rates = latest(law)
    _, _, allowed, buffers = freedom(law, q)
    share, half = law.goes.share, 0.5 * law.goes.span

    def on(given):
        moved = given + half * law.asked
        return (1.0 - share) * moved + share * allowed @ moved

    middle = on(rates)
    size = np.abs(middle).max() + half * np.abs(law.asked).max()
    np.testing.assert_allclose(law.rates, on(middle), rtol=0, atol=buffers * size)
    np.testing.assert_allclose(
        law.q, displaced(human(), q, law.goes.span * middle), rtol=0, atol=buffers * law.goes.span * size
    )


def assert_mended_by_the_sum(session, size=0.0):
    """Advance by the delay and a tick, whose correction must be the longhand sum over the delay, to rounding.

    Return the largest error in the sum, or ``size`` [m, m/s] if that is larger.
    """
    law, model = session.plan.law, human()
    depth, nv, q = len(law.past_q), model.nv, session.state.q.copy()
    rates = np.linalg.solve(mass_matrix(model, q), session.state.momentum)
    session.advance(depth)
    tick = int(law.ticks[0])
    row, onward, mended = tick % depth, law.onward[law.which], law.mended.copy()
    foreseen, foreseen_rates = law.q.copy(), law.rates.copy()
    error = np.concatenate([displacement(model, law.past_q[row], q), rates - law.past_rates[row]])
    size = max(size, np.abs(error).max())
    for age in range(depth, 0, -1):
        rate = error @ onward[(tick - age) % depth]
        error = np.concatenate([error[:nv] + law.goes.span * rate, rate])
        if age > 1:
            error -= mended[(tick - age + 1) % depth]
        size = max(size, np.abs(error).max())
    session.advance(1)
    np.testing.assert_allclose(law.mended[row], error, rtol=0, atol=summed(depth * nv, size))
    np.testing.assert_allclose(
        law.past_q[row], displaced(model, foreseen, error[:nv]), rtol=0, atol=summed(depth * nv, 1.0)
    )
    np.testing.assert_allclose(law.past_rates[row], foreseen_rates + error[nv:], rtol=0, atol=summed(depth * nv, 10.0))
    return size


@pytest.mark.parametrize(("name", "delay", "impulse"), [("whole-body", DELAY, 15.0), ("stepping", 0.02, 48.0)])
def test_it_is_mended_by_what_the_senses_show_to_have_been_missed(name, delay, impulse):
    session = session_of(name, delay, **{"push.impulse": impulse, "sensors.proprioceptive.joint_noise": 0.0})
    session.advance(350 - 1 - len(session.plan.law.past_q))
    assert assert_mended_by_the_sum(session) > 1e-2  # there was a push
    assert session.plan.law.leaps[0] > 1  # and blocks of ticks that were gone over at once


def test_nothing_is_left_of_rounding_once_the_delay_has_passed():
    """Add 1e-12 to the whole memory of the law: a delay and a block later, and 10 s later, the sum holds to rounding.

    A recursion from the previous tick would keep the difference and multiply it e-fold each 0.7 s. Rounding is that of
    positions, which are about a metre: the body hardly moves.
    """
    session = session_of(delay=0.15, **{"sensors.proprioceptive.joint_noise": 0.0, "run.step": 2e-3})
    law = session.plan.law
    session.advance(200)
    for carried in (law.q, law.rates, law.past_q, law.past_rates, law.mended, law.within):
        carried += 1e-12
    session.advance(BLOCK)
    assert_mended_by_the_sum(session, size=1.0)
    session.advance(5000)
    assert_mended_by_the_sum(session, size=1.0)


def test_gravity_pulls_as_the_slopes_of_an_energy():
    """For motions that the feet allow, G is symmetric up to central differences, and has an unstable mode."""
    law = ForwardModel(WholeBodyController(), DELAY).law(human())
    at = WholeBody(human(), law.muscles.rest)
    ways = null_space(np.vstack([at.jacobian(foot) for foot in human().feet]))
    slopes = ways.T @ law.goes.pull[0].T @ ways
    assert np.abs(slopes - slopes.T).max() < 1e-6 * np.abs(slopes).max()
    assert np.linalg.eigvalsh(slopes + slopes.T).min() < 0.0


def missed(name, delay, impulse, until):
    """Return the RMS errors [m, rad] of the predicted and of the sensed state, from the push on."""
    session = session_of(name, delay, **{"push.impulse": impulse, "sensors.proprioceptive.joint_noise": 0.0})
    law, shown, true = session.plan.law, [], []
    while session.time < until:
        true.append(session.state.q.copy())
        session.advance(1)
        shown.append(latest(law)[1].copy())
    depth, late = len(law.past_q), []
    seen = []
    for k in range(depth + round(0.5 / session.period), len(true)):
        seen.append(displacement(human(), true[k], shown[k]))
        late.append(displacement(human(), true[k], true[k - depth]))
    return np.sqrt(np.mean(np.square(seen))), np.sqrt(np.mean(np.square(late)))


@pytest.mark.parametrize(("name", "delay", "impulse"), [("whole-body", 0.1, 15.0), ("stepping", 0.02, 48.0)])
def test_it_misses_less_than_the_senses_do(name, delay, impulse):
    seen, late = missed(name, delay, impulse, 1.0)
    assert seen < 0.5 * late


def test_a_foot_that_has_landed_stands_though_the_senses_say_so_later():
    """A landed foot's points carry from the next tick on, with the last commanded forces: longhand, over two steps."""
    session = session_of("stepping", **{"push.impulse": 48.0, "push.azimuth": np.pi / 2})
    law = session.plan.law.inner
    stance, qp, phase, landed = law.body.stance, law.body.qp, law.phase, []
    while session.time < 1.6:
        forces = qp.unknown[human().nv :].reshape(-1, 3)[:, 2].clip(min=0.0)
        before, solved = phase.copy(), qp.counts[ENDED] == SOLVED
        session.advance(1)
        if before[PHASE] == STANDS and before[TAKEN] == 0:
            continue
        if before[PHASE] != SWINGS:
            swings = stance.point_foot == (phase[SWING] if phase[PHASE] == SWINGS else -1)
            np.testing.assert_array_equal(qp.carries, ~swings)
        if solved and forces.any():
            shares = np.bincount(stance.point_foot, forces) / forces.sum()
            np.testing.assert_allclose(law.body.buffers.shares, shares, rtol=0, atol=summed(len(forces), 1.0))
        if phase[TAKEN] > before[TAKEN]:
            landed.append(phase[SWING])
    assert set(landed) == {0, 1}


@pytest.mark.parametrize(
    ("name", "impulse", "verdict"), [("whole-body", 36.0, "recovered"), ("stepping", 46.0, "stepped")]
)
@pytest.mark.parametrize("force_delay", [0.0, 2.0 * DELAY])
def test_with_late_senses_laws_withstand_what_they_do_not_without(name, impulse, verdict, force_delay):
    late = {"controller.name": name, "sensors.delay": DELAY, "push.azimuth": np.pi / 2, "push.impulse": impulse}
    late["sensors.force.delay"] = force_delay
    balance = experiment_named("balance")
    scene = balance.build(late)
    assert isinstance(scene.controller, ForwardModel)
    assert scene.run().summary["verdict"] == verdict
    assert balance.build(late | {"sensors.predict": 0}).run().summary["verdict"] in ("fell", "lost control")


def test_a_session_restored_in_the_middle_of_a_step_goes_on_bit_for_bit():
    late = {
        "controller.name": "stepping",
        "sensors.delay": 0.02,
        "push.impulse": 48.0,
        "sensors.proprioceptive.joint_noise": 1e-4,
    }
    assert_goes_back(experiment_named("balance").build(late), 340, 60)


@refuses(
    (lambda: ForwardModel(LQR(), 0.1), "WholeBodyController, or Stepping, .* use Predicted for other controllers"),
    (lambda: ForwardModel(Stepping(), 0.0131), "whole number of control periods"),
    (lambda: ForwardModel(WholeBodyController(), 0.1, yielding=0.0), "forwardmodel.yielding"),
    (lambda: ForwardModel(WholeBodyController(), 0.1, damping=-1.0), "forwardmodel.damping"),
)  # fmt: skip
def test_what_it_cannot_serve_is_refused(make):
    make()


def test_a_law_in_python_is_refused():
    class Mine(WholeBodyController):
        def law(self, model):
            return None

    for kind in (ForwardModel, Predicted):
        with pytest.raises(InputError, match="needs a compiled controller"):
            kind(Mine(), 0.1).law(human())


def test_muscles_that_are_none_are_no_impedance():
    bare = ForwardModel(WholeBodyController(), 0.1)
    assert bare.impedance(human()) is None
    assert ForwardModel(WholeBodyController(), 0.1, **MUSCLES).impedance(human()).stiffness["left_hip_roll"] == 300.0
    scene = Scene(human(), bare, disturbances=[Sensors(delay=0.1)], duration=1.0)
    assert scene.run().summary["verdict"] == "recovered"

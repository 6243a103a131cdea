"""Controllers with prediction over the sensory delay."""

from dataclasses import replace

import numpy as np
import pytest

from biped import InputError, Scene, Sensors, Session, State, human, mass_matrix
from biped.derivatives.linearization.coordinates import displaced, displacement
from biped.disturbances.sensors import ProprioceptiveChannel
from controllers import LQR, ForwardModel, JointImpedance, JointPD, Predicted, WholeBodyController
from controllers.predicted import GROWTH
from experiments.catalogue.registry import experiment_named
from tests.conftest import assert_goes_back
from tests.refusals import refuses
from tests.rounding import summed

DELAY = 0.05


def law_of(inner=None, **changes):
    return Predicted(inner or LQR(), DELAY, **changes)


def begun(law, size, seed=1):
    model = human()
    start = law.stance(model).state.copy()
    direction = np.random.default_rng(seed).normal(size=model.nv)
    start.arrays.momentum[:] += size * law.stance(model).mass @ direction
    return start


def missed(size):
    law = law_of(reference="world", stiffness=200.0, damping=10.0)
    start = begun(law, size)
    session = Session(Scene(start.model, law, state=start, disturbances=[Sensors(delay=DELAY)]))
    session.advance(40)
    there = session.state.q.copy()
    rate = np.linalg.solve(mass_matrix(start.model, there), session.state.momentum)
    session.advance(1)
    seen = session.plan.world.measurement
    return max(np.abs(displacement(start.model, there, seen.q)).max(), 0.1 * np.abs(seen.motion.rates - rate).max())


def test_what_is_shown_is_what_is_but_for_the_square_of_deviations():
    sizes = (4e-3, 2e-3, 1e-3)
    errors = [missed(size) for size in sizes]
    order = np.polyfit(np.log(sizes), np.log(errors), 1)[0]
    assert 1.8 < order < 2.2


def test_powers_are_computed_once_and_what_changes_in_a_run_is_its_own():
    law = law_of()
    one, other, later = law.law(human()), law_of().law(human()), law_of(inner=LQR(horizon=1.0)).law(human())
    assert one.by_torque is other.by_torque is later.by_torque  # which depend on the stance and the delay alone
    assert replace(law, delay=2.0 * DELAY).law(human()).by_torque.shape[0] == 2 * len(one.given) + 1
    for name in ("given", "done", "ticks", "error", "predicted"):
        assert not np.shares_memory(getattr(one, name), getattr(other, name))


def test_what_torques_have_come_to_is_their_sum():
    """The recursion equals the sum of the torques' effects, up to the growth of rounding."""
    session = Session(Scene(human(), law_of(), disturbances=[Sensors(delay=DELAY)]))
    session.advance(137)
    law = session.plan.law
    depth, latest = law.given.shape[0], int(law.ticks[0]) - 1
    given = law.given[(latest - np.arange(depth)) % depth]
    size = np.einsum("ik,ikj->j", np.abs(given), np.abs(law.by_torque[:depth])).max()
    np.testing.assert_allclose(
        law.done, np.einsum("ik,ikj->j", given, law.by_torque[:depth]), rtol=0, atol=GROWTH * summed(depth * 12, size)
    )
    assert law.anew > 10
    assert size > 0.0


def test_where_nothing_moves_nothing_is_foreseen():
    law = law_of(reference="world")
    start = begun(law, 0.0)
    session = Session(Scene(start.model, law, state=start, disturbances=[Sensors(delay=DELAY)]))
    session.advance(100)
    assert np.abs(displacement(start.model, start.q, session.state.q)).max() < 1e-9


#: Each brings the compilation of a law within another: one does it in the fast tests.
SLOW = pytest.mark.slow


@pytest.mark.parametrize(
    "name", ["lqr", *(pytest.param(n, marks=SLOW) for n in ("whole-body", "cone-workspace", "workspace"))]
)
def test_laws_stand_with_senses_of_150_ms_that_fall_without(name):
    balance = experiment_named("balance")
    late = {"controller.name": name, "sensors.delay": 0.15}
    assert balance.build(late).run().summary["verdict"] == "recovered"
    blind = balance.build(late | {"sensors.predict": 0})
    assert blind.run().summary["verdict"] in ("fell", "lost control")
    bare = balance.build(late | {"sensors.predict_stiffness": 0.0, "sensors.predict_damping": 0.0})
    assert bare.run().summary["verdict"] == "recovered"


def test_a_restored_session_goes_on_bit_for_bit():
    scene = Scene(
        human(), law_of(), disturbances=[Sensors(DELAY, proprioceptive=ProprioceptiveChannel(joint_noise=1e-3))]
    )
    assert_goes_back(scene, 60, 100)


def test_it_turns_and_moves_with_the_feet():
    """Quantities relative to the feet do not depend on the feet's position and heading."""
    law = law_of()
    shown = []
    for turn in (0.0, 1.1):
        start = begun(law, 0.0)
        model, far = start.model, np.zeros(start.model.nv)
        far[:2], far[5] = (0.0, 0.0) if turn == 0.0 else (3.0, -2.0), turn
        moved = displaced(model, start.q, far)
        session = Session(Scene(model, law, state=State.at(model, moved), disturbances=[Sensors(delay=DELAY)]))
        session.advance(1)
        shown.append(displacement(model, moved, session.plan.world.measurement.q))
    np.testing.assert_allclose(shown[1], shown[0], atol=1e-9)


@refuses(
    (lambda: Predicted(LQR(), 0.0), "predicted.delay"),
    (lambda: Predicted(LQR(), 0.0131), "whole number of control periods of 0.002 s"),
    (lambda: Predicted("lqr", 0.1), "must be a compiled Controller"),
    (lambda: Predicted(LQR(), 0.1, reference="sky"), "world, feet"),
    (lambda: Predicted(LQR(), 0.1, stiffness=-1.0), "predicted.stiffness"),
    (lambda: Predicted(JointImpedance(), 0.1).law(human()), "holds joints by an impedance"),
)
def test_what_cannot_be_foreseen_is_refused(make):
    make()


def test_senses_that_are_not_all_as_late_are_not_foreseen_by():
    balance = experiment_named("balance")
    scene = balance.build({"controller.name": "whole-body", "sensors.delay": 0.1, "sensors.visual.delay": 0.02})
    assert isinstance(scene.controller, WholeBodyController)
    assert isinstance(balance.build({"controller.name": "whole-body", "sensors.delay": 0.1}).controller, ForwardModel)
    scene = balance.build({"controller.name": "lqr", "sensors.delay": 0.1})
    assert isinstance(scene.controller, Predicted)
    assert scene.controller.delay == 0.1
    assert isinstance(balance.build({"controller.name": "joint-pd", "sensors.delay": 0.1}).controller, JointPD)
    with pytest.raises(InputError, match=r"sensors.predict = 2"):
        balance.build({"sensors.predict": 2})


def pushed_to_the_left():
    late = {"controller.name": "cone-workspace", "sensors.delay": 0.02, "push.impulse": 35.0, "push.azimuth": np.pi / 2}
    return experiment_named("balance").build(late)


def test_a_delay_that_a_law_withstands_better_as_sensed_is_left_to_it():
    scene = pushed_to_the_left()
    assert not isinstance(scene.controller, Predicted)
    assert scene.run().summary["verdict"] == "recovered"


@SLOW
def test_seen_ahead_it_does_not_withstand_that():
    scene = pushed_to_the_left()
    ahead = replace(scene, controller=Predicted(scene.controller, 0.02, scene.floor, stiffness=300.0, damping=30.0))
    assert ahead.run().summary["verdict"] != "recovered"


#: Controllers with a predictor stand in both stances; controllers of postural control are for upright stance.
STANDS = [
    *((name, "upright") for name in ("postural", "reweighting")),
    *((name, "upright") for name in ("whole-body", "stepping", "workspace", "cone-workspace", "lqr")),
    *((name, "crouch") for name in ("whole-body", "stepping", "workspace", "cone-workspace", "lqr")),
]


def second_half(name, stance, delay, duration):
    """Return positions [m] of the centre of mass in the second half of a run that ends upright."""
    late = {"controller.name": name, "initial.stance": stance, "sensors.delay": delay}
    often = {"run.duration": duration, "run.step": 2e-3, "run.record_every": 0.02}
    run = experiment_named("balance").build(late | often).run()
    assert run.summary["verdict"] == "recovered"
    return np.array_split(run.frame[["com_x", "com_y", "com_z"]].to_numpy(), 2)[1]


def test_whole_body_stands_for_forty_seconds():
    """A rounding error that grew e-fold each 0.7 s would make the body fall within 25 s."""
    assert np.ptp(second_half("whole-body", "upright", 0.15, 40.0), axis=0).max() < 1e-6


@pytest.mark.slow
@pytest.mark.parametrize("delay", [0.1, 0.15])
@pytest.mark.parametrize(("name", "stance"), STANDS)
def test_controllers_stand_for_ten_minutes(name, stance, delay):
    """Controllers stand for ten minutes and come to rest: within 1 nm in the second five minutes."""
    assert np.ptp(second_half(name, stance, delay, 600.0), axis=0).max() < 1e-9

"""Laws in Python: what they see, what they record, when they are reset, and compiled laws that they ask."""

import threading
import time
import timeit
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
import pytest

from biped import Controller, Fall, Observation, Scene, Sensors, State, chain, simulate, standing
from biped.disturbances.sensors import ProprioceptiveChannel
from biped.kernels.loop.closed_loop import control
from contact import ContactState
from contact.arrays import Floats
from controllers import JointPD, WorkspaceController
from tests.refusals import refuses

CONTROLLER = WorkspaceController()


class Seeing(Controller):
    def __init__(self):
        self.seen = []

    def torques(self, observation):
        self.seen.append(observation)
        return CONTROLLER.torques(observation)


def test_it_sees_where_its_weight_is_and_where_the_floor_bears_it(person):
    law = Seeing()
    run = simulate(person, law, state=standing(person), duration=0.05)
    series = run.frame
    for k in (1, 10, 20):
        seen, row = law.seen[k], series.iloc[k]
        assert seen.time == row["time"]
        np.testing.assert_allclose(seen.com, row[["com_x", "com_y", "com_z"]], atol=1e-12)
        momentum = row[["momentum_px", "momentum_py", "momentum_pz"]].to_numpy()
        np.testing.assert_allclose(seen.com_velocity, momentum / person.total_mass, atol=1e-12)
        forces = row[[f"contact_{name}_fz" for name in person.contact_names]].to_numpy()
        places = row[[f"contact_{name}_x" for name in person.contact_names]].to_numpy()
        assert seen.centre_of_pressure[0] == pytest.approx(forces @ places / forces.sum(), abs=1e-12)
    assert replace(seen, contact_forces=np.zeros((person.nc, 3))).centre_of_pressure is None


def test_it_sees_the_contacts_and_torques_that_the_rows_have(person):
    law = Seeing()
    late = Sensors(4e-3, proprioceptive=ProprioceptiveChannel(joint_noise=1e-4), estimator="none")
    run = simulate(person, law, state=standing(person), duration=0.1, disturbances=[late])
    rows = run.frame.iloc[: len(law.seen)]
    assert np.array_equal([seen.time for seen in law.seen], rows["time"])
    for k, name in enumerate(person.contact_names):
        forces = rows[[f"contact_{name}_f{axis}" for axis in "xyz"]]
        assert np.array_equal([seen.contact_forces[k] for seen in law.seen], forces)
        assert np.array_equal([seen.contact_modes[k] for seen in law.seen], rows[f"contact_{name}_mode"])
    held = rows[[f"torque_{joint}" for joint in person.joint_names]].to_numpy()
    assert np.array_equal([seen.torques for seen in law.seen[1:]], held[:-1])
    assert (law.seen[-1].contact_modes == ContactState.STICKING).all()
    weight = sum(seen[2] for seen in law.seen[-1].contact_forces)
    assert weight == pytest.approx(9.81 * person.total_mass, rel=0.1)


def test_an_observation_is_a_copy(person):
    law = Seeing()
    simulate(person, law, state=standing(person), duration=0.02)
    kept = [(seen.q.copy(), seen.contact_forces.copy(), seen.torques.copy()) for seen in law.seen]
    assert not np.array_equal(kept[0][0], kept[-1][0])

    class Vandal(Seeing):
        def torques(self, observation):
            torques = super().torques(observation)
            for name in ("q", "v", "contact_forces", "contact_modes", "torques"):
                getattr(observation, name)[...] = 7
            return torques

    vandal = simulate(person, Vandal(), state=standing(person), duration=0.02)
    assert np.array_equal(vandal.state.q, simulate(person, Seeing(), state=standing(person), duration=0.02).state.q)


class Recording(Controller):
    recorded = {"law_time": "s", "first": "rad"}  # noqa: RUF012

    def torques(self, observation):
        observation.record(law_time=observation.time)
        if round(observation.time / self.period) % 2:
            observation.record(first=observation.angles[0])
        return np.zeros(len(observation.model.joint_names))


def test_what_it_records_stands_in_columns_with_units():
    model = chain(2)
    state = State.at(model, model.configuration(angles={"joint_1": 1.0}))
    run = simulate(model, Recording(), state=state, duration=0.02, step=1e-3, record_every=1e-3)
    assert (run.units["law_time"], run.units["first"]) == ("s", "rad")
    frame = run.frame[run.frame["time"] < 0.02 - 1e-9]
    ticks = np.round(frame["time"] / 1e-3).astype(int) // 2
    np.testing.assert_allclose(frame["law_time"], 2e-3 * ticks, atol=1e-12)
    shown = (ticks - (ticks + 1) % 2).to_numpy()
    assert frame["first"][shown < 0].isna().all()
    angle = dict(zip(np.round(frame["time"], 6), frame["angle_joint_1"], strict=True))
    expected = [angle[round(2e-3 * tick, 6)] for tick in shown[shown >= 0]]
    assert np.array_equal(frame["first"][shown >= 0], expected)
    # Outside of a run recording does nothing.
    assert not Recording().torques(Observation(model, 0.0, model.neutral(), np.zeros(2))).any()


@refuses(
    ({"frist": 1.0}, "unknown recorded number 'frist'; did you mean 'first'"),
    ({"first": "much"}, "record.first='much'.: it must be one number"),
    ({"first": [1.0, 2.0]}, "it must be one number"),
)
def test_what_cannot_be_recorded_is_told(given):
    class Wrong(Recording):
        def torques(self, observation):
            observation.record(**given)
            return np.zeros(2)

    simulate(chain(2), Wrong(), duration=0.01)


@refuses(
    (("time",), "'time', which is a column of every run"),
    ({"angle_joint_1": "rad"}, "'angle_joint_1', which is a column of every run"),
    ("zmp", "it must be names of columns"),
    ({"zmp": 3}, "it must be names of columns"),
    (("two words",), "it must be names of columns"),
)
def test_columns_that_cannot_be_are_told(names):
    class Wrong(Recording):
        recorded = names

    simulate(chain(2), Wrong(), duration=0.01)


def test_reset_comes_once_a_run_before_the_first_torques():
    calls = []

    class Law(Controller):
        def reset(self, observation):
            calls.append(("reset", observation.time, observation.q.copy()))

        def torques(self, observation):
            calls.append(("torques", observation.time, observation.q.copy()))
            return np.zeros(2)

    model = chain(2)
    state = State.at(model, model.configuration(angles={"joint_1": 1.0}))
    law = Law()
    for _ in range(2):
        state = simulate(model, law, state=state, duration=6e-3).state
    assert [(name, round(at, 6)) for name, at, _ in calls] == [
        ("reset", 0.0), ("torques", 0.0), ("torques", 0.002), ("torques", 0.004),
        ("reset", 0.006), ("torques", 0.006), ("torques", 0.008), ("torques", 0.01),
    ]  # fmt: skip
    assert np.array_equal(calls[0][2], calls[1][2])


class Scaled(NamedTuple):
    gain: float
    ticks: Floats  # (1,) how often it was asked


@control.register(Scaled)
def scaled(law, measurement, torque, recorded):
    law.ticks[0] += 1.0
    recorded[0] = law.ticks[0]
    for dof in range(torque.shape[0]):
        torque[dof] = law.gain * measurement.q[dof] + measurement.time[0]
    torque[1] = measurement.force[0, 2] + measurement.contact_state[0] + measurement.held[1]


@dataclass(frozen=True)
class ScaledController(Controller):
    gain: float = 1.0
    recorded = ("ticks",)

    def law(self, model):
        return Scaled(self.gain, np.zeros(1))


def test_a_compiled_law_answers_python_by_what_it_is_shown():
    model = chain(2)
    touch = np.array([[0.0, 0.0, 30.0]]), np.array([4])
    seen = Observation(model, 2.0, np.array([0.5, 0.25]), np.zeros(2), *touch, np.array([7.0, 8.0]))
    assert ScaledController(10.0).torques(seen).tolist() == [7.0, 30.0 + 4.0 + 8.0]
    # By hand without contacts there are none: what a law makes of them shows.
    by_hand = Observation(model, 2.0, np.array([0.5, 0.25]), np.zeros(2))
    assert ScaledController(10.0).torques(by_hand)[0] == 7.0
    assert np.isnan(ScaledController(10.0).torques(by_hand)[1])


def test_a_wrapped_law_does_bit_for_bit_what_it_does_compiled(person):
    options = {"duration": 0.2, "fall": Fall()}
    wrapped = simulate(person, Seeing(), state=standing(person), **options)
    compiled = simulate(person, CONTROLLER, state=standing(person), **options)
    assert np.array_equal(wrapped.state.q, compiled.state.q)
    assert np.array_equal(wrapped.state.momentum, compiled.state.momentum)


def test_settings_that_change_are_seen():
    class Loose(Controller):
        gain = 1.0

        def law(self, model):
            return Scaled(self.gain, np.zeros(1))

        recorded = ("ticks",)

    model, law = chain(2), Loose()
    seen = Observation(model, 0.0, np.array([1.0, 0.0]), np.zeros(2))
    for gain in (1.0, 3.0):
        law.gain = gain
        assert law.torques(seen)[0] == gain
    one = ScaledController(1.0)
    for gain in range(40):
        assert replace(one, gain=float(gain)).torques(seen)[0] == gain
        assert one.torques(seen)[0] == 1.0


def test_threads_do_not_meet_in_a_law(person):
    rng = np.random.default_rng(2)
    seen = [Observation(person, 0.0, standing(person).q, rng.normal(0.0, 0.5, 18)) for _ in range(4)]
    alone = [CONTROLLER.torques(one) for one in seen]
    wrong = []

    def ask(k):
        answers = [CONTROLLER.torques(seen[k]) for _ in range(300)]
        wrong.extend(k for answer in answers if not np.array_equal(answer, alone[k]))

    threads = [threading.Thread(target=ask, args=(k,)) for k in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []


def test_neither_torques_nor_a_law_is_told():
    with pytest.raises(NotImplementedError, match=r"Controller needs a method torques\(observation\), or law\(model\)"):
        simulate(chain(2), Controller(), duration=0.01)


def test_asking_costs_microseconds(person):
    law = Seeing()
    Scene(person, law, state=standing(person), duration=0.01).run()
    asked = timeit.repeat(lambda: CONTROLLER.torques(law.seen[0]), timer=time.process_time, repeat=10, number=50)
    assert min(asked) / 50 < 2e-4


def test_joint_pd_is_still_its_own_oracle(person):
    seen = Observation(person, 0.0, standing(person).q, np.ones(18))
    own = JointPD().torques(seen)
    np.testing.assert_allclose(Controller.torques(JointPD(), seen), own, rtol=1e-14)

"""Sessions: stepping is what a run does, going back changes nothing, bit for bit, and a seed is a session."""

import copy
import pickle
from dataclasses import dataclass, replace
from typing import ClassVar, NamedTuple

import numpy as np
import pytest

import biped
from biped.disturbances.sensors import ProprioceptiveChannel
from biped.kernels.loop.closed_loop import control
from biped.simulation.snapshot import arrays_of
from contact.arrays import Floats
from controllers import WorkspaceController
from tests.refusals import refuses

from ...conftest import assert_same_arrays, initial_posture

CONTROLLER = WorkspaceController((-0.01, 0.0, 1.10))
PUSH = biped.Push("trunk", (0.0, 1.0, 0.0), 3.0, start=0.02, duration=0.0333)
NOISY = biped.Sensors(6e-3, proprioceptive=ProprioceptiveChannel(joint_noise=1e-3, joint_rate_noise=1e-2), seed=3)
LIMITS = biped.Actuators(limit=150.0, noise=0.5, seed=5)


class Wrapped(biped.Controller):
    def torques(self, observation):
        return CONTROLLER.torques(observation)


class Integral(biped.Controller):
    def __init__(self, inner=CONTROLLER):
        self.inner = inner
        self.sum = np.full(12, np.nan)
        self.starts = []

    def reset(self, observation):
        self.starts.append(observation)
        self.sum = np.zeros(12)

    def torques(self, observation):
        self.sum += observation.angles
        return self.inner.torques(observation) - 0.05 * self.sum

    def memory(self):
        return self.sum.copy()

    def remember(self, memory):
        self.sum = memory.copy()


class Counting(NamedTuple):
    count: Floats  # (1,) ticks so far


@control.register(Counting)
def count_up(law, measurement, torque, recorded):  # noqa: ARG001
    law.count[0] += 1.0
    torque[7] = law.count[0]


@dataclass(frozen=True)
class CompiledMemory(biped.Controller):
    def law(self, model):
        return Counting(np.zeros(1))


SCENES = {
    "compiled": {},
    "in Python": {"controller": Wrapped()},
    "with a memory": {"controller": Integral()},
    "with a compiled memory": {"controller": CompiledMemory()},
    "noise, delay and limits": {"disturbances": (PUSH, NOISY, LIMITS)},
    "in Python, with noise and delay": {"controller": Wrapped(), "disturbances": (PUSH, NOISY, LIMITS)},
    "a moving floor": {"disturbances": (biped.Platform(y=biped.Signal.sine(0.01, 2.0, 0.0, 1.0)), PUSH)},
    "a load": {"disturbances": (biped.Load("trunk", 3.0, (0.1, 0.0, 0.1)),)},
    "a thrown box": {"disturbances": (biped.Throw(1.8, (0.1216,) * 3, (0.5, 0.1, 1.2), (-6.0, 0.0, 0.2)),)},
}  # fmt: skip


@pytest.fixture(scope="module", params=SCENES)
def scene(request, person):
    members = {"controller": CONTROLLER, "disturbances": (PUSH,), "fall": biped.Fall(), "step": 1e-3} | SCENES[
        request.param
    ]
    return biped.Scene(person, state=initial_posture(person), duration=0.08, **members)


def run_of(scene):
    state = scene.state.copy()
    members = {name: getattr(scene, name) for name in ("disturbances", "integrator", "fall", "step", "duration")}
    return biped.simulate(scene.model, scene.controller, state=state, **members).state


def same_but_for_counts(one, other):
    """All that steps depend on; the iterations since the last row are forgotten where rows are taken."""
    one, other = one.copy().arrays, other.copy().arrays
    one.counts[2:4] = other.counts[2:4] = 0
    assert_same_arrays(one, other)


def test_steps_are_what_a_run_does(scene):
    session = biped.Session(scene)
    for _ in range(round(scene.duration / session.period)):
        session.step()
    same_but_for_counts(session.save().state, run_of(scene))
    assert session.time == pytest.approx(scene.duration)
    assert not session.has_ended
    assert session.ending is None
    advanced = biped.Session(scene)
    assert advanced.advance(40) == 40
    same_but_for_counts(advanced.save().state, session.save().state)


def test_going_back_is_going_on(scene):
    session = biped.Session(scene)
    saved, seen = [], []
    for _ in range(30):
        saved.append(session.save())
        seen.append(session.step())
    end = session.save()
    for k in (20, 3, 11):
        session.restore(saved[k])
        for expected in seen[k:]:
            observed = session.step()
            for name in ("time", "q", "v", "contact_forces", "contact_modes", "torques"):
                assert np.array_equal(getattr(observed, name), getattr(expected, name)), name
        assert_same_arrays(session.save().state.arrays, end.state.arrays)
    session.reset()
    for expected in seen:
        assert np.array_equal(session.step().q, expected.q)


def test_looking_changes_nothing(scene):
    quiet, watched = biped.Session(scene), biped.Session(scene)
    quiet.advance(20)
    for _ in range(20):
        seen = [watched.observe() for _ in range(3)]
        assert np.array_equal(seen[0].q, seen[2].q)
        watched.step()
    same_but_for_counts(quiet.save().state, watched.save().state)


def test_torques_from_outside_are_those_of_a_law(person):
    scene = biped.Scene(
        person, CONTROLLER, state=initial_posture(person), duration=0.06, disturbances=(NOISY, LIMITS), step=1e-3
    )
    for told in (replace(scene, controller=None, disturbances=()), scene):
        session = biped.Session(told)
        observation = session.reset()
        for _ in range(30):
            observation = session.step(CONTROLLER.torques(observation))
        same_but_for_counts(session.save().state, run_of(replace(told, controller=Wrapped())))


def drawn(random):
    model = PERSON
    q = initial_posture(model).q.copy()
    q[7:] += random.normal(0.0, 0.01, 12)
    return biped.State.at(model, q)


@pytest.fixture(autouse=True)
def of_person(person):
    global PERSON
    PERSON = person


def trace(session, seed, steps=20):
    return np.array([session.reset(seed).q, *(session.step().q for _ in range(steps))])


def test_a_seed_is_a_session(person):
    scene = biped.Scene(person, CONTROLLER, state=initial_posture(person), disturbances=(NOISY, LIMITS), step=1e-3)
    session = biped.Session(scene, drawn)
    first, other = trace(session, 1), trace(session, 2)
    assert np.array_equal(trace(session, 1), first)
    assert np.array_equal(trace(biped.Session(scene, drawn), 1), first)
    assert not np.array_equal(first[0], other[0])
    # Without `start` the noise alone differs; without a seed all is as the scene says.
    plain = biped.Session(scene)
    seeded, unseeded = trace(plain, 1), trace(plain, None)
    assert not np.array_equal(seeded, trace(plain, 2))
    assert np.array_equal(unseeded, trace(biped.Session(scene), None))
    assert np.array_equal(unseeded, np.array([biped.Session(scene).observe().q, *unseeded[1:]]))
    for seed in (-1, 1.5, True):
        with pytest.raises(biped.InputError, match="seed = .*: it must be a whole number"):
            plain.reset(seed)


def test_a_drawn_start_is_as_good_as_a_given_one(person):
    scene = biped.Scene(person, CONTROLLER, state=initial_posture(person), step=1e-3, disturbances=(PUSH,))
    session = biped.Session(scene, drawn)
    session.reset(4)
    session.advance(40)
    start = session.reset(7)
    session.advance(20)
    fresh = biped.Session(replace(scene, state=biped.State.at(person, start.q)))
    fresh.advance(20)
    one, other = session.save().state, fresh.save().state
    one.arrays.clock[2] = other.arrays.clock[2] = 0.0
    same_but_for_counts(one, other)
    strange = biped.Session(scene, lambda _: biped.State.at(biped.chain(2)))
    with pytest.raises(biped.InputError, match="the state belongs to model 'chain_2', not to 'human'"):
        strange.reset(1)


def test_it_ends_with_a_reason(person):
    session = biped.Session(biped.Scene(person, state=initial_posture(person), fall=biped.Fall(), step=1e-3))
    session.reset()
    while not session.has_ended:
        before = session.save()
        last = session.step()
    assert session.ending.verdict in ("fell", "lost control")
    assert session.ending.fell_at == pytest.approx(session.time) == pytest.approx(last.time)
    assert last.position[2] < biped.Fall().height or session.ending.error is None
    with pytest.raises(biped.InputError, match="the session has ended"):
        session.step()
    session.restore(before)
    assert not session.has_ended
    assert np.array_equal(session.step().q, last.q)
    assert session.has_ended
    session.reset()
    assert session.ending is None


def test_wrong_torques_are_refused(person):
    session = biped.Session(biped.Scene(person, state=initial_posture(person)))
    session.reset()
    with pytest.raises(biped.InputError, match=r"the given torques have shape \(3,\); it must be \(12,\)"):
        session.step(np.zeros(3))
    with pytest.raises(biped.InputError, match="the given torque of left_hip_pitch is not finite at 0 s"):
        session.step([0.0, np.inf] + [0.0] * 10)


COPIES = {"copy": copy.copy, "deepcopy": copy.deepcopy, "pickle": lambda one: pickle.loads(pickle.dumps(one))}


@pytest.mark.parametrize("how", COPIES)
def test_a_copy_goes_on_by_itself(scene, how):
    session = biped.Session(scene)
    session.advance(10)
    copied = COPIES[how](session)
    copied.advance(10)
    assert session.time == pytest.approx(10 * session.period)
    session.advance(10)
    alone = biped.Session(scene)
    alone.advance(20)
    same_but_for_counts(copied.save().state, alone.save().state)
    same_but_for_counts(session.save().state, alone.save().state)
    assert np.array_equal(copied.reset(4).q, session.reset(4).q)


def test_a_copy_has_what_was_recorded_and_the_start(person):
    scene = biped.Scene(person, CONTROLLER, state=initial_posture(person), step=1e-3)
    session = biped.Session(scene, in_place=True)
    first = session.reset().q
    session.advance(8)
    copied = copy.deepcopy(session)
    copied.advance(8)
    assert len(session.recorded().rows) * 2 == len(copied.recorded().rows)
    assert np.array_equal(copied.reset().q, first)
    assert session.time == pytest.approx(8 * session.period)


def test_an_engine_that_cannot_go_back_says_so(person):
    @dataclass(frozen=True)
    class Stubborn(biped.Recursive):
        can_go_back: ClassVar[bool] = False

    session = biped.Session(biped.Scene(person, CONTROLLER, state=initial_posture(person), integrator=Stubborn()))
    session.reset()
    session.step()
    with pytest.raises(biped.InputError, match="cannot return to a snapshot: make a new Session"):
        session.reset()
    for copied in COPIES.values():
        with pytest.raises(biped.InputError, match="cannot be copied; make a new Session"):
            copied(session)


def test_another_models_snapshot_is_refused(person):
    saved = biped.Session(biped.Scene(biped.chain(2))).save()
    with pytest.raises(biped.InputError, match="the state belongs to model 'chain_2', not to 'human'"):
        biped.Session(biped.Scene(person, state=initial_posture(person))).restore(saved)


def test_a_state_within_a_period_is_not_stepped(person):
    state = initial_posture(person)
    state = biped.simulate(person, CONTROLLER, state=state, duration=3e-3, step=1e-3).state
    session = biped.Session(biped.Scene(person, CONTROLLER, state=state, step=1e-3))
    for go in (session.step, lambda: session.advance(1)):
        with pytest.raises(biped.InputError, match="within a control period"):
            go()


def test_what_is_changed_on_the_way_acts_from_there(person):
    law = Integral()
    scene = biped.Scene(person, law, state=initial_posture(person), step=1e-3, duration=0.02)
    session = biped.Session(scene)
    session.advance(10)
    shove = biped.Push("trunk", (1.0, 0.0, 0.0), 3.0, start=0.02, duration=0.02)
    pushed = session.changed(disturbances=(shove,))
    pushed.advance(10)
    assert len(law.starts) == 1
    assert law.starts[0].time == 0.0
    memory = law.memory()
    whole = replace(scene, duration=0.04, disturbances=(shove,))
    same_but_for_counts(pushed.save().state, run_of(whole))
    assert np.array_equal(law.memory(), memory)
    other = Integral()
    pushed.changed(controller=other).advance(1)
    assert [seen.time for seen in other.starts] == pytest.approx([0.04])


def test_snapshots_are_their_own(person):
    session = biped.Session(biped.Scene(person, CONTROLLER, state=initial_posture(person)))
    session.reset()
    saved = session.save()
    before = [array.copy() for array in arrays_of(saved.state.arrays)]
    session.advance(20)
    assert all(np.array_equal(a, b) for a, b in zip(before, arrays_of(saved.state.arrays), strict=True))


def test_what_would_begin_after_the_end_is_refused_by_a_session_too(person):
    session = biped.Session(biped.Scene(person, CONTROLLER, duration=0.03, disturbances=[replace(PUSH, start=0.04)]))
    with pytest.raises(biped.InputError, match="push.start = 0.04 s is not before the end of the run, at 0.03 s"):
        session.run()
    session.advance(round(0.02 / session.period))
    assert session.run().state.time == pytest.approx(0.05)


@refuses(
    (1e9, r"duration = 1e\+09 s: 5e\+11 rows are more than 10,000,000"),
    (1e30, r"duration = 1e\+30 s: 5e\+32 rows are more than 10,000,000"),
)
def test_a_run_of_too_many_rows_is_refused_before_it_begins(person, duration):
    biped.Scene(person, CONTROLLER, duration=duration).run()

"""Sessions in a batch are, bit for bit, what they are by themselves, whatever the threads."""

import copy
import pickle

import numpy as np
import pytest

from biped import Actuators, Adaptive, Fall, InputError, Push, Scene, Sensors, Session, SessionBatch, State
from biped.disturbances.sensors import ProprioceptiveChannel
from controllers import WorkspaceController

from ...conftest import initial_posture

CONTROLLER = WorkspaceController((-0.01, 0.0, 1.10))
PUSH = Push("trunk", (0.0, 1.0, 0.0), 3.0, start=0.02, duration=0.0333)
ACTING = {
    "perfect": (PUSH,),
    "noisy and late": (
        Sensors(6e-3, proprioceptive=ProprioceptiveChannel(joint_noise=1e-3), seed=3),
        Actuators(limit=150.0, noise=0.5),
        PUSH,
    ),
}
STEPS = 60


def scene_of(person, acting):
    return Scene(person, CONTROLLER, state=initial_posture(person), disturbances=acting, fall=Fall(), step=1e-3)


def drawer(person):
    def draw(random):
        q = initial_posture(person).q.copy()
        q[7:] += random.normal(0.0, 0.01, 12)
        return State.at(person, q)

    return draw


@pytest.mark.parametrize("acting", ACTING)
@pytest.mark.parametrize("workers", [1, 2])
def test_each_is_what_it_is_alone(person, acting, workers):
    scene, draw, seeds = scene_of(person, ACTING[acting]), drawer(person), [4, 5, 6, 7, 8]
    torques = np.random.default_rng(1).uniform(-60.0, 60.0, (STEPS, len(seeds), 12))
    torques[:, :2] = 0.0
    batch = SessionBatch(scene, len(seeds), draw, workers)
    batch.reset(seeds)
    seen = [(batch.q.copy(), batch.v.copy(), batch.contact_forces.copy(), batch.time.copy())]
    for k, given in enumerate(torques):
        if k == 20:
            batch.reset([9], which=[3])
        batch.step(given)
        seen.append((batch.q.copy(), batch.v.copy(), batch.contact_forces.copy(), batch.time.copy()))
    batch.close()
    for j, seed in enumerate(seeds):
        alone = Session(scene, draw)
        told = alone.reset(seed)
        for k in range(STEPS + 1):
            for array, expected in zip(seen[k], (told.q, told.v, told.contact_forces, told.time), strict=True):
                assert np.array_equal(array[j], expected), (j, k)
            if k < STEPS:
                if j == 3 and k == 20:
                    alone.reset(9)
                told = told if alone.has_ended else alone.step(torques[k, j])


def test_who_has_fallen_stays_there(person):
    batch = SessionBatch(scene_of(person, ()), 2)
    batch.reset([None, None])
    with pytest.raises(InputError, match="not all finite"):
        batch.step(np.full((2, 12), np.nan))
    while not batch.has_ended.any():
        batch.step(np.stack([np.zeros(12), np.zeros(12)]))
    assert batch.has_ended.all()
    fallen = batch.q.copy()
    batch.step(np.full((2, 12), np.nan))  # nobody takes them
    assert np.array_equal(batch.q, fallen)
    batch.reset([None], which=[1])
    assert batch.has_ended.tolist() == [True, False]
    assert batch.time[1] == 0.0


def test_a_long_run_does_not_fill_the_log(person):
    batch = SessionBatch(scene_of(person, ()), 1)
    batch.reset([1])
    session = batch.sessions[0]
    for _ in range(3000):
        law = CONTROLLER.torques(session.observe())
        batch.step(law[None])
    assert not batch.has_ended[0]
    assert batch.time[0] == pytest.approx(6.0)


def test_what_has_no_batch_is_refused(person):
    scene = scene_of(person, ())
    for count, workers in ((0, None), (2, 0), (2.5, None), ("2", None), (True, None), (2, 1.5)):
        with pytest.raises(InputError, match="both must be one or more|must be a whole number"):
            SessionBatch(scene, count, workers=workers)
    with pytest.raises(InputError, match="step from Python cannot run in a batch"):
        SessionBatch(Scene(person, CONTROLLER, integrator=Adaptive()), 2)
    with pytest.raises(InputError, match=r"the given torques have shape \(12,\); it must be \(2, 12\)"):
        SessionBatch(scene, 2).step(np.zeros(12))


@pytest.mark.parametrize("copied", [copy.copy, copy.deepcopy, lambda one: pickle.loads(pickle.dumps(one))])
def test_a_copy_of_a_batch_goes_on_by_itself(person, copied):
    torques = np.random.default_rng(1).uniform(-20.0, 20.0, (20, 2, 12))
    batch = SessionBatch(scene_of(person, ACTING["noisy and late"]), 2)
    batch.reset([4, 5])
    for given in torques[:10]:
        batch.step(given)
    other = copied(batch)
    ends = []
    for one in (other, batch):  # one after the other: what they shared would differ
        for given in torques[10:]:
            one.step(given)
        ends.append((one.time.copy(), one.q.copy(), one.v.copy(), one.contact_forces.copy()))
        one.reset([6, None])
        ends[-1] += (one.q.copy(),)
        one.close()
    assert ends[0][0] == pytest.approx(20 * batch.sessions[0].period)
    for ours, theirs in zip(*ends, strict=True):
        assert np.array_equal(ours, theirs)

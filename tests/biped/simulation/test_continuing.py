"""Saving and continuing changes nothing, bit for bit: in mid-run, in mid-contact, in the middle of a hold."""

import numpy as np
import pytest

from biped import Fall, InputError, Run, State, simulate
from biped.disturbances import Load, Push, Throw
from controllers.workspace import WorkspaceController

from ...conftest import assert_same_arrays

CONTROLLER = WorkspaceController((-0.01, 0.0, 1.14), (0.99144486, 0.0, -0.13052619, 0.0))
BLOCK = Throw(1.8, (0.1216,) * 3, (0.5, 0.1, 1.2), (-4.5, 0.0, 0.2))
PUSH = Push("trunk", (0.0, 1.0, 0.0), 4.0, start=0.1011, duration=0.0333, waveform="half-sine")


def go(model, state, duration, disturbances=(BLOCK, PUSH)):
    acting = [one for one in disturbances if one.begins < state.time + duration]
    return simulate(model, CONTROLLER, state=state, duration=duration, disturbances=acting, fall=Fall())


def same(a: State, b: State) -> bool:
    assert_same_arrays(a.arrays, b.arrays)
    return np.array_equal(a.projectile, b.projectile)


@pytest.mark.parametrize("split", [0.005, 0.0705, 0.1, 0.1205, 0.2])
def test_save_and_continue(person, posture, tmp_path, split):
    """0.005 s: one toe down; 0.0705: the block touches; 0.1205: amid the push, and not at a control tick."""
    whole = posture(person)
    whole_run = go(person, whole, 0.3)
    whole = whole_run.state
    part = posture(person)
    part = go(person, part, split).state
    part.save(tmp_path / "state.npz")
    restored = State.load(tmp_path / "state.npz", person)
    assert same(part, restored)
    rest = go(person, restored, 0.3 - split)
    restored = rest.state
    whole.arrays.counts[2] = restored.arrays.counts[2] = 0  # the largest iteration count is that of each run
    assert same(whole, restored)
    overlap = whole_run.frame[whole_run.frame["time"] > split + 1e-9].reset_index(drop=True)
    continued = rest.frame[rest.frame["time"] > split + 1e-9].reset_index(drop=True)
    columns = [c for c in overlap.columns if c != "newton_iterations"]
    assert overlap[columns].equals(continued[columns])


def test_copy_is_independent(person, posture):
    state = go(person, posture(person), 0.05).state
    twin = state.copy()
    state.arrays.q[:] = 0.0
    assert twin.q.any()


def test_a_run_leaves_the_state_that_it_is_given_as_it_is(person, posture):
    state = posture(person)
    untouched = state.copy()
    first, second = (go(person, state, 0.12) for _ in range(2))
    assert state.steps == 0
    assert_same_arrays(state.arrays, untouched.arrays)
    assert second.frame.equals(first.frame)
    assert (second.events["kind"] == "push").any()


def test_run_saves_and_loads(person, posture, tmp_path):
    run = go(person, posture(person), 0.2)
    run.parameters = {"floor.mu_s": 0.3}
    run.save(tmp_path / "run")
    loaded = Run.load(tmp_path / "run", person)
    assert loaded.frame.equals(run.frame)
    assert loaded.units == run.units
    assert loaded.events.equals(run.events)
    assert loaded.summary == run.summary
    assert loaded.parameters == run.parameters
    assert same(loaded.state, run.state)


def test_every_column_has_a_unit(person, posture):
    run = go(person, posture(person), 0.01)
    assert set(run.units) == set(run.frame.columns)
    assert run.units["torque_left_knee_pitch"] == "N*m"
    assert run.units["body_vx"] == "m/s"
    assert run.units["contact_left_1_fz"] == "N"
    assert run.units["momentum_lx"] == "N*m*s"
    assert not run.frame.isna().any().any()


def test_a_state_of_another_model_is_refused(person, posture, tmp_path):
    from biped.model import rigid_box

    posture(person).save(tmp_path / "state.npz")
    with pytest.raises(InputError, match="the state belongs to model 'human', not to 'box'"):
        State.load(tmp_path / "state.npz", rigid_box(1.0, (1, 1, 1)))
    (tmp_path / "text.npz").write_text("nothing")
    with pytest.raises(InputError, match="not a state saved by State.save"):
        State.load(tmp_path / "text.npz", person)


def test_a_run_that_begins_after_all_of_its_disturbances_is_warned_of(person, posture):
    """It has withstood nothing; one in which something still acts, or that names none, has no such check."""

    def check(state, *acting):
        run = simulate(person, CONTROLLER, state=state, duration=0.02, disturbances=acting)
        return next((check for check in run.trust if check.name == "disturbance"), None)

    early, late = (Push("trunk", (0.0, 1.0, 0.0), 1.0, start, 0.01) for start in (0.01, 0.04))
    later = go(person, posture(person), 0.03, (early,)).state
    found = check(later, early)
    assert found.passed == "warning"
    assert found.text == "a push ended at 0.02 s, before this run began at 0.03 s: nothing disturbed it"
    assert check(later) is check(later, early, late) is None


def test_the_state_of_a_run_with_a_load_says_that_it_is_part_of_the_model(person, posture, tmp_path):
    load = Load("trunk", 3.0, (0.1, 0.0, 0.1))
    run = go(person, posture(person), 0.01, (load,))
    run.state.save(tmp_path / "state.npz")
    with pytest.raises(InputError, match=r"another model 'human'.*loads are part of a model, Load\(...\).on\(model\)"):
        State.load(tmp_path / "state.npz", person)
    state = State.load(tmp_path / "state.npz", load.on(person))
    assert same(go(person, state, 0.01, (load,)).state, go(person, run.state, 0.01, (load,)).state)

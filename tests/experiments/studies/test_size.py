"""Studies that are too large are refused before they begin, by what their trials take."""

import tracemalloc

import pytest

from biped import InputError
from experiments.studies import Config, open_study, run_trial, size
from experiments.studies.store.folder import DATABASE, Study
from experiments.studies.sweep.sweep import sweep_from


@pytest.fixture
def make_sweep():
    def make(replicas):
        vary = {"push.impulse": [2.0]}
        fixed = {"run.duration": 0.6, "run.step": 1e-3}
        return sweep_from(Config({"experiment": "balance", "replicas": replicas, "vary": vary, "set": fixed}))

    return make


@pytest.mark.parametrize("what", ["memory", "disk"])
def test_a_study_without_room_is_refused_before_there_is_a_folder(make_sweep, tmp_path, monkeypatch, what):
    monkeypatch.setattr(size, "free_memory", lambda: 1e9 if what == "memory" else 1e12)
    monkeypatch.setattr(size, "free_disk", lambda _: 1e9 if what == "disk" else 1e12)
    each = size.IN_MEMORY if what == "memory" else size.ON_DISK
    message = (
        f"^10,000,000 trials take about 10 GB of memory and 100 GB of the disk.*at most {int(1e9 / each):,} trials"
    )
    with pytest.raises(InputError, match=message):
        open_study(make_sweep(10_000_000), tmp_path / "study")
    assert not (tmp_path / "study").exists()


def test_a_large_study_says_how_large_it_will_be(make_sweep, tmp_path, monkeypatch):
    monkeypatch.setattr(size, "free_memory", lambda: 1e12)
    monkeypatch.setattr(size, "free_disk", lambda _: 1e12)
    told = []
    for replicas in (size.MANY, 3):
        open_study(make_sweep(replicas), tmp_path / str(replicas), told.append).close()
    assert len(told) == 1
    assert told[0].startswith("100,000 trials take about")


def test_trials_take_what_is_said(make_sweep, tmp_path):
    tracemalloc.start()
    trials = make_sweep(2000).trials()
    taken = tracemalloc.get_traced_memory()[0] / len(trials)
    tracemalloc.stop()
    assert size.IN_MEMORY / 2 < taken < size.IN_MEMORY
    plan = make_sweep(200)
    result = run_trial(plan.experiment, trials[0])
    with open_study(plan, tmp_path) as study:
        for trial in trials[:200]:
            study.add(trial, result)
    stored = Study.read(tmp_path).folder / DATABASE
    assert size.ON_DISK / 2 < stored.stat().st_size / 200 < size.ON_DISK

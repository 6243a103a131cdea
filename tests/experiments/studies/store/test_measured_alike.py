"""A trial without tables and a run with all of them have the same metrics."""

import pytest

from biped.metrics import measure_recording, measure_run
from biped.runs.verdict import verdict_line
from experiments.catalogue.registry import experiment_named
from experiments.studies.trial import Trial, run_trial

CASES = {
    "push": {"push.impulse": 6.0, "push.azimuth": 0.5},
    "fall": {"push.impulse": 60.0},
    "sway": {"platform.motion": "sine", "platform.axis": "pitch", "platform.frequency": 1.0, "platform.duration": 2.0},
    "load": {"load.mass": 4.0, "actuators.limit": 60.0, "sensors.proprioceptive.joint_noise": 1e-4},
}


@pytest.mark.parametrize("case", CASES)
def test_a_trial_measures_what_a_run_does(case):
    changes = CASES[case] | {"run.duration": 2.5, "run.step": 1e-3}
    experiment = experiment_named("balance")
    result = run_trial(experiment, Trial(0, changes))
    run = experiment.run(changes)
    measured = measure_run(run)
    assert {name: result[name] for name in measured} == measured
    assert result.items() >= run.summary["metrics"].items()
    assert verdict_line(result) == run.verdict_line


def test_a_run_in_one_go_is_the_same_as_one_in_chunks():
    from biped.simulation.session import Session

    setup = experiment_named("balance").build({"push.impulse": 6.0, "run.duration": 1.5})
    recording = Session(setup, log_holds_run=True).run()
    run = setup.run()
    names = list(run.frame.columns)
    shown = [recording.columns.names.index(name) for name in names]
    assert (recording.rows[:, shown] == run.frame.to_numpy()).all()
    assert measure_recording(recording) == measure_run(run)

"""A run against the same with half the step."""

from experiments.catalogue.registry import experiment_named
from experiments.commands.half_step import check_step

BALANCE = experiment_named("balance")


def test_what_does_not_depend_on_the_step_passes():
    changes = {"push.impulse": 6.0, "run.duration": 2.0, "run.step": 1e-3}
    run = BALANCE.run(changes)
    found = check_step(BALANCE, changes, run)
    assert (found.passed, run.trust[-1]) == ("ok", found)
    assert run.summary["verdict"] == "recovered"


def test_another_verdict_makes_the_run_unreliable():
    changes = {"push.impulse": 6.0, "run.duration": 2.0, "run.step": 1e-3}
    run = BALANCE.run(changes | {"push.impulse": 60.0})
    found = check_step(BALANCE, changes, run)
    assert run.verdict_line == "unreliable: with half the time step, the verdict is: recovered in place"
    assert found.passed == "failed"

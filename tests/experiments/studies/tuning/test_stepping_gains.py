"""Defaults of the stepping controller, and the tuning files that they come from."""

from pathlib import Path

from experiments.catalogue.parameters.controller_file import read_controller
from experiments.catalogue.registry import experiment_named
from experiments.studies.config import read_config
from experiments.studies.tuning.tuning import tuning_from

EXAMPLES = Path(__file__).resolve().parents[4] / "examples"


def test_the_defaults_are_the_tuned_values():
    experiment = experiment_named("balance", controller="stepping")
    defaults = experiment.values()
    found = read_controller(EXAMPLES / "gains-stepping.toml", experiment)
    assert {name: defaults[name] for name in found} == found
    tuned = [
        target
        for file in ("tune-stepping.toml", "tune-steps-lateral.toml", "tune-steps-backward.toml")
        for target in tuning_from(read_config(EXAMPLES / file)).space.targets
    ]
    assert sorted(tuned) == sorted(set(found) - {"controller.trigger"})

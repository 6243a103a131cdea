"""A compiled law that raises, or that cannot be compiled, is not taken for one that is well."""

import re

import pytest

from biped.errors import InputError
from experiments.catalogue.registry import experiment_named
from experiments.studies.trial import Trial, run_trial

LAWS = """\
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from biped import Controller
from controllers import control

class UnluckyLaw(NamedTuple):
    after: float

@control.register(UnluckyLaw)
def unlucky(law, measurement, torque, recorded):
    if measurement.time[0] > law.after:
        raise ValueError("no more")

@dataclass(frozen=True)
class Unlucky(Controller):
    after: float = 0.01

    def law(self, model):
        return UnluckyLaw(self.after)

class MisspeltLaw(NamedTuple):
    gain: float

@control.register(MisspeltLaw)
def misspelt(law, measurement, torque, recorded):
    torque[6] = law.gian

class Misspelt(Controller):
    def law(self, model):
        return MisspeltLaw(1.0)
"""


@pytest.fixture
def named(tmp_path):
    (tmp_path / "laws.py").write_text(LAWS)
    return lambda name: experiment_named("balance", f"{tmp_path / 'laws.py'}:{name}")


def test_what_a_kernel_raises_is_a_result_of_its_trial(named):
    unlucky = named("Unlucky")
    failed = run_trial(unlucky, Trial(0, {"run.duration": 0.03}))
    assert (failed["verdict"], failed["failure"]) == ("failed", "ValueError")
    assert re.fullmatch(r"no more \(\w+\.py, line \d+, in unlucky\)", failed["message"])
    assert 'laws.py", line 14, in unlucky' in failed["traceback"]
    assert run_trial(unlucky, Trial(1, {"run.duration": 0.03, "controller.after": 1.0}))["failure"] == ""
    assert run_trial(experiment_named("balance"), Trial(2, {"run.duration": 0.03}))["failure"] == ""


def test_a_run_under_it_ends_in_its_error(named):
    with pytest.raises(ValueError, match="^no more$"):
        named("Unlucky").run({"run.duration": 0.03})


def test_a_kernel_that_cannot_be_compiled_is_told_with_its_line(named):
    line = LAWS.splitlines().index("    torque[6] = law.gian") + 1
    told = rf"the law of Misspelt cannot be compiled: Unknown attribute 'gian' .*laws\.py, line {line}\)$"
    with pytest.raises(InputError, match=told):
        named("Misspelt").run({"run.duration": 0.03})

"""Cost of what stands with senses that are late: ticks of its laws, and whole trials of quiet stance."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from statistics import median

import numpy as np

from biped.control.controller import Controller
from biped.control.observation import Observation
from biped.model import Model, human
from biped.runs.stance import Stance
from biped.runs.state import State
from biped.simulation.simulate import simulate
from contact.arrays import Floats
from controllers import LQR, ForwardModel, Postural, Predicted, Reweighting, WholeBodyController
from experiments.benchmarks.scenes import timed_run
from experiments.benchmarks.sections import Column, Section
from experiments.benchmarks.speed import table
from experiments.benchmarks.speed.kernels import Slack
from experiments.benchmarks.speed.table import Budget
from experiments.benchmarks.timing import seconds
from experiments.catalogue.parameters.parameter import Value
from experiments.catalogue.registry import experiment_named

#: [s] the control period, which is the step, and by how much senses are late.
PERIOD, DELAY = 2e-3, 0.15
#: Ticks that are timed together: some do more than others, as where a forward model looks at the body anew.
IN_A_ROW = 100
#: Of quiet stance, with the senses of eyes open.
TRIAL: dict[str, Value] = {
    "initial.stance": "upright", "initial.settle": 0.0, "initial.jitter": 0.0, "sensors.preset": "eyes-open",
    "run.duration": 20.0, "run.step": PERIOD,
}  # fmt: skip


def ticks_section(work: Budget) -> Section:
    """Time ticks as they are asked from Python, less what asking takes; the least of many times so many in a row.

    A forward model is timed about a law that asks for nothing: where it is shown the same again and again, a program
    is shown what is not, and takes other times than it does by itself.
    """
    observation, regulator = _seen(), LQR(step=PERIOD)

    def tick(law: Controller) -> float:
        def row() -> None:
            for _ in range(IN_A_ROW):
                law.torques(observation)

        row()
        return min(seconds(row) for _ in range(work.of(10, 100))) / IN_A_ROW

    def beyond(less: Controller, law: Controller) -> list[Callable[[], float]]:
        return [partial(tick, law), partial(tick, less)]

    return table.measured(
        "late_laws",
        f"A tick of laws whose senses are {1e3 * DELAY:g} ms late",
        table.spread_columns(),
        {
            "postural": beyond(Idle(), Postural()),
            "reweighting": beyond(Idle(), Reweighting()),
            "a prediction": beyond(regulator, Predicted(regulator, DELAY, step=PERIOD)),
            "a forward model": beyond(Idle(), ForwardModel(Asking(), DELAY)),
        },
        lambda times, others: table.microseconds([one - other for one, other in zip(times, others, strict=True)]),
        work.repeats,
        ["less an idle law's, or, of what shows the present, that of the law to which it does"],
    )


def _seen() -> Observation:
    """What a law is shown of one who stands upright."""
    seen: list[Observation] = []

    class Watcher(Controller):
        period = PERIOD

        def torques(self, observation: Observation) -> Floats:
            seen.append(observation)
            return np.zeros(len(observation.torques))

    model = human()
    simulate(model, Watcher(), state=State.at(model, Stance().configuration(model)), duration=PERIOD, step=PERIOD)
    return seen[-1]


@dataclass(frozen=True)
class Idle(Controller):
    """A compiled law that asks for nothing, and that, frozen, is compiled for Python once."""

    def law(self, model: Model) -> Slack:
        return Slack()


@dataclass(frozen=True)
class Asking(WholeBodyController):
    """The same, for a forward model."""

    def law(self, model: Model) -> Slack:  # type: ignore[override]
        return Slack()


def trials_section(work: Budget) -> Section:
    """Time quiet stance with everything but files and figures."""
    balance = experiment_named("balance")
    laws: dict[str, dict[str, Value]] = {"postural": {"controller.weight": 0.7}, "reweighting": {}, "whole-body": {}}
    return table.measured(
        "quiet_stance",
        f"Quiet stance of {TRIAL['run.duration']:g} s with eyes open, steps of {table.milliseconds(PERIOD)}",
        (*table.spread_columns("ms", ".0f"), Column("compiled", "ms", ".0f")),
        {
            law: [partial(timed_run, balance.build({**TRIAL, "controller.name": law, **own}).run)]
            for law, own in laws.items()
        },
        lambda runs: (*table.spread([run.wall for run in runs], 1e3), 1e3 * median(run.compiled for run in runs)),
        work.few,
    )

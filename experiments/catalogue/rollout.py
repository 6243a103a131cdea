"""Rollout of an experiment in any integrator or engine, with the same arguments and results."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace

from biped.errors import IntegrationError
from biped.integrators import INTEGRATORS
from biped.runs.run import Run
from biped.simulation.driver import Announce, Progress
from experiments.catalogue.experiment import Experiment
from experiments.catalogue.parameters.parameter import Value
from experiments.engines.engine import Engine
from experiments.engines.engine_integrator import EngineIntegrator, complete
from experiments.engines.registry import engine_named


@dataclass(frozen=True)
class Rollout:
    """Run of an experiment in a physics engine or integrator, with its computing time."""

    engine: str  # name of the engine or integrator
    run: Run  # recorded run; its columns mean the same in all engines
    #: [s] computing time of the steps: for integrators the compiled loop with controller and records, for engines their
    #: own calls alone
    steps_time: float
    steps: int  # number of steps
    error: str | None = None  # reason why the run ended early, or None

    @property
    def per_step(self) -> float:
        """Computing time of a step [s]; NaN without steps."""
        return self.steps_time / self.steps if self.steps else math.nan


def rollout(
    experiment: Experiment,
    changes: Mapping[str, Value],
    engine: str | Engine,
    *,
    progress: Progress | None = None,
    announce: Announce | None = None,
) -> Rollout:
    """Run an experiment in a physics engine, such as MuJoCo, or with one of biped's integrators.

    Args:
        experiment: experiment to simulate.
        changes: changed values of the experiment's parameters, by name.
        engine: an engine, or the name of an engine or of an integrator.
        progress: function that is called now and then with the time simulated so far [s].
        announce: function that is called with a sentence before kernels are compiled.

    Raises:
        InputError: the engine cannot simulate the experiment or is not installed, or a value is not allowed.
    """
    if isinstance(engine, str) and engine in INTEGRATORS:
        return _ours(experiment, dict(changes) | {"integrator.name": engine}, engine, progress, announce)
    chosen = engine_named(engine) if isinstance(engine, str) else engine
    integrator = EngineIntegrator(chosen)
    scene = replace(experiment.build(changes), integrator=integrator)
    error = None
    try:
        run = scene.run(progress, announce)
    except IntegrationError as failure:
        if failure.run is None:
            raise
        run, error = failure.run, integrator.explained(str(failure))
    complete(run, integrator)
    values = experiment.values(changes).as_json()
    theirs = {name: value for name, value in values.items() if not name.startswith("integrator.")}
    run.parameters = experiment.record(theirs)
    return Rollout(chosen.name, run, integrator.seconds, integrator.steps, error)


def _ours(
    experiment: Experiment,
    changes: Mapping[str, Value],
    name: str,
    progress: Progress | None,
    announce: Announce | None,
) -> Rollout:
    error = None
    try:
        run = experiment.run(changes, progress=progress, announce=announce)
    except IntegrationError as failure:
        if failure.run is None:
            raise
        run, error = failure.run, str(failure)
    run.summary["engine"] = {"name": name, "version": None, "settings": {}}
    return Rollout(name, run, float(run.summary["wall_time"]), int(run.summary["steps"]), error)

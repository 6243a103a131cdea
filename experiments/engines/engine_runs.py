"""Additions to a run that another engine has simulated."""

import pandas as pd

from biped.metrics import measure_again
from biped.runs.events import impacts_of
from biped.runs.run import Run
from experiments.engines.engine_integrator import EngineIntegrator, Impact


def complete(run: Run, integrator: EngineIntegrator) -> None:
    """Add which engine it was, and the impact that was going on when it ended."""
    engine = integrator.engine
    if integrator.impact is not None:
        (target,) = (acted["target"] for acted in run.disturbances if acted["kind"] == "throw")
        _add_impact(run, integrator.impact, target)
    run.summary["engine"] = {"name": engine.name, "version": engine.version, "settings": engine.settings}
    measure_again(run)


def _add_impact(run: Run, impact: Impact, target: str) -> None:
    """The event of an impact that lasts beyond the end of the run."""
    row = [impact.time, "impact", target, *impact.impulse, *impact.place, *impact.velocity]
    run.events = pd.concat([run.events, pd.DataFrame([row], columns=run.events.columns)]).sort_values("time")
    run.summary["events"]["impacts"] = impacts_of(run.events)

"""Metrics of the solver: residuals of energy and momentum, iterations and steps."""

import numpy as np

from biped.kernels.loop.log import ABSENT
from biped.metrics.measurement import Measurement
from biped.metrics.metric import Metric, Value, register


def ledger(run: Measurement) -> dict[str, Value]:
    if not len(run.rows):
        return {}
    rows, places = run.rows, run.places
    values: dict[str, Value] = {"ledger_residual": np.abs(rows[:, places.residual]).max()}
    if places.root == ABSENT:  # the fixed root takes up momentum
        return values
    linear, angular = (rows[:, at : at + 3] for at in (places.defect, places.defect + 3))
    return values | {
        "momentum_defect": np.linalg.norm(linear, axis=1).max(),
        "angular_momentum_defect": np.linalg.norm(angular, axis=1).max(),
    }


register(
    Metric("ledger_residual", "J", "energy residual: change of energy that no work explains", ledger,
           "maximum of |ledger_residual|", of_whole_run=True),
    Metric("momentum_defect", "N*s", "momentum residual: change that no impulse explains", ledger,
           "maximum of its magnitude", of_whole_run=True),
    Metric("angular_momentum_defect", "N*m*s", "angular momentum residual", ledger, "maximum of its magnitude",
           of_whole_run=True),
    Metric("steps", "1", "time steps of the integrator", lambda run: run.context.steps, "count", of_whole_run=True),
    Metric("newton_mean", "1", "mean iterations per time step", lambda run: run.context.newton_mean,
           "mean, with the iterations of all parts of a step", of_whole_run=True),
    Metric("newton_max", "1", "max iterations of a solve", lambda run: run.context.newton_max,
           "maximum of all time steps, recorded or not", of_whole_run=True),
    Metric("retried_steps", "1", "time steps retried in parts", lambda run: run.context.retried_steps, "count",
           of_whole_run=True),
)  # fmt: skip

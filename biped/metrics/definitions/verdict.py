"""How a run ended: whether it recovered, stepped or fell."""

import math

from biped.metrics.definitions.sources import HOF
from biped.metrics.kernels import metrics as kernels
from biped.metrics.measurement import Measurement
from biped.metrics.metric import Metric, register


def falling_at_end(run: Measurement) -> int | None:
    if not run.model.nc or not len(run.rows):
        return None
    falling = float(kernels.is_falling(run.rows, run.places, run.body, run.series, run.scratch))
    return None if math.isnan(falling) else int(falling)


def verdict(run: Measurement) -> str | None:
    if run.context.outcome == "failed":
        return "failed"
    if run.context.outcome == "interrupted":
        return None
    if run.fell or run.value("falling_at_end") == 1:
        return "fell"
    moved = run.value("foot_displacement")
    if not isinstance(moved, float):
        return None  # it never stood on anything
    return "stepped" if moved > run.context.step_threshold else "recovered"


register(
    Metric(
        "verdict", "", "recovered, stepped, fell or failed", verdict,
        "fell: the run's limits of a fall were hit, or `falling_at_end`; stepped: it stands, and "
        "`foot_displacement` is above 5 cm; failed: the step had no solution; recovered otherwise",
        of_whole_run=True,
    ),
    Metric("fell_at", "s", "when the limits of a fall were hit", lambda run: run.context.fell_at,
           "as `biped.Fall` sets them", of_whole_run=True),
    Metric(
        "falling_at_end", "1", "whether it is falling at the end", falling_at_end,
        "1 if nothing touches the floor, or if the extrapolated centre of mass is outside of the base of support, "
        "also when set off by the moment of a steady push: zero moment point less centre of pressure, mean of the "
        "last 0.1 s", HOF, of_whole_run=True,
    ),
)  # fmt: skip

"""Metrics of recovery steps, as reported in balance research: times, step lengths, and balance at landing."""

from __future__ import annotations

from typing import TYPE_CHECKING

from biped.kernels.loop.log import ABSENT
from biped.metrics.anatomical import in_anatomical_axes
from biped.metrics.definitions.sources import HOF
from biped.metrics.kernels.support import MARGIN
from biped.metrics.measurement import Measurement, Step
from biped.metrics.metric import OURS, Metric, Value, register

if TYPE_CHECKING:
    import pandas as pd

#: Units of the columns of the table of recovery steps.
UNITS = {
    "foot": "", "onset": "s", "duration": "s", "length_ap": "m", "length_ml": "m", "clearance": "m",
    "landing_speed": "m/s", "beyond_xcom": "m", "margin_of_stability": "m", "lean": "deg",
}  # fmt: skip


def steps_table(run: Measurement) -> pd.DataFrame:
    """Return a table with a row for each recovery step; units are in ``attrs["units"]``."""
    import pandas as pd  # importing pandas takes a quarter of a command's start

    table = pd.DataFrame([_described(run, step) for step in run.steps], columns=list(UNITS))
    table.attrs["units"] = UNITS
    return table


def first_step(run: Measurement) -> dict[str, Value]:
    """Return the metrics of the first step by name; empty if there is no step."""
    if not run.steps:
        return {}
    return {f"first_step_{name}": value for name, value in _described(run, run.steps[0]).items()}


def _described(run: Measurement, step: Step) -> dict[str, Value]:
    (length,) = in_anatomical_axes(run.model, step.away[None]).tolist()
    time = run["time"]
    return {
        "foot": run.layout.feet[step.foot],
        "onset": float(time[step.left]) - (run.start_time or 0.0),
        "duration": float(time[step.landed] - time[step.left]),
        "length_ap": length[0],
        "length_ml": length[1],
        "clearance": step.clearance,
        "landing_speed": step.speed,
        "beyond_xcom": step.beyond,
        "margin_of_stability": float(run.series[step.landed, MARGIN]),
        "lean": None if run.places.root == ABSENT else float(run[f"{run.model.root.name}_pitch"][step.landed]),
    }


def _first(name: str, definition: str, formula: str, source: str = OURS) -> Metric:
    return Metric(f"first_step_{name}", UNITS[name], f"first step: {definition}", first_step, formula, source)


register(
    Metric("footsteps", "1", "steps taken", lambda run: len(run.steps) if run.layout.feet else None,
           "landings of a foot whose middle is more than 5 cm from where the foot left the floor"),
    _first("foot", "foot", "name of the body"),
    _first("onset", "onset", "time of the last row with the foot on the floor, from the start of the disturbance"),
    _first("duration", "duration", "time from the last row on the floor to the first row on the floor again"),
    _first("length_ap", "length forward", "displacement of the middle of the foot, in the floor's frame"),
    _first("length_ml", "length to the right", "displacement of the middle of the foot, in the floor's frame"),
    _first("clearance", "clearance", "largest height of the foot's lowest point above its height at lift-off"),
    _first("landing_speed", "landing speed", "vertical, of the lowest point, from the last two rows in the air"),
    _first("beyond_xcom", "landing distance beyond the extrapolated centre of mass",
           "of the foot's middle, along the step", HOF),
    _first("margin_of_stability", "margin of stability at landing", "in the first row on the floor", HOF),
    _first("lean", "forward inclination of the root at landing", "in the first row on the floor, in space"),
)  # fmt: skip

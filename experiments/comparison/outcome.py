"""The outcome of one rollout: a row of the tables of equal settings and of vendor defaults."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from biped.model.legs import knees_of
from biped.runs.row_layout import pose_names
from biped.runs.run import Run
from biped.runs.verdict import FAILED, FELL, LOST_CONTROL, UNRELIABLE
from contact.arrays import Floats
from experiments.benchmarks.comparison.table import quantity
from experiments.catalogue.parameters.parameter import Value
from experiments.catalogue.rollout import Rollout

#: Verdicts of runs that did not get to their end, or of which nothing can be concluded.
CUT_SHORT = (FELL, LOST_CONTROL, FAILED, UNRELIABLE)
#: Of what an engine does not take.
REFUSED = "refused"
#: The part of a run, from its end, over which rest is looked at.
TAIL = 0.1


@dataclass(frozen=True)
class Outcome:
    """A rollout in an engine; None where there is nothing to measure."""

    engine: str = quantity("", "name")
    verdict: str = quantity("", "how it ended")
    step: float = quantity("s", "step")
    period: float | None = quantity("s", "time between two control ticks")
    simulated: float = quantity("s", "time simulated")
    settling_time: float | None = quantity("s", "settling time, to 2 cm and 2°")
    position_error: float | None = quantity("m", "distance from the set point over the last tenth")
    orientation_error: float | None = quantity("rad", "turn from the set point over the last tenth")
    block_impulse: float | None = quantity("N*s", "impulse of what was thrown, on what it hit")
    foot_slip: float | None = quantity("m", "longest path that a contact point slid")
    foot_creep: float | None = quantity("m", "creep of points that stick, in the last quarter")
    penetration: float | None = quantity("m", "depth of the deepest point in the floor, over the last tenth")
    peak_knee_torque: float | None = quantity("N*m", "peak torque of a knee")
    peak_torque: float | None = quantity("N*m", "peak torque of a joint")
    energy_residual: float | None = quantity("J", "energy that no work accounts for, at most")
    momentum_defect: float | None = quantity("N*s", "momentum that no impulse accounts for, at most")
    angular_momentum_defect: float | None = quantity("N*m*s", "angular momentum that no impulse accounts for, at most")
    apart: float | None = quantity("m", "greatest distance of the root's path from the first engine's")
    steps: int = quantity("1", "steps taken")
    failure: str = quantity("", "why it did not get to its end", "")

    @property
    def stood(self) -> bool:
        return self.verdict not in CUT_SHORT


#: Numbers that are the summary's own, by the name that they have there.
_OF_SUMMARY = (
    "settling_time", "position_error", "orientation_error", "foot_slip", "foot_creep", "momentum_defect",
    "angular_momentum_defect",
)  # fmt: skip


def outcome_of(label: str, made: Rollout, values: Mapping[str, Value], first: Run | None) -> Outcome:
    """The row of a rollout with these values; ``first`` is the run of the first engine, or None if this is it."""
    summary = made.run.summary
    impulses = [one["impulse"] for one in summary["events"]["impacts"]]
    peaks = {joint: torque for joint, torque in made.run.by_joint("peak_torque").items() if torque is not None}
    period = values.get("controller.period")
    return Outcome(
        engine=label,
        verdict=summary["verdict"],
        step=float(values["run.step"]),  # type: ignore[arg-type]
        period=None if period is None else float(period),  # type: ignore[arg-type]
        simulated=float(summary["simulated_time"]),
        **{name: summary[name] for name in _OF_SUMMARY},
        block_impulse=float(np.linalg.norm(np.sum(impulses, axis=0))) if impulses else None,
        penetration=penetration(made.run),
        peak_knee_torque=max((peaks[knee] for knee in knees_of(made.run.state.model) if knee in peaks), default=None),
        peak_torque=max(peaks.values(), default=None),
        energy_residual=summary["ledger_residual"],
        apart=None if first is None else apart(made.run, first),
        steps=made.steps,
        failure=made.error or "",
    )


def penetration(run: Run) -> float | None:
    """[m] how deep the deepest contact point is in the floor, mean over the last tenth of a run without a fall.

    None where no point is on the floor then.
    """
    if run.summary["verdict"] in CUT_SHORT or not len(run.frame):
        return None
    tail = run.frame.iloc[-max(1, round(TAIL * len(run.frame))) :]
    depths = [
        -float(tail[f"contact_{point}_z"].mean())
        for point in run.state.model.contact_names
        if (tail[f"contact_{point}_fz"] > 0.0).any()
    ]
    return max(depths, default=None)


def root_path(run: Run) -> tuple[Floats, Floats]:
    """(rows,) [s] and (rows, 3) [m] where the root's centre of mass was."""
    return run.frame["time"].to_numpy(), run.frame[pose_names(run.root)[:3]].to_numpy()


def distances(run: Run, other: Run) -> Floats:
    """(rows,) [m] between the roots of two runs, at the times of the first while both last."""
    (time, place), (other_time, other_place) = root_path(run), root_path(other)
    if not len(time) or not len(other_time):
        return np.zeros(0)
    both = time <= other_time[-1] + 1e-9
    theirs = np.stack([np.interp(time[both], other_time, other_place[:, k]) for k in range(3)], axis=1)
    return np.asarray(np.linalg.norm(place[both] - theirs, axis=1))


def apart(run: Run, other: Run) -> float | None:
    """[m] the greatest distance between the roots of two runs.

    None if either did not get to its end, or if they have only the start in common.
    """
    if any(one.summary["verdict"] in CUT_SHORT for one in (run, other)):
        return None
    between = distances(run, other)
    return float(between.max()) if len(between) > 1 else None

"""Rows of the tables of rollouts: outcomes of the experiment, and creep of a standing human under a steady force."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from biped.errors import InputError
from biped.model.legs import knees_of
from biped.runs.row_layout import pose_names
from biped.runs.run import Run
from biped.runs.verdict import FAILED, FELL, LOST_CONTROL, UNRELIABLE
from biped.simulation.driver import Announce, Progress
from contact.arrays import Floats
from experiments.catalogue.parameters.parameter import Value
from experiments.catalogue.registry import experiment_named
from experiments.catalogue.rollout import Rollout
from experiments.comparison.backends import Backend
from experiments.comparison.table import quantity

#: Verdicts of runs that ended early or are inconclusive.
CUT_SHORT = (FELL, LOST_CONTROL, FAILED, UNRELIABLE)
#: Verdict if an engine cannot simulate the scene.
REFUSED = "refused"
#: Fraction of a run, at its end, over which the state at rest is measured.
TAIL = 0.1


@dataclass(frozen=True)
class Outcome:
    """Row of the table of outcomes: a rollout in an engine; None for quantities that cannot be measured."""

    engine: str = quantity("", "name of the engine")
    verdict: str = quantity("", "how the run ended")
    step: float = quantity("s", "time step")
    period: float | None = quantity("s", "control period")
    simulated: float = quantity("s", "simulated time")
    settling_time: float | None = quantity("s", "time after which the root stays within 2 cm and 2° of its set point")
    position_error: float | None = quantity("m", "mean distance of the root from its set point in the last tenth")
    orientation_error: float | None = quantity("rad", "mean angle of the root from its set point in the last tenth")
    block_impulse: float | None = quantity("N*s", "impulse of the thrown block on its target")
    foot_slip: float | None = quantity("m", "longest path that a contact point slid")
    foot_creep: float | None = quantity("m", "largest creep of sticking contact points in the run's last quarter")
    penetration: float | None = quantity("m", "mean depth of the deepest contact point in the run's last tenth")
    peak_knee_torque: float | None = quantity("N*m", "peak torque of either knee")
    peak_torque: float | None = quantity("N*m", "peak torque of any joint")
    energy_residual: float | None = quantity("J", "largest error of the energy balance")
    momentum_defect: float | None = quantity("N*s", "largest error of the momentum balance")
    angular_momentum_defect: float | None = quantity("N*m*s", "largest error of the angular momentum balance")
    apart: float | None = quantity("m", "greatest distance of the root from its position in the first engine")
    steps: int = quantity("1", "number of time steps")
    per_step: float | None = quantity("s", "computing time of a step; external engines: of their calls", None)
    failure: str = quantity("", "reason why the run ended early", "")

    @property
    def stood(self) -> bool:
        return self.verdict not in CUT_SHORT


#: Columns that are copied from the run's summary.
_OF_SUMMARY = (
    "settling_time", "position_error", "orientation_error", "foot_slip", "foot_creep", "momentum_defect",
    "angular_momentum_defect",
)  # fmt: skip


def outcome_of(label: str, made: Rollout, values: Mapping[str, Value], first: Run | None) -> Outcome:
    """Return the row of a rollout with these values; ``first`` is the first engine's run, None if this is the first."""
    summary = made.run.summary
    impulses = [impact["impulse"] for impact in summary["events"]["impacts"]]
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
        per_step=made.per_step if made.steps else None,
        failure=made.error or "",
    )


def penetration(run: Run) -> float | None:
    """Return the depth [m] of the deepest contact point in the floor, mean over the last tenth of a run without a fall.

    None if no point is on the floor then.
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


def distances(run: Run, other: Run) -> Floats:
    """Return the distances [m] between the roots of two runs, at the times of the first while both last."""
    time, other_times = (each.frame["time"].to_numpy() for each in (run, other))
    place, theirs = (each.frame[pose_names(each.root)[:3]].to_numpy() for each in (run, other))
    if not len(time) or not len(other_times):
        return np.zeros(0)
    both = time <= other_times[-1] + 1e-9
    met = np.stack([np.interp(time[both], other_times, theirs[:, k]) for k in range(3)], axis=1)
    return np.asarray(np.linalg.norm(place[both] - met, axis=1))


def apart(run: Run, other: Run) -> float | None:
    """Return the greatest distance [m] between the roots of two runs.

    None if a run ended early, or if the runs have only the start in common.
    """
    if any(each.summary["verdict"] in CUT_SHORT for each in (run, other)):
        return None
    between = distances(run, other)
    return float(between.max()) if len(between) > 1 else None


STANDING = "balance"
#: [N] constant horizontal force on the trunk.
FORCE = 30.0
#: [s] time until the human leans steadily against the force; creep is measured then. And approximate time between rows.
SETTLED, RECORDED = 2.0, 0.02
#: Parameters of the compared experiment that also apply to the standing human.
COMMON = ("floor.", "run.step", "controller.period", "controller.kp_", "controller.kd_", "integrator.")


@dataclass(frozen=True)
class Creep:
    """Row of the table of creep: creep of a standing human's feet in an engine."""

    engine: str = quantity("", "name of the engine")
    settings: str = quantity("", "equal for equal settings, vendor for the vendor's defaults")
    verdict: str = quantity("", "how the run ended")
    step: float = quantity("s", "time step")
    measured: float = quantity("s", "duration of the measurement of creep")
    creep: float | None = quantity("m", "largest horizontal displacement of a contact point")
    failure: str = quantity("", "reason for a missing number", "")


#: Times [s] since ``SETTLED``, and the largest horizontal displacement [m] of a contact point at each time.
Drift = tuple[Floats, Floats]


def standing_changes(changes: Mapping[str, Value], step: float, duration: float) -> dict[str, Value]:
    """Return the changes of the standing experiment, with the changes of the compared one that apply to it."""
    return {name: value for name, value in changes.items() if name.startswith(COMMON)} | {
        "force.size": FORCE,
        "force.start": 0.0,
        "force.duration": SETTLED + duration,
        "run.duration": SETTLED + duration,
        "run.record_every": step * max(1, round(RECORDED / step)),
    }


def stand(
    backend: Backend,
    settings: str,
    changes: Mapping[str, Value],
    duration: float,
    progress: Progress,
    announce: Announce | None = None,
) -> tuple[Creep, Drift | None, Rollout | None]:
    """Simulate a human standing under the force in an engine; creep is measured over ``duration`` [s].

    ``settings`` is the entry of the table; ``changes`` are those of the compared experiment.
    """
    experiment = experiment_named(STANDING)
    step = experiment.values({name: changes[name] for name in changes if name == "run.step"}).number("run.step")
    try:
        made = backend.run(experiment, standing_changes(changes, step, duration), progress, announce)
    except InputError as error:
        return Creep(backend.label, settings, REFUSED, step, 0.0, None, str(error)), None, None
    verdict = str(made.run.summary["verdict"])
    if verdict in CUT_SHORT:
        why = made.error or made.run.verdict_line
        return Creep(backend.label, settings, verdict, step, 0.0, None, why), None, made
    time, moved = drift = drift_of(made.run)
    return Creep(backend.label, settings, verdict, step, float(time[-1]), float(moved.max())), drift, made


def friction_held(changes: Mapping[str, Value]) -> float:
    """Return the static friction limit [N] of the standing human's floor: static friction times weight."""
    floor = {name: value for name, value in changes.items() if name.startswith("floor.")}
    setup = experiment_named(STANDING).build(floor)
    return float(setup.floor.mu_s * setup.model.total_mass * np.linalg.norm(setup.model.gravity))


def drift_of(run: Run, since: float = SETTLED) -> Drift:
    """Return the largest horizontal displacement [m] of a contact point since a time [s], over time."""
    frame = run.frame[run.frame["time"] >= since - 1e-9]
    tracks = [frame[[f"contact_{point}_{axis}" for axis in "xy"]].to_numpy() for point in run.state.model.contact_names]
    time = frame["time"].to_numpy()
    return time - time[0], np.max([np.linalg.norm(track - track[0], axis=1) for track in tracks], axis=0)

"""Steps after lateral pushes, compared with people: timing, location and number (Hof et al. 2010)."""

import pandas as pd
from matplotlib.figure import Figure

from biped.runs.verdict import FELL, LOST_CONTROL
from experiments.catalogue.parameters.controllers import PERSON
from experiments.catalogue.parameters.parameter import Value
from experiments.papers.criteria import at_least, at_most, stated, when
from experiments.papers.figures import plotted
from experiments.papers.item import Finding, Outcome, Progress
from experiments.papers.people.person import BY_PERSON_TEXT, shown
from experiments.studies.mean import mean_of
from experiments.studies.sweep.sweep import sweep

#: Pushes to the left [N·s]; the smallest is about the threshold of the person.
PUSHES = (40.0, 45.0, 50.0, 55.0)
#: Largest difference [cm] of distances that count as constant: the ankles can compensate it.
ANKLES_REACH = 2.0
_PLACE = "the distance outward of ξ depends on the push"
_MANY = "the swing of the leg has tilted the trunk, so that further steps are needed"
_HARD = "the pushes are about the lateral threshold, which delayed and noisy sensors lower (docs/person.md)"


def findings(table: pd.DataFrame) -> tuple[Finding, ...]:
    """Compare trials with published values of first steps."""
    stepped, fallen = table[table["footsteps"] > 0], table["verdict"].isin((FELL, LOST_CONTROL))
    down = 1e3 * float((stepped["first_step_onset"] + stepped["first_step_duration"]).min())
    beyond = 100.0 * stepped.groupby("push.impulse")["first_step_beyond_xcom"].mean()
    constant = float(beyond.max() - beyond.min()) <= 2.0 * ANKLES_REACH and float(beyond.min()) > 0.0
    means = ", ".join(f"{value:.1f}" for value in beyond)
    overall = shown(mean_of(100.0 * stepped["first_step_beyond_xcom"]))
    alike = when(f"all outward, within ± {ANKLES_REACH:g} cm", constant)
    return (
        stated("earliest landing of a foot after the start of the push [ms]", "at least 300", down, at_least(300.0)),
        stated("first step outward of ξ, by push [cm]", "constant", f"{means}; all: {overall}", alike, why=_PLACE),
        stated("largest number of steps", "at most 2", float(table["footsteps"].max()), at_most(2), why=_MANY),
        stated(f"falls of {len(table)} trials", "0", float(fallen.sum()), at_most(0), why=_HARD),
    )


def produce(quick: bool, progress: Progress) -> Outcome:
    pushes, replicas = ((PUSHES[0], PUSHES[-1]), 2) if quick else (PUSHES, 10)
    fixed: dict[str, Value] = {
        "sensors.preset": "young", "initial.jitter": 0.005, "push.azimuth": "90deg", "run.duration": 4.0,
        "run.step": 2e-3,
    }  # fmt: skip
    table = sweep(
        "balance", {"push.impulse": list(pushes)}, fixed, controller=PERSON, replicas=replicas,
        metrics=["first_step_*", "footsteps"], progress=lambda done: progress(done / (len(pushes) * replicas)),
    )  # fmt: skip
    assumptions = (
        f"{BY_PERSON_TEXT}; the sensors are those of the young",
        "pushes at the trunk to the left, within 0.1 s, during stance; people walked on a treadmill",
        f"means over {replicas} trials for each push, which differ in their noise and initial joint angles (5 mrad)",
    )
    names = {
        "push.impulse": "push [N·s]", "verdict": "verdict", "footsteps": "steps", "first_step_onset": "onset [s]",
        "first_step_duration": "in the air [s]", "first_step_beyond_xcom": "lands outward of ξ [m]",
    }  # fmt: skip
    frame = table[list(names)].rename(columns=names)
    return Outcome(findings(table), assumptions, {"First steps": frame}, {"steps": _draw(table)})


def _draw(table: pd.DataFrame) -> Figure:
    with plotted("Where the first step lands", "push [N·s]", "outward of ξ [cm]") as (figure, axes):
        axes.plot(table["push.impulse"], 100.0 * table["first_step_beyond_xcom"], "o", label="ours, trials")
        axes.axhline(0.0, color="C1", label="ξ")
        axes.margins(0.05)
    return figure

"""Effect of the control period on balance: the claim that a control period of 200 ms has no cost.

For the inverted pendulum the claim is a theorem. In a control period T it moves by ξ' = e^{ωT} ξ − (e^{ωT} − 1) p, with
its centre of pressure p held. A control law p = k (ξ + n) with sensor errors n of at most N leads to ξ' = a ξ −
(e^{ωT} − 1) k n, a = e^{ωT} − (e^{ωT} − 1) k, so that the greatest deviation that N can cause is (e^{ωT} − 1) k N/(1 −
abs(a)). For a ≥ 0 this is k N/(k − 1), which is independent of the period.
"""

import math
from collections.abc import Mapping

import pandas as pd
from matplotlib.figure import Figure

from biped.capturability import stance_of
from biped.model import human
from biped.runs.stance import Stance
from experiments.catalogue.parameters.parameter import Value
from experiments.papers.figures import plotted
from experiments.papers.item import Finding, Outcome, Progress
from experiments.papers.people import person
from experiments.studies.grid import Grid
from experiments.studies.mean import Mean
from experiments.studies.sweep.sweep import sweep
from experiments.studies.threshold.search import Bracket
from experiments.studies.threshold.threshold import SweptParameter

#: Control periods [s]; the least is the controller's default. Periods longer than the sensory delay are tested with
#: ideal sensors without delay.
LATE, NOT_LATE = (0.002, 0.02, 0.05, 0.1), (0.002, 0.05, 0.1, 0.2)
#: Relative change below which the period counts as having no impact.
MARGIN = 0.05
GAINS = (1.5, 2.0, 3.0)
_PUSH = (
    "the response to an unexpected push starts at the next tick, and a held torque is delayed by half a period on "
    "average; the claim is about bounded sensor errors, not about pushes"
)
_ERROR = "sway with sensor noise varies between trials by more than this difference"


def error_bound(gain: float, period: float, rate: float) -> float:
    """Return the pendulum's greatest deviation divided by the greatest sensor error; infinity if it is unstable."""
    grown = math.exp(rate * period)
    kept = grown - (grown - 1.0) * gain
    return (grown - 1.0) * gain / (1.0 - abs(kept)) if abs(kept) < 1.0 else math.inf


def findings(late: dict[float, list[Bracket]], at_once: dict[float, list[Bracket]], sway: Mean) -> tuple[Finding, ...]:
    """Compare push thresholds, by control period [s], and sway in quiet stance, at the longest and the least period."""
    statements = []
    for senses, brackets in (("with a delay of 100 ms", late), ("without delay", at_once)):
        least, longest = min(brackets), max(brackets)
        what = f"largest push in place, period {1e3 * longest:g} ms / {1e3 * least:g} ms, sensors {senses}"
        statements.append(person.compared(what, 1.0, MARGIN, person.ratio(brackets[longest], brackets[least]), _PUSH))
    what = f"largest sway of quiet stance, period {1e3 * max(LATE):g} ms / {1e3 * min(LATE):g} ms"
    return (person.compared(what, 1.0, MARGIN, sway, _ERROR), *statements)


def produce(quick: bool, progress: Progress) -> Outcome:
    replicas, trials, grid = (3, 4, Grid(0.0, 24.0, 8.0, 2.0)) if quick else (11, 60, Grid(0.0, 30.0, 5.0, 0.25))
    rate = _rate()
    late = _pushes(LATE, {}, grid, replicas, lambda done: progress(0.4 * done))
    at_once = _pushes(NOT_LATE, person.AT_ONCE, grid, 3, lambda done: progress(0.4 + 0.2 * done))
    swayed = _sway(trials, lambda done: progress(0.6 + 0.4 * done))
    pushes = [
        (senses, 1e3 * period, *person.ends(person.median(brackets)))
        for senses, by_period in (("100 ms late", late), ("not late", at_once))
        for period, brackets in by_period.items()
    ]
    tables = {
        "Pushes": pd.DataFrame(pushes, columns=["senses", "period [ms]", "largest push [N·s]", "from", "to"]),
        "Sway": swayed.rename(columns={"controller.period": "period [s]", "com_excursion": "largest sway [m]"}),
        "Pendulum": pd.DataFrame(
            [(k, 1e3 * T, error_bound(k, T, rate)) for k in GAINS for T in (*LATE, 0.2, 0.3)],
            columns=["gain", "period [ms]", "greatest deviation over greatest error"],
        ),
    }
    by_period = swayed.set_index("replica").groupby("controller.period")["com_excursion"]
    sway = person.mean_ratio(by_period.get_group(max(LATE)), by_period.get_group(min(LATE)))
    longest = math.log(2.0) / rate
    assumptions = (
        person.PERSON_TEXT,
        f"for the inverted pendulum, ω = {rate:.2f}/s, the claim is a theorem: with a gain k from the extrapolated "
        "centre of mass to the centre of pressure, the greatest deviation is k/(k − 1) times the greatest sensor "
        f"error for all periods up to ln(k/(k − 1))/ω, which is {1e3 * longest:.0f} ms for k = 2",
        "pushes are forward, at the trunk, within 0.1 s; periods longer than the sensory delay have sensors without "
        "delay and noise; sway is the largest distance of the centre of mass from its start in 30 s",
        f"agreement: within {100 * MARGIN:g} %; ours: medians of {replicas} replicas (3 without noise), and the "
        f"geometric mean over {trials} trials, with their intervals",
    )
    return Outcome(findings(late, at_once, sway), assumptions, tables, {"sampling": _draw(late, at_once)})


def _rate() -> float:
    model = human()
    return stance_of(model, Stance().configuration(model)).pendulum.rate


def _pushes(
    periods: tuple[float, ...], senses: Mapping[str, Value], grid: Grid, replicas: int, progress: Progress
) -> dict[float, list[Bracket]]:
    conditions = {f"{period}": {"controller.period": period} for period in periods}
    changes = {**person.PERSON, **person.BY_ANKLES, **senses, "push.azimuth": 0.0, "run.duration": 5.0}
    by_name = person.thresholds(
        person.ANKLES, SweptParameter("push.impulse"), grid, conditions, changes, replicas=replicas, progress=progress
    )
    return {float(name): brackets for name, brackets in by_name.items()}


def _sway(trials: int, progress: Progress) -> pd.DataFrame:
    periods = [min(LATE), max(LATE)]
    table = sweep(
        "balance", {"controller.period": periods}, {**person.PERSON, **person.BY_ANKLES, "run.duration": 30.0},
        controller=person.ANKLES, replicas=trials, metrics=["com_excursion"],
        progress=lambda done: progress(done / (2 * trials)),
    )  # fmt: skip
    return table[["controller.period", "replica", "verdict", "com_excursion"]]


def _draw(late: dict[float, list[Bracket]], at_once: dict[float, list[Bracket]]) -> Figure:
    with plotted("Largest push in place", "period [ms]", "impulse [N·s]") as (figure, axes):
        for label, by_period in (("sensory delay 100 ms", late), ("no sensory delay", at_once)):
            medians = [person.median(brackets) for brackets in by_period.values()]
            periods = [1e3 * period for period in by_period]
            values = [mean.value for mean in medians]
            axes.errorbar(periods, values, person.reaches(medians), fmt="o-", capsize=3.0, label=label)
        axes.set_ylim(0.0, None)
    return figure

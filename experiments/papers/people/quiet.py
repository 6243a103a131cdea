"""Quiet stance with eyes open and closed on a force plate, compared with people."""

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from biped.metrics import series, sway_measures
from biped.runs.verdict import RECOVERED
from experiments.catalogue.registry import experiment_named
from experiments.papers.figures import plotted
from experiments.papers.item import Finding, Outcome, Progress
from experiments.papers.people.person import ANKLES, BY_ANKLES, PERSON, PERSON_TEXT, compared, mean_ratio
from experiments.studies.mean import mean_of

#: RMS distance AP of the centre of pressure [mm]: mean and standard deviation of 16 people.
PUBLISHED = {"eyes-open": (5.0, 2.5), "eyes-closed": (6.3, 3.6)}
#: Allowed relative difference of ratios, whose spread is unknown.
PART = 0.2
#: Every fifth row of 2 ms is sampled, as by a force plate at 100 Hz; cut-off [Hz] of the filter (Prieto et al. 1996).
EVERY, LOW_PASS = 5, 5.0
_WHY = "only sensor noise makes our person sway, and its size is our choice; people's muscles are noisy, too"


def rms(senses: str, seed: int, duration: float) -> float:
    """Return the RMS distance AP [mm] of a trial; NaN if it ended in a fall."""
    changes = {**PERSON, **BY_ANKLES, "sensors.preset": senses, "sensors.seed": seed, "run.duration": duration}
    run = experiment_named("balance").driven_by(ANKLES).run(changes)
    if run.summary["verdict"] != RECOVERED:
        return float("nan")
    plate = series(run).dropna(subset="cop_ap").iloc[::EVERY]
    measured = sway_measures(plate["time"], plate["cop_ap"], plate["cop_ml"], low_pass=LOW_PASS)
    return 1e3 * float(measured["rms_distance_ap"])


def findings(table: pd.DataFrame) -> tuple[Finding, ...]:
    """Compare the sway of trials, columns ``senses``, ``seed``, ``rms`` [mm] (NaN for falls), with published values."""
    by_seed = table.pivot_table(index="seed", columns="senses", values="rms", dropna=False)
    statements = []
    for senses, (mean, deviation) in PUBLISHED.items():
        ours = by_seed[senses]
        what = f"RMS distance AP of the centre of pressure, {senses.replace('-', ' ')} [mm]"
        statements.append(compared(what, mean, deviation, mean_of(ours), _WHY, lost=int(ours.isna().sum())))
    published = PUBLISHED["eyes-closed"][0] / PUBLISHED["eyes-open"][0]
    closed, opened = by_seed.dropna()[["eyes-closed", "eyes-open"]].to_numpy().T
    lost = int(by_seed.isna().any(axis=1).sum())
    what, ratio = "RMS distance AP, eyes closed / eyes open", mean_ratio(closed, opened)
    statements.append(compared(what, round(published, 2), PART * published, ratio, _WHY, lost=lost))
    return tuple(statements)


def produce(quick: bool, progress: Progress) -> Outcome:
    seeds, duration = (2, 20.0) if quick else (20, 60.0)
    cases = [(senses, seed) for senses in PUBLISHED for seed in range(seeds)]
    rows = []
    for senses, seed in cases:
        rows.append({"senses": senses, "seed": seed, "rms": rms(senses, seed, duration)})
        progress(len(rows) / len(cases))
    table = pd.DataFrame(rows)
    assumptions = (
        PERSON_TEXT,
        "with eyes open, the sensors have the preset eyes-open and a delay of 100 ms",
        f"ours: means of {seeds} trials of {duration:g} s, which differ only in their noise, with 95 % intervals; the "
        f"centre of pressure is sampled at 100 Hz and low-pass filtered at {LOW_PASS:g} Hz",
        f"agreement: within a published standard deviation; for the ratio, whose spread is unknown, {100 * PART:g} %",
        "the people of the source fear heights; they were measured on the ground",
    )
    named = table.rename(columns={"rms": "RMS distance AP [mm]"})
    return Outcome(findings(table), assumptions, {"Trials": named}, {"quiet": _draw(table)})


def _draw(table: pd.DataFrame) -> Figure:
    with plotted("Quiet stance", "senses", "RMS distance AP [mm]") as (figure, axes):
        means, deviations = np.array(list(PUBLISHED.values())).T
        axes.errorbar(list(PUBLISHED), means, deviations, fmt="o", capsize=4.0, color="C1", label="people, mean ± SD")
        axes.plot(table["senses"], table["rms"], ".", color="C0", label="ours, trials")
    return figure

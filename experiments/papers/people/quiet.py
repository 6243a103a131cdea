"""Quiet stance on a force plate, compared with people of an open data set (Santos and Duarte 2016).

``quiet.csv`` has means and standard deviations of people; docs/human-data.md has the program that computes them.
"""

import math
from collections.abc import Mapping, Sequence
from importlib.resources import files
from typing import NamedTuple

import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from numpy.typing import ArrayLike

from biped.metrics import (
    diffusion_curve,
    diffusion_measures,
    mean_power_frequency,
    sample_entropy,
    series,
    sway_measures,
)
from biped.runs.verdict import RECOVERED
from experiments.catalogue.parameters.controllers import PERSON
from experiments.catalogue.parameters.parameter import Value
from experiments.catalogue.registry import experiment_named
from experiments.papers.item import Finding, Outcome, Progress
from experiments.papers.people.person import BY_PERSON_TEXT, HALVES, compared, conditions
from experiments.studies.mean import Mean, mean_of
from experiments.visualization.look import style
from experiments.visualization.look.writing import styled

#: Every fifth row of 2 ms is sampled, as by a force plate at 100 Hz; cut-off [Hz] of the filter (Prieto et al. 1996).
EVERY, LOW_PASS = 5, 5.0
#: [s] Lags of the short-term and the long-term line of the diffusion curve.
REGIONS = ((0.01, 1.0), (2.0, 10.0))
#: Title, name of the measure, unit, and True if the record is low-passed first; of each axis.
_ALONG = (
    ("RMS distance", "rms_distance", " [mm]", True), ("range", "range", " [mm]", True),
    ("mean velocity", "mean_velocity", " [mm/s]", True),
    ("unfiltered mean velocity", "mean_velocity", " [mm/s]", False),
    ("50 % power frequency", "power_frequency_50", " [Hz]", True),
    ("95 % power frequency", "power_frequency_95", " [Hz]", True),
    ("short-term exponent", "short_exponent", "", False), ("long-term exponent", "long_exponent", "", False),
    ("sample entropy", "sample_entropy", "", False),
)  # fmt: skip
#: Title, name, unit and filter as above, of both axes together; unfiltered: the measures that the authors published.
_IN_PLANE = (
    ("area", "area", " [mm²]", True), ("unfiltered area", "area", " [mm²]", False),
    ("unfiltered mean velocity", "mean_velocity", " [mm/s]", False),
    ("mean power frequency", "mean_power_frequency", " [Hz]", False),
)  # fmt: skip
#: Name of the measure and filter, by quantity, in the order of the statements.
QUANTITIES = {
    **{f"{title} {axis.upper()}{unit}": (f"{name}_{axis}", smooth)
       for title, name, unit, smooth in _ALONG for axis in ("ap", "ml")},
    **{f"{title}{unit}": (name, smooth) for title, name, unit, smooth in _IN_PLANE},
}  # fmt: skip
_WHY = "only sensor noise moves our person, and one correlation time stands for all of it"


class Row(NamedTuple):
    """A measure of people in a condition, and of our person."""

    quantity: str
    condition: str
    mean: float
    sd: float  # standard deviation between people
    people: int
    ours: Mean
    lost: int  # trials that ended in a fall


def measures(time: ArrayLike, ap: ArrayLike, ml: ArrayLike) -> dict[str, float]:
    """Return the measures of a record by quantity, without those that are undefined, such as frequencies at rest.

    Args:
        time: (n,) [s], in steps of 10 ms, for 20 s or longer.
        ap: (n,) [m] anteroposterior centre of pressure, without gaps.
        ml: (n,) [m] mediolateral centre of pressure, without gaps.
    """
    x, y = np.round(1e3 * np.array([ap, ml], dtype=float), 6)  # [mm]; less than a nanometre is not motion
    smooth, raw = sway_measures(time, x, y, low_pass=LOW_PASS), sway_measures(time, x, y)
    raw |= mean_power_frequency(time, x, y) | diffusion_measures(diffusion_curve(time, x, y), REGIONS)
    raw |= {f"sample_entropy_{axis}": sample_entropy(moved) for axis, moved in (("ap", x), ("ml", y)) if np.ptp(moved)}
    sources = ((quantity, name, smooth if filtered else raw) for quantity, (name, filtered) in QUANTITIES.items())
    return {quantity: values[name] for quantity, name, values in sources if name in values}


def people() -> pd.DataFrame:
    """Return mean, ``sd`` between people and number of ``people`` by group, eyes, surface and quantity."""
    with (files(__package__) / "quiet.csv").open(encoding="utf-8") as file:
        return pd.read_csv(file, comment="#")


def simulated(seeds: int, duration: float, progress: Progress, changes: Mapping[str, Value]) -> pd.DataFrame:
    """Return a row per trial: group, eyes, surface, seed, ``stood`` (False after a fall), and the measures."""
    cases = [(*condition, seed) for condition in conditions() for seed in range(seeds)]
    rows = []
    for group, eyes, surface, seed in cases:
        senses = {**conditions()[group, eyes, surface], "sensors.seed": seed, "run.duration": duration}
        run = experiment_named("balance").driven_by(PERSON).run({"run.step": 2e-3, **senses, **changes})
        stood = run.summary["verdict"] == RECOVERED
        plate = series(run).dropna(subset="cop_ap").iloc[::EVERY]
        measured = measures(plate["time"], plate["cop_ap"], plate["cop_ml"]) if stood else {}
        rows.append({"group": group, "eyes": eyes, "surface": surface, "seed": seed, "stood": stood, **measured})
        progress(len(rows) / len(cases))
    return pd.DataFrame(rows).reindex(columns=["group", "eyes", "surface", "seed", "stood", *QUANTITIES])


def rows_of(table: pd.DataFrame) -> list[Row]:
    """Return people's numbers beside those of the trials of ``simulated``, for all conditions of the trials."""
    rows, condition = [], ["group", "eyes", "surface"]
    by_condition = dict(list(table.groupby(condition)))
    for group, eyes, surface, quantity, mean, sd, number in people().itertuples(index=False, name=None):
        trials = by_condition.get((group, eyes, surface))
        if trials is not None:
            stood = trials.loc[trials["stood"], quantity]
            ours = mean_of(stood)
            ours = ours if ours.of else Mean(math.nan, len(stood), math.nan, math.nan)
            where = f"{group}, eyes {eyes}, {surface}"
            rows.append(Row(quantity, where, mean, sd, number, ours, len(trials) - len(stood)))
    return rows


def findings(rows: Sequence[Row]) -> tuple[Finding, ...]:
    """Compare our means with those of people."""
    statements = []
    for quantity, condition, mean, sd, number, ours, lost in rows:
        what, error = f"{quantity}, {condition}", sd / math.sqrt(number)
        statements.append(compared(what, mean, sd, ours, _WHY, lost=lost, error=error))
    return tuple(statements)


def misfit(changes: Mapping[str, Value], seeds: int = 4, duration: float = 60.0) -> float:
    """Return the RMS of (ours − people's mean) / SD over the training half, with changes of the person's parameters.

    It is infinite if a trial ends in a fall or a measure is undefined.
    """
    rows = rows_of(simulated(seeds, duration, lambda _: None, changes))
    training = [row for number, row in enumerate(rows) if HALVES[number % len(HALVES)] == "training"]
    apart = np.array([(row.ours.value - row.mean) / row.sd for row in training])
    if any(row.lost for row in rows) or not np.isfinite(apart).all():
        return math.inf
    return float(np.sqrt((apart**2).mean()))


def produce(quick: bool, progress: Progress) -> Outcome:
    seeds, duration = (2, 20.0) if quick else (20, 60.0)
    table = simulated(seeds, duration, progress, {})
    rows = rows_of(table)
    assumptions = (
        BY_PERSON_TEXT,
        "sensors: preset eyes-open, eyes-closed or foam; with closed eyes on foam, foam with the delay and thresholds "
        "of eyes-closed and twice the visual noise; old: preset and strength of the old",
        "the noise of eyes-open was fitted to the training half; the factors of the other presets were chosen by hand "
        "with both halves in view",
        "people: mean over people of the mean of up to three records of 60 s each; area, velocity and mean power "
        "frequency of the unfiltered records: medians of three records, as published by the authors",
        f"ours: means of {seeds} trials of {duration:g} s, which differ only in their noise, with 95 % intervals",
        f"centre of pressure at 100 Hz, low-passed at {LOW_PASS:g} Hz for distances, power frequencies and area; "
        "unfiltered for exponents (lags 0.01 to 1 s and 2 to 10 s) and sample entropy (m = 2, r = 0.2)",
        "agreement: within one standard deviation between people; 2 SE: two standard errors of people's mean; the "
        "deviation of some areas exceeds their mean, so that an area of zero agrees",
    )
    return Outcome(findings(rows), assumptions, {"Trials": table}, {"quiet": _draw(table)})


def _draw(table: pd.DataFrame) -> Figure:
    """Draw each measure by condition: people as bands of mean ± SD, our trials as points."""
    known, young = people().query("group == 'young'"), table.query("group == 'young'")
    sides = ((" AP", -0.2, style.BLUE), (" ML", 0.2, style.ORANGE))
    panels = [(title, unit, sides) for title, _, unit, _ in _ALONG] + [("area", " [mm²]", (("", 0.0, style.BLUE),))]
    with styled():
        figure = Figure(figsize=(12.0, 5.5), layout="constrained")
        for axes, (title, unit, drawn) in zip(figure.subplots(2, 5).flat, panels, strict=True):
            for axis, aside, color in drawn:
                rows = known[known["quantity"] == f"{title}{axis}{unit}"]
                for place, (_, eyes, surface, quantity, mean, sd, _) in enumerate(rows.itertuples(index=False)):
                    centre = place + aside
                    axes.bar(centre, 2.0 * sd, 0.3, mean - sd, color=color, alpha=0.25)
                    axes.hlines(mean, centre - 0.15, centre + 0.15, color=color)
                    trials = young.loc[(young["eyes"] == eyes) & (young["surface"] == surface), quantity]
                    axes.plot([centre] * len(trials), trials, ".", color=color, ms=4.0)
            axes.set_title(f"{title}{unit}", fontsize="small")
            axes.set_xticks(range(4), ["open", "closed", "open,\nfoam", "closed,\nfoam"])
            axes.use_sticky_edges = False
            axes.margins(0.06)
        figure.suptitle("bands: people, mean ± SD; points: ours, trials; blue: AP (area: plane), orange: ML")
    return figure

"""Quality of a fit: R² and RMS error by column, z-scores by target, and reasons for doubt."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from contact.arrays import Floats
from experiments.studies.counting import FALLS, WITHOUT_RESULT
from experiments.studies.fitting.measured import Measured
from experiments.studies.tuning.targets import Targets

if TYPE_CHECKING:
    import pandas as pd

#: Largest distance of a model's statistic from its target, in standard deviations, without a warning.
OFF = 2.0
#: Verdicts of runs that ended in a fall or failure.
LOST = (*FALLS, WITHOUT_RESULT[0])


def r_squared(measured: Floats, model: Floats) -> float:
    """Return R² = 1 − Σ(measured − model)² / Σ(measured − mean of measured)², for values (n,) without gaps.

    Below 0, the mean of the record fits it better than the model. If the means were subtracted from both, R² is the
    variance accounted for (VAF). NaN if the measured values are constant.
    """
    about = float(((measured - measured.mean()) ** 2).sum())
    return 1.0 - float(((measured - model) ** 2).sum()) / about if about > 0.0 else float("nan")


def quality_of_columns(
    names: Sequence[str], records: Sequence[Measured], modelled: Sequence[Floats], units: Mapping[str, str]
) -> "pd.DataFrame":
    """Return a row for each record and column: ``record``, ``column``, ``unit``, ``fitted``, ``rms``, ``r_squared``."""
    import pandas as pd

    rows = []
    for name, record, values in zip(names, records, modelled, strict=True):
        for k, every, model in record.pairs(values):
            column, counts = record.trace.columns[k], record.counts[k]
            rms = float(np.sqrt(((every - model)[counts] ** 2).mean()))
            r2 = r_squared(every[counts], model[counts])
            rows.append((name, column, units.get(column, ""), record.is_fitted[k], rms, r2))
    return pd.DataFrame(rows, columns=["record", "column", "unit", "fitted", "rms", "r_squared"])


def quality_of_targets(targets: Targets, modelled: Floats) -> "pd.DataFrame":
    """Return a row for each target: ``target``, ``unit``, ``value``, ``sd``, ``model``, ``model_se``, ``z``."""
    import pandas as pd

    frame = pd.DataFrame([(term.reading.metric, term.target, term.per) for term in targets.terms])
    frame.columns = ["target", "value", "sd"]
    frame.insert(1, "unit", targets.units)
    spread = modelled.std(axis=1, ddof=1) if modelled.shape[1] > 1 else np.full(len(frame), np.nan)
    return frame.assign(
        model=modelled.mean(axis=1), model_se=spread / np.sqrt(modelled.shape[1]), z=-targets.residuals(modelled)
    )


def doubts_of_quality(quality: "pd.DataFrame") -> list[str]:
    """Return sentences on columns that their mean fits better than the model, and on targets that the model misses."""
    doubts = []
    for row in quality.to_dict("records"):
        if abs(row.get("z", 0.0)) > OFF:
            doubts.append(f"{row['target']}: the model misses it by {abs(row['z']):.3g} standard deviations")
        if row.get("r_squared", 0.0) < 0.0:
            means = "do not use the estimates; if noise drives the motion, fit its statistics, in [fit.targets]"
            if not row["fitted"]:
                means = "the column was not fitted, and the model moves differently from the subject"
            at = f"{row['record']}: {row['column']}: R² = {row['r_squared']:.2f}"
            doubts.append(f"{at}: the model is worse than the record's mean; {means}")
    return doubts


def doubts_of_runs(verdicts: Sequence[str], best: Sequence[str]) -> list[str]:
    """Return a sentence if at least half of a fit's runs, or one with the ``best`` values, fell or failed."""
    lost, is_best = sum(verdict in LOST for verdict in verdicts), any(verdict in LOST for verdict in best)
    if not is_best and 2 * lost < len(verdicts):
        return []
    ended = ", also with the estimated values" if is_best else ""
    return [f"{lost} of {len(verdicts)} runs fell, lost control or failed{ended}: such a model does not stand"]


def doubts_of_seeds(table: "pd.DataFrame", values: "pd.DataFrame") -> list[str]:
    """Return sentences on parameters that other noise seeds move out of their intervals; ``values``: a row per seed."""
    doubts = []
    for name, low, high in zip(table["parameter"], table["low"], table["high"], strict=True):
        least, most = float(values[name].min()), float(values[name].max())
        if least < low or most > high:
            doubts.append(
                f"{name} depends on the noise seed: {len(values)} seeds give {least:.3g} … {most:.3g}, but the "
                f"interval is {low:.3g} … {high:.3g}; fit statistics instead, in [fit.targets]"
            )
    return doubts

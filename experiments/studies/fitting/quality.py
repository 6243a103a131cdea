"""How good a fit is: R² and RMS error by column, z-scores by target, and what makes its values doubtful."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from contact.arrays import Floats
from experiments.studies.counting import FALLS, WITHOUT_RESULT
from experiments.studies.fitting.measured import Measured
from experiments.studies.fitting.targets import Targets

if TYPE_CHECKING:
    import pandas as pd

#: In standard deviations: a statistic that is further from its target is not reproduced.
OFF = 2.0
#: Verdicts of runs that did not stand to the end.
LOST = (*FALLS, WITHOUT_RESULT[0])


def r_squared(measured: Floats, model: Floats) -> float:
    """Return R² = 1 − Σ(measured − model)² / Σ(measured − mean of measured)², of values (n,) that are all there.

    1: the model is what was measured. 0: it is as far from it as the record's own mean is. Below 0: worse than the
    mean. Where both are about their means it is the variance accounted for (VAF). NaN if the record never changes.
    """
    about = float(((measured - measured.mean()) ** 2).sum())
    return 1.0 - float(((measured - model) ** 2).sum()) / about if about > 0.0 else float("nan")


def quality_of_columns(
    names: Sequence[str], records: Sequence[Measured], modelled: Sequence[Floats], units: Mapping[str, str]
) -> "pd.DataFrame":
    """A row for each column of each record: ``record``, ``column``, ``unit``, ``fitted``, ``rms``, ``r_squared``.

    Both numbers are of all values that are there; after its end a run stands where it was.
    """
    import pandas as pd

    rows = []
    for name, record, values in zip(names, records, modelled, strict=True):
        for k, measured, model in record.pairs(values):
            column, counts = record.trace.columns[k], record.counts[k]
            rms = float(np.sqrt(((measured - model)[counts] ** 2).mean()))
            r2 = r_squared(measured[counts], model[counts])
            rows.append((name, column, units.get(column, ""), record.is_fitted[k], rms, r2))
    return pd.DataFrame(rows, columns=["record", "column", "unit", "fitted", "rms", "r_squared"])


def quality_of_targets(targets: Targets, modelled: Floats) -> "pd.DataFrame":
    """A row for each target: ``target``, ``unit``, ``value``, ``sd``, ``model``, ``model_se`` (over seeds), ``z``."""
    import pandas as pd

    count = modelled.shape[1]
    error = modelled.std(axis=1, ddof=1) / np.sqrt(count) if count > 1 else np.full(len(modelled), np.nan)
    return pd.DataFrame({
        "target": [term.reading.metric for term in targets.terms],
        "unit": targets.units,
        "value": [term.target for term in targets.terms],
        "sd": [term.per for term in targets.terms],
        "model": modelled.mean(axis=1),
        "model_se": error,
        "z": -targets.residuals(modelled),
    })  # fmt: skip


def doubts_of_columns(quality: "pd.DataFrame") -> list[str]:
    """Columns in which the model is worse than the record's own mean, in sentences."""
    told = []
    for row in quality[quality["r_squared"] < 0.0].to_dict("records"):
        text = f"{row['record']}: {row['column']}: R² = {row['r_squared']:.2f}: the model is worse than the record's mean"
        if row["fitted"]:
            told.append(
                f"{text}; the parameters mean nothing. Sway that noise drives is fitted by statistics, in [fit.targets]"
            )
        else:
            told.append(f"{text}, in a column that was not fitted: the model does something else than the subject")
    return told


def doubts_of_targets(quality: "pd.DataFrame") -> list[str]:
    """Targets that the model does not reproduce, in sentences."""
    return [
        f"{row['target']}: the model is {abs(row['z']):.3g} standard deviations from the target: it cannot do that"
        for row in quality[quality["z"].abs() > OFF].to_dict("records")
    ]


def doubts_of_runs(verdicts: Sequence[Sequence[str]], best: Sequence[str]) -> list[str]:
    """Runs of the fit that did not stand, and whether the best one is among them, in a sentence.

    Args:
        verdicts: of the runs at each set of values.
        best: of those with the estimate.
    """
    every = [verdict for mine in verdicts for verdict in mine]
    lost, worst = sum(verdict in LOST for verdict in every), any(verdict in LOST for verdict in best)
    if not worst and 2 * lost < len(every):
        return []
    ended = ", the best one among them" if worst else ""
    return [f"{lost} of {len(every)} runs fell, lost control or failed{ended}: the model does not stand as it is set"]


def doubts_of_seeds(table: "pd.DataFrame", values: "pd.DataFrame") -> list[str]:
    """Parameters that other seeds of the noise move out of their intervals, in sentences.

    Args:
        table: as ``Found.table``.
        values: a row for each seed, a column for each parameter.
    """
    told = []
    for row in table.to_dict("records"):
        own = values[row["parameter"]]
        low, high = float(own.min()), float(own.max())
        if low < row["low"] or high > row["high"]:
            told.append(
                f"{row['parameter']}: the noise seed decides: {len(own)} seeds give {low:.3g} … {high:.3g}, and the "
                f"interval is {row['low']:.3g} … {row['high']:.3g}; fit statistics instead, in [fit.targets]"
            )
    return told

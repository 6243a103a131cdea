"""Tables of trials: which columns there are, and the means of each subject."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from biped.errors import InputError
from contact.errors import did_you_mean

if TYPE_CHECKING:
    import pandas as pd


def check_columns(table: "pd.DataFrame", names: Sequence[str]) -> None:
    """Raises InputError where a column is not there."""
    known = [str(column) for column in table.columns]
    for name in names:
        if name not in known:
            raise InputError(f"no column {name!r}: {did_you_mean(name, known)}columns are {', '.join(known)}")


def measured_trials(table: "pd.DataFrame", metric: str, labels: Sequence[str]) -> "pd.DataFrame":
    """The columns of these labels and a metric as numbers, of the trials that have it.

    Raises:
        InputError: a column is not there, a trial has no label, the metric is no number, infinite, or in no trial.
    """
    import numpy as np
    import pandas as pd

    check_columns(table, [metric, *labels])
    for label in labels:
        if table[label].isna().any():
            raise InputError(f"{label}: {int(table[label].isna().sum())} trials have none; each trial must have one")
    if not pd.api.types.is_numeric_dtype(table[metric]):
        raise InputError(
            f"{metric} is a column of words: compare numbers, or a share, as of "
            f'table.assign(fell=table["verdict"] == "fell")'
        )
    numbers = table[metric].astype("float64")
    if np.isinf(numbers).any():
        raise InputError(f"{metric} is infinite in {int(np.isinf(numbers).sum())} trials: it has no mean")
    trials = table[list(labels)].assign(**{metric: numbers})[numbers.notna()]
    if trials.empty:
        raise InputError(f"{metric}: no trial has it")
    return trials

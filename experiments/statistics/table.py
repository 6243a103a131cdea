"""Tables of trials: reading files, and checking columns."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from biped.errors import InputError
from contact.errors import did_you_mean

if TYPE_CHECKING:
    import pandas as pd


#: Suffixes of table files.
FORMATS = (".csv", ".tsv", ".txt", ".parquet")


def read_table(path: Path) -> "pd.DataFrame":
    """Return the table in a file: Parquet, or text with a header line.

    The separator of text columns is the first of these that the header contains: tab, semicolon, comma, blank. If it is
    not the comma, numbers may have decimal commas.

    Raises:
        InputError: the file is missing, cannot be read as a table, or its suffix is not in ``FORMATS``.
    """
    import pandas as pd

    if path.suffix.lower() not in FORMATS or not path.is_file():
        raise InputError(f"{path}: a table must be an existing file with one of these suffixes: {', '.join(FORMATS)}")
    try:
        if path.suffix.lower() == ".parquet":
            return pd.read_parquet(path)
        heading = path.read_text(encoding="utf-8-sig").partition("\n")[0]
        between = next((mark for mark in "\t;," if mark in heading), r"\s+")
        table = pd.read_csv(path, sep=between, encoding="utf-8-sig", skipinitialspace=True)
    except (ValueError, OSError) as error:
        raise InputError(f"{path}: the file cannot be read as a table ({error})") from None
    if not isinstance(table.index, pd.RangeIndex):
        raise InputError(f"{path}: rows have more cells than the header line {heading.strip()!r}")
    for name in [] if between == "," else table.select_dtypes(exclude=["number", "bool"]):
        numbers = pd.to_numeric(table[name].str.replace(",", "."), errors="coerce")
        if (numbers.isna() == table[name].isna()).all():
            table[name] = numbers
    return table


def check_columns(table: "pd.DataFrame", names: Sequence[str]) -> None:
    """Raise InputError if a column is missing."""
    known = [str(column) for column in table.columns]
    for name in names:
        if name not in known:
            raise InputError(f"no column {name!r}: {did_you_mean(name, known)}columns are {', '.join(known)}")


def measured_trials(table: "pd.DataFrame", metric: str, labels: Sequence[str]) -> "pd.DataFrame":
    """Return a table of the trials that have a metric: the columns ``labels``, and the metric as numbers.

    Raises:
        InputError: a column is missing, a trial has no label, or the metric is not numeric, infinite or in no trial.
    """
    import numpy as np
    import pandas as pd

    check_columns(table, [metric, *labels])
    for label in labels:
        if table[label].isna().any():
            raise InputError(f"{label} is missing in {int(table[label].isna().sum())} trials; each trial needs a value")
    if not pd.api.types.is_numeric_dtype(table[metric]):
        raise InputError(
            f"{metric} is a column of texts: choose a column of numbers, or make one of booleans, such as fell in "
            f'table.assign(fell=table["verdict"] == "fell")'
        )
    numbers = table[metric].astype("float64")
    if np.isinf(numbers).any():
        raise InputError(f"{metric} is infinite in {int(np.isinf(numbers).sum())} trials: leave these trials out")
    trials = table[list(labels)].assign(**{metric: numbers})[numbers.notna()]
    if trials.empty:
        raise InputError(f"no trial has a value of {metric}")
    return trials

"""The table of a run's rows, which says where to look for what is no column of it."""

from typing import Any

import pandas as pd

from biped.errors import UnknownNameError
from contact.errors import did_you_mean

#: A column of trees' rows only, of which ``biped.metrics.series`` has more.
_OF_TREES = "com_x"


class Rows(pd.DataFrame):
    """A data frame like any other, but for the message about a column that is not there."""

    def __getitem__(self, key: Any) -> Any:
        try:
            return super().__getitem__(key)
        except KeyError as error:
            if not isinstance(key, str):
                raise
            names = [str(name) for name in self.columns]
            more = "centres of pressure, margins and floor forces are columns of biped.metrics.series(run); "
            hint = f"{more if _OF_TREES in names else ''}{did_you_mean(key, names)}"
            raise UnknownNameError(f"no column {key!r}; {hint}its columns are {', '.join(names)}") from error

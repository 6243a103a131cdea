"""Trials of a study for its page: varied columns, labels, metrics and their units."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from biped.inputs.modules import SavedNameError
from biped.runs.verdict import VERDICTS
from experiments.catalogue.experiment import Experiment
from experiments.catalogue.parameters.parameter import Parameter, parameter_named
from experiments.cli.quantities import unit_text
from experiments.studies.proportion import Proportion, proportion_of
from experiments.studies.store.folder import HEADER, Study
from experiments.studies.store.table import CHANGES, FIRST, cells_of
from experiments.studies.sweep.groups import SHOWN
from experiments.visualization.look.words import with_unit

#: Most metrics in a figure.
MOST_METRICS = 10


def is_study(folder: Path) -> bool:
    return (folder / HEADER).is_file()


@dataclass(frozen=True)
class Axis:
    """A varied parameter, and the parameters that vary with it one to one."""

    name: str  # name of the column
    label: str  # name and unit, and the parameters that vary with it
    values: "pd.Series[Any]"  # (trials,) numbers, or texts for other values
    log: bool = False  # whether its axis is logarithmic

    @property
    def is_numeric(self) -> bool:
        return bool(pd.api.types.is_numeric_dtype(self.values))

    @cached_property
    def points(self) -> list[Any]:
        values = self.values.dropna().unique().tolist()
        return sorted(values) if self.is_numeric else values


class Trials:
    """Finished trials of a study, with one row each in ``frame``, and the roles of the columns."""

    def __init__(self, study: Study) -> None:
        self.study = study
        self.frame = study.frame()
        columns = list(self.frame.columns)
        self.varied = tuple(name for name in study.header.varied if name in columns)
        after = columns.index(CHANGES)
        # columns of the study come before the changes, measured ones after them
        self.labels = tuple(name for name in columns[:after] if name not in FIRST and name not in self.varied)
        self.metrics = tuple(name for name in columns[after + 1 :] if name not in FIRST)

    def __len__(self) -> int:
        return len(self.frame)

    @cached_property
    def experiment(self) -> Experiment | None:
        """Experiment of the study; None if it is code that the user has not named."""
        try:
            return self.study.experiment
        except SavedNameError:
            return None

    def parameter(self, name: str) -> Parameter | None:
        """Return a parameter of the experiment; None if the experiment is unknown."""
        return None if self.experiment is None else parameter_named(name, self.experiment.parameters)

    def label(self, name: str) -> str:
        """Return a column in words, with its unit, for figures."""
        return with_unit(name, self.unit(name))

    def heading(self, name: str) -> str:
        """Return a column's name with its unit, for the heads of tables."""
        unit = unit_text(self.unit(name))
        return f"{name} [{unit}]" if unit else name

    def unit(self, name: str) -> str:
        return self.study.header.units.get(name, "")

    @cached_property
    def verdicts(self) -> dict[str, Proportion]:
        """Proportion of trials for each verdict that occurs, in the usual order."""
        counts = self.frame["verdict"].value_counts()
        known = [*VERDICTS, *(name for name in counts.index if name not in VERDICTS)]
        return {name: proportion_of(int(counts[name]), len(self)) for name in known if name in counts}

    @cached_property
    def shown_metrics(self) -> list[str]:
        """Metrics for figures: numbers that differ between trials, the most informative first."""
        numeric = [name for name in self.metrics if pd.api.types.is_numeric_dtype(self.frame[name])]
        differing = [name for name in numeric if self.frame[name].nunique() > 1]
        chosen = self.study.header.metrics
        order = list(dict.fromkeys([*(chosen or SHOWN), *differing]))
        return [name for name in order if name in differing][:MOST_METRICS]

    @cached_property
    def common(self) -> dict[str, Any]:
        """Parameters that all trials set to the same value, in JSON's types."""
        texts = self.frame[CHANGES].tolist()
        if not texts:
            return {}
        common = cells_of(texts[0])
        for text in dict.fromkeys(texts):
            changes = cells_of(text)
            common = {name: value for name, value in common.items() if changes.get(name) == value}
        return common


def is_grid(axes: Sequence[Axis]) -> bool:
    """Return whether all combinations of the axes' values occur."""
    combinations = int(np.prod([len(axis.points) for axis in axes]))
    table = pd.DataFrame({axis.name: axis.values for axis in axes}).drop_duplicates()
    return len(table) == combinations

"""The trials of a study as a report needs them: which columns are varied, labels and metrics, and what they mean."""

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

#: Metrics that a figure offers at most.
MOST_METRICS = 10


def is_study(folder: Path) -> bool:
    return (folder / HEADER).is_file()


@dataclass(frozen=True)
class Axis:
    """One thing that is varied: a parameter, and others that go with it one to one."""

    name: str  # of the column
    label: str  # name and unit, and what goes with it
    values: "pd.Series[Any]"  # (trials,) numbers, or texts where the values are no numbers
    log: bool = False  # whether a logarithmic axis shows them

    @property
    def is_numeric(self) -> bool:
        return bool(pd.api.types.is_numeric_dtype(self.values))

    @cached_property
    def points(self) -> list[Any]:
        found = self.values.dropna().unique().tolist()
        return sorted(found) if self.is_numeric else found


class Trials:
    """All finished trials of a study: of ``frame``, one row a trial, which columns are what."""

    def __init__(self, study: Study) -> None:
        self.study = study
        self.frame = study.frame()
        columns = list(self.frame.columns)
        self.varied = tuple(name for name in study.header.varied if name in columns)
        after = columns.index(CHANGES)
        # The study's own words stand before the changes, what was measured after them.
        self.labels = tuple(name for name in columns[:after] if name not in FIRST and name not in self.varied)
        self.metrics = tuple(name for name in columns[after + 1 :] if name not in FIRST)

    def __len__(self) -> int:
        return len(self.frame)

    @cached_property
    def experiment(self) -> Experiment | None:
        """Return the experiment; None if it is code that the user has not named."""
        try:
            return self.study.experiment
        except SavedNameError:
            return None

    def parameter(self, name: str) -> Parameter | None:
        """None where the experiment is not known."""
        return None if self.experiment is None else parameter_named(name, self.experiment.parameters)

    def label(self, name: str) -> str:
        """A column in words, with its unit, as figures call it."""
        return with_unit(name, self.unit(name))

    def heading(self, name: str) -> str:
        """A column's own name with its unit, as tables are headed."""
        unit = unit_text(self.unit(name))
        return f"{name} [{unit}]" if unit else name

    def unit(self, name: str) -> str:
        return self.study.header.units.get(name, "")

    @cached_property
    def verdicts(self) -> dict[str, Proportion]:
        """How many trials ended in each verdict, for those that occur; and in no order but the usual one."""
        counts = self.frame["verdict"].value_counts()
        known = [*VERDICTS, *(name for name in counts.index if name not in VERDICTS)]
        return {name: proportion_of(int(counts[name]), len(self)) for name in known if name in counts}

    @cached_property
    def shown_metrics(self) -> list[str]:
        """The metrics that figures offer: numbers that differ between trials, those first that tell most."""
        numeric = [name for name in self.metrics if pd.api.types.is_numeric_dtype(self.frame[name])]
        differing = [name for name in numeric if self.frame[name].nunique() > 1]
        chosen = self.study.header.metrics
        order = list(dict.fromkeys([*(chosen or SHOWN), *differing]))
        return [name for name in order if name in differing][:MOST_METRICS]

    @cached_property
    def common(self) -> dict[str, Any]:
        """The parameters that all trials set to the same value, as JSON has them."""
        texts = self.frame[CHANGES].tolist()
        if not texts:
            return {}
        common = cells_of(texts[0])
        for text in dict.fromkeys(texts):
            changes = cells_of(text)
            common = {name: value for name, value in common.items() if changes.get(name) == value}
        return common


def is_grid(axes: Sequence[Axis]) -> bool:
    """Whether all combinations of the axes' values are there, each value more than once."""
    combinations = int(np.prod([len(axis.points) for axis in axes]))
    table = pd.DataFrame({axis.name: axis.values for axis in axes}).drop_duplicates()
    return len(table) == combinations

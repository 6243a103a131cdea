"""Sensitivity analysis: dependence of metrics on parameters, by Morris's elementary effects or Sobol's indices."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from contact.arrays import Floats
from experiments.studies.config import Config
from experiments.studies.counting import USUAL_LOSSES
from experiments.studies.seeds import seed_of
from experiments.studies.sensitivity.analysis import MORRIS, SOBOL, Design, Indices, Measure, analyze
from experiments.studies.study_kind import Evaluate
from experiments.studies.trial import Trial
from experiments.studies.tuning import design_space
from experiments.studies.tuning.objective import PROPORTIONS, Reading

METHODS = (MORRIS, SOBOL)
DROPPED = "dropped"


@dataclass(frozen=True)
class Sensitivity(design_space.DesignStudy):
    """A sensitivity analysis."""

    name: str
    space: design_space.DesignSpace  # parameters, and the trials of a point
    design: Design  # points to run
    measures: tuple[Measure, ...]  # analyzed metrics
    data: Mapping[str, Any]  # contents of the file
    counts: tuple[str, ...] = ()  # verdicts that are losses for ``withstood``; empty for ``USUAL_LOSSES``
    kind = "sensitivity"

    @property
    def configuration(self) -> dict[str, Any]:
        return {"name": self.name, "sensitivity": dict(self.data)}

    @classmethod
    def from_configuration(cls, configuration: Mapping[str, Any]) -> "Sensitivity":
        return sensitivity_from(Config(configuration["sensitivity"]), configuration["name"])

    @cached_property
    def points(self) -> Floats:
        """Points (points, variables) in fractions, 0 … 1, of the variables' ranges; determined by the seed."""
        from SALib.sample import morris, sobol

        seed = seed_of(self.seed, "design") % 2**32
        design = self.design
        if design.method == MORRIS:
            points = morris.sample(design.problem, design.samples, num_levels=design.levels, seed=seed)
        else:
            points = sobol.sample(design.problem, design.samples, calc_second_order=design.second_order, seed=seed)
        return np.asarray(points, dtype=float)

    def candidates(self) -> list[design_space.Candidate]:
        """Return the points as candidates, numbered from 1."""
        return [self.space.candidate_at(number, row) for number, row in enumerate(self.points, start=1)]

    def trials(self) -> list[Trial]:
        return [trial for candidate in self.candidates() for trial in self.space.trials(candidate)]

    @property
    def likely_trials(self) -> int:
        return len(self.points) * self.space.size

    def find(self, evaluate: Evaluate) -> list[Indices]:
        trials = [self.space.trials(candidate) for candidate in self.candidates()]
        read = {"verdict", *(measure.name for measure in self.measures)}  # the rest would fill the memory
        samples = self.space.evaluated(trials, evaluate, read)
        seed = seed_of(self.seed, "resampling") % 2**31 + 1  # SALib takes zero for none
        return [analyze(self.design, measure, self.points, samples, seed) for measure in self.measures]


def sensitivity_from(config: Config, name: str = "sensitivity") -> Sensitivity:
    """Return the analysis described by ``config``, by default called ``name``; raises InputError for invalid values."""
    table = config.table("sensitivity", {})
    method = table.word("method", MORRIS, METHODS)
    samples = table.integer("samples", 16 if method == MORRIS else 64, least=2)
    levels = table.integer("levels", 4, least=2) if method == MORRIS else 4
    second_order = table.get("second_order", bool, False) if method == SOBOL else False
    space = design_space.design_space_from(config, table.integer("replicas", 1, least=1))
    counts = config.losses()
    measures = tuple(_measure(item, method, counts or USUAL_LOSSES) for item in config.tables("metric"))
    name = config.word("name", config.stem or name)
    config.finish()
    if method == SOBOL and samples & (samples - 1):
        raise table.error(f"samples = {samples}: for Sobol's sequence it must be a power of two", "samples")
    if levels % 2:
        raise table.error(f"levels = {levels}: it must be even", "levels")
    if len({measure.name for measure in measures}) < len(measures):
        raise config.error("a metric is given twice; leave one out")
    design_space.check_metrics(config, [measure.name for measure in measures], space)
    names = tuple(variable.name for variable in space.variables)
    design = Design(names, method, samples, levels, second_order)
    return Sensitivity(name, space, design, measures, config.data, counts)


def _measure(config: Config, method: str, losses: tuple[str, ...]) -> Measure:
    metric = config.word("name")
    if config.data.get("fell") != DROPPED:
        return Measure(config.make(Reading, metric=metric, counts=losses, scenarios=("*",), over="mean"))
    config.get("fell", str)
    if method != MORRIS:
        raise config.error("fell = 'dropped' needs method = 'morris': Sobol's needs a number for each trial", "fell")
    if metric in PROPORTIONS or "failed" in config or "missing" in config:
        raise config.error("fell = 'dropped' also drops failures and missing values: leave failed and missing out")
    return Measure(Reading(metric, fell=0.0), drops=True)

"""Groups of subjects, each identified separately: the table ``[groups]`` of an identification."""

from __future__ import annotations

from bisect import bisect
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from biped.errors import InputError
from experiments.catalogue.experiment import Experiment
from experiments.catalogue.parameters.parameter import Value
from experiments.studies.config import Config
from experiments.studies.identification.identification import Identification, Identified, identification_from
from experiments.studies.identification.recorded import paths_of
from experiments.studies.seeds import seed_of
from experiments.studies.study_kind import Evaluate, StudyKind
from experiments.studies.trial import Trial

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True)
class Subject:
    """A subject of a group, with the identification of this subject.

    Attributes:
        group: name of the group in the file.
        name: name of the subject.
        plan: identification of the subject, whose trials are numbered from 0.
        first: number of the subject's first trial in the study.
        trials: trials of the subject, as numbered in the study; empty if the subject has measured records.
    """

    group: str
    name: str
    plan: Identification
    first: int
    trials: tuple[Trial, ...]

    def identified(self, results: Mapping[int, Any]) -> Identified:
        """Return the findings on this subject from a study's results; an InputError begins with the subject's name."""
        of_subject = {trial.number - self.first: results[trial.number] for trial in self.trials}
        try:
            return self.plan.find(lambda _: of_subject)
        except InputError as error:
            raise InputError(f"{self.name}: {error}") from None


@dataclass(frozen=True)
class Grouped:
    """Findings of all subjects."""

    results: Mapping[str, Identified]  # findings by the subject's name
    groups: Mapping[str, str]  # group by the subject's name
    units: Mapping[str, str]  # units by fitted parameter

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the fitted parameters."""
        return tuple(self.units)

    @property
    def table(self) -> pd.DataFrame:
        """Table of subjects: ``group``, ``subject``, ``cycles``, and parameters, with units in ``attrs["units"]``."""
        import pandas as pd

        rows = []
        for name, findings in self.results.items():
            assert findings.fit is not None
            row = {"group": self.groups[name], "subject": name, "cycles": findings.response.cycles}
            rows.append(row | dict(findings.fit.estimate.values))
        frame = pd.DataFrame(rows)
        frame.attrs["units"] = dict(self.units)
        return frame


@dataclass(frozen=True)
class GroupIdentification(StudyKind):
    """Plan of identifications of subjects in groups."""

    experiment: Experiment
    subjects: tuple[Subject, ...]  # subjects of all groups
    seed: int
    data: Mapping[str, Any]  # contents of the file
    spread: tuple[str, ...]  # parameters in which simulated subjects differ
    kind = "identify-groups"
    reads_more = True

    @property
    def varied(self) -> tuple[str, ...]:
        return self.spread

    @property
    def configuration(self) -> dict[str, Any]:
        return dict(self.data)

    @classmethod
    def from_configuration(cls, configuration: Mapping[str, Any]) -> GroupIdentification:
        return groups_from(Config(configuration))

    @property
    def likely_trials(self) -> int:
        return sum(len(subject.trials) for subject in self.subjects)

    def as_planned(self, trial: Trial) -> Trial:
        first = [subject.first for subject in self.subjects]
        return self.subjects[bisect(first, trial.number) - 1].plan.as_planned(trial)

    @property
    def samples(self) -> Any:
        return self.subjects[0].plan.samples

    def find(self, evaluate: Evaluate) -> Grouped:
        results = evaluate([trial for subject in self.subjects for trial in subject.trials])
        findings = {subject.name: subject.identified(results) for subject in self.subjects}
        model = self.subjects[0].plan.model_to_fit
        assert model is not None
        units = {parameter.name: model.model.unit(parameter.name) for parameter in model.parameters}
        return Grouped(findings, {subject.name: subject.group for subject in self.subjects}, units)


def plan_from(config: Config) -> Identification | GroupIdentification:
    """Make the plan of an identification from its configuration, for groups if it has a table ``[groups]``."""
    return groups_from(config) if "groups" in config else identification_from(config)


def groups_from(config: Config) -> GroupIdentification:
    """Make the plan for groups of subjects from its configuration; raises InputError if the configuration is wrong."""
    if "model" not in config:
        raise config.error("groups are compared by fitted parameters: describe a model in [model]", "groups")
    groups, is_recorded = config.table("groups"), "record" in config
    if len(groups.data) < 2:
        raise groups.error("[groups] needs two or more groups, with different names")
    if not is_recorded:
        config.experiment()  # the names of its parameters determine how deep tables are nested
    single = config.without("groups", "spread")
    if is_recorded and "files" in config.data["record"]:
        raise config.error("record.files: leave it out: each group has files, in groups.NAME.files", "record")
    data: dict[str, Any] = {}
    subjects: list[Subject] = []
    for name in groups.data:
        group = groups.table(name)
        if is_recorded:
            paths = paths_of(group)  # for each subject a record, or a folder of records
            data[name] = {"files": [str(path) for path in paths]}
            for path in paths:
                files = [str(file) for file in sorted(path.iterdir())] if path.is_dir() else [str(path)]
                plan = identification_from(single.but(record={**single.data["record"], "files": files}))
                subjects.append(Subject(name, f"{name} {path.stem}", plan, 0, ()))
        else:
            data[name] = dict(group.data)
            first = sum(len(subject.trials) for subject in subjects)
            subjects += _simulated(name, group, single, config.table("spread", {}), first)
    groups.finish()
    plan, spread = subjects[0].plan, () if is_recorded else tuple(config.table("spread", {}).parameters())
    updated = {name: value for name, value in plan.data.items() if name not in ("set", "seed", "identify", "record")}
    absolute = {**config.data, **updated, "groups": data}  # with absolute paths of files
    return GroupIdentification(plan.experiment, tuple(subjects), config.integer("seed", 0), absolute, spread)


def _simulated(name: str, group: Config, single: Config, spread: Config, first: int) -> list[Subject]:
    """Return simulated subjects, whose parameters scatter about the settings of their group."""
    count, of_group = group.integer("subjects", least=2), group.table("set", {})
    trials = single.table("identify").integer("trials", 1, least=1)
    settings = {**single.table("set", {}).parameters(), **of_group.parameters()}
    seed = seed_of(single.integer("seed", 0), "group", name)
    of_all = {**single.data["identify"], "trials": count * trials}
    plan = identification_from(single.but(set=settings, identify=of_all, seed=seed))
    every, subjects = plan.trials(), []
    for k in range(count):
        drawn = _drawn(plan, spread, seed_of(seed, "subject", k))
        mine = [
            replace(
                trial, number=first + trial.number, changes={**trial.changes, **drawn},
                labels={"group": name, "subject": k + 1, "replica": trial.number - k * trials},
            )
            for trial in every[k * trials : (k + 1) * trials]
        ]  # fmt: skip
        of_subject = replace(plan, replicas=trials)
        subjects.append(Subject(name, f"{name} {k + 1}", of_subject, first + k * trials, tuple(mine)))
    return subjects


def _drawn(plan: Identification, spread: Config, seed: int) -> dict[str, Value]:
    """Return random parameters of one subject, normally distributed about those of the group."""
    random, drawn = np.random.default_rng(seed), {}
    for name, deviation in spread.parameters().items():
        if not (isinstance(deviation, (int, float)) and deviation >= 0.0):
            raise spread.error(f"{name} = {deviation!r}: it must be a standard deviation, zero or above", name)
        parameter = spread.within(partial(plan.experiment.parameter, name), name)
        mean: Any = plan.fixed.get(name, parameter.default)
        if not isinstance(mean, float):
            raise spread.error(f"{name} = {mean!r} cannot be scattered: it must be a single real number", name)
        drawn[name] = parameter.checked(mean + float(deviation) * random.normal())
    if drawn:
        experiment = plan.experiment
        spread.within(lambda: replace(experiment.build({**plan.fixed, **drawn}), settle=None).prepare())
    return drawn

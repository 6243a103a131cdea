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
    """One subject of a group.

    Attributes:
        group: name of the group in the file.
        name: name of the subject.
        plan: identification of the subject; its trials are numbered from zero on.
        first: number of its first trial in the study.
    """

    group: str
    name: str
    plan: Identification
    first: int
    trials: tuple[Trial, ...]

    def identified(self, results: Mapping[int, Any]) -> Identified:
        """Return what a study's trials show of this subject; an InputError begins with the subject's name."""
        own = {trial.number - self.first: results[trial.number] for trial in self.trials}
        try:
            return self.plan.find(lambda _: own)
        except InputError as error:
            raise InputError(f"{self.name}: {error}") from None


@dataclass(frozen=True)
class Grouped:
    """Results of each subject."""

    results: Mapping[str, Identified]  # results by the subject's name
    groups: Mapping[str, str]  # group of each subject
    units: Mapping[str, str]  # units of the parameters

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the fitted parameters."""
        return tuple(self.units)

    @property
    def table(self) -> pd.DataFrame:
        """A row for each subject: ``group``, ``subject``, ``cycles``, and parameters (units: ``attrs["units"]``)."""
        import pandas as pd

        rows = []
        for name, one in self.results.items():
            assert one.fit is not None
            row = {"group": self.groups[name], "subject": name, "cycles": one.response.cycles}
            rows.append(row | dict(one.fit.estimate.values))
        frame = pd.DataFrame(rows)
        frame.attrs["units"] = dict(self.units)
        return frame


@dataclass(frozen=True)
class GroupIdentification(StudyKind):
    """Identifications of subjects in groups."""

    experiment: Experiment
    subjects: tuple[Subject, ...]
    seed: int
    data: Mapping[str, Any]
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
        return sum(len(one.trials) for one in self.subjects)

    def as_planned(self, trial: Trial) -> Trial:
        first = [one.first for one in self.subjects]
        return self.subjects[bisect(first, trial.number) - 1].plan.as_planned(trial)

    @property
    def samples(self) -> Any:
        return self.subjects[0].plan.samples

    def find(self, evaluate: Evaluate) -> Grouped:
        results = evaluate([trial for one in self.subjects for trial in one.trials])
        found = {one.name: one.identified(results) for one in self.subjects}
        model = self.subjects[0].plan.model_to_fit
        assert model is not None
        units = {one.name: model.model.unit(one.name) for one in model.parameters}
        return Grouped(found, {one.name: one.group for one in self.subjects}, units)


def plan_from(config: Config) -> Identification | GroupIdentification:
    """Read the identification of a configuration, of groups if it has a table ``[groups]``."""
    return groups_from(config) if "groups" in config else identification_from(config)


def groups_from(config: Config) -> GroupIdentification:
    """Read groups of subjects from a table ``[groups]``; raises InputError if something is wrong."""
    if "model" not in config:
        raise config.error("groups are compared by parameters: name a model, in [model]", "groups")
    groups, is_recorded = config.table("groups"), "record" in config
    if len(groups.data) < 2:
        raise groups.error("two groups or more are compared: each with a name of its own")
    if not is_recorded:
        config.experiment()  # its parameters determine how deep the tables of their names are
    single = config.without("groups", "spread")
    if is_recorded and "files" in config.data["record"]:
        raise config.error("record.files: each group has files of its own", "record")
    data: dict[str, Any] = {}
    subjects: list[Subject] = []
    for name in groups.data:
        group = groups.table(name)
        if is_recorded:
            paths = paths_of(group)  # one of each subject: a record, or a folder of records
            data[name] = {"files": [str(path) for path in paths]}
            for path in paths:
                files = [str(file) for file in sorted(path.iterdir())] if path.is_dir() else [str(path)]
                plan = identification_from(single.but(record={**single.data["record"], "files": files}))
                subjects.append(Subject(name, f"{name} {path.stem}", plan, 0, ()))
        else:
            data[name] = dict(group.data)
            first = sum(len(one.trials) for one in subjects)
            subjects += _simulated(name, group, single, config.table("spread", {}), first)
    groups.finish()
    plan, spread = subjects[0].plan, () if is_recorded else tuple(config.table("spread", {}).parameters())
    kept = {name: value for name, value in plan.data.items() if name not in ("set", "seed", "identify", "record")}
    whole = {**config.data, **kept, "groups": data}  # files by whole paths
    return GroupIdentification(plan.experiment, tuple(subjects), config.integer("seed", 0), whole, spread)


def _simulated(name: str, group: Config, single: Config, spread: Config, first: int) -> list[Subject]:
    """Return simulated subjects, whose parameters scatter about the settings of their group."""
    count, own = group.integer("subjects", least=2), group.table("set", {})
    trials = single.table("identify").integer("trials", 1, least=1)
    settings = {**single.table("set", {}).parameters(), **own.parameters()}
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
        one = replace(plan, replicas=trials)
        subjects.append(Subject(name, f"{name} {k + 1}", one, first + k * trials, tuple(mine)))
    return subjects


def _drawn(plan: Identification, spread: Config, seed: int) -> dict[str, Value]:
    """Draw the parameters of one subject, normally distributed about those of the group."""
    random, drawn = np.random.default_rng(seed), {}
    for name, deviation in spread.parameters().items():
        if not (isinstance(deviation, (int, float)) and deviation >= 0.0):
            raise spread.error(f"{name} = {deviation!r}: it must be a standard deviation, zero or above", name)
        parameter = spread.within(partial(plan.experiment.parameter, name), name)
        mean: Any = plan.fixed.get(name, parameter.default)
        if not isinstance(mean, float):
            raise spread.error(f"{name} is {mean!r}: only one number with a fraction can be scattered", name)
        drawn[name] = parameter.checked(mean + float(deviation) * random.normal())
    if drawn:
        experiment = plan.experiment
        spread.within(lambda: replace(experiment.build({**plan.fixed, **drawn}), settle=None).prepare())
    return drawn

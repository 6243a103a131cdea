"""The runs that are shown together."""

import os
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from biped.runs.run import Run
from experiments.visualization.report.run_source import RunSource, run_source
from experiments.visualization.viewer.curves import Plot, plots_of
from experiments.visualization.viewer.trajectory import Film, film_of


@dataclass(frozen=True)
class Role:
    """One run of those that are shown."""

    name: str  # experiment and folder, unique
    run: Run  # the run
    film: Film  # what is seen of it

    @cached_property
    def plots(self) -> dict[str, Plot]:
        return {plot.title: plot for plot in plots_of(self.run)}

    @property
    def outcome(self) -> str:
        summary = self.run.summary
        if summary["fell_at"] is not None:
            return f"fell at {summary['fell_at']:.2f} s"
        return str(summary["outcome"])


def ended_of(roles: Sequence[Role], moment: float) -> tuple[bool, ...]:
    """Which of some runs are over at a time [s]: they stand still while others go on."""
    return tuple(moment > role.film.ends + 1e-9 for role in roles)


def film_of_source(source: RunSource) -> Film:
    """What is seen of a saved run; forces that follow a signal are those of its experiment, where that is known."""
    if source.experiment is None:
        return film_of(source.run)
    return film_of(source.run, source.experiment.build(source.changes).disturbances)


def cast_of(folders: Sequence[str | Path]) -> list[Role]:
    """The runs that are saved in some folders.

    Raises:
        InputError: one holds no run, or a damaged one.
        OSError: a file cannot be read.
    """
    sources = [run_source(folder) for folder in folders]
    names = _names([str(folder) for folder in folders])
    roles = []
    for source, folder in zip(sources, names, strict=True):
        experiment = source.experiment.name if source.experiment is not None else ""
        name = folder if experiment in ("", Path(folder).name) else f"{experiment} ({folder})"
        roles.append(Role(name, source.run, film_of_source(source)))
    return roles


def _names(folders: list[str]) -> list[str]:
    """Names of the folders, with as much of their paths as tells them apart; a folder given twice is numbered."""
    paths = [Path(os.path.abspath(folder)) for folder in folders]
    for depth in range(1, max(len(path.parts) for path in paths) + 1):
        names = ["/".join(path.parts[-depth:]) for path in paths]
        if len(set(names)) == len(set(paths)):
            break
    return [name if k == names.index(name) else f"{name} #{names[: k + 1].count(name)}" for k, name in enumerate(names)]

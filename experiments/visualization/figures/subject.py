"""Subject of a figure: a run and its marked events."""

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from biped.control.controller import SetPoint
from biped.metrics.disturbance import start_time_of
from biped.model import Model
from biped.runs.contact_changes import Change, lasting_changes
from biped.runs.events import EDGES
from biped.runs.run import Run

#: [s] impacts of a throw within this time have one mark.
_ONE_HIT = 0.05
#: [s] equal changes of both feet within this time have one mark.
_TOGETHER = 0.02
_SIDES = {"left": "L", "right": "R"}


@dataclass(frozen=True)
class Mark:
    """Event that a figure marks with a thin line and a small label."""

    time: float
    label: str


@dataclass(frozen=True)
class Subject:
    """A recorded run that is drawn, with the title of its overview and the events to mark in its figures."""

    run: Run
    name: str = ""  # title of the overview
    marks: tuple[Mark, ...] = ()  # events to mark, by time

    @property
    def set_point(self) -> SetPoint | None:
        """Set point of the root; None without one."""
        return self.run.set_point

    @property
    def model(self) -> Model:
        return self.run.state.model

    @property
    def root(self) -> str:
        """Prefix of the columns of the root's pose."""
        return self.model.root.joint.name

    @property
    def begins(self) -> float:
        """Start of the run [s], also if only a part is shown."""
        return self.run.state.time - float(self.run.summary["simulated_time"])

    @property
    def disturbed_at(self) -> float | None:
        """Start [s] of the first push, floor motion or impact; None without any."""
        impacts = [impact["time"] for impact in self.run.summary["events"]["impacts"][:1]]
        starts = [start for start in (start_time_of(self.run.disturbances), *impacts) if start is not None]
        return min(starts, default=None)

    def since(self, before: float) -> "Subject":
        """Return the subject from ``before`` [s] before the disturbance on; unchanged without a disturbance."""
        if self.disturbed_at is None:
            return self
        begin = self.disturbed_at - before
        rows = self.run.frame[self.run.frame["time"] >= begin]
        if len(rows) < 2:  # the run ended before it
            return self
        marks = tuple(mark for mark in self.marks if mark.time >= begin)
        return replace(self, run=replace(self.run, frame=rows.reset_index(drop=True)), marks=marks)

    @property
    def time(self) -> NDArray[np.float64]:
        return self.run.frame["time"].to_numpy()

    def column(self, name: str) -> NDArray[np.float64]:
        return self.run.frame[name].to_numpy()

    def has(self, *names: str) -> bool:
        return all(name in self.run.frame.columns for name in names)


def subject_of(run: Run, name: str = "") -> Subject:
    pushes = [Mark(push["time"], "push") for push in run.summary["events"]["pushes"]]
    floors = [record for record in run.disturbances if record["kind"] == "platform"]
    floor = [Mark(start, "floor") for record in floors if (start := start_time_of([record])) is not None]
    unsorted = (*pushes, *floor, *_impact_marks(run), *_foot_marks(run), *_touch_mark(run))
    marks = sorted(unsorted, key=lambda mark: mark.time)
    if run.summary["fell_at"] is not None:
        marks.append(Mark(run.summary["fell_at"], run.summary["verdict"]))
    return Subject(run, name, tuple(marks))


def _impact_marks(run: Run) -> list[Mark]:
    marks: list[Mark] = []
    for impact in run.summary["events"]["impacts"]:
        if not marks or impact["time"] - marks[-1].time > _ONE_HIT:
            marks.append(Mark(impact["time"], "hit" if not marks else "hit again"))
    return marks


def _foot_marks(run: Run) -> list[Mark]:
    """Return marks of heels and toes that touch or lift after the first landing, with which every run begins."""
    changes, _ = lasting_changes(run.summary["events"]["edges"])
    landed: set[str] = set()
    later = []
    for change in changes:
        if change.edge in landed or change.change == "up":
            later.append(change)
        landed.add(change.edge)
    marks: list[Mark] = []
    while later:
        first = later.pop(0)
        other = next((change for change in later if _are_together(first, change)), None)
        side, _, part = first.edge.partition("_")
        plural = part if part.endswith("s") else f"{part}s"
        if other is not None:
            later.remove(other)
        marks.append(Mark(first.time, f"{plural if other else f'{_SIDES[side]} {part}'} {first.change}"))
    return marks


def _are_together(first: Change, second: Change) -> bool:
    same = first.change == second.change and first.edge.partition("_")[2] == second.edge.partition("_")[2]
    return same and first.edge != second.edge and abs(first.time - second.time) <= _TOGETHER


def _touch_mark(run: Run) -> list[Mark]:
    touches = run.events[run.events["kind"] == "touch"]
    if not len(touches) or any(point in run.state.model.contact_names for points in EDGES.values() for point in points):
        return []
    return [Mark(float(touches["time"].iloc[0]), "first touch")]

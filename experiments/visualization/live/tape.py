"""Recording of the last two minutes of a loop, which can be saved as a run."""

from collections import deque
from dataclasses import replace

import numpy as np

from biped.disturbances import Disturbance
from biped.kernels.state.simulation_state import ITERATIONS, MOST_ITERATIONS, RETRIED, TOTAL_STEPS
from biped.metrics import assemble
from biped.runs.recording import Recording
from biped.runs.row_layout import Columns
from biped.runs.run import Run
from biped.runs.state import State
from biped.runs.summary import Counters, Ending
from contact.arrays import Floats

#: [s] simulated time that is kept: 100 MB for the human.
KEPT = 120.0


class Tape:
    """Recorded rows of consecutive sessions, of the last ``KEPT`` seconds."""

    def __init__(self) -> None:
        self._parts: deque[Recording] = deque()

    def add(self, recording: Recording) -> None:
        """Append the next recording, of the same model."""
        if not len(recording.rows):
            return
        self._parts.append(recording)
        while self._parts[0].rows[-1, 0] < recording.rows[-1, 0] - KEPT:
            self._parts.popleft()

    @property
    def latest(self) -> Recording | None:
        """Last recording; None before the first one."""
        return self._parts[-1] if self._parts else None

    def __bool__(self) -> bool:
        return bool(self._parts)

    def run(self, acted: tuple[Disturbance, ...], ending: Ending | None = None) -> Run:
        """Return a run of all rows; ``acted`` are its disturbances, ``ending`` a fall that the session missed."""
        first, last = self._parts[0], self._parts[-1]
        columns = max((part.columns for part in self._parts), key=lambda each: len(each.names))
        state = last.state.copy()
        return assemble(
            replace(
                last,
                rows=np.concatenate([_widened(part, columns) for part in self._parts]),
                events=np.concatenate([part.events for part in self._parts]),
                columns=columns,
                standing=first.standing,
                counters=_counters(state),
                ending=ending or last.ending,
                disturbances=acted,
                began=float(first.rows[0, 0]),
                state=state,
            )
        )


def _widened(part: Recording, columns: Columns) -> Floats:
    """Return a part's rows with more columns; NaN for columns it lacks, such as a box's position before its throw."""
    if part.columns.names == columns.names:
        return part.rows
    rows = np.full((len(part.rows), len(columns.names)), np.nan)
    places = {name: place for place, name in enumerate(columns.names)}
    rows[:, [places[name] for name in part.columns.names]] = part.rows
    return rows


def _counters(state: State) -> Counters:
    """Return the counters of all steps that led to a state; the wall time is unknown."""
    steps, iterations, most, retried = (
        int(state.arrays.counts[place]) for place in (TOTAL_STEPS, ITERATIONS, MOST_ITERATIONS, RETRIED)
    )
    return Counters(steps, iterations, most, retried, wall_time=0.0)

"""The last two minutes of a loop, which can be saved as a run."""

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

#: [s] of simulated time that are kept: 100 MB of the human.
KEPT = 120.0


class Tape:
    """The rows that sessions going on from one another have recorded, up to ``KEPT`` ago."""

    def __init__(self) -> None:
        self._parts: deque[Recording] = deque()

    def add(self, recording: Recording) -> None:
        """Put on what came next; it must not be of another model."""
        if not len(recording.rows):
            return
        self._parts.append(recording)
        while self._parts[0].rows[-1, 0] < recording.rows[-1, 0] - KEPT:
            self._parts.popleft()

    @property
    def latest(self) -> Recording | None:
        """What came last; None if nothing has."""
        return self._parts[-1] if self._parts else None

    def __bool__(self) -> bool:
        return bool(self._parts)

    def run(self, acted: tuple[Disturbance, ...], ending: Ending | None = None) -> Run:
        """All of it as a run; ``acted`` is what acted on it, ``ending`` what the last session does not know of."""
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
    """Rows of a part under more columns; NaN where it has none, such as the place of a box before it was thrown."""
    if part.columns.names == columns.names:
        return part.rows
    rows = np.full((len(part.rows), len(columns.names)), np.nan)
    places = {name: place for place, name in enumerate(columns.names)}
    rows[:, [places[name] for name in part.columns.names]] = part.rows
    return rows


def _counters(state: State) -> Counters:
    """The counters of all that led to a state; nobody has measured how long it took."""
    steps, iterations, most, retried = (
        int(state.arrays.counts[place]) for place in (TOTAL_STEPS, ITERATIONS, MOST_ITERATIONS, RETRIED)
    )
    return Counters(steps, iterations, most, retried, wall_time=0.0)

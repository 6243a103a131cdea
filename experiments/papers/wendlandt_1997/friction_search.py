"""Search for the friction of the box drop, which is not printed, by the thesis's statements about the motion.

Each published fact (Wendlandt 1997, section 5.3: the text, and figures 5.3 to 5.6) holds or fails for a run. ``search``
tries many coefficients, then a finer grid around those for which all facts hold.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import groupby

import numpy as np
from numpy.typing import NDArray

from biped.runs.run import Run
from contact import ContactState
from contact.arrays import Floats
from experiments.catalogue.box_drop import EXPERIMENT

#: Length [m] that is invisible in a figure of a motion over metres: tolerance of rest, and allowed decrease of y when y
#: "increases".
VISIBLE = 1e-3
#: Ratio of the first grid spacing to the finer one.
REFINEMENT = 10


@dataclass(frozen=True)
class Motion:
    """Run of the experiment ``box-drop``, recorded at every time step, with the quantities in Wendlandt 1997."""

    run: Run

    @cached_property
    def time(self) -> Floats:
        return self.run.frame["time"].to_numpy()

    @cached_property
    def states(self) -> list[NDArray[np.int64]]:
        """States of vertices 1 to 8 over time; vertex i has index i − 1."""
        return [self.run.frame[f"contact_{name}_mode"].to_numpy() for name in self.run.state.model.contact_names]

    def visited(self, vertex: int) -> set[int]:
        return set(self.states[vertex - 1].tolist())

    def ends_in(self, vertex: int) -> int:
        return int(self.states[vertex - 1][-1])

    @cached_property
    def first_touches(self) -> list[float]:
        """Times [s] at which vertices 1 to 8 first touch the floor; infinity for vertices that never touch it."""
        down = [states != ContactState.NONE for states in self.states]
        return [float(self.time[np.argmax(d)]) if d.any() else math.inf for d in down]

    @cached_property
    def touched_at(self) -> float:
        return min(self.first_touches)

    @cached_property
    def rest_at(self) -> float:
        """Time [s] from which the centre of mass stays at its final position; infinity if it moves at the end."""
        place = self.run.frame[["body_x", "body_y", "body_z"]].to_numpy()
        away = np.flatnonzero(np.linalg.norm(place - place[-1], axis=1) > VISIBLE)
        velocity = self.run.frame[["body_vx", "body_vy", "body_vz"]].to_numpy()[-1]
        if np.linalg.norm(velocity) > VISIBLE:
            return math.inf
        return float(self.time[away[-1] + 1]) if len(away) else float(self.time[0])

    @cached_property
    def changes_in_flight(self) -> tuple[float, float]:
        """Changes of the velocity along x [m/s], and of y [m], before the first contact."""
        flight = self.time < self.touched_at
        return float(np.ptp(self.run.frame["body_vx"].to_numpy()[flight])), float(np.ptp(self.y[flight]))

    @cached_property
    def y(self) -> Floats:
        """Coordinate y of the centre of mass [m], (rows,)."""
        return self.run.frame["body_y"].to_numpy()

    @property
    def rise_of_y(self) -> float:
        """Rise of y from the start to the end [m]."""
        return float(self.y[-1] - self.y[0])

    @cached_property
    def greatest_fall_of_y(self) -> float:
        """Largest decrease of y below an earlier value [m]."""
        return float(np.max(np.maximum.accumulate(self.y) - self.y))

    @cached_property
    def final_quaternion(self) -> Floats:
        """Orientation at the end (4,), scalar first."""
        return self.run.frame[["body_qw", "body_qx", "body_qy", "body_qz"]].to_numpy()[-1]

    @cached_property
    def newton_max(self) -> int:
        return int(self.run.summary["newton_max"])

    @cached_property
    def newton_at_rest(self) -> int:
        """Largest number of Newton iterations of a step in the last tenth of a second."""
        settled = self.time > self.time[-1] - 0.1
        return int(self.run.frame["newton_iterations"].to_numpy()[settled].max())


def _visits(*vertices: int) -> Callable[[Motion], str]:
    def states(motion: Motion) -> str:
        seen = sorted(set().union(*(motion.visited(vertex) for vertex in vertices)))
        last = sorted({motion.ends_in(vertex) for vertex in vertices})
        return f"states {', '.join(map(str, seen))}; ends in {', '.join(map(str, last))}"

    return states


def _vertices_5_to_8(motion: Motion) -> bool:
    visited_by_all = {ContactState.SLIDING, ContactState.SLIDING_TO_STICKING, ContactState.STICKING}
    pulled = any(ContactState.PULLING in motion.visited(vertex) for vertex in (5, 6, 7, 8))
    return pulled and all(
        visited_by_all <= motion.visited(vertex) and motion.ends_in(vertex) == ContactState.STICKING
        for vertex in (5, 6, 7, 8)
    )


def _flip(motion: Motion) -> bool:
    w, x, y, z = np.abs(motion.final_quaternion)
    return bool(w < 0.02 and z < 0.02 and 0.0 < math.atan2(x, y) < math.radians(15.0))  # a half turn


@dataclass(frozen=True)
class Fact:
    """A statement of the thesis about the motion."""

    name: str  # short name
    statement: str  # statement, with its criterion
    holds: Callable[[Motion], bool]  # returns True if a motion agrees
    measured: Callable[[Motion], str]  # returns the measured values in words


FACTS = (
    Fact("first touch", "vertex 1 comes down first, at 0.102 s",
         lambda m: m.first_touches[0] == m.touched_at and abs(m.touched_at - 0.102) < 5e-4,
         lambda m: f"vertex {m.first_touches.index(m.touched_at) + 1} at {m.touched_at:.4f} s"),
    Fact("flight", "before the first touch, the velocity along x and the position y do not change",
         lambda m: max(m.changes_in_flight) < 1e-9,
         lambda m: "they change by {:.1g} m/s and {:.1g} m".format(*m.changes_in_flight)),
    Fact("vertex 1", "slides, has a negative normal force, and ends in no contact",
         lambda m: {ContactState.SLIDING, ContactState.PULLING} <= m.visited(1) and m.ends_in(1) == ContactState.NONE,
         _visits(1)),
    Fact("vertex 2", "slides, and ends in no contact",
         lambda m: ContactState.SLIDING in m.visited(2) and m.ends_in(2) == ContactState.NONE, _visits(2)),
    Fact("vertices 3, 4", "never touch the floor",
         lambda m: m.visited(3) == m.visited(4) == {ContactState.NONE}, _visits(3, 4)),
    Fact("vertices 5–8", "slide, among them some with a negative normal force, and end sticking",
         _vertices_5_to_8, _visits(5, 6, 7, 8)),
    Fact("flip", "the top ends at the bottom by half a turn about an axis within 15° of y, slightly about x",
         _flip, lambda m: "ends at ({:.3f}, {:.3f}, {:.3f}, {:.3f})".format(*m.final_quaternion)),
    Fact("rest", f"at rest at about 1.3 s: within {1e3 * VISIBLE:g} mm of the final position from 1.25 … 1.35 s on",
         lambda m: 1.25 <= m.rest_at <= 1.35, lambda m: f"from {m.rest_at:.3f} s on"),
    Fact("y increases", f"y grows after the collision, and never falls by {1e3 * VISIBLE:g} mm",
         lambda m: m.greatest_fall_of_y < VISIBLE and m.rise_of_y > VISIBLE,
         lambda m: f"by {m.rise_of_y:.3f} m, with decreases of at most {1e3 * m.greatest_fall_of_y:.2g} mm"),
    Fact("Newton", "at most 5 iterations of Newton's method in a step, 1 once settled",
         lambda m: m.newton_max <= 5 and m.newton_at_rest == 1,
         lambda m: f"{m.newton_max} at most, {m.newton_at_rest} once settled"),
)  # fmt: skip


@dataclass(frozen=True)
class Trial:
    """A tried coefficient of friction, and the published facts with which the box's motion agrees."""

    friction: float  # μ_s = μ_d
    holds: dict[str, bool]  # True, by the name of a fact, if the motion agrees with it
    rest_at: float  # [s] time of rest; infinite if not at rest by the end
    rise: float  # [m] rise of y
    fall_of_y: float  # [m] largest decrease of y
    newton_max: int  # largest number of Newton iterations of a step

    @property
    def agrees(self) -> bool:
        return all(self.holds.values())


def examine(friction: float) -> Trial:
    motion = Motion(EXPERIMENT.run({"floor.mu_s": friction, "floor.mu_d": friction}))
    return Trial(
        friction=friction, holds={fact.name: fact.holds(motion) for fact in FACTS}, rest_at=motion.rest_at,
        rise=motion.rise_of_y, fall_of_y=motion.greatest_fall_of_y, newton_max=motion.newton_max,
    )  # fmt: skip


@dataclass(frozen=True)
class Search:
    """Trials of a search, on a first and on a finer grid."""

    trials: tuple[Trial, ...]  # first grid, by growing friction
    closer: tuple[Trial, ...]  # finer grid, by growing friction

    @property
    def intervals(self) -> list[tuple[float, float]]:
        """Intervals in which neighbouring coefficients agree with all facts, in the finer grid."""
        runs = ([t.friction for t in group] for agrees, group in groupby(self.closer, lambda t: t.agrees) if agrees)
        return [(run[0], run[-1]) for run in runs]


def search(
    begin: float = 0.02, end: float = 1.5, by: float = 0.01, progress: Callable[[float], None] | None = None
) -> Search:
    """Test the coefficients from ``begin`` to ``end``, then a finer grid around those that agree with all facts."""
    values = [begin + k * by for k in range(math.floor((end - begin) / by + 1e-9) + 1)]
    trials = []
    for k, value in enumerate(values):
        trials.append(examine(round(value, 9)))
        if progress is not None:
            progress((k + 1) / len(values))
    return Search(tuple(trials), tuple(examine(friction) for friction in _closer(trials, by)))


def _closer(trials: Sequence[Trial], by: float) -> list[float]:
    """Return the coefficients of a finer grid around those that agree, up to the neighbours that do not."""
    coefficients = set()
    for trial in trials:
        if trial.agrees:
            for k in range(-REFINEMENT, REFINEMENT + 1):
                coefficients.add(round(trial.friction + k * by / REFINEMENT, 9))
    return sorted(friction for friction in coefficients if friction >= 0.0)

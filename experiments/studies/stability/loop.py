"""Local stability of an experiment's closed loop at two parameters' values: by eigenvalues and by simulation."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from biped.derivatives.linearization import Linearization, equilibrium, radius_slope
from biped.derivatives.linearization.coordinates import displaced, displacement
from biped.derivatives.linearization.stance import held_stance
from biped.errors import InputError
from biped.runs.postures import standing
from biped.runs.state import State
from biped.simulation.scene import Scene
from biped.simulation.session import Session
from contact.arrays import Floats
from contact.errors import BipedError
from experiments.catalogue.experiment import Experiment
from experiments.catalogue.parameters.parameter import Value
from experiments.studies.grid import LINEAR, LOG, interpolate

#: Step of finite differences, as a fraction of a range.
REACH = 1e-4
#: [m, rad, 10 N·s, 10 N·m·s] sizes of the simulated deviations.
DEVIATION = 1e-6
#: Factors of the deviations below which they have decayed, and above which they have grown.
GONE, LOST = 1e-3, 1e3
#: Control ticks between two readings of a deviation.
LOOK = 10
#: Continuation from a known equilibrium: largest number of points, and least step as a fraction of the rest.
WAYPOINTS = 10
SHORTEST = 0.1
#: Number of equilibria that are kept as initial guesses.
MOST_GUESSES = 400

RECOVERED, GROWN, NO_EQUILIBRIUM = "recovered", "grown", "no equilibrium"


@dataclass(frozen=True)
class Range:
    """Range of one parameter."""

    name: str  #: name of the parameter, or of one of its numbers
    low: float
    high: float
    scale: str = LINEAR

    def __post_init__(self) -> None:
        if not (np.isfinite(self.low) and np.isfinite(self.high) and self.low < self.high):
            raise InputError(f"{self.name}={self.low:g}..{self.high:g}: it must be LOW..HIGH, two finite numbers")
        if self.scale == LOG and self.low <= 0.0:
            raise InputError(f"{self.name}={self.low:g}..{self.high:g}: a log scale needs both ends above zero")

    def at(self, part: float) -> float:
        """Return the value at a fraction, 0 … 1, of the range."""
        return interpolate(self.low, self.high, part, self.scale)


@dataclass(frozen=True, eq=False)
class Local:
    """Linearization at the values of two parameters."""

    state: State | None  # the equilibrium; None if there is none
    linearization: Linearization | None  # linearization about the equilibrium
    reason: str = ""  # reason why there is none

    @property
    def excess(self) -> float:
        """Greatest ``|λ|`` − 1: deviations grow above zero. NaN without an equilibrium."""
        return np.nan if self.linearization is None else -self.linearization.margin


class StabilityField:
    """Greatest ``|λ|`` − 1 over the unit square of two parameters' ranges; ``continuation`` follows its zeros.

    The search for each equilibrium starts from the nearest known one, then from the standing posture as held torques
    keep it, then from the state in which the experiment comes to rest.
    """

    def __init__(self, experiment: Experiment, changes: dict[str, Value], x: Range, y: Range) -> None:
        if x.name == y.name:
            raise InputError(f"--x and --y are both {x.name}: they must be different parameters")
        self.experiment, self.changes, self.x, self.y = experiment, changes, x, y
        for part in (0.0, 1.0):
            self.scene(np.full(2, part))  # raises an error unless both ends are valid values
        self.scene_at_home = self._built(changes)
        self._known: dict[tuple[float, float], Local] = {}
        self._guesses: list[tuple[Floats, State]] = []

    def scene(self, u: Floats) -> Scene:
        """Return the scene at a point (2,) of the unit square."""
        values = {axis.name: axis.at(float(part)) for axis, part in zip((self.x, self.y), u, strict=True)}
        return self._built({**self.changes, **values})

    def _built(self, changes: dict[str, Value]) -> Scene:
        """Return the scene without settling time: equilibria are computed by other means."""
        return replace(self.experiment.build(changes), settle=None)

    def values(self, u: Floats) -> tuple[float, float]:
        """Return the values of the two parameters at a point (2,) of the unit square."""
        return self.x.at(float(u[0])), self.y.at(float(u[1]))

    def at(self, u: Floats) -> Local:
        """Return equilibrium and linearization at a point."""
        key = float(u[0]), float(u[1])
        if key not in self._known:
            self._known[key] = self._local(np.asarray(u, dtype=np.float64))
        return self._known[key]

    def value(self, u: Floats) -> float:
        """Return the greatest ``|λ|`` − 1; NaN without an equilibrium."""
        return float(self.at(u).excess)

    def reason(self, u: Floats) -> str:
        """Return the reason why there is no equilibrium; empty if there is one."""
        return self.at(u).reason

    def slope(self, u: Floats) -> Floats:
        """Return ∂|λ|/∂u (2,): the equilibrium moves with the parameters. NaN without an equilibrium."""
        here = self.at(u)
        if here.linearization is None or here.state is None:
            return np.full(2, np.nan)
        found = np.full(2, np.nan)
        for axis in range(2):
            ends = []
            for sign in (-1.0, 1.0):
                v = np.array(u, dtype=np.float64)
                v[axis] = np.clip(v[axis] + sign * REACH, 0.0, 1.0)
                try:
                    ends.append((v[axis], equilibrium(self.scene(v), here.state)[1]))
                except InputError:
                    return np.full(2, np.nan)
            (low, back), (high, ahead) = ends
            found[axis] = radius_slope(here.linearization, (ahead.A - back.A) / (high - low))
        return found

    def _local(self, u: Floats) -> Local:
        found = self._nearby(u)
        if found is not None and found.state is not None:
            return found
        try:
            scene = self.scene(u)
        except BipedError as error:
            return Local(None, None, str(error))
        reason = "" if found is None else found.reason
        for guess in self._starts(scene):
            local = self._from(scene, u, guess)
            if local.state is not None:
                return local
            reason = reason or local.reason
        return Local(None, None, reason)

    def _nearby(self, u: Floats) -> Local | None:
        """Search from the nearest known equilibrium; if it is too far for Newton's method, in steps."""
        found, part = None, 1.0
        for _ in range(WAYPOINTS):
            if not self._guesses or part < SHORTEST:
                break
            near, guess = min(self._guesses, key=lambda one: float(np.linalg.norm(one[0] - u)))
            place = u if part == 1.0 else near + part * (u - near)
            try:
                found = self._from(self.scene(place), place, guess)
            except BipedError as error:
                found = Local(None, None, str(error))
            if found.state is None:
                part /= 2.0
            elif place is u:
                return found
            else:
                part = 1.0
                found = None
        return found

    def _from(self, scene: Scene, u: Floats, guess: State) -> Local:
        try:
            state, found = equilibrium(scene, guess)
        except InputError as error:
            return Local(None, None, str(error))
        self._guesses.append((u, state))
        del self._guesses[:-MOST_GUESSES]
        return Local(state, found)

    def _starts(self, scene: Scene) -> Iterator[State]:
        """Yield starting postures: standing with the root at the set point if possible, standing by itself, at rest."""
        place = None if scene.set_point is None else scene.set_point.position
        for trunk in (place, None):
            try:
                yield held_stance(scene.model, scene.floor, standing(scene.model, scene.floor, trunk).q)
            except InputError:
                continue
        if self._rested is not None:
            yield self._rested

    @cached_property
    def _rested(self) -> State | None:
        """State in which the experiment comes to rest, with its parameter values; None if it falls."""
        session = Session(self.scene_at_home)
        session.advance(round(self.scene_at_home.duration / session.period))
        return None if session.has_ended else session.state.copy()

    def simulated(self, u: Floats, seconds: float, seed: int) -> str:
        """Simulate a small random deviation from the equilibrium; return whether it decays or grows."""
        here = self.at(u)
        if here.state is None:
            return NO_EQUILIBRIUM
        return deviation(self.scene(u), here.state, seconds, seed)


def deviation(scene: Scene, at: State, seconds: float, seed: int) -> str:
    """Simulate a small random deviation from an equilibrium; return whether it decays or grows.

    Its greatest size in the second quarter of the time is compared with that in the last. The linearization is not
    used.
    """
    rng, nv = np.random.default_rng(seed), scene.model.nv
    start = at.copy()
    change = DEVIATION * rng.normal(size=2 * nv)
    start.arrays.q[:] = displaced(scene.model, at.q, change[:nv])
    start.arrays.momentum[:] += 10.0 * change[nv:]
    start.arrays.cache.rate[:] = 0.0
    session = Session(replace(scene, state=start))
    looks = max(8, round(seconds / (LOOK * session.period)))
    sizes = []
    for _ in range(looks):
        session.advance(LOOK)
        if session.has_ended:
            return GROWN
        live = session.state
        moved = np.concatenate([displacement(scene.model, at.q, live.q), (live.momentum - at.momentum) / 10.0])
        sizes.append(float(np.abs(moved).max()))
        if sizes[-1] > LOST * DEVIATION:
            return GROWN
        if max(sizes[-4:]) < GONE * DEVIATION and len(sizes) >= 4:
            return RECOVERED
    early, late = max(sizes[looks // 4 : looks // 2]), max(sizes[3 * looks // 4 :])
    return RECOVERED if late < early else GROWN

"""Local stability of an experiment's closed loop over two parameters, by eigenvalues and by simulation."""

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
#: Standard deviation of simulated deviations, in m and rad for positions, in 10 N·s and 10 N·m·s for momenta.
DEVIATION = 1e-6
#: Multiples of ``DEVIATION`` below which a deviation has decayed, and above which it has grown.
GONE, LOST = 1e-3, 1e3
#: Number of control ticks between two readings of a deviation.
LOOK = 10
#: Continuation from a known equilibrium: largest number of steps, and shortest step as a fraction of the distance left.
WAYPOINTS = 10
SHORTEST = 0.1
#: Number of equilibria that are kept as initial guesses.
MOST_GUESSES = 400

RECOVERED, GROWN, NO_EQUILIBRIUM = "recovered", "grown", "no equilibrium"


@dataclass(frozen=True)
class Range:
    """Range of a parameter in a stability map."""

    name: str  #: name of the parameter, or of one of its numbers
    low: float  #: lower end, in the parameter's unit
    high: float  #: upper end
    scale: str = LINEAR  #: ``"linear"`` or ``"log"``

    def __post_init__(self) -> None:
        if not (np.isfinite(self.low) and np.isfinite(self.high) and self.low < self.high):
            raise InputError(f"{self.name}={self.low:g}..{self.high:g}: LOW..HIGH must be finite, and LOW below HIGH")
        if self.scale == LOG and self.low <= 0.0:
            raise InputError(f"{self.name}={self.low:g}..{self.high:g}: a log scale needs both ends above zero")

    def at(self, part: float) -> float:
        """Return the value at a fraction, 0 … 1, of the range."""
        return interpolate(self.low, self.high, part, self.scale)


@dataclass(frozen=True, eq=False)
class Local:
    """Equilibrium and linearization at the values of two parameters."""

    state: State | None  # the equilibrium; None if none was computed
    linearization: Linearization | None  # linearization about the equilibrium; None without an equilibrium
    reason: str = ""  # reason why there is no equilibrium

    @property
    def excess(self) -> float:
        """Largest ``|λ|`` − 1: small deviations grow if it is above zero. NaN without an equilibrium."""
        return np.nan if self.linearization is None else -self.linearization.margin


class StabilityField:
    """Local stability of an experiment's closed loop over the ranges of two parameters.

    Its value is the largest ``|λ|`` − 1, negative for a stable loop; λ are the eigenvalues of the linearized map over a
    control period. A point (2,) has the fractions of the ranges ``x`` and ``y``; ``changes`` are of other parameters.
    The search for an equilibrium starts from the nearest known one, then from standing postures with fixed torques of
    the joints, then from the state in which the experiment comes to rest.

    Raises:
        InputError: both parameters are equal, or the ends of their ranges cannot be set.
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
        """Return equilibrium and linearization at a point (2,) of the unit square."""
        key = float(u[0]), float(u[1])
        if key not in self._known:
            self._known[key] = self._local(np.asarray(u, dtype=np.float64))
        return self._known[key]

    def value(self, u: Floats) -> float:
        """Return the largest ``|λ|`` − 1 at a point (2,); NaN without an equilibrium."""
        return float(self.at(u).excess)

    def reason(self, u: Floats) -> str:
        """Return the reason why a point (2,) has no equilibrium; empty if it has one."""
        return self.at(u).reason

    def slope(self, u: Floats) -> Floats:
        """Return ∂|λ|/∂u (2,) of the largest ``|λ|``, about the equilibrium at each u; NaN without an equilibrium."""
        here = self.at(u)
        if here.linearization is None or here.state is None:
            return np.full(2, np.nan)
        slope = np.full(2, np.nan)
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
            slope[axis] = radius_slope(here.linearization, (ahead.A - back.A) / (high - low))
        return slope

    def _local(self, u: Floats) -> Local:
        nearby = self._nearby(u)
        if nearby is not None and nearby.state is not None:
            return nearby
        try:
            scene = self.scene(u)
        except BipedError as error:
            return Local(None, None, str(error))
        reason = "" if nearby is None else nearby.reason
        for guess in self._starts(scene):
            local = self._from(scene, u, guess)
            if local.state is not None:
                return local
            reason = reason or local.reason
        return Local(None, None, reason)

    def _nearby(self, u: Floats) -> Local | None:
        """Return the equilibrium that continues the nearest known one, in one step or several; None: none known."""
        local, part = None, 1.0
        for _ in range(WAYPOINTS):
            if not self._guesses or part < SHORTEST:
                break
            near, guess = min(self._guesses, key=lambda known: float(np.linalg.norm(known[0] - u)))
            place = u if part == 1.0 else near + part * (u - near)
            try:
                local = self._from(self.scene(place), place, guess)
            except BipedError as error:
                local = Local(None, None, str(error))
            if local.state is None:
                part /= 2.0
            elif place is u:
                return local
            else:
                part = 1.0
                local = None
        return local

    def _from(self, scene: Scene, u: Floats, guess: State) -> Local:
        try:
            state, linearization = equilibrium(scene, guess)
        except InputError as error:
            return Local(None, None, str(error))
        self._guesses.append((u, state))
        del self._guesses[:-MOST_GUESSES]
        return Local(state, linearization)

    def _starts(self, scene: Scene) -> Iterator[State]:
        """Yield initial guesses: standing with the root at the set point, standing without a set point, at rest."""
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
        """State in which the experiment comes to rest under ``changes``; None if it falls."""
        session = Session(self.scene_at_home)
        session.advance(round(self.scene_at_home.duration / session.period))
        return None if session.has_ended else session.state.copy()

    def simulated(self, u: Floats, seconds: float, seed: int) -> str:
        """Return the result of ``deviation`` for the equilibrium at u; ``NO_EQUILIBRIUM`` without an equilibrium."""
        here = self.at(u)
        if here.state is None:
            return NO_EQUILIBRIUM
        return deviation(self.scene(u), here.state, seconds, seed)


def deviation(scene: Scene, at: State, seconds: float, seed: int) -> str:
    """Simulate a small random deviation from an equilibrium; return ``RECOVERED`` if it decays, else ``GROWN``.

    Its largest size in the second quarter of the time is compared with that in the last. The linearization is not used.
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

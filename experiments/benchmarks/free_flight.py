"""The human tumbling freely: where it starts, how an engine takes it there, and what energy and momentum do meanwhile.

All start from the same state, and their energies and momenta are computed by the same functions from configurations and
velocities. No controller is asked, so that nothing but steps is in between.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from biped import dynamics
from biped.control.controller import Impedance
from biped.errors import InputError
from biped.model import Model, human
from contact import RUBBER
from contact.arrays import Floats
from experiments.benchmarks.scenes import tumbling
from experiments.benchmarks.timing import seconds
from experiments.engines.engine import Case, Engine
from experiments.engines.kernels.external import new_arrival

#: Of the velocities of ``scenes.tumbling``: about 0.5 and 2 rad/s in every joint. Passing where the axes of hip or
#: ankle align, the joints of the fast one reach 50 rad/s.
MOTIONS = {"gentle": 0.25, "fast": 1.0}
#: [s] between samples.
SAMPLED = 0.1

Start = tuple[Model, Floats, Floats]


def start_of(motion: str) -> Start:
    """The human without gravity and contact points, a configuration and a velocity."""
    model = human().without_contacts().with_gravity((0.0, 0.0, 0.0))
    q, v = tumbling(model)
    return model, q, MOTIONS[motion] * v


@dataclass(frozen=True)
class Flight:
    """Energy and angular momentum of a flight, both conserved quantities."""

    time: Floats  # (samples,) [s]
    energy: Floats  # (samples,) relative error
    spin: float  # the greatest change of the angular momentum about the centre of mass, relative

    @classmethod
    def of(cls, time: Floats, energy: Floats, spin: Floats) -> "Flight":
        """Return the flight of sampled energies (samples,) and angular momenta ``spin`` (samples, 3)."""
        change = float(np.max(np.abs(spin - spin[0])) / np.linalg.norm(spin[0]))
        return cls(time, energy / energy[0] - 1.0, change)

    @classmethod
    def along(cls, model: Model, time: Floats, q: Floats, v: Floats) -> "Flight":
        """Return the flight of configurations (samples, nq) and velocities (samples, nv)."""
        pairs = list(zip(q, v, strict=True))
        energy = np.array([dynamics.energy(model, *pair).kinetic for pair in pairs])
        return cls.of(time, energy, np.array([dynamics.momentum(model, *pair).angular for pair in pairs]))

    @property
    def worst(self) -> float:
        return float(np.max(np.abs(self.energy)))

    @property
    def worst_so_far(self) -> tuple[Floats, Floats]:
        """[s], and the greatest relative error of the energy up to then; without the start."""
        return self.time[1:], np.maximum.accumulate(np.abs(self.energy[1:]))

    @property
    def drift(self) -> float:
        return float(np.polyfit(self.time, self.energy, 1)[0] * (self.time[-1] - self.time[0]))


@dataclass(frozen=True)
class Samples:
    """States at equal times."""

    time: Floats  # (samples,) [s]
    q: Floats  # (samples, nq)
    v: Floats  # (samples, nv) as the engine reports them
    in_phase: Floats  # (samples, nv) at the time of q


class Glider:
    """A model in an engine, such as the tumbling human: a simulation that is only ever stepped."""

    def __init__(self, engine: Engine, start: Start, step: float, impedance: Impedance | None = None) -> None:
        self.model, self.q, self.v = start
        self.velocity_offset, self.step = engine.velocity_offset, step
        self.simulation = engine.start(Case(self.model, RUBBER, step, impedance or Impedance(), None))
        self.arrival = new_arrival(self.model.nq, self.model.nv, self.model.nc)

    def restart(self) -> None:
        self.simulation.place(self.q.copy(), self.v.copy(), np.zeros(13))

    def advance(self, steps: int) -> None:
        self.simulation.passive_rollout(steps)

    def seconds(self, steps: int) -> float:
        """[s] of so many steps from the start, in the engine alone."""
        self.restart()
        return seconds(lambda: self.advance(steps))

    def state(self) -> tuple[Floats, Floats]:
        """Copies of the configuration, with unit quaternions, and of the velocity."""
        self.simulation.read(self.arrival)
        q = self.arrival.q.copy()
        q[3:7] /= np.linalg.norm(q[3:7])
        return q, self.arrival.v.copy()

    def samples(self, duration: float, interval: float, progress: Callable[[float], None]) -> Samples:
        """A flight from the start; each sample with the velocity one step later too, where velocities lag."""
        self.restart()
        count, between = round(duration / interval), round(interval / self.step)
        if abs(between * self.step - interval) > 1e-9 * interval:
            raise InputError(f"step = {self.step:g} s does not divide the time between two samples, {interval:g} s")
        rows: list[tuple[Floats, Floats, Floats]] = []
        q, v = self.q.copy(), self.v.copy()
        for k in range(count + 1):
            self.advance(1)
            _, after = self.state()
            rows.append((q, v, v + self.velocity_offset * (after - v)))
            if k < count:
                self.advance(between - 1)
                q, v = self.state()
            progress(k * interval)
        columns = (np.array(column) for column in zip(*rows, strict=True))
        found = Samples(interval * np.arange(count + 1, dtype=np.float64), *columns)
        return found if self.velocity_offset else replace(found, in_phase=found.v)

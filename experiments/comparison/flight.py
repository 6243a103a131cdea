"""Free flight: energy and angular momentum of a tumbling human in an engine or an integrator.

All backends start from the same state, and their energies and momenta are computed by the same functions from
configurations and velocities. There is no controller: only the integration of the motion differs.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

from biped import dynamics
from biped.control.controller import Impedance
from biped.errors import InputError, IntegrationError
from biped.model import Model, human
from biped.runs.state import State
from biped.simulation.driver import Announce, Progress
from biped.simulation.simulate import simulate
from contact import RUBBER
from contact.arrays import Floats
from experiments.catalogue.parameters.parameter import Value
from experiments.comparison.backends import Backend
from experiments.comparison.table import quantity
from experiments.engines.engine import Case, Engine
from experiments.engines.kernels.external import new_arrival
from experiments.timing import seconds
from experiments.work_precision.problems import tumbling

#: Factors on the velocities of ``tumbling``, by motion: about 0.5 and 2 rad/s in every joint. When the axes of a hip or
#: ankle align, joints of the fast motion reach 50 rad/s.
MOTIONS = {"gentle": 0.25, "fast": 1.0}
#: [s] time between samples, and time step of the comparison.
SAMPLED, STEP = 0.1, 1e-3

Start = tuple[Model, Floats, Floats]


def start_of(motion: str) -> Start:
    """Return the human without gravity and contact points, a configuration and a velocity."""
    model = human().without_contacts().with_gravity((0.0, 0.0, 0.0))
    q, v = tumbling(model)
    return model, q, MOTIONS[motion] * v


@dataclass(frozen=True)
class Flight:
    """Errors of energy and angular momentum in a flight, in which both are conserved."""

    time: Floats  # (samples,) [s]
    energy: Floats  # (samples,) relative energy error
    spin: float  # greatest relative change of the angular momentum about the centre of mass

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
        """Times [s] after the start, and the greatest relative energy error up to each time."""
        return self.time[1:], np.maximum.accumulate(np.abs(self.energy[1:]))

    @property
    def drift(self) -> float:
        return float(np.polyfit(self.time, self.energy, 1)[0] * (self.time[-1] - self.time[0]))

    @property
    def lost_after(self) -> float | None:
        """Time [s] at which the energy error first exceeds the energy (later results are meaningless), or None."""
        off = np.flatnonzero(np.abs(self.energy) > 1.0)
        return float(self.time[off[0]]) if len(off) else None


@dataclass(frozen=True)
class Samples:
    """States at equal times."""

    time: Floats  # (samples,) [s]
    q: Floats  # (samples, nq)
    v: Floats  # (samples, nv) at the time of q


class Glider:
    """A model in an engine, such as the tumbling human, without a controller."""

    def __init__(self, engine: Engine, start: Start, step: float) -> None:
        self.model, self.q, self.v = start
        self.velocity_offset, self.step = engine.velocity_offset, step
        self.simulation = engine.start(Case(self.model, RUBBER, step, Impedance(), None))
        self.arrival = new_arrival(self.model.nq, self.model.nv, self.model.nc)

    def restart(self) -> None:
        self.simulation.place(self.q.copy(), self.v.copy(), np.zeros(13))

    def advance(self, steps: int) -> None:
        self.simulation.passive_rollout(steps)

    def seconds(self, steps: int) -> float:
        """Return the computing time [s] of ``steps`` steps from the start, in the engine alone."""
        self.restart()
        return seconds(lambda: self.advance(steps))

    def state(self) -> tuple[Floats, Floats]:
        """Return copies of the configuration, with unit quaternions, and of the velocity."""
        self.simulation.read(self.arrival)
        q = self.arrival.q.copy()
        q[3:7] /= np.linalg.norm(q[3:7])
        return q, self.arrival.v.copy()

    def samples(self, duration: float, interval: float, progress: Progress) -> Samples:
        """Return a flight from the start; velocities that lag are interpolated to the time of q, by one more step."""
        self.restart()
        count, between = round(duration / interval), round(interval / self.step)
        if abs(between * self.step - interval) > 1e-9 * interval:
            raise InputError(f"step = {self.step:g} s: it must divide the time between two samples, {interval:g} s")
        rows: list[tuple[Floats, Floats]] = []
        q, v = self.q.copy(), self.v.copy()
        for k in range(count + 1):
            self.advance(1)
            _, after = self.state()
            rows.append((q, v + self.velocity_offset * (after - v) if self.velocity_offset else v))
            if k < count:
                self.advance(between - 1)
                q, v = self.state()
            progress(k * interval)
        samples = Samples(interval * np.arange(count + 1.0), *(np.array(column) for column in zip(*rows, strict=True)))
        if not (np.isfinite(samples.q).all() and np.isfinite(samples.v).all()):
            raise IntegrationError("the simulated motion has numbers that are not finite")
        return samples


@dataclass(frozen=True)
class FlightRow:
    """Row of the table of flights: a flight in an engine."""

    engine: str = quantity("", "name of the engine")
    motion: str = quantity("", "speed of the motion: gentle or fast")
    step: float = quantity("s", "time step")
    duration: float = quantity("s", "simulated time")
    energy_worst: float | None = quantity("1", "greatest relative error of the energy")
    energy_drift: float | None = quantity("1", "relative change of a line fitted to the energy, from start to end")
    spin_change: float | None = quantity("1", "greatest relative change of the angular momentum")
    lost_after: float | None = quantity("s", "time from which the relative error of the energy exceeds 100 %", None)
    failure: str = quantity("", "reason for missing numbers", "")

    @property
    def out(self) -> str:
        """Reason why the numbers of this row do not count; empty if they do."""
        if self.failure:
            return f"failed ({self.failure})"
        return "" if self.lost_after is None else f"energy error above 100 % from {self.lost_after:.3g} s on"


def fly(
    backend: Backend,
    motion: str,
    duration: float,
    changes: Mapping[str, Value],
    progress: Progress,
    announce: Announce | None = None,
) -> Flight:
    """Simulate the human's tumble with one of the ``MOTIONS`` in an engine or integrator, for ``duration`` [s].

    Of the ``changes`` of the compared experiment, only the settings of biped's integrators apply.
    """
    model, q, v = start = start_of(motion)
    interval = min(SAMPLED, duration / 10.0)
    if backend.external is not None:
        samples = Glider(backend.external, start, STEP).samples(duration, interval, progress)
        return Flight.along(model, samples.time, samples.q, samples.v)
    run = simulate(
        model, state=State.at(model, q, v), integrator=backend.integrator(changes), step=STEP, duration=duration,
        record_every=interval, announce=announce,
    )  # fmt: skip
    progress(duration)
    columns = (run.frame[list(names)].to_numpy() for names in (model.coordinate_names, model.velocity_names))
    return Flight.along(model, run.frame["time"].to_numpy(), *columns)


def flight_row(
    backend: Backend, motion: str, duration: float, made: Callable[[], Flight]
) -> tuple[FlightRow, Flight | None]:
    try:
        flown = made()
    except (InputError, IntegrationError) as error:
        return FlightRow(backend.label, motion, STEP, duration, None, None, None, failure=str(error)), None
    numbers = flown.worst, flown.drift, flown.spin, flown.lost_after
    return FlightRow(backend.label, motion, STEP, duration, *numbers), flown

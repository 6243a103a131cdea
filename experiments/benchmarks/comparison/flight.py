"""Free flight: what the energy and the angular momentum of a tumbling human do in a minute.

All engines start from the same state, and their energies and momenta are computed by the same functions from the
configurations and velocities that they give. No controller is asked, so that nothing but their steps is in between.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Protocol, runtime_checkable

import numpy as np

from biped import dynamics
from biped.control.controller import Impedance
from biped.errors import InputError, IntegrationError
from biped.integrators import Integrator
from biped.model import Model
from biped.runs.state import State
from biped.simulation.session import Announce
from biped.simulation.simulate import simulate
from contact import RUBBER
from contact.arrays import Floats
from experiments.benchmarks.comparison.backends import Contestant
from experiments.benchmarks.comparison.budget import Progress
from experiments.benchmarks.comparison.table import quantity
from experiments.benchmarks.flight_energy import MOTIONS, SAMPLED, Flight, Start, start_of
from experiments.catalogue.parameters.parameter import Value
from experiments.engines.engine import Case, Engine, Simulation
from experiments.engines.kernels.external import Arrival, new_arrival

__all__ = ["MOTIONS", "STEP", "FlightRow", "Flown", "flight_row", "fly", "start_of"]


#: [s]
STEP = 1e-3


@runtime_checkable
class Coasting(Protocol):
    """A simulation that takes many steps without torques and forces in one call, and so without Python in between."""

    def coast(self, steps: int) -> None:
        """Take them."""


@dataclass(frozen=True)
class FlightRow:
    """A flight in an engine."""

    engine: str = quantity("", "name")
    motion: str = quantity("", "gentle or fast")
    step: float = quantity("s", "step")
    duration: float = quantity("s", "time simulated")
    energy_worst: float | None = quantity("1", "greatest relative error of the energy, velocities as reported")
    energy_drift: float | None = quantity("1", "linear trend of the energy over the whole time, relative, as reported")
    energy_worst_in_phase: float | None = quantity("1", "greatest relative error of the energy, velocities in phase")
    energy_drift_in_phase: float | None = quantity("1", "linear trend of the energy, relative, velocities in phase")
    spin_change: float | None = quantity("1", "greatest relative change of the angular momentum, as reported")
    spin_change_in_phase: float | None = quantity("1", "the same, velocities in phase")
    lost_after: float | None = quantity("s", "time after which the energy was off by more than all of it", None)
    failure: str = quantity("", "why there are none", "")


@dataclass(frozen=True)
class Samples:
    """States at equal times.

    Attributes:
        time: (samples,) [s].
        q: (samples, nq).
        v: (samples, nv) as the engine reports them.
        in_phase: (samples, nv) at the time of q.
    """

    time: Floats
    q: Floats
    v: Floats
    in_phase: Floats


@dataclass(frozen=True)
class Flown:
    """What a flight keeps, from velocities as they are reported, and as they are in phase with the positions."""

    reported: Flight
    in_phase: Flight


class Glider:
    """The tumbling human in an engine: a simulation that is only ever stepped."""

    def __init__(self, engine: Engine, start: Start, step: float) -> None:
        self.model, self.q, self.v = start
        self.lag = engine.lag
        self.simulation: Simulation = engine.start(Case(self.model, RUBBER, step, Impedance(), None))
        self.torque = np.zeros(self.model.nv)
        self.step = step
        self.arrival: Arrival = new_arrival(self.model.nq, self.model.nv, self.model.nc)

    def restart(self) -> None:
        """Back to the start."""
        self.simulation.place(self.q.copy(), self.v.copy(), np.zeros(13))

    def coast(self, steps: int) -> None:
        """Take steps without torques and forces."""
        if isinstance(self.simulation, Coasting):
            self.simulation.coast(steps)
            return
        step, torque = self.simulation.step, self.torque
        for _ in range(steps):
            step(torque, ())

    def state(self) -> tuple[Floats, Floats]:
        """Copies of the configuration, with unit quaternions, and of the velocity."""
        self.simulation.read(self.arrival)
        q = self.arrival.q.copy()
        q[3:7] /= np.linalg.norm(q[3:7])
        return q, self.arrival.v.copy()

    def samples(self, duration: float, interval: float, progress: Progress) -> Samples:
        """A flight from the start; each sample with the velocity one step later too, where velocities lag."""
        self.restart()
        count, between = round(duration / interval), round(interval / self.step)
        if abs(between * self.step - interval) > 1e-9 * interval:
            raise InputError(f"step = {self.step:g} s does not divide the time between two samples, {interval:g} s")
        rows: list[tuple[Floats, Floats, Floats]] = []
        q, v = self.q.copy(), self.v.copy()
        for k in range(count + 1):
            self.coast(1)
            _, after = self.state()
            rows.append((q, v, v + self.lag * (after - v)))
            if k < count:
                self.coast(between - 1)
                q, v = self.state()
            progress(k * interval)
        columns = (np.array(column) for column in zip(*rows, strict=True))
        found = Samples(interval * np.arange(count + 1, dtype=np.float64), *columns)
        return found if self.lag else replace(found, in_phase=found.v)


def _our_samples(
    integrator: Integrator, start: Start, duration: float, interval: float, announce: Announce | None
) -> Samples:
    """A flight by an integrator of ours."""
    model, q, v = start
    run = simulate(
        model, state=State.at(model, q, v), integrator=integrator, step=STEP, duration=duration,
        record_every=interval, announce=announce,
    )  # fmt: skip
    velocities = run.frame[list(model.velocity_names)].to_numpy()
    configurations = run.frame[list(model.coordinate_names)].to_numpy()
    return Samples(run.frame["time"].to_numpy(), configurations, velocities, velocities)


def kept(model: Model, samples: Samples) -> Flown:
    """Energy and angular momentum of samples."""

    def flight(velocities: Floats) -> Flight:
        pairs = list(zip(samples.q, velocities, strict=True))
        energy = np.array([dynamics.energy(model, q, v).kinetic for q, v in pairs])
        spin = np.array([dynamics.momentum(model, q, v).angular for q, v in pairs])
        return Flight.of(samples.time, energy, spin)

    reported = flight(samples.v)
    return Flown(reported, reported if samples.in_phase is samples.v else flight(samples.in_phase))


def fly(
    contestant: Contestant,
    motion: str,
    duration: float,
    changes: Mapping[str, Value],
    progress: Progress,
    announce: Announce | None = None,
) -> Flown:
    """Let the human tumble in an engine.

    Args:
        contestant: the engine.
        motion: of ``MOTIONS``.
        duration: [s].
        changes: of the compared experiment; settings of our integrators are honoured.
        progress: called with the time simulated [s].
        announce: called with a sentence before kernels are compiled.

    Raises:
        InputError: the engine cannot do it.
        IntegrationError: it did not get to the end.
    """
    start = start_of(motion)
    interval = min(SAMPLED, duration / 10.0)
    if contestant.foreign is None:
        samples = _our_samples(contestant.integrator(changes), start, duration, interval, announce)
        progress(duration)
    else:
        samples = Glider(contestant.foreign, start, STEP).samples(duration, interval, progress)
    if not (np.isfinite(samples.q).all() and np.isfinite(samples.v).all()):
        raise IntegrationError("the motion is not finite")
    return kept(start[0], samples)


def lost_after(flight: Flight) -> float | None:
    """[s] when the energy was first off by more than all of it: what follows is no flight of this human any more."""
    off = np.flatnonzero(np.abs(flight.energy) > 1.0)
    return float(flight.time[off[0]]) if len(off) else None


def flight_row(
    contestant: Contestant, motion: str, duration: float, made: Callable[[], Flown]
) -> tuple[FlightRow, Flown | None]:
    """The row of a flight; that of one that failed says why."""
    try:
        flown = made()
    except (InputError, IntegrationError) as error:
        nothing = (None,) * 6
        return FlightRow(contestant.label, motion, STEP, duration, *nothing, failure=str(error)), None
    reported, phased = flown.reported, flown.in_phase
    row = FlightRow(
        contestant.label, motion, STEP, duration,
        *(reported.worst, reported.drift, phased.worst, phased.drift),
        *(reported.spin, phased.spin, lost_after(phased)),
    )  # fmt: skip
    return row, flown

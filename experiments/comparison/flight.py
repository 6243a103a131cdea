"""Free flight in all engines: what the energy and the angular momentum of a tumbling human do in a minute."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

from biped.errors import InputError, IntegrationError
from biped.integrators import Integrator
from biped.runs.state import State
from biped.simulation.driver import Announce
from biped.simulation.simulate import simulate
from experiments.benchmarks.comparison.backends import Backend
from experiments.benchmarks.comparison.budget import Progress
from experiments.benchmarks.comparison.table import quantity
from experiments.benchmarks.free_flight import SAMPLED, Flight, Glider, Samples, Start, start_of
from experiments.catalogue.parameters.parameter import Value

#: [s]
STEP = 1e-3


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

    @property
    def out(self) -> str:
        """Why its numbers count for nothing; empty where they do."""
        if self.failure:
            return f"failed ({self.failure})"
        return "" if self.lost_after is None else f"off by more than all its energy from {self.lost_after:.3g} s on"


@dataclass(frozen=True)
class Flown:
    """A flight, from velocities as they are reported, and as they are in phase with the positions."""

    reported: Flight
    in_phase: Flight


def _our_samples(
    integrator: Integrator, start: Start, duration: float, interval: float, announce: Announce | None
) -> Samples:
    model, q, v = start
    run = simulate(
        model, state=State.at(model, q, v), integrator=integrator, step=STEP, duration=duration,
        record_every=interval, announce=announce,
    )  # fmt: skip
    velocities = run.frame[list(model.velocity_names)].to_numpy()
    configurations = run.frame[list(model.coordinate_names)].to_numpy()
    return Samples(run.frame["time"].to_numpy(), configurations, velocities, velocities)


def fly(
    backend: Backend,
    motion: str,
    duration: float,
    changes: Mapping[str, Value],
    progress: Progress,
    announce: Announce | None = None,
) -> Flown:
    """Let the human tumble in an engine by one of ``MOTIONS``, for ``duration`` [s].

    Of the ``changes`` of the compared experiment, settings of our integrators are honoured.
    """
    start = start_of(motion)
    interval = min(SAMPLED, duration / 10.0)
    if backend.external is None:
        samples = _our_samples(backend.integrator(changes), start, duration, interval, announce)
        progress(duration)
    else:
        samples = Glider(backend.external, start, STEP).samples(duration, interval, progress)
    if not (np.isfinite(samples.q).all() and np.isfinite(samples.v).all()):
        raise IntegrationError("the motion is not finite")
    reported = Flight.along(start[0], samples.time, samples.q, samples.v)
    if samples.in_phase is samples.v:
        return Flown(reported, reported)
    return Flown(reported, Flight.along(start[0], samples.time, samples.q, samples.in_phase))


def lost_after(flight: Flight) -> float | None:
    """[s] when the energy was first off by more than all of it: what follows is no flight of this human any more."""
    off = np.flatnonzero(np.abs(flight.energy) > 1.0)
    return float(flight.time[off[0]]) if len(off) else None


def flight_row(
    backend: Backend, motion: str, duration: float, made: Callable[[], Flown]
) -> tuple[FlightRow, Flown | None]:
    try:
        flown = made()
    except (InputError, IntegrationError) as error:
        return FlightRow(backend.label, motion, STEP, duration, *(None,) * 6, failure=str(error)), None
    reported, phased = flown.reported, flown.in_phase
    row = FlightRow(
        backend.label, motion, STEP, duration, reported.worst, reported.drift, phased.worst, phased.drift,
        reported.spin, phased.spin, lost_after(phased),
    )  # fmt: skip
    return row, flown

"""Energy of the human tumbling freely, over a minute: symmetric compositions, and MuJoCo's RK4 beside them.

Both engines start from the same state, and their energies and momenta are computed by the same functions. Costs are
those of compiled steps alone, taken in turn: for every second of ours a second of MuJoCo's RK4 at 1 ms.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from biped import dynamics
from biped.errors import IntegrationError
from biped.integrators import INTEGRATORS
from biped.model import Model, human
from biped.runs.state import State
from biped.simulation.simulate import simulate
from contact.arrays import Floats
from experiments.benchmarks.scenes import tumbling
from experiments.benchmarks.sections import Column, Section
from experiments.benchmarks.timing import Spread, seconds
from experiments.engines.mujoco.mjcf import MujocoOptions, mjcf, mujoco_velocity, velocity_map

#: Of the velocities of ``scenes.tumbling``: about 0.5 and 2 rad/s in every joint. Passing where the axes of hip or
#: ankle align, the joints of the fast one reach 50 rad/s.
MOTIONS = {"gentle": 0.25, "fast": 1.0}
#: Integrators and steps [s].
OURS = (
    ("recursive", 1e-3),
    ("recursive", 1e-2),
    ("suzuki-4", 4e-3),
    ("kahan-li-6", 4e-3),
    ("kahan-li-6", 1e-2),
    ("sofroniou-spaletta-6", 1e-3),
    ("sofroniou-spaletta-6", 4e-3),
    ("sofroniou-spaletta-6", 1e-2),
    ("kahan-li-8", 5e-3),
    ("kahan-li-8", 1e-2),
)
RK4_STEPS = (1e-3, 1e-2)
#: [s] between samples.
SAMPLED = 0.1
#: [s] of ours, and of MuJoCo's, before the other's turn.
TURN = 1.0
#: What the figure shows: of order 2, 4, 6 and 8.
DRAWN = (
    "recursive, 1 ms",
    "suzuki-4, 4 ms",
    "sofroniou-spaletta-6, 4 ms",
    "sofroniou-spaletta-6, 10 ms",
    "kahan-li-8, 5 ms",
    "MuJoCo RK4, 1 ms",
    "MuJoCo RK4, 10 ms",
)
FIGURE = "flight-energy.png"


@dataclass(frozen=True)
class Flight:
    """What a flight keeps.

    Attributes:
        time: (samples,) [s].
        energy: (samples,) relative error.
        spin: the greatest change of the angular momentum about the centre of mass, relative.
    """

    time: Floats
    energy: Floats
    spin: float

    @classmethod
    def of(cls, time: Floats, energy: Floats, spin: Floats) -> "Flight":
        """From what was sampled; spin: (samples, 3)."""
        change = float(np.max(np.abs(spin - spin[0])) / np.linalg.norm(spin[0]))
        return cls(time, energy / energy[0] - 1.0, change)

    @property
    def worst(self) -> float:
        """The greatest relative error of the energy."""
        return float(np.max(np.abs(self.energy)))

    @property
    def drift(self) -> float:
        """The linear trend over the whole time, relative."""
        return float(np.polyfit(self.time, self.energy, 1)[0] * (self.time[-1] - self.time[0]))


Start = tuple[Model, Floats, Floats]


def start_of(motion: str) -> Start:
    """The human without gravity and contact points, a configuration and a velocity."""
    model = human().without_contacts().with_gravity((0.0, 0.0, 0.0))
    q, v = tumbling(model)
    return model, q, MOTIONS[motion] * v


def our_flight(start: Start, name: str, step: float, duration: float) -> Flight:
    """Of an integrator of ours."""
    model, q, v = start
    run = simulate(
        model, state=State.at(model, q, v), integrator=INTEGRATORS[name], step=step, duration=duration,
        record_every=SAMPLED,
    )  # fmt: skip
    frame = run.frame
    spin = frame[[f"momentum_l{axis}" for axis in "xyz"]].to_numpy()
    return Flight.of(frame["time"].to_numpy(), frame["ledger_kinetic"].to_numpy(), spin)


def our_turn(start: Start, name: str, step: float) -> float:
    """[s] that a second takes in compiled steps."""
    model, q, v = start
    run = simulate(
        model, state=State.at(model, q, v), integrator=INTEGRATORS[name], step=step, duration=TURN, record_every=TURN
    )
    return float(run.summary["wall_time"]) / TURN


class RungeKutta:
    """MuJoCo's RK4 on the same human."""

    def __init__(self, start: Start, step: float) -> None:
        import mujoco

        self.mujoco, self.step = mujoco, step
        self.model, self.q, self.v = start
        options = MujocoOptions(step=step, integrator="RK4", soles="none", islands=False)
        self.engine = mujoco.MjModel.from_xml_string(mjcf(self.model, options))
        self.data = mujoco.MjData(self.engine)

    def flight(self, duration: float) -> Flight:
        """From the start."""
        self._restart()
        samples = [self._sample()]
        for _ in range(round(duration / SAMPLED)):
            self.mujoco.mj_step(self.engine, self.data, nstep=round(SAMPLED / self.step))
            samples.append(self._sample())
        table = np.array(samples)
        time = np.linspace(0.0, duration, len(table))
        return Flight.of(time, table[:, 0], table[:, 1:])

    def turn(self) -> float:
        """[s] that a second takes."""
        self._restart()
        steps = round(TURN / self.step)
        return seconds(lambda: self.mujoco.mj_step(self.engine, self.data, nstep=steps)) / TURN

    def _restart(self) -> None:
        self.mujoco.mj_resetData(self.engine, self.data)
        self.data.qpos[:], self.data.qvel[:] = self.q, mujoco_velocity(self.model, self.q, self.v)

    def _sample(self) -> tuple[float, ...]:
        """Energy and angular momentum, as ours are computed."""
        q = self.data.qpos.copy()
        q[3:7] /= np.linalg.norm(q[3:7])
        v = velocity_map(self.model, q).T @ self.data.qvel
        return dynamics.energy(self.model, q, v).kinetic, *dynamics.momentum(self.model, q, v).angular


def label(name: str, step: float) -> str:
    """Integrator and step in words."""
    return f"{name}, {1e3 * step:g} ms"


def flights(start: Start, duration: float, with_mujoco: bool) -> Iterator[tuple[str, Flight | IntegrationError]]:
    """What every case keeps; or why it did not get to the end, where its step is too long for the motion."""
    for name, step in OURS:
        try:
            yield label(name, step), our_flight(start, name, step, duration)
        except IntegrationError as error:
            yield label(name, step), error
    for step in RK4_STEPS if with_mujoco else ():
        yield label("MuJoCo RK4", step), RungeKutta(start, step).flight(duration)


def costs(start: Start, repeats: int, with_mujoco: bool) -> dict[str, tuple[list[float], list[float]]]:
    """[s] for a second of each case, and what a second of MuJoCo's RK4 at 1 ms took just before it (or nothing)."""
    cases: dict[str, Callable[[], float]] = {
        label(name, step): lambda name=name, step=step: our_turn(start, name, step)  # type: ignore[misc]
        for name, step in OURS
    }
    reference = RungeKutta(start, RK4_STEPS[0]).turn if with_mujoco else None
    for step in RK4_STEPS if with_mujoco else ():
        cases[label("MuJoCo RK4", step)] = RungeKutta(start, step).turn
    taken: dict[str, tuple[list[float], list[float]]] = {name: ([], []) for name in cases}
    for case in cases.values():
        case()
    for _ in range(repeats):
        for name, case in cases.items():
            if reference is not None:
                taken[name][1].append(reference())
            taken[name][0].append(case())
    return taken


def flight_energy_section(repeats: int, duration: float, folder: Path, with_mujoco: bool) -> Section:
    """Energy error, its trend and angular momentum over ``duration`` [s], and the cost of a second."""
    section = Section(
        "flight_energy",
        f"Free tumbling for {duration:g} s: what is kept, at what cost",
        (
            *(Column("cost", "ms/s"), Column("of RK4's", "×"), Column("energy error", "", ".1e")),
            *(Column("energy drift", "", ".1e"), Column("spin change", "", ".1e")),
        ),
        notes=[
            "cost: of a simulated second, the median; of RK4's: over that of MuJoCo's RK4 at 1 ms, pairs taken in turn",
            "relative: the greatest error of the energy, its linear trend over the whole time, the angular momentum",
        ],
    )
    found: dict[str, dict[str, Flight]] = {}
    for motion in MOTIONS:
        start = start_of(motion)
        taken = costs(start, repeats, with_mujoco)
        found[motion] = {}
        for name, flight in flights(start, duration, with_mujoco):
            if isinstance(flight, IntegrationError):
                section.notes.append(f"{motion}: {name}: {flight}")
                continue
            found[motion][name] = flight
            times, reference = taken[name]
            ratios = [a / b for a, b in zip(times, reference, strict=True)] if reference else [np.nan]
            cost = 1e3 * Spread.of(times).median
            kept = (flight.worst, flight.drift, flight.spin)
            section.rows[f"{motion}: {name}"] = (cost, float(np.median(ratios)), *kept)
    draw_flight_energy(found, folder / FIGURE)
    return section


def draw_flight_energy(found: dict[str, dict[str, Flight]], path: Path) -> None:
    """The energy error over time of order 2, 4, 6 and 8 and of RK4, a panel for each motion."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(9.0, 4.2), layout="constrained")
    FigureCanvasAgg(figure)
    panels = figure.subplots(1, len(found), sharey=True, squeeze=False)[0]
    for axes, (motion, cases) in zip(panels, found.items(), strict=True):
        for k, name in enumerate(name for name in DRAWN if name in cases):
            error = np.maximum.accumulate(np.abs(cases[name].energy[1:]))
            axes.semilogy(cases[name].time[1:], error, color=f"C{k}", lw=1.1, label=name)
        axes.set_title(f"{motion}", loc="left")
        axes.set_xlabel("time [s]")
        axes.grid(color="0.9", lw=0.6)
    panels[0].set_ylabel("greatest relative error of the energy so far")
    panels[-1].legend(frameon=False, fontsize=7, loc="center left", bbox_to_anchor=(1.0, 0.5))
    figure.savefig(path, dpi=160)

"""Energy of the human tumbling freely, over a minute: symmetric compositions, and MuJoCo's RK4 beside them.

Costs are those of compiled steps alone, taken in turn: for every second of ours a second of MuJoCo's RK4 at 1 ms.
"""

from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from statistics import median

import numpy as np

from biped.errors import IntegrationError
from biped.integrators import INTEGRATORS
from biped.runs.run import Run
from biped.runs.state import State
from biped.simulation.simulate import simulate
from experiments.benchmarks.free_flight import MOTIONS, SAMPLED, Flight, Glider, Start, start_of
from experiments.benchmarks.sections import Column, Section
from experiments.benchmarks.speed.table import Budget, columns, milliseconds
from experiments.benchmarks.timing import interleaved, ratios
from experiments.engines.mujoco.adapter import Mujoco

#: Integrators and steps [s].
OURS = (
    *(("recursive", step) for step in (1e-3, 1e-2)),
    ("suzuki-4", 4e-3),
    *(("kahan-li-6", step) for step in (4e-3, 1e-2)),
    *(("sofroniou-spaletta-6", step) for step in (1e-3, 4e-3, 1e-2)),
    *(("kahan-li-8", step) for step in (5e-3, 1e-2)),
)
RK4, RK4_STEPS = "MuJoCo RK4", (1e-3, 1e-2)
RUNGE_KUTTA = Mujoco(integrator="RK4")
#: [s] of each case, before the other's turn; costs are those of a second.
TURN = 1.0
#: What the figure shows: of order 2, 4, 6 and 8.
DRAWN = (
    "recursive, 1 ms", "suzuki-4, 4 ms", "sofroniou-spaletta-6, 4 ms", "sofroniou-spaletta-6, 10 ms",
    "kahan-li-8, 5 ms", "MuJoCo RK4, 1 ms", "MuJoCo RK4, 10 ms",
)  # fmt: skip
FIGURE = "flight-energy.png"


def _run(start: Start, name: str, step: float, duration: float, every: float) -> Run:
    model, q, v = start
    return simulate(
        model, state=State.at(model, q, v), integrator=INTEGRATORS[name], step=step, duration=duration,
        record_every=every,
    )  # fmt: skip


def our_flight(start: Start, name: str, step: float, duration: float) -> Flight:
    frame = _run(start, name, step, duration, SAMPLED).frame
    spin = frame[[f"momentum_l{axis}" for axis in "xyz"]].to_numpy()
    return Flight.of(frame["time"].to_numpy(), frame["ledger_kinetic"].to_numpy(), spin)


def our_turn(start: Start, name: str, step: float) -> float:
    return float(_run(start, name, step, TURN, TURN).summary["wall_time"])


def rk4_flight(start: Start, step: float, duration: float) -> Flight:
    samples = Glider(RUNGE_KUTTA, start, step).samples(duration, SAMPLED, lambda _: None)
    return Flight.along(start[0], samples.time, samples.q, samples.v)


def rk4_turn(start: Start, step: float) -> Callable[[], float]:
    return partial(Glider(RUNGE_KUTTA, start, step).seconds, round(TURN / step))


def label(name: str, step: float) -> str:
    return f"{name}, {milliseconds(step)}"


def flights(start: Start, duration: float, with_mujoco: bool) -> Iterator[tuple[str, Flight | IntegrationError]]:
    """Yield the flight of each case; or why it did not get to the end, where its step is too long for the motion."""
    for name, step in OURS:
        try:
            yield label(name, step), our_flight(start, name, step, duration)
        except IntegrationError as error:
            yield label(name, step), error
    for step in RK4_STEPS if with_mujoco else ():
        yield label(RK4, step), rk4_flight(start, step, duration)


def costs(start: Start, repeats: int, with_mujoco: bool) -> dict[str, list[tuple[float, float]]]:
    """Time a second of each case [s], with what a second of MuJoCo's RK4 at 1 ms took just before it (or NaN)."""
    cases: dict[str, Callable[[], float]] = {
        label(name, step): partial(our_turn, start, name, step) for name, step in OURS
    }
    if with_mujoco:
        cases |= {label(RK4, step): rk4_turn(start, step) for step in RK4_STEPS}
    reference = rk4_turn(start, RK4_STEPS[0]) if with_mujoco else partial(float, "nan")

    def pair(case: Callable[[], float]) -> tuple[float, float]:
        before = reference()
        return case(), before

    return interleaved({name: partial(pair, case) for name, case in cases.items()}, repeats)


def flight_energy_section(work: Budget, folder: Path, with_mujoco: bool) -> Section:
    """Hold what compositions conserve, and at what cost, against MuJoCo's RK4; draws into ``folder``."""
    duration = work.of(1, 60)
    section = Section(
        "flight_energy",
        f"Free tumbling for {duration:g} s: what is conserved, at what cost",
        (
            *(Column("cost", "ms/s"), Column("of RK4's", "×")),
            *columns("energy error", "energy drift", "spin change", form=".1e"),
        ),
        notes=[
            "cost: of a simulated second, the median; of RK4's: over that of MuJoCo's RK4 at 1 ms, pairs taken in turn",
            "relative: the greatest error of the energy, its linear trend over the whole time, the angular momentum",
        ],
    )
    found: dict[str, dict[str, Flight]] = {}
    for motion in MOTIONS:
        start = start_of(motion)
        taken = costs(start, work.few, with_mujoco)
        found[motion] = {}
        for name, flight in flights(start, duration, with_mujoco):
            if isinstance(flight, IntegrationError):
                section.notes.append(f"{motion}: {name}: {flight}")
                continue
            found[motion][name] = flight
            times, reference = zip(*taken[name], strict=True)
            cost, ratio = 1e3 * median(times), float(np.median(ratios(times, reference)))
            section.rows[f"{motion}: {name}"] = (cost, ratio, flight.worst, flight.drift, flight.spin)
    draw_flight_energy(found, folder / FIGURE)
    return section


def draw_flight_energy(found: dict[str, dict[str, Flight]], path: Path) -> None:
    from matplotlib.figure import Figure

    figure = Figure(figsize=(9.0, 4.2), layout="constrained")
    panels = figure.subplots(1, len(found), sharey=True, squeeze=False)[0]
    for axes, (motion, cases) in zip(panels, found.items(), strict=True):
        for k, name in enumerate(name for name in DRAWN if name in cases):
            axes.semilogy(*cases[name].worst_so_far, color=f"C{k}", lw=1.1, label=name)
        axes.set_title(f"{motion}", loc="left")
        axes.set_xlabel("time [s]")
        axes.grid(color="0.9", lw=0.6)
    panels[0].set_ylabel("greatest relative error of the energy so far")
    panels[-1].legend(frameon=False, fontsize=7, loc="center left", bbox_to_anchor=(1.0, 0.5))
    figure.savefig(path, dpi=160)

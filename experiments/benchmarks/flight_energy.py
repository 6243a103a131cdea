"""Energy of the human tumbling freely for a minute: symmetric compositions, and MuJoCo's RK4 beside them.

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
from experiments.benchmarks.section import Budget, Column, Section, columns, milliseconds
from experiments.comparison.flight import MOTIONS, SAMPLED, Flight, Glider, Start, start_of
from experiments.engines.mujoco.adapter import Mujoco
from experiments.timing import interleaved, ratios

RK4 = "MuJoCo RK4"
RUNGE_KUTTA = Mujoco(integrator="RK4")
#: Methods and their steps [s].
CASES = tuple(
    (name, step)
    for name, steps in (
        ("recursive", (1e-3, 1e-2)), ("suzuki-4", (4e-3,)), ("kahan-li-6", (4e-3, 1e-2)),
        ("sofroniou-spaletta-6", (1e-3, 4e-3, 1e-2)), ("kahan-li-8", (5e-3, 1e-2)), (RK4, (1e-3, 1e-2)),
    )
    for step in steps
)  # fmt: skip
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


def flown(start: Start, name: str, step: float, duration: float) -> Flight:
    """Return the flight by an integrator of ours, or by MuJoCo's RK4."""
    if name == RK4:
        samples = Glider(RUNGE_KUTTA, start, step).samples(duration, SAMPLED, lambda _: None)
        return Flight.along(start[0], samples.time, samples.q, samples.v)
    frame = _run(start, name, step, duration, SAMPLED).frame
    spin = frame[[f"momentum_l{axis}" for axis in "xyz"]].to_numpy()
    return Flight.of(frame["time"].to_numpy(), frame["ledger_kinetic"].to_numpy(), spin)


def turn(start: Start, name: str, step: float) -> Callable[[], float]:
    """Return a work that times a second of a case [s]."""
    if name == RK4:
        return partial(Glider(RUNGE_KUTTA, start, step).seconds, round(TURN / step))
    return lambda: float(_run(start, name, step, TURN, TURN).summary["wall_time"])


def cases_of(with_mujoco: bool) -> Iterator[tuple[str, str, float]]:
    """Yield label, method and step of each case."""
    return ((f"{name}, {milliseconds(step)}", name, step) for name, step in CASES if with_mujoco or name != RK4)


def costs(start: Start, repeats: int, with_mujoco: bool) -> dict[str, list[tuple[float, float]]]:
    """Time a second of each case [s], with what a second of MuJoCo's RK4 at 1 ms took just before it (or NaN)."""
    reference = turn(start, RK4, 1e-3) if with_mujoco else partial(float, "nan")

    def pair(case: Callable[[], float]) -> tuple[float, float]:
        before = reference()
        return case(), before

    works = {label: partial(pair, turn(start, name, step)) for label, name, step in cases_of(with_mujoco)}
    return interleaved(works, repeats)


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
        for label, name, step in cases_of(with_mujoco):
            try:
                flight = found[motion][label] = flown(start, name, step, duration)
            except IntegrationError as error:  # its step is too long for the motion
                section.notes.append(f"{motion}: {label}: {error}")
                continue
            times, reference = zip(*taken[label], strict=True)
            cost, ratio = 1e3 * median(times), float(np.median(ratios(times, reference)))
            section.rows[f"{motion}: {label}"] = (cost, ratio, flight.worst, flight.drift, flight.spin)
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

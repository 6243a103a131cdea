"""Table 2.1 and figures 2.2 to 2.6 of Wendlandt 1997: the free rigid body on quaternions, as published."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, partial

import numpy as np

from contact.arrays import Floats
from experiments.papers.criteria import no_more, stated, when
from experiments.papers.figures import Curve, drawn, medians
from experiments.papers.item import Finding, Outcome, Progress, items_of
from experiments.papers.wendlandt_1997.convergence import (
    REPEATS,
    RIGID_BODY,
    RIGID_BODY_ENERGY,
    RIGID_BODY_MOMENTUM_SPREAD,
    STEPS,
    Line,
    compared,
    cpu_finding,
    cpu_table,
    mean_error,
    of_second_order,
    over_step,
    side_by_side,
    vanishes,
)
from experiments.visualization.look import style
from formulations import lagrangian

#: Duration [s].
DURATION = 30.0
#: Principal moments of inertia [kg m²] and initial angular velocity [rad/s], (2.52).
INERTIA = (1.0, 2.0, 3.0)
OMEGA = np.array([0.0, 3.0, 4.0])
#: Time step [s] of the run that gives the second point of all other runs.
FIRST_STEP = 1e-5
QUATERNION = ["qw", "qx", "qy", "qz"]
MOMENTUM = ["angular_momentum_x", "angular_momentum_y", "angular_momentum_z"]

ASSUMPTIONS = (
    "The quaternion after the Euler step with h = 1e-5 s is normalized, which the printed energies require.",
    "Energy: computed from the discrete angular velocity (2.50) of each step; momentum: the discrete momentum map.",
    "Errors (2.53) are sampled at every step; m is 4 for the quaternion, 1 for the energy and 3 for the momentum.",
)


@dataclass(frozen=True)
class Run:
    """Run of the free rigid body: a row of Wendlandt 1997, table 2.1, with the data of the figures."""

    h: float  # [s]
    quaternion: float  # error (2.53) of the quaternion
    energy: float  # error (2.53) of the energy [J]
    momentum: float  # error (2.53) of the momentum [N·m·s]
    energies: tuple[float, float]  # [J] least and greatest
    momentum_spread: float  # [N·m·s] largest spread of a component
    times: Floats  # [s] times of the samples for the figures
    path: Floats  # quaternions at these times


def _chords(q: Floats, h: float) -> Floats:
    """Return (2.50): the discrete angular velocity of each step, twice the vector part of q̄ₖ ⋆ qₖ₊₁ over h."""
    w, x, y, z = np.moveaxis(q[:-1], 1, 0)
    W, X, Y, Z = np.moveaxis(q[1:], 1, 0)
    turn = [w * X - x * W - y * Z + z * Y, w * Y + x * Z - y * W - z * X, w * Z - x * Y + y * X - z * W]
    return 2.0 / h * np.stack(turn, axis=1)


def _energies(q: Floats, h: float) -> Floats:
    return np.asarray(0.5 * (_chords(q, h) ** 2) @ np.array(INERTIA))


def _run(
    system: "lagrangian.System", q0: Floats, q1: Floats, h: float, duration: float, every: int = 1
) -> "lagrangian.Trajectory":
    return system.integrate("midpoint-dvp", q0, q1=q1, step=h, duration=duration, every=every)


@cache
def start() -> tuple[Floats, dict[float, Floats], float, Floats]:
    """Return first quaternion, second quaternions by time step, standard energy and standard momentum, as in 2.4.1."""
    system = lagrangian.rigid_body(INERTIA)
    q0 = np.array([1.0, 0.0, 0.0, 0.0])
    euler = q0 + FIRST_STEP * np.array([0.0, *(OMEGA / 2.0)])
    fine = _run(system, q0, euler / np.linalg.norm(euler), FIRST_STEP, max(STEPS)).frame
    q = fine[QUATERNION].to_numpy()
    second = {h: q[round(h / FIRST_STEP)] for h in STEPS}
    return q0, second, float(_energies(q[:2], FIRST_STEP)[0]), fine[MOMENTUM].to_numpy()[0]


@cache
def runs() -> tuple[Run, ...]:
    """Return the runs of Wendlandt 1997, table 2.1, the one with the smallest time step first."""
    system, rows = lagrangian.rigid_body(INERTIA), []
    q0, second, energy, momentum = start()
    standard = np.empty((0, 4))
    for h in STEPS:
        frame = _run(system, q0, second[h], h, DURATION).frame
        q, spins = frame[QUATERNION].to_numpy(), frame[MOMENTUM].to_numpy()
        if not standard.size:
            standard = q
        energies = _energies(q, h)
        thin = max(1, round(1e-2 / h))
        rows.append(Run(
            h, mean_error(q, standard[:: round(h / STEPS[0])]), mean_error(energies, np.full_like(energies, energy)),
            mean_error(spins, np.broadcast_to(momentum, spins.shape)), (float(energies.min()), float(energies.max())),
            float(np.ptp(spins, axis=0).max()), frame["time"].to_numpy()[::thin], q[::thin],
        ))  # fmt: skip
    return tuple(rows)


@cache
def cpu_times(repeats: int) -> Sequence[float]:
    """Return the computing times [s] for each time step: medians of repeated runs in turn."""
    system = lagrangian.rigid_body(INERTIA)
    q0, second, _, _ = start()

    def timed(h: float) -> float:
        return _run(system, q0, second[h], h, DURATION, every=round(DURATION / h)).seconds

    return tuple(medians({h: partial(timed, h) for h in STEPS}, repeats, warm_up=True).values())


SOURCE = "Wendlandt 1997, section 2.4.1"
_NAMES = {"quaternion": "quaternion error", "energy": "energy error [J]", "momentum": "momentum error [N·m·s]"}


def _errors(name: str) -> tuple[float, ...]:
    return tuple(float(getattr(run, name)) for run in runs())


def _error(name: str, run: Run, published: float) -> Finding:
    return compared(f"{_NAMES[name]}, h = {run.h:g} s", published, getattr(run, name))


def _energy_range(run: Run, least: float, most: float) -> Finding:
    low, high = run.energies
    agrees = low >= least - 0.5e-9 and high <= most + 0.5e-9  # the printed digits are nanojoules
    chosen = run.h == STEPS[0]
    note = "the quaternion after the Euler step is normalized to match this range" if chosen else ""
    theirs, ours = (f"{ends[0]:.9f} … {ends[1]:.9f}" for ends in ((least, most), run.energies))
    return stated(f"energy at h = {run.h:g} s [J]", theirs, ours, when("within the printed range", agrees), note,
                  kind="chosen" if chosen else "evidence")  # fmt: skip


def _conserved(rows: tuple[Run, ...]) -> list[Finding]:
    findings = [_energy_range(run, *ends) for run, ends in zip(rows, RIGID_BODY_ENERGY, strict=False)]
    findings += [
        vanishes(f"deviation of the energy at h = {run.h:g} s [J]", run.energies[1] - run.energies[0], 1e-9)
        for run in rows[2:]
    ]
    spread, ours = RIGID_BODY_MOMENTUM_SPREAD, rows[0].momentum_spread / 2.0
    note = "the residual that Newton's method leaves in a step is carried over to the next step"
    what = "deviations of the momentum at h = 1e-4 s [N·m·s]"
    findings.append(stated(what, f"± {spread:g}", ours, no_more(spread), note, kind="better"))
    return findings + [
        vanishes(f"deviation of the momentum at h = {run.h:g} s", run.momentum_spread, 1e-9) for run in rows[1:]
    ]


def _table(quick: bool, progress: Progress) -> Outcome:
    results = runs()
    progress(0.5)
    rows = [(name, *row) for name in _NAMES for row in zip(results, RIGID_BODY[name], strict=True)]
    findings = [_error(*row) for row in rows if row[-1]]  # 0: error of the standard run relative to itself
    columns = {label: (RIGID_BODY[name], _errors(name)) for name, label in _NAMES.items()}
    columns["CPU time [s]"] = (RIGID_BODY["cpu"], tuple(cpu_times(REPEATS[quick])))
    tables = {"Table 2.1": side_by_side(STEPS, columns)}
    return Outcome((*findings, *_conserved(results)), ASSUMPTIONS, tables)


def _cpu(quick: bool, progress: Progress) -> Outcome:
    progress(0.1)
    ours = cpu_times(REPEATS[quick])
    lines = (Line("DVP", style.BLUE, STEPS, RIGID_BODY["cpu"], ours),)
    figure = over_step("CPU time, rigid body, 30 s", "CPU time [s]", lines, guide=-1.0)
    findings = (cpu_finding("rigid body", RIGID_BODY["cpu"], ours),)
    return Outcome(findings, (), cpu_table({"DVP": (RIGID_BODY["cpu"], ours)}), {"figure-2.2-cpu-time": figure})


def _error_figure(name: str, number: str, first: int, quick: bool, progress: Progress) -> Outcome:  # noqa: ARG001
    label = _NAMES[name]
    line = Line("DVP", style.BLUE, STEPS[first:], RIGID_BODY[name][first:], _errors(name)[first:])
    progress(0.8)
    finding = of_second_order(f"slope of the {label} over the step", line.steps, line.published, line.ours)
    figure = over_step(_TITLES[name], label, (line,), guide=2.0)
    return Outcome((finding,), ASSUMPTIONS, figures={f"figure-{number}-{name}": figure})


def _deviation(fine: Run, coarse: Run) -> np.ndarray:
    """Return ‖Δq‖ at the times of the coarse run."""
    thin = round((coarse.times[1] - coarse.times[0]) / (fine.times[1] - fine.times[0]))
    return np.asarray(np.linalg.norm(coarse.path - fine.path[::thin], axis=1))


def _count_maxima(values: np.ndarray) -> int:
    return int(np.count_nonzero((values[1:-1] > values[:-2]) & (values[1:-1] >= values[2:])))


def _path(quick: bool, progress: Progress) -> Outcome:  # noqa: ARG001 - the whole takes a second
    fine, *_, coarse = runs()
    progress(0.8)
    away = [float(np.sqrt((part**2).mean())) for part in np.array_split(_deviation(fine, coarse), 3)]
    ranges = [float(np.ptp(run.path[:, 2])) for run in (fine, coarse)]
    peaks = [_count_maxima(run.path[:, 2]) for run in (fine, coarse)]
    findings = (
        stated("q_y at h = 0.1 s and at 1e-4 s", "the same qualitative behavior",
               f"ranges {ranges[0]:.3f} and {ranges[1]:.3f}, {peaks[0]} and {peaks[1]} maxima",
               when("ranges within 5%, numbers of maxima within 1",
                    abs(ranges[1] / ranges[0] - 1.0) <= 0.05 and abs(peaks[1] - peaks[0]) <= 1)),
        stated("deviation of q at h = 0.1 s in each third of the run, rms", "increases",
               ", ".join(f"{value:.3f}" for value in away),
               when("each above the previous", away[0] < away[1] < away[2])),
    )  # fmt: skip
    curves = (
        Curve(fine.times, fine.path[:, 2], "h = 1e-4 s"),
        Curve(coarse.times, coarse.path[:, 2], "h = 0.1 s", style.RED, ".-", width=0.8, marker=3),
    )
    legend = {"loc": "upper right", "ncols": 2, "bbox_to_anchor": (1.0, 1.12)}
    figure = drawn(("Quaternion coordinate, rigid body", "time [s]", "$q_y$"), curves, legend=legend)
    return Outcome(findings, ASSUMPTIONS, figures={"figure-2.4-quaternion": figure})


_TITLES = {
    "quaternion": "Quaternion Error Versus Time Step",
    "energy": "Energy Error Versus Time Step for the Rigid Body Simulation",
    "momentum": "Momentum Error Versus Time Step for the Rigid Body Simulation",
}
ITEMS = items_of(SOURCE, (
    ("table-2.1", "Simulation Results for the Rigid Body Simulation", "table 2.1", _table),
    ("figure-2.2", "CPU Time Versus Time Step for the Rigid Body Simulation", "figure 2.2", _cpu),
    ("figure-2.3", _TITLES["quaternion"], "figure 2.3", partial(_error_figure, "quaternion", "2.3", 1)),
    ("figure-2.4", "Quaternion Coordinate Versus Time", "figure 2.4", _path),
    ("figure-2.5", _TITLES["energy"], "figure 2.5", partial(_error_figure, "energy", "2.5", 0)),
    ("figure-2.6", _TITLES["momentum"], "figure 2.6", partial(_error_figure, "momentum", "2.6", 0)),
))  # fmt: skip

"""Table 2.2 and figures 2.7 to 2.12 of Wendlandt 1997: double spherical pendulum, integrated by DVP and by EM."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache, partial
from itertools import pairwise
from typing import Any

import numpy as np
from matplotlib.figure import Figure

from contact.arrays import Floats
from experiments.papers.criteria import at_most, below, near, no_more, stated, when
from experiments.papers.figures import Curve, drawn, medians
from experiments.papers.item import Finding, Outcome, Progress, items_of
from experiments.papers.wendlandt_1997.convergence import (
    PENDULUM_DVP,
    PENDULUM_EM,
    PENDULUM_ENERGY,
    PENDULUM_MOMENTUM,
    REPEATS,
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
from experiments.visualization.look.writing import styled
from formulations import lagrangian

#: Duration [s], not printed: of 5, 10, 15, 20 and 30 s, only 30 s gives the printed position errors.
DURATION = 30.0
#: Initial x₁, y₁, x₂, y₂ [m] of the two masses and their rates [m/s], as printed.
START = (2.820, 0.025, 5.085, 0.105, 3.381, 2.506, 2.497, 10.495)
#: Rounding [m, m/s] of the printed numbers.
ROUNDING = 5e-4
MASSES = np.repeat((2.0, 3.5), 3)
LENGTHS = (4.0, 3.0)
GRAVITY = 9.81
POSITIONS = ["x1", "y1", "z1", "x2", "y2", "z2"]
METHODS = ("midpoint-dvp", "energy-momentum")

ASSUMPTIONS = (
    "Duration: 30 s, which is not printed; of 5, 10, 15, 20 and 30 s, only 30 s gives the printed position errors.",
    "Start: as printed, to three decimals; z and its rate follow from the constraints, with z₂ < z₁ < 0.",
    "The second point of each DVP run is from the EM run with h = 1e-4 s at that time, as the text says.",
    "Energy and momentum of the DVP runs: kinetic energy of the discrete velocity (vₖ₊₁ − vₖ)/h and potential at "
    "(vₖ₊₁ + vₖ)/2, as in (2.23); the discrete momentum map.",
    "Errors (2.56) are sampled at every step, with m = 6 for positions.",
)


@dataclass(frozen=True)
class Run:
    """Run of the double spherical pendulum: a row of Wendlandt 1997, table 2.2, with the data of the figures."""

    h: float  # [s]
    position: float  # error (2.56) of the positions [m]
    energy: float  # error (2.56) of the energy [J]
    momentum: float  # error (2.56) of the momentum [N·m·s]
    energies: tuple[float, float]  # [J] least and greatest
    momenta: tuple[float, float]  # [N·m·s] least and greatest
    times: Floats  # [s] of the samples of ``y2`` [m] and of the energy ``energy_path`` [J] and multipliers ``held``
    y2: Floats  # [m] y of the second mass
    energy_path: Floats  # [J] energy in the step that follows each sample
    held: Floats  # mean of the multipliers at both ends of that step, from the second step on
    correlation: tuple[float, float]  # correlation of ``energy_path`` with each multiplier


@dataclass(frozen=True)
class Runs:
    """All runs of table 2.2, the smallest time step first, and the standard's energy [J] and momentum [N·m·s]."""

    dvp: tuple[Run, ...]
    em: tuple[Run, ...]
    energy: float
    momentum: float


def start(values: Sequence[float] | Floats = START) -> tuple[Floats, Floats]:
    """Return configuration and velocity (6,) from x and y of both masses and their rates; z follows from the rods."""
    places, rates = np.reshape(values, (2, 2, 2))
    rods, turns = np.diff(places, axis=0, prepend=0.0), np.diff(rates, axis=0, prepend=0.0)
    down = -np.sqrt(np.square(LENGTHS) - (rods**2).sum(axis=1))
    falls = -(rods * turns).sum(axis=1) / down
    q = np.column_stack([places, np.cumsum(down)])
    v = np.column_stack([rates, np.cumsum(falls)])
    return q.ravel(), v.ravel()


def energy_of(q: Floats, v: Floats) -> Floats:
    """Return the energy [J] of configurations q with velocities v."""
    weight = MASSES * GRAVITY * np.tile((0.0, 0.0, 1.0), 2)
    return np.asarray(0.5 * (v**2) @ MASSES + q @ weight)


def momentum_of(q: Floats, v: Floats) -> float:
    """Return the angular momentum about the vertical [N·m·s]."""
    crossed = q[0::3] * v[1::3] - q[1::3] * v[0::3]
    return float(crossed @ MASSES[::3])


def _integrate(
    system: "lagrangian.System", name: str, h: float, standard: Floats, values: Sequence[float], every: int
) -> "lagrangian.Trajectory":
    """Return a run; ``standard`` are the positions of the standard run, with the second points of DVP runs."""
    q0, v0 = start(values)
    if name == "energy-momentum":
        return system.integrate(name, q0, v0, step=h, duration=DURATION, every=every)
    second = standard[round(h / STEPS[0])]
    return system.integrate(name, q0, q1=second, step=h, duration=DURATION, every=every)


def _row(run: "lagrangian.Trajectory", standard: Floats, energy: float, momentum: float) -> Run:
    h = float(run.metrics["step"])
    q = run.frame[POSITIONS].to_numpy()
    if run.method.name == "energy-momentum":
        energies = run.frame["energy"].to_numpy()
    else:
        energies = energy_of((q[1:] + q[:-1]) / 2.0, np.diff(q, axis=0) / h)
    spins = run.frame["angular_momentum_z"].to_numpy()
    multipliers = run.multipliers[["multiplier_1", "multiplier_2"]].to_numpy()
    held = (multipliers[1:] + multipliers[:-1]) / 2.0
    inner = energies[1 : len(held) + 1]
    related = [float(np.corrcoef(inner, column)[0, 1]) for column in held.T]
    thin = max(1, round(1e-2 / h))
    return Run(
        h, mean_error(q, standard[:: round(h / STEPS[0])]), mean_error(energies, np.full_like(energies, energy)),
        mean_error(spins, np.full_like(spins, momentum)), (float(energies.min()), float(energies.max())),
        (float(spins.min()), float(spins.max())), run.frame["time"].to_numpy()[::thin],
        q[::thin, POSITIONS.index("y2")], energies[::thin], held[::thin], (related[0], related[1]),
    )  # fmt: skip


@cache
def runs(values: tuple[float, ...] = START) -> Runs:
    system = lagrangian.double_spherical_pendulum()
    fine = _integrate(system, "energy-momentum", STEPS[0], np.empty(0), values, 1)
    standard = fine.frame[POSITIONS].to_numpy()
    q0, v0 = start(values)
    energy, momentum = float(energy_of(q0, v0)), momentum_of(q0, v0)

    def row(name: str, h: float) -> Run:
        return _row(_integrate(system, name, h, standard, values, 1), standard, energy, momentum)

    em = (_row(fine, standard, energy, momentum), *(row("energy-momentum", h) for h in STEPS[1:]))
    return Runs(tuple(row("midpoint-dvp", h) for h in STEPS), em, energy, momentum)


def sensitivities(values: Sequence[float] | Floats, small: float = 1e-6) -> Floats:
    """Return the derivatives of energy and momentum by the numbers of the start, (2, 8)."""
    rows = []
    for shift in np.eye(len(values)) * small:
        ends = [start(np.asarray(values) + sign * shift) for sign in (1.0, -1.0)]
        rows.append([(f(*ends[0]) - f(*ends[1])) / (2.0 * small) for f in (energy_of, momentum_of)])
    return np.array(rows).T


@cache
def refined_start() -> tuple[float, ...]:
    """Return the start nearest to the printed start that has the energy and momentum of the thesis's run.

    Energy and momentum follow from the printed DVP run with h = 1e-4 s: from its range of energies, corrected by the
    offset from the standard in our run, and from its momentum and the error of the momentum.
    """
    ours = runs()
    energy = np.mean(PENDULUM_ENERGY[STEPS[0]]) + ours.energy - np.mean(ours.dvp[0].energies)
    momentum = np.mean(PENDULUM_MOMENTUM) + PENDULUM_DVP["momentum"][0]
    printed = np.array(START)
    values = printed.copy()
    for _ in range(8):
        J = sensitivities(values)
        q, v = start(values)
        missing = np.array([energy - energy_of(q, v), momentum - momentum_of(q, v)]) - J @ (printed - values)
        values = printed + J.T @ np.linalg.solve(J @ J.T, missing)
    return tuple(float(value) for value in values)


@cache
def cpu_times(repeats: int) -> dict[str, tuple[float, ...]]:
    """Return the computing times [s] by method, for each time step: medians of repeated runs in turn."""
    system = lagrangian.double_spherical_pendulum()
    fine = _integrate(system, "energy-momentum", STEPS[0], np.empty(0), START, 1).frame
    standard = fine[POSITIONS].to_numpy()

    def timed(name: str, h: float) -> float:
        return _integrate(system, name, h, standard, START, round(DURATION / h)).seconds

    cases = {(name, h): partial(timed, name, h) for h in STEPS for name in METHODS}
    taken = medians(cases, repeats, warm_up=True)
    return {name: tuple(taken[name, h] for h in STEPS) for name in METHODS}


SOURCE = "Wendlandt 1997, section 2.4.2"
_NAMES = {"position": "position error [m]", "energy": "energy error [J]", "momentum": "momentum error [N·m·s]"}
#: By method: printed values, name of our integrator, and colour.
_METHODS = {"DVP": (PENDULUM_DVP, "midpoint-dvp", style.BLUE), "EM": (PENDULUM_EM, "energy-momentum", style.RED)}
#: Rounding error [J, N·m·s] of conserved quantities.
_ZERO = 1e-9
_COARSE = "for h ≥ 1e-3 s: the run with h = 1e-4 s starts from a time step of the standard, which has the same length"
_REFINED = (
    "Energies and momenta depend on the digits of the start that are not printed (by ± 0.11 J and ± 0.04 N·m·s): they "
    "are compared for the nearest start with the energy and momentum of the thesis, which is within 0.00015 of the "
    "printed start and is rounded to it."
)
#: The standard run, whose position error is 0.
_STANDARD = ("EM", "position", 0)
#: Position error by which the duration was chosen; it grows with the duration.
_CHOSE_DURATION = ("DVP", "position", 1e-3)


def _rows(results: Runs, method: str) -> tuple[Run, ...]:
    return results.dvp if method == "DVP" else results.em


def _errors(rows: tuple[Run, ...], name: str) -> tuple[float, ...]:
    return tuple(float(getattr(row, name)) for row in rows)


def _error(method: str, name: str, row: Run, published: float) -> Finding:
    what, ours = f"{_NAMES[name]}, {method}, h = {row.h:g} s", getattr(row, name)
    if published == 0.0:
        return vanishes(what, ours, _ZERO)
    finding = compared(what, published, ours)
    if (method, name, row.h) != _CHOSE_DURATION:
        return finding
    return replace(finding, note="the duration, 30 s, was chosen by this error", kind="chosen")


def _between(quantity: str, published: tuple[float, float], ours: tuple[float, float], most: float) -> Finding:
    apart = max(abs(a - b) for a, b in zip(published, ours, strict=True))
    theirs, here = (f"{ends[0]:.9f} … {ends[1]:.9f}" for ends in (published, ours))
    return stated(quantity, theirs, here, when(f"within {most:g}", apart <= most), "the start is refined")


def _derived(quantity: str, value: float, how: str, ours: float, most: float) -> Finding:
    """State a value derived from printed ones, against the value from the printed start."""
    criterion = f"within {most:.2g}, the effect of rounding the start to three decimals"
    return stated(quantity, f"{value:.9f}, derived: {how}", ours, near(value, most, criterion))


def _range_findings() -> list[Finding]:
    refined, plain = runs(refined_start()), runs()
    moved = float(np.abs(np.subtract(refined_start(), START)).max())
    energies = PENDULUM_ENERGY
    fine, coarse = refined.dvp[0], refined.dvp[-1]
    width, ours = np.ptp(energies[fine.h]), np.ptp(fine.energies)
    spread, our_spread = float(np.ptp(PENDULUM_MOMENTUM)), float(np.ptp(fine.momenta))
    offset = np.abs(sensitivities(START)).sum(axis=1) * ROUNDING
    middle = _between("DVP energy, h = 1e-4 s [J]", energies[fine.h], fine.energies, 1e-7)
    rounded = "the printed spread is rounding, as the thesis assumes: it subtracts positions, ours are displacements"
    return [
        _derived("standard energy from the printed start [J]", refined.energy,
                 "middle of the printed range at 1e-4 s, and its offset in our run", plain.energy, offset[0]),
        _derived("standard momentum from the printed start [N·m·s]", refined.momentum,
                 "middle of the printed range at 1e-4 s, and the printed error", plain.momentum, offset[1]),
        stated("refined start: largest change of a printed number", f"rounded by up to {ROUNDING:g}", moved,
               at_most(ROUNDING, "at most its rounding")),
        compared("width of the DVP energy's range, h = 1e-4 s [J]", float(width), float(ours)),
        replace(middle, note="the start is refined by the middle of this range", kind="chosen"),
        _between("DVP energy, h = 0.1 s [J]", energies[coarse.h], coarse.energies, 2e-3),
        stated("spread of the DVP momentum, h = 1e-4 s [N·m·s]", spread, our_spread, no_more(spread), rounded,
               kind="better"),
        *(
            vanishes(f"spread of the DVP momentum, h = {row.h:g} s [N·m·s]", float(np.ptp(row.momenta)), _ZERO)
            for row in refined.dvp[1:]
        ),
    ]  # fmt: skip


def _table(quick: bool, progress: Progress) -> Outcome:
    results = runs()
    progress(0.3)
    findings = [
        _error(method, name, _rows(results, method)[k], published[name][k])
        for k in range(len(STEPS))
        for method, (published, _, _) in _METHODS.items()
        for name in _NAMES
        if (method, name, k) != _STANDARD
    ]
    findings += _range_findings()
    progress(0.7)
    taken, tables = cpu_times(REPEATS[quick]), {}
    for method, (published, ours, _) in _METHODS.items():
        columns = {"CPU time [s]": (published["cpu"], taken[ours])}
        columns |= {label: (published[key], _errors(_rows(results, method), key)) for key, label in _NAMES.items()}
        tables[f"Table 2.2, {method}"] = side_by_side(STEPS, columns)
    return Outcome(tuple(findings), (*ASSUMPTIONS, _REFINED), tables)


def _cpu(quick: bool, progress: Progress) -> Outcome:
    progress(0.1)
    taken = cpu_times(REPEATS[quick])
    columns = {method: (published["cpu"], taken[ours]) for method, (published, ours, _) in _METHODS.items()}
    lines = [Line(method, _METHODS[method][2], STEPS, *times) for method, times in columns.items()]
    theirs, ratio = (
        sum(a / b for a, b in zip(columns["DVP"][k], columns["EM"][k], strict=True)) / len(STEPS) for k in (0, 1)
    )
    note = "our times differ less, because the EM step is solved only for displacement and multipliers"
    findings = (
        *(cpu_finding(method, *times) for method, times in columns.items()),
        stated("CPU time, DVP / EM, mean of the four time steps", theirs, ratio,
               below(1, "DVP slightly faster: below 1"), note),
    )  # fmt: skip
    figure = over_step("CPU time, double spherical pendulum, 30 s", "CPU time [s]", lines, guide=-1.0)
    return Outcome(findings, (), cpu_table(columns), {"figure-2.7-cpu-time": figure})


def _position(quick: bool, progress: Progress) -> Outcome:  # noqa: ARG001 - the whole takes seconds
    results = runs()
    progress(0.8)
    lines = []
    for method, (published, _, color) in _METHODS.items():
        first = 0 if method == "DVP" else 1  # EM's run with the smallest time step is the standard
        errors = _errors(_rows(results, method), "position")
        lines.append(Line(method, color, STEPS[first:], published["position"][first:], errors[first:]))
    dvp, em = lines[0].ours[1:], lines[1].ours
    theirs = lines[0].published[1:], lines[1].published
    findings = (
        of_second_order("slope of the DVP position error", STEPS[1:], theirs[0], dvp, _COARSE),
        of_second_order("slope of the EM position error", STEPS[1:], theirs[1], em, "h = 1e-4 s is the standard run"),
        stated("EM error / DVP error, h = 1e-3, 1e-2, 1e-1 s", "slightly greater than 1",
               ", ".join(f"{b / a:.3f}" for a, b in zip(dvp, em, strict=True)),
               when("above 1", all(b > a for a, b in zip(dvp, em, strict=True)))),
    )  # fmt: skip
    figure = over_step("Position error, double spherical pendulum", "position error [m]", lines, guide=2.0)
    return Outcome(findings, ASSUMPTIONS, figures={"figure-2.8-position": figure})


def _error_figure(name: str, number: str, quick: bool, progress: Progress) -> Outcome:  # noqa: ARG001
    label, results = _NAMES[name], runs()
    progress(0.8)
    line = Line("DVP", style.BLUE, STEPS, PENDULUM_DVP[name], _errors(results.dvp, name))
    findings = (
        of_second_order(f"slope of the DVP {label}", STEPS[1:], line.published[1:], line.ours[1:], _COARSE),
        vanishes(f"greatest EM {label} of all steps", max(_errors(results.em, name)), _ZERO),
    )
    figure = over_step(_TITLES[name], label, (line,), guide=2.0)
    return Outcome(findings, ASSUMPTIONS, figures={f"figure-{number}-{name}": figure})


def _alike(coarse: Run, fine: Run) -> float:
    thin = round((coarse.times[1] - coarse.times[0]) / (fine.times[1] - fine.times[0]))
    return float(np.corrcoef(coarse.y2, fine.y2[::thin])[0, 1])


def _path(quick: bool, progress: Progress) -> Outcome:  # noqa: ARG001 - the whole takes seconds
    results = runs()
    progress(0.7)
    fine, coarse = (results.dvp[0], results.em[0]), (results.dvp[-1], results.em[-1])
    apart = float(np.abs(fine[0].y2 - fine[1].y2).max() / np.ptp(fine[1].y2))
    alike = [_alike(run, fine[1]) for run in coarse]
    findings = (
        stated("y₂ of DVP and EM at h = 1e-4 s: largest difference / range", "cannot be distinguished", apart,
               below(1e-3)),
        stated("y₂ at h = 0.1 s, DVP and EM", "reasonably accurate", f"correlation {alike[0]:.3f} and {alike[1]:.3f}",
               when("correlation above 0.9 with h = 1e-4 s", min(alike) > 0.9)),
    )  # fmt: skip
    curves = [Curve(fine[1].times, fine[1].y2, "DVP and EM, h = 1e-4 s", style.BLACK)]
    curves += [Curve(run.times, run.y2, f"{method}, h = 0.1 s", color, ".", marker=3.5)
               for run, (method, (_, _, color)) in zip(coarse, _METHODS.items(), strict=True)]  # fmt: skip
    legend = {"loc": "upper right", "ncols": 3, "bbox_to_anchor": (1.0, 1.12)}
    figure = drawn(("The second mass", "time [s]", "$y_2$ [m]"), curves, legend=legend)
    return Outcome(findings, ASSUMPTIONS, figures={"figure-2.9-position": figure})


def _falls_with_the_step(quantity: str, published: str, values: list[float]) -> Finding:
    agrees = all(a < b for a, b in pairwise(values))
    return stated(quantity, published, ", ".join(f"{value:.3g}" for value in values),
                  when("each below the next", agrees))  # fmt: skip


def _correlation(row: Run, which: int) -> Finding:
    correlation = row.correlation[which]
    quantity = f"correlation of energy and multiplier {which + 1}, h = {row.h:g} s"
    return stated(quantity, "correlated", correlation, when("above 0.9 in magnitude", abs(correlation) > 0.9))


def _energy(quick: bool, progress: Progress) -> Outcome:  # noqa: ARG001 - the whole takes seconds
    results = runs()
    progress(0.7)
    widths = [float(np.ptp(row.energies)) for row in results.dvp]
    means = [abs(float(row.energy_path.mean()) - results.energy) for row in results.dvp]
    oscillation = "amplitude of the energy's oscillation at h = 1e-4, 1e-3, 1e-2, 1e-1 s [J]"
    mean = "distance of the mean energy from the true energy at these time steps [J]"
    findings = (
        _falls_with_the_step(oscillation, "decreases with the step", widths),
        _falls_with_the_step(mean, "approaches zero with the step", means),
        *(_correlation(row, which) for row in (results.dvp[0], results.dvp[-1]) for which in (0, 1)),
    )
    return Outcome(findings, ASSUMPTIONS, figures={"figure-2.12-energy": _draw_energy(results)})


def _draw_energy(results: Runs) -> Figure:
    colors = dict(zip(STEPS, (style.BLACK, style.BLUE, style.GREEN, style.RED), strict=True))
    legend: dict[str, Any] = {"loc": "upper left", "bbox_to_anchor": (1.0, 1.0)}
    with styled():
        figure = Figure(figsize=(7.6, 6.0))
        upper, middle, lower = figure.subplots(3, 1, sharex=True)
        fine, coarse = results.dvp[:2], results.dvp[2:]
        for axes, rows, base, unit in ((upper, fine, results.energy, 1e3), (lower, coarse, 0.0, 1.0)):
            for row in rows:
                energies = unit * (row.energy_path - base)
                axes.plot(row.times[: len(energies)], energies, color=colors[row.h], label=f"h = {row.h:g} s")
            true = unit * (results.energy - base)
            axes.axhline(true, color=style.GREY, linestyle="--", linewidth=0.9, label="true energy")
            axes.legend(**legend)
        for which, color in enumerate((style.PURPLE, style.ORANGE)):
            held = coarse[0].held[:, which]
            label = f"$\\lambda_{which + 1}$, h = {coarse[0].h:g} s"
            middle.plot(coarse[0].times[: len(held)], held, color=color, label=label)
        middle.legend(**legend)
        upper.set(ylabel="energy − true [mJ]", title="Energy and multipliers, double spherical pendulum")
        middle.set_ylabel("multiplier [N/m]")
        lower.set(ylabel="energy [J]", xlabel="time [s]")
    return figure


_TITLES = {
    "energy": "Energy Error Versus Time Step for the DSP Simulation",
    "momentum": "Momentum Error Versus Time Step for the DSP Simulation",
}
ITEMS = items_of(SOURCE, (
    ("table-2.2", "Simulation Results for the DSP Simulation", "table 2.2", _table),
    ("figure-2.7", "CPU Time Versus Time Step for the DSP Simulation", "figure 2.7", _cpu),
    ("figure-2.8", "Position Error Versus Time Step for the DSP Simulation", "figure 2.8", _position),
    ("figure-2.9", "Position Coordinate Versus Time for the DSP Simulation", "figure 2.9", _path),
    ("figure-2.10", _TITLES["energy"], "figure 2.10", partial(_error_figure, "energy", "2.10")),
    ("figure-2.11", _TITLES["momentum"], "figure 2.11", partial(_error_figure, "momentum", "2.11")),
    ("figure-2.12", "Energy and Multipliers Versus Time for the DSP Simulation", "figure 2.12", _energy),
))  # fmt: skip

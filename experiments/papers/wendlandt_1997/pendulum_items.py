"""Table 2.2 and figures 2.7 to 2.12 of Wendlandt 1997: the double spherical pendulum, DVP against EM."""

from dataclasses import replace
from itertools import pairwise
from typing import Any

import matplotlib
import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from experiments.papers.item import Finding, Item, Outcome, Progress
from experiments.papers.wendlandt_1997 import printed
from experiments.papers.wendlandt_1997.convergence import (
    Line,
    compared,
    of_second_order,
    over_step,
    side_by_side,
    vanishes,
)
from experiments.papers.wendlandt_1997.cpu import REPEATS, cpu_findings, cpu_table
from experiments.papers.wendlandt_1997.pendulum_runs import (
    ASSUMPTIONS,
    ROUNDING,
    START,
    Run,
    Runs,
    cpu_times,
    refined_start,
    runs,
    sensitivities,
)
from experiments.papers.wendlandt_1997.printed import PENDULUM_DVP, PENDULUM_EM, STEPS
from experiments.visualization.figures import style

SOURCE = "Wendlandt 1997, section 2.4.2"
_NAMES = {"position": "position error [m]", "energy": "energy error [J]", "momentum": "momentum error [N·m·s]"}
#: [J] and [N·m·s]: what rounding leaves of what is conserved.
_ZERO = 1e-9
_COARSE = "over h ≥ 1e-3 s: the run with h = 1e-4 s starts from a step of the standard, of the same length"
_REFINED = (
    "Energies and momenta as such depend on the digits of the start that are not printed (by ± 0.11 J and "
    "± 0.04 N·m·s): they are compared on the nearest start that has the thesis's energy and momentum, which is within "
    "0.00015 of the printed one and prints as the same."
)


#: It grows with the run: all of those of the position tell 30 s from the other durations, and one suffices.
_CHOSE_DURATION = ("DVP", "position", 1e-3)


def _duration_chosen(finding: Finding) -> Finding:
    return replace(finding, note="by one such error the duration was chosen: 30 s", fitted=True)


def _errors(rows: tuple[Run, ...], name: str) -> tuple[float, ...]:
    return tuple(float(getattr(row, name)) for row in rows)


def _error_findings(found: Runs) -> list[Finding]:
    findings = []
    for k, h in enumerate(STEPS):
        for method, rows, published in (("DVP", found.dvp, PENDULUM_DVP), ("EM", found.em, PENDULUM_EM)):
            for name, label in _NAMES.items():
                what, value, ours = f"{label}, {method}, h = {h:g} s", published[name][k], getattr(rows[k], name)
                if value != 0.0:
                    finding = compared(what, value, ours)
                    findings.append(_duration_chosen(finding) if (method, name, h) == _CHOSE_DURATION else finding)
                else:
                    note = "this run is the standard" if name == "position" else ""
                    findings.append(vanishes(what, ours, _ZERO, note))
    return findings


def _between(
    quantity: str,
    published: tuple[float, float],
    ours: tuple[float, float],
    most: float,
    note: str,
    *,
    fitted: bool = False,
) -> Finding:
    """Two ends of a range, each to ``most``; by ``fitted``, the start was refined."""
    apart = max(abs(a - b) for a, b in zip(published, ours, strict=True))
    return Finding(
        quantity,
        f"{published[0]:.9f} … {published[1]:.9f}",
        f"{ours[0]:.9f} … {ours[1]:.9f}",
        f"within {most:g}",
        apart <= most,
        note,
        fitted,
    )


def _range_findings() -> list[Finding]:
    found = runs(refined_start())
    moved = float(np.abs(np.subtract(refined_start(), START)).max())
    energies = printed.PENDULUM_ENERGY
    fine, coarse = found.dvp[0], found.dvp[-1]
    width, ours = np.ptp(energies[fine.h]), np.ptp(fine.energies)
    spread, our_spread = np.ptp(printed.PENDULUM_MOMENTUM), np.ptp(fine.momenta)
    offset = np.abs(sensitivities(START)).sum(axis=1) * ROUNDING
    plain = runs()
    return [
        Finding(
            "standard energy from the printed start [J]",
            found.energy,
            plain.energy,
            f"within {offset[0]:.2g}, what rounding the start to three decimals amounts to",
            abs(found.energy - plain.energy) <= offset[0],
        ),
        Finding(
            "standard momentum from the printed start [N·m·s]",
            found.momentum,
            plain.momentum,
            f"within {offset[1]:.2g}, what rounding the start to three decimals amounts to",
            abs(found.momentum - plain.momentum) <= offset[1],
        ),
        Finding(
            "refined start: greatest change of a printed number",
            f"rounded by up to {ROUNDING:g}",
            moved,
            "no more than its rounding",
            moved <= ROUNDING,
        ),
        compared("width of the DVP energy's range, h = 1e-4 s [J]", float(width), float(ours)),
        _between(
            "DVP energy, h = 1e-4 s [J]",
            energies[fine.h],
            fine.energies,
            1e-7,
            "the start is refined by its middle",
            fitted=True,
        ),
        _between("DVP energy, h = 0.1 s [J]", energies[coarse.h], coarse.energies, 2e-3, "the start is refined"),
        Finding(
            "spread of the DVP momentum, h = 1e-4 s [N·m·s]",
            float(spread),
            float(our_spread),
            "no more than printed",
            bool(our_spread <= spread),
            "theirs is rounding, as they suspect: positions of two steps are subtracted, ours are displacements",
        ),
        *(
            vanishes(f"spread of the DVP momentum, h = {row.h:g} s [N·m·s]", float(np.ptp(row.momenta)), _ZERO)
            for row in found.dvp[1:]
        ),
    ]


def _table(quick: bool, progress: Progress) -> Outcome:
    found = runs()
    progress(0.3)
    findings = _error_findings(found) + _range_findings()
    progress(0.7)
    taken = cpu_times(REPEATS[quick])
    tables: dict[str, pd.DataFrame] = {}
    rows = (("DVP", found.dvp, PENDULUM_DVP, "midpoint-dvp"), ("EM", found.em, PENDULUM_EM, "energy-momentum"))
    for method, ours, published, name in rows:
        columns = {"CPU time [s]": (published["cpu"], taken[name])}
        columns |= {label: (published[key], _errors(ours, key)) for key, label in _NAMES.items()}
        tables[f"Table 2.2, {method}"] = side_by_side(STEPS, columns)
    return Outcome(tuple(findings), (*ASSUMPTIONS, _REFINED), tables)


def _cpu(quick: bool, progress: Progress) -> Outcome:
    progress(0.1)
    taken = cpu_times(REPEATS[quick])
    dvp, em = taken["midpoint-dvp"], taken["energy-momentum"]
    ratio = sum(a / b for a, b in zip(dvp, em, strict=True)) / len(STEPS)
    theirs = sum(a / b for a, b in zip(PENDULUM_DVP["cpu"], PENDULUM_EM["cpu"], strict=True)) / len(STEPS)
    lines = (
        Line("DVP", style.BLUE, STEPS, PENDULUM_DVP["cpu"], dvp),
        Line("EM", style.RED, STEPS, PENDULUM_EM["cpu"], em),
    )
    findings = [
        *cpu_findings("DVP", PENDULUM_DVP["cpu"], dvp),
        *cpu_findings("EM", PENDULUM_EM["cpu"], em),
        Finding(
            "CPU time, DVP over EM, mean of the four steps",
            theirs,
            ratio,
            "DVP slightly faster: below 1",
            ratio < 1.0,
            "ours are nearer because the EM step is solved for displacement and multipliers, its momentum eliminated",
        ),
    ]
    figure = over_step("CPU time, double spherical pendulum, 30 s", "CPU time [s]", lines, guide=-1.0)
    columns = {"DVP": (PENDULUM_DVP["cpu"], dvp), "EM": (PENDULUM_EM["cpu"], em)}
    return Outcome(tuple(findings), tables=cpu_table(columns), figures={"figure-2.7-cpu-time": figure})


def _position(quick: bool, progress: Progress) -> Outcome:  # noqa: ARG001 - the whole takes seconds
    found = runs()
    progress(0.8)
    steps = STEPS[1:]
    dvp, em = _errors(found.dvp, "position"), _errors(found.em, "position")
    published = PENDULUM_DVP["position"], PENDULUM_EM["position"]
    greater = all(b > a for a, b in zip(dvp[1:], em[1:], strict=True))
    findings = (
        of_second_order("slope of the DVP position error", steps, published[0][1:], dvp[1:], _COARSE),
        of_second_order(
            "slope of the EM position error", steps, published[1][1:], em[1:], "h = 1e-4 s is the standard"
        ),
        Finding(
            "EM error over DVP error, h = 1e-3, 1e-2, 1e-1 s",
            "slightly greater than 1",
            ", ".join(f"{b / a:.3f}" for a, b in zip(dvp[1:], em[1:], strict=True)),
            "above 1",
            greater,
        ),
    )
    lines = (
        Line("DVP", style.BLUE, STEPS, published[0], dvp),
        Line("EM", style.RED, steps, published[1][1:], em[1:]),
    )
    figure = over_step("Position error, double spherical pendulum", "position error [m]", lines, guide=2.0)
    return Outcome(findings, ASSUMPTIONS, figures={"figure-2.8-position": figure})


def _error_figure(name: str, number: str, title: str) -> Item:
    label = _NAMES[name]

    def produce(quick: bool, progress: Progress) -> Outcome:  # noqa: ARG001 - the whole takes seconds
        found = runs()
        progress(0.8)
        ours, published = _errors(found.dvp, name), PENDULUM_DVP[name]
        findings = (
            of_second_order(f"slope of the DVP {label}", STEPS[1:], published[1:], ours[1:], _COARSE),
            vanishes(f"greatest EM {label} of all steps", max(_errors(found.em, name)), _ZERO),
        )
        lines = (Line("DVP", style.BLUE, STEPS, published, ours),)
        return Outcome(
            findings, ASSUMPTIONS, figures={f"figure-{number}-{name}": over_step(title, label, lines, guide=2.0)}
        )

    return Item(f"figure-{number}", title, f"{SOURCE}, figure {number}", produce)


def _alike(coarse: Run, fine: Run) -> float:
    thin = round((coarse.times[1] - coarse.times[0]) / (fine.times[1] - fine.times[0]))
    return float(np.corrcoef(coarse.y2, fine.y2[::thin])[0, 1])


def _path(quick: bool, progress: Progress) -> Outcome:  # noqa: ARG001 - the whole takes seconds
    found = runs()
    progress(0.7)
    fine, coarse = (found.dvp[0], found.em[0]), (found.dvp[-1], found.em[-1])
    apart = float(np.abs(fine[0].y2 - fine[1].y2).max() / np.ptp(fine[1].y2))
    alike = [_alike(run, fine[1]) for run in coarse]
    findings = (
        Finding(
            "y₂ of DVP and EM at h = 1e-4 s: greatest distance over the range",
            "cannot be distinguished",
            apart,
            "below 1e-3",
            apart < 1e-3,
        ),
        Finding(
            "y₂ at h = 0.1 s, DVP and EM",
            "reasonably accurate",
            f"correlation {alike[0]:.3f} and {alike[1]:.3f}",
            "correlation above 0.9 with h = 1e-4 s",
            min(alike) > 0.9,
        ),
    )
    with matplotlib.rc_context(style.STYLE):
        figure = Figure(figsize=style.SIZE)
        axes = figure.subplots()
        axes.plot(fine[1].times, fine[1].y2, color=style.BLACK, label="DVP and EM, h = 1e-4 s")
        for run, color, name in zip(coarse, (style.BLUE, style.RED), ("DVP", "EM"), strict=True):
            axes.plot(run.times, run.y2, ".", color=color, markersize=3.5, label=f"{name}, h = 0.1 s")
        axes.set_title("The second mass")
        axes.set_xlabel("time [s]")
        axes.set_ylabel("$y_2$ [m]")
        axes.legend(loc="upper right", ncols=3, bbox_to_anchor=(1.0, 1.12))
    return Outcome(findings, ASSUMPTIONS, figures={"figure-2.9-position": figure})


def _energy_findings(found: Runs) -> list[Finding]:
    widths = [float(np.ptp(row.energies)) for row in found.dvp]
    means = [abs(float(row.energy_path.mean()) - found.energy) for row in found.dvp]
    text = ", ".join
    return [
        Finding(
            "amplitude of the energy's oscillation at h = 1e-4, 1e-3, 1e-2, 1e-1 s [J]",
            "decreases with the step",
            text(f"{width:.3g}" for width in widths),
            "each below the next",
            all(a < b for a, b in pairwise(widths)),
        ),
        Finding(
            "distance of its mean from the true energy [J]",
            "approaches zero with the step",
            text(f"{mean:.3g}" for mean in means),
            "each below the next",
            all(a < b for a, b in pairwise(means)),
        ),
        *(
            Finding(
                f"correlation of energy and multiplier {which + 1}, h = {row.h:g} s",
                "correlated",
                row.correlation[which],
                "above 0.9 in magnitude",
                abs(row.correlation[which]) > 0.9,
            )
            for row in (found.dvp[0], found.dvp[-1])
            for which in (0, 1)
        ),
    ]


def _energy(quick: bool, progress: Progress) -> Outcome:  # noqa: ARG001 - the whole takes seconds
    found = runs()
    progress(0.7)
    colors = dict(zip(STEPS, (style.BLACK, style.BLUE, style.GREEN, style.RED), strict=True))
    beside: dict[str, Any] = {"loc": "upper left", "bbox_to_anchor": (1.0, 1.0)}
    with matplotlib.rc_context(style.STYLE):
        figure = Figure(figsize=(7.6, 6.0))
        upper, middle, lower = figure.subplots(3, 1, sharex=True)
        for axes, rows, base, unit in ((upper, found.dvp[:2], found.energy, 1e3), (lower, found.dvp[2:], 0.0, 1.0)):
            for row in rows:
                energies = unit * (row.energy_path - base)
                axes.plot(row.times[: len(energies)], energies, color=colors[row.h], label=f"h = {row.h:g} s")
            true = unit * (found.energy - base)
            axes.axhline(true, color=style.GREY, linestyle="--", linewidth=0.9, label="true energy")
            axes.legend(**beside)
        fine = found.dvp[2]
        for which, color in enumerate((style.PURPLE, style.ORANGE)):
            held = fine.held[:, which]
            middle.plot(fine.times[: len(held)], held, color=color, label=f"$\\lambda_{which + 1}$, h = {fine.h:g} s")
        middle.legend(**beside)
        upper.set_ylabel("energy − true [mJ]")
        middle.set_ylabel("multiplier [N/m]")
        lower.set_ylabel("energy [J]")
        upper.set_title("Energy and multipliers, double spherical pendulum")
        lower.set_xlabel("time [s]")
    return Outcome(tuple(_energy_findings(found)), ASSUMPTIONS, figures={"figure-2.12-energy": figure})


ITEMS: tuple[Item, ...] = (
    Item("table-2.2", "Simulation Results for the DSP Simulation", f"{SOURCE}, table 2.2", _table),
    Item("figure-2.7", "CPU Time Versus Time Step for the DSP Simulation", f"{SOURCE}, figure 2.7", _cpu),
    Item("figure-2.8", "Position Error Versus Time Step for the DSP Simulation", f"{SOURCE}, figure 2.8", _position),
    Item("figure-2.9", "Position Coordinate Versus Time for the DSP Simulation", f"{SOURCE}, figure 2.9", _path),
    _error_figure("energy", "2.10", "Energy Error Versus Time Step for the DSP Simulation"),
    _error_figure("momentum", "2.11", "Momentum Error Versus Time Step for the DSP Simulation"),
    Item("figure-2.12", "Energy and Multipliers Versus Time for the DSP Simulation", f"{SOURCE}, figure 2.12", _energy),
)

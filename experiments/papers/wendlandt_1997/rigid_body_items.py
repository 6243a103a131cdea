"""Table 2.1 and figures 2.2 to 2.6 of Wendlandt 1997: the free rigid body on quaternions."""

import matplotlib
import numpy as np
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
from experiments.papers.wendlandt_1997.printed import RIGID_BODY, STEPS
from experiments.papers.wendlandt_1997.rigid_body_runs import ASSUMPTIONS, Run, cpu_times, runs
from experiments.visualization.figures import style

SOURCE = "Wendlandt 1997, section 2.4.1"
_NAMES = {"quaternion": "quaternion error", "energy": "energy error [J]", "momentum": "momentum error [N·m·s]"}


def _errors(name: str) -> tuple[float, ...]:
    return tuple(float(getattr(run, name)) for run in runs())


def _energy_findings(found: tuple[Run, ...]) -> list[Finding]:
    findings = []
    for run, (least, most) in zip(found, printed.RIGID_BODY_ENERGY, strict=False):
        low, high = run.energies
        # The printed digits are nanojoules.
        agrees = low >= least - 0.5e-9 and high <= most + 0.5e-9
        fitted = run.h == STEPS[0]
        findings.append(
            Finding(
                f"energy at h = {run.h:g} s [J]",
                f"{least:.9f} … {most:.9f}",
                f"{low:.9f} … {high:.9f}",
                "within the printed range",
                agrees,
                "because of it the quaternion after the Euler step is made unit" if fitted else "",
                fitted,
            )
        )
    for run in found[2:]:
        low, high = run.energies
        findings.append(vanishes(f"deviation of the energy at h = {run.h:g} s [J]", high - low, 1e-9))
    return findings


def _momentum_findings(found: tuple[Run, ...]) -> list[Finding]:
    spread = printed.RIGID_BODY_MOMENTUM_SPREAD
    first = Finding(
        "deviations of the momentum at h = 1e-4 s [N·m·s]",
        f"± {spread:g}",
        found[0].momentum_spread / 2.0,
        "no more than printed",
        found[0].momentum_spread / 2.0 <= spread,
        "what Newton's method leaves of a step's residual is carried into the next step",
    )
    rest = [vanishes(f"deviation of the momentum at h = {run.h:g} s", run.momentum_spread, 1e-9) for run in found[1:]]
    return [first, *rest]


def _table(quick: bool, progress: Progress) -> Outcome:
    found = runs()
    progress(0.5)
    findings = []
    for name, label in _NAMES.items():
        for run, published in zip(found, RIGID_BODY[name], strict=True):
            what = f"{label}, h = {run.h:g} s"
            if published == 0.0:
                findings.append(vanishes(what, getattr(run, name), 1e-15, "this run is the standard"))
            else:
                findings.append(compared(what, published, getattr(run, name)))
    findings += _energy_findings(found) + _momentum_findings(found)
    columns = {label: (RIGID_BODY[name], _errors(name)) for name, label in _NAMES.items()}
    columns["CPU time [s]"] = (RIGID_BODY["cpu"], tuple(cpu_times(REPEATS[quick])))
    return Outcome(tuple(findings), ASSUMPTIONS, {"Table 2.1": side_by_side(STEPS, columns)})


def _cpu(quick: bool, progress: Progress) -> Outcome:
    progress(0.1)
    ours = cpu_times(REPEATS[quick])
    lines = (Line("DVP", style.BLUE, STEPS, RIGID_BODY["cpu"], ours),)
    figure = over_step("CPU time, rigid body, 30 s", "CPU time [s]", lines, guide=-1.0)
    findings = tuple(cpu_findings("rigid body", RIGID_BODY["cpu"], ours))
    tables = cpu_table({"DVP": (RIGID_BODY["cpu"], ours)})
    return Outcome(findings, tables=tables, figures={"figure-2.2-cpu-time": figure})


def _error_figure(name: str, number: str, title: str, first: int) -> Item:
    label = _NAMES[name]

    def produce(quick: bool, progress: Progress) -> Outcome:  # noqa: ARG001 - the whole takes a second
        steps, published, ours = STEPS[first:], RIGID_BODY[name][first:], _errors(name)[first:]
        progress(0.8)
        finding = of_second_order(f"slope of the {label} over the step", steps, published, ours)
        lines = (Line("DVP", style.BLUE, steps, published, ours),)
        return Outcome(
            (finding,), ASSUMPTIONS, figures={f"figure-{number}-{name}": over_step(title, label, lines, guide=2.0)}
        )

    return Item(f"figure-{number}", title, f"{SOURCE}, figure {number}", produce)


def _deviation(fine: Run, coarse: Run) -> np.ndarray:
    thin = round((coarse.times[1] - coarse.times[0]) / (fine.times[1] - fine.times[0]))
    return np.asarray(np.linalg.norm(coarse.path - fine.path[::thin], axis=1))


def _maxima(values: np.ndarray) -> int:
    return int(np.count_nonzero((values[1:-1] > values[:-2]) & (values[1:-1] >= values[2:])))


def _path(quick: bool, progress: Progress) -> Outcome:  # noqa: ARG001 - the whole takes a second
    found = runs()
    fine, coarse = found[0], found[-1]
    progress(0.8)
    away = [float(np.sqrt((part**2).mean())) for part in np.array_split(_deviation(fine, coarse), 3)]
    ranges = [float(np.ptp(run.path[:, 2])) for run in (fine, coarse)]
    peaks = [_maxima(run.path[:, 2]) for run in (fine, coarse)]
    findings = (
        Finding(
            "q_y at h = 0.1 s and at 1e-4 s",
            "the same qualitative behavior",
            f"ranges {ranges[0]:.3f} and {ranges[1]:.3f}, {peaks[0]} and {peaks[1]} maxima",
            "ranges within 5%, as many maxima but for one",
            abs(ranges[1] / ranges[0] - 1.0) <= 0.05 and abs(peaks[1] - peaks[0]) <= 1,
        ),
        Finding(
            "deviation of q at h = 0.1 s in each third of the run, rms",
            "increases",
            ", ".join(f"{value:.3f}" for value in away),
            "each above the one before",
            away[0] < away[1] < away[2],
        ),
    )
    with matplotlib.rc_context(style.STYLE):
        figure = Figure(figsize=style.SIZE)
        axes = figure.subplots()
        axes.plot(fine.times, fine.path[:, 2], color=style.BLUE, label="h = 1e-4 s")
        axes.plot(
            coarse.times, coarse.path[:, 2], ".-", color=style.RED, linewidth=0.8, markersize=3, label="h = 0.1 s"
        )
        axes.set_title("Quaternion coordinate, rigid body")
        axes.set_xlabel("time [s]")
        axes.set_ylabel("$q_y$")
        axes.legend(loc="upper right", ncols=2, bbox_to_anchor=(1.0, 1.12))
    return Outcome(findings, ASSUMPTIONS, figures={"figure-2.4-quaternion": figure})


ITEMS: tuple[Item, ...] = (
    Item("table-2.1", "Simulation Results for the Rigid Body Simulation", f"{SOURCE}, table 2.1", _table),
    Item("figure-2.2", "CPU Time Versus Time Step for the Rigid Body Simulation", f"{SOURCE}, figure 2.2", _cpu),
    _error_figure("quaternion", "2.3", "Quaternion Error Versus Time Step", 1),
    Item("figure-2.4", "Quaternion Coordinate Versus Time", f"{SOURCE}, figure 2.4", _path),
    _error_figure("energy", "2.5", "Energy Error Versus Time Step for the Rigid Body Simulation", 0),
    _error_figure("momentum", "2.6", "Momentum Error Versus Time Step for the Rigid Body Simulation", 0),
)

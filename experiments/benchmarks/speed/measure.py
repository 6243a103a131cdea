"""The benchmark's sections: each measures something and puts it into a table."""

import importlib.util
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from statistics import median

from biped.extras import command
from experiments.benchmarks.scenes import closed_loops, whole_experiment
from experiments.benchmarks.sections import FIGURE, Column, Section
from experiments.benchmarks.speed.chains import INTEGRATORS, LONG, STEP, chain_cases, chain_cost, step_ratios
from experiments.benchmarks.speed.contact_laws import cone_workspace_section, whole_body_section
from experiments.benchmarks.speed.environments import environment_section
from experiments.benchmarks.speed.figure import draw_chain_cost
from experiments.benchmarks.speed.integrators import integrators_section
from experiments.benchmarks.speed.laws import compiled_laws_section, python_law_section
from experiments.benchmarks.speed.rigid_stance import rigid_stance_section
from experiments.benchmarks.speed.startup import startup_times
from experiments.benchmarks.speed.studies import studies_section
from experiments.benchmarks.timing import Spread, interleaved, ratios

MICROSECONDS = 1e6
MISSING = f"MuJoCo is not installed, so it is not compared: {command('mujoco')}"


@dataclass(frozen=True)
class Budget:
    """How much is measured."""

    repeats: int  # of everything that is timed, in turn
    duration: float  # [s] simulated in a closed loop
    chain_steps: int  # steps of a short chain; long ones take fewer
    race_steps: int  # steps of either engine before the other's turn
    quick: bool  # leave out the first compile and MuJoCo's settings that are slow


def budget(quick: bool, repeats: int | None = None) -> Budget:
    if quick:
        return Budget(repeats or 3, 0.5, 500, 500, quick)
    return Budget(repeats or 15, 3.0, 2000, 2000, quick)


def sections(work: Budget, folder: Path, with_mujoco: bool) -> Iterator[tuple[str, Callable[[], Section]]]:
    """What is measured, in words, and how; figures go into ``folder``."""
    yield "the closed loop", lambda: closed_loop_section(work)
    yield "the midpoint rule", lambda: integrators_section(work.duration, work.repeats)
    yield "whole experiments", lambda: experiment_section(work)
    yield "studies", lambda: studies_section(20 if work.quick else 480, min(work.repeats, 5))
    yield "the whole-body law", lambda: whole_body_section(20 if work.quick else 4, min(work.repeats, 5))
    yield "the law within cones", lambda: cone_workspace_section(20 if work.quick else 4, min(work.repeats, 5))
    yield "users' laws in Python", lambda: python_law_section(work.repeats)
    if not work.quick:
        yield "users' compiled laws", lambda: compiled_laws_section(120, min(work.repeats, 9))
    if all(importlib.util.find_spec(package) for package in ("gymnasium", "mujoco")):
        yield "environments", lambda: environment_section(200 if work.quick else 6400, min(work.repeats, 5))
    yield "chains", lambda: chain_section(work, folder)
    yield "start-up", lambda: startup_section(work)
    engines = ("mujoco", "drake") if with_mujoco else ("drake",)
    yield "stance on a rigid floor", lambda: rigid_stance_section(engines, work.race_steps, work.repeats)
    beside = with_mujoco and importlib.util.find_spec("mujoco") is not None
    yield "energy in flight", lambda: flight_section(work, folder, beside)
    if with_mujoco and importlib.util.find_spec("mujoco") is None:
        yield "MuJoCo", lambda: Section("mujoco", "MuJoCo", (), notes=[MISSING])
    elif with_mujoco:
        yield "MuJoCo's settings", lambda: screen_section(work)
        yield "MuJoCo beside ours", lambda: race_section(work)
        if not work.quick:
            yield "derivatives of a step", lambda: derivative_section(work)


def _spread_columns(unit: str = "µs") -> tuple[Column, Column, Column]:
    return Column("least", unit), Column("median", unit), Column("most", unit)


def _numbers(spread: Spread, factor: float = 1.0) -> tuple[float, float, float]:
    scaled = spread.scaled(factor)
    return scaled.least, scaled.median, scaled.most


def closed_loop_section(work: Budget) -> Section:
    section = Section(
        "closed_loop",
        "Cost of a step, on one core, compiled",
        (*_spread_columns(), Column("iterations"), Column("real time", "×", ".0f"), Column("call", "µs")),
        notes=["call: the median of the whole call, with set-up and evaluation in Python, over the number of steps"],
    )
    for (scene, step), runs in interleaved(closed_loops(work.duration), work.repeats).items():
        spread = Spread.of([run.per_step for run in runs])
        section.rows[f"{scene}, {1e3 * step:g} ms"] = (
            *_numbers(spread, MICROSECONDS),
            runs[0].newton_mean,
            max(run.real_time_factor for run in runs),
            MICROSECONDS * median(run.wall / run.steps for run in runs),
        )
    return section


def experiment_section(work: Budget) -> Section:
    section = Section(
        "experiments",
        "A whole experiment of 3 s at h = 0.5 ms",
        (*_spread_columns("ms"), Column("call", "ms"), Column("iterations")),
        notes=["least, median, most: the compiled part; call: the median with everything but files and figures"],
    )
    cases = {name: whole_experiment(name) for name in ("stand-tilted", "thrown-block")}
    for name, runs in interleaved(cases, work.repeats).items():
        compiled = Spread.of([run.compiled for run in runs])
        wall = 1e3 * median(run.wall for run in runs)
        section.rows[name] = (*_numbers(compiled, 1e3), wall, runs[0].newton_mean)
    return section


def chain_section(work: Budget, folder: Path) -> Section:
    results = interleaved(chain_cases(work.chain_steps), work.repeats)
    ours, other = INTEGRATORS
    cost = {name: chain_cost(results, name) for name in INTEGRATORS}
    ratio = step_ratios(results, other)
    section = Section(
        "chains",
        f"Cost of a step against the number of links, h = {1e3 * STEP:g} ms: {ours}; {other} beside it",
        (
            *_spread_columns(),
            *(Column("per link", "µs", ".3f"), Column("iterations"), Column(other, "µs")),
            *(Column("its iterations"), Column("ratio")),
        ),
    )
    for links, spread in cost[ours].per_step.items():
        section.rows[f"{links} links"] = (
            *_numbers(spread, MICROSECONDS),
            *(MICROSECONDS * cost[ours].per_link()[links], cost[ours].newton_mean[links]),
            MICROSECONDS * cost[other].per_step[links].least,
            *(cost[other].newton_mean[links], ratio[links].median),
        )
    section.notes = [f"{other}: the least; ratio: to {ours}, the median of runs taken in turn"]
    for name in INTEGRATORS:
        base, slope = cost[name].fit
        section.notes += [
            f"{name}: {MICROSECONDS * base:.2f} µs + {MICROSECONDS * slope:.3f} µs per link through the least costs",
            f"from {LONG} links on its cost per link stays within {100 * cost[name].deviation:.1f} % of its mean, "
            f"per link and iteration within {100 * cost[name].deviation_per_iteration:.1f} %",
        ]
    draw_chain_cost(cost, folder / FIGURE)
    return section


def startup_section(work: Budget) -> Section:
    section = Section("startup", "Start-up, in processes of their own", _spread_columns("s"))
    try:
        times = startup_times(min(work.repeats, 5), with_compile=not work.quick)
    except RuntimeError as error:
        section.notes.append(str(error))
        return section
    section.rows = {what: _numbers(spread) for what, spread in times.items()}
    return section


def flight_section(work: Budget, folder: Path, with_mujoco: bool) -> Section:
    from experiments.benchmarks.speed.flight_energy import flight_energy_section

    return flight_energy_section(min(work.repeats, 5), 1.0 if work.quick else 60.0, folder, with_mujoco)


def screen_section(work: Budget) -> Section:
    from experiments.benchmarks.speed import mujoco_race

    section = Section("mujoco_settings", "MuJoCo's settings that stand: cost of a step, h = 0.5 ms", _spread_columns())
    found = mujoco_race.screen(work.quick, work.race_steps // 2, min(work.repeats, 5))
    section.rows = {name: _numbers(spread, MICROSECONDS) for name, (_, spread) in found.items()}
    return section


def race_section(work: Budget) -> Section:
    from experiments.benchmarks.speed import mujoco_race as race

    mass, matrix = race.same_human()
    section = Section(
        "mujoco",
        "Cost of a step beside MuJoCo",
        (
            *(Column("ours", "µs"), Column("fastest", "µs"), Column("ratio"), Column("least"), Column("most")),
            *(Column("defaults", "µs"), Column("their ratio")),
        ),
        notes=[
            f"the same human: masses differ by {mass:.1e} kg, mass matrices by {matrix:.1e} of their largest element",
            "medians; ratio: MuJoCo's time over ours, the median, least and most of pairs taken in turn",
            "fastest: MuJoCo's fastest setting; defaults: its default integrator, solver and cone, and their ratio",
        ],
    )
    defaults = race.DEFAULTS
    candidates = [options for options, _ in list(race.screen(work.quick, work.race_steps // 4, 3).values())[:4]]
    candidates = [*(options for options in candidates if options != defaults), defaults]
    for step in (5e-4, 1e-3, 2e-3):
        for scene, times in race.stance_race(candidates, step, work.race_steps, work.repeats).items():
            _add_race(section, f"{scene} stance, {1e3 * step:g} ms", times, race.label(defaults))
        times = race.flight_race(step, work.race_steps, work.repeats)
        _add_race(section, f"flight, {1e3 * step:g} ms", times, defaults.integrator)
    return section


def derivative_section(work: Budget) -> Section:
    from experiments.benchmarks.speed.linearization import beside_mujoco

    section = Section(
        "derivatives",
        "The derivative of a step of the standing human, h = 0.5 ms",
        (*_spread_columns(), Column("error", "", ".1e"), Column("doubt", "", ".1e")),
        notes=[
            "error: of a block such as velocities by displacements, against its greatest element; held against "
            "Romberg's extrapolation of that engine's own step, whose doubt stands beside it",
            "MuJoCo's are mjd_transitionFD, by displacements and velocities; ours by displacements, momenta, anchors "
            "and torques, the call from Python included; the second derivatives with the first",
            "a period has four steps, and the workspace law at its beginning; setting the state is counted",
            "times are the processor's, to which others on the machine do not add",
        ],
    )
    for name, found in beside_mujoco(work.repeats).items():
        section.rows[name] = (*_numbers(Spread.of(found.times), MICROSECONDS), found.error, found.doubt)
    return section


def _add_race(section: Section, name: str, times: dict[str, list[float]], defaults: str) -> None:
    from experiments.benchmarks.speed.mujoco_race import fastest

    best, ours = fastest(times), times["ours"]
    against = Spread.of(ratios(times[best], ours))
    section.rows[name] = (
        MICROSECONDS * median(ours),
        MICROSECONDS * median(times[best]),
        *(against.median, against.least, against.most),
        MICROSECONDS * median(times[defaults]),
        median(ratios(times[defaults], ours)),
    )
    section.notes.append(f"{name}: MuJoCo's fastest was {best}")

"""The tables of the benchmark: what each measures, in words, and how."""

import importlib.util
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

from biped.inputs.extras import command
from experiments.benchmarks.sections import Section
from experiments.benchmarks.speed import chains, late, laws, startup, steps, studies
from experiments.benchmarks.speed.table import Budget

MISSING = f"MuJoCo is not installed, so it is not compared: {command('mujoco')}"
#: Words and sections of what is measured first; further ones depend on what is installed and how much is wanted.
FIRST = {
    "the closed loop": steps.closed_loop_section,
    "the midpoint rule": steps.integrators_section,
    "whole experiments": steps.experiment_section,
    "studies": studies.studies_section,
    "the whole-body law": laws.whole_body_section,
    "the law within cones": laws.cone_workspace_section,
    "laws with late senses": late.ticks_section,
    "quiet stance": late.trials_section,
    "users' laws in Python": laws.python_law_section,
}


def budget(quick: bool, repeats: int | None = None) -> Budget:
    if quick:
        return Budget(repeats or 3, 0.5, 500, 500, quick)
    return Budget(repeats or 15, 3.0, 2000, 2000, quick)


def sections(work: Budget, folder: Path, with_mujoco: bool) -> Iterator[tuple[str, Callable[[], Section]]]:
    """Yield each measurement, in words and as a function; figures go into ``folder``."""
    mujoco = importlib.util.find_spec("mujoco") is not None
    for words, section in FIRST.items():
        yield words, partial(section, work)
    if not work.quick:
        yield "users' compiled laws", partial(laws.compiled_laws_section, work)
    if mujoco and importlib.util.find_spec("gymnasium"):
        yield "environments", partial(studies.environment_section, work)
    yield "chains", partial(chains.chain_section, work, folder)
    yield "start-up", partial(startup.startup_section, work)
    engines = ("mujoco",) if with_mujoco else ()
    yield "stance on a rigid floor", partial(steps.rigid_stance_section, engines, work.race_steps, work.repeats)
    yield "energy in flight", lambda: _flight(work, folder, with_mujoco and mujoco)
    if with_mujoco and not mujoco:
        yield "MuJoCo", lambda: Section("mujoco", "MuJoCo", (), notes=[MISSING])
    elif with_mujoco:
        yield from _beside_mujoco(work)


def _flight(work: Budget, folder: Path, with_mujoco: bool) -> Section:
    from experiments.benchmarks.speed.flight_energy import flight_energy_section

    return flight_energy_section(work, folder, with_mujoco)


def _beside_mujoco(work: Budget) -> Iterator[tuple[str, Callable[[], Section]]]:
    from experiments.benchmarks.speed import linearization, mujoco_race

    yield "MuJoCo's settings", partial(mujoco_race.screen_section, work)
    yield "MuJoCo beside ours", partial(mujoco_race.race_section, work)
    if not work.quick:
        yield "derivatives of a step", partial(linearization.derivative_section, work)

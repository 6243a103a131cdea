"""The tables of the benchmark: what each measures, in words, and how."""

import importlib.util
from collections.abc import Callable, Iterator
from pathlib import Path

from biped.inputs.extras import command
from experiments.benchmarks import chains, laws, startup, steps, studies
from experiments.benchmarks.section import Budget, Section

MISSING = f"MuJoCo is not installed, so it is not compared: {command('mujoco')}"


def budget(quick: bool, repeats: int | None = None) -> Budget:
    if quick:
        return Budget(repeats or 3, 0.5, 500, 500, quick)
    return Budget(repeats or 15, 3.0, 2000, 2000, quick)


def sections(work: Budget, folder: Path, with_mujoco: bool) -> Iterator[tuple[str, Callable[[], Section]]]:
    """Yield each measurement, in words and as a function; figures go into ``folder``."""
    mujoco = importlib.util.find_spec("mujoco") is not None
    yield "the closed loop", lambda: steps.closed_loop_section(work)
    yield "the midpoint rule", lambda: steps.integrators_section(work)
    yield "whole experiments", lambda: steps.experiment_section(work)
    yield "studies", lambda: studies.studies_section(work)
    yield "the whole-body law", lambda: laws.whole_body_section(work)
    yield "the law within cones", lambda: laws.cone_workspace_section(work)
    yield "laws with late senses", lambda: laws.late_laws_section(work)
    yield "quiet stance", lambda: laws.quiet_stance_section(work)
    yield "users' laws in Python", lambda: laws.python_law_section(work)
    if not work.quick:
        yield "users' compiled laws", lambda: laws.compiled_laws_section(work)
    if mujoco and importlib.util.find_spec("gymnasium"):
        yield "environments", lambda: studies.environment_section(work)
    yield "chains", lambda: chains.chain_section(work, folder)
    yield "start-up", lambda: startup.startup_section(work)
    engines = ("mujoco",) if with_mujoco else ()
    yield "stance on a rigid floor", lambda: steps.rigid_stance_section(engines, work.race_steps, work.repeats)
    yield "energy in flight", lambda: _flight(work, folder, with_mujoco and mujoco)
    if with_mujoco and not mujoco:
        yield "MuJoCo", lambda: Section("mujoco", "MuJoCo", (), notes=[MISSING])
    elif with_mujoco:
        from experiments.benchmarks import linearization, mujoco_race

        yield "MuJoCo's settings", lambda: mujoco_race.screen_section(work)
        yield "MuJoCo beside ours", lambda: mujoco_race.race_section(work)
        if not work.quick:
            yield "derivatives of a step", lambda: linearization.derivative_section(work)


def _flight(work: Budget, folder: Path, with_mujoco: bool) -> Section:
    from experiments.benchmarks.flight_energy import flight_energy_section

    return flight_energy_section(work, folder, with_mujoco)

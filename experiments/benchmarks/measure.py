"""Sections of the benchmark: titles, and functions that measure them."""

import importlib.util
from collections.abc import Callable, Iterator

from biped.inputs.extras import command
from experiments.benchmarks import startup, steps, studies
from experiments.benchmarks.section import Budget, Section

MISSING = f"MuJoCo is not installed, and not compared; to install it: {command('mujoco')}"


def budget(quick: bool) -> Budget:
    return Budget(3, 0.5, 500, quick) if quick else Budget(15, 3.0, 2000, quick)


def sections(work: Budget, with_mujoco: bool) -> Iterator[tuple[str, Callable[[], Section]]]:
    """Yield each measurement as a title and a function."""
    yield "the closed loop", lambda: steps.closed_loop_section(work)
    yield "whole experiments", lambda: steps.experiment_section(work)
    yield "studies", lambda: studies.studies_section(work)
    yield "start-up", lambda: startup.startup_section(work)
    if not with_mujoco:
        return
    if importlib.util.find_spec("mujoco") is None:
        yield "MuJoCo", lambda: Section("mujoco", "MuJoCo", (), notes=[MISSING])
        return
    from experiments.benchmarks import mujoco_race

    yield "MuJoCo, for comparison", lambda: mujoco_race.race_section(work)

"""Where a session was, and how its world is put back there."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from biped.kernels.loop.closed_loop import World
from biped.kernels.loop.log import OBSERVED
from biped.kernels.step.step import prepare
from biped.runs.state import State
from biped.runs.summary import Ending
from biped.simulation.effort import put_efforts
from biped.simulation.world import join_floor
from contact.arrays import Floats
from contact.modes import NONE


@dataclass(frozen=True)
class Snapshot:
    """Where a session was, bit for bit: the state, and what else its next step depends on."""

    state: State  #: its own copy
    law: tuple[Any, ...]  #: copies of the arrays of a compiled law
    memory: Any  #: what the controller says that it remembers (``Controller.memory``)
    recorded: Floats  #: the numbers that the controller recorded last
    seeds: tuple[int, int]  #: of the sensors' and the actuators' noise
    was_reset: bool  #: whether a controller that is asked from Python had been
    ending: Ending | None  #: what had ended it, or None


def arrays_of(value: Any) -> tuple[Floats, ...]:
    """All arrays in nested tuples, in order."""
    found: list[Floats] = []
    _gather_arrays(value, found)
    return tuple(found)


def _gather_arrays(value: Any, found: list[Floats]) -> None:
    for item in value if isinstance(value, tuple) else (value,):
        if isinstance(item, np.ndarray):
            found.append(item)
        elif isinstance(item, tuple):
            _gather_arrays(item, found)


def copies_of(value: Any) -> tuple[Floats, ...]:
    """Copies of all arrays in nested tuples."""
    return tuple(array.copy() for array in arrays_of(value))


def put_arrays(source: Any, target: Any) -> None:
    """The numbers of all arrays of one into those of the other, which has as many of the same shapes."""
    for array, place in zip(arrays_of(source), arrays_of(target), strict=True):
        place[...] = array


def put_state(source: State, target: State, world: World) -> None:
    """``source`` into ``target``, which shares its arrays with ``world``; the next step is then that of ``source``."""
    put_numbers(source, target, world)
    prepare(world.tree, target.arrays, world.scratch)


def put_numbers(source: State, target: State, world: World) -> None:
    """``source`` into ``target`` but for the poses and rates in the world's scratch, which ``prepare`` finds."""
    put_arrays(source.arrays, target.arrays)
    if target.projectile is not None and source.projectile is not None:
        target.projectile[:] = source.projectile
    target.floor = None if source.floor is None else source.floor.copy()
    join_floor(world.ground, target)
    put_efforts(world)
    world.log.cursor[OBSERVED] = -1
    world.log.down[:] = target.arrays.mode != NONE


def seeds_of(world: World) -> tuple[int, int]:
    """The seeds of the sensors' and of the actuators' noise."""
    return int(world.sensors.seed[0]), int(world.actuators.seed[0])


def put_seeds(seeds: tuple[int, int], world: World) -> None:
    """Let noise be that of these seeds; perfect sensors and ideal actuators stay what they are."""
    world.sensors.seed[0] = seeds[0]
    if world.actuators.seed[0] >= 0:
        world.actuators.seed[0] = seeds[1]

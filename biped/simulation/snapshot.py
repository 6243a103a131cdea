"""Snapshots of sessions, and functions that restore them."""

from dataclasses import dataclass
from typing import Any

from biped.kernels.loop.closed_loop import World
from biped.kernels.loop.log import OBSERVED
from biped.kernels.state.arrays import arrays_of
from biped.kernels.step.step import prepare
from biped.runs.state import State
from biped.runs.summary import Ending
from biped.simulation.effort import put_efforts
from biped.simulation.world import join_floor
from contact.arrays import Floats
from contact.modes import NONE


@dataclass(frozen=True)
class Snapshot:
    """A session at one time, bit for bit: the state, and everything else on which the next time step depends."""

    state: State  #: a copy of the state
    law: tuple[Any, ...]  #: copies of the arrays of a compiled law
    estimator: tuple[Any, ...]  #: copies of the arrays of the state estimator, if there is one
    memory: Any  #: the memory of a Python controller (``Controller.memory``)
    recorded: Floats  #: the values that the controller recorded last
    seeds: tuple[int, int]  #: the seeds of the sensors' and the actuators' noise
    was_reset: bool  #: True if ``reset`` of a Python controller had been called
    ending: Ending | None  #: the cause of the end, or None


def copies_of(value: Any) -> tuple[Floats, ...]:
    """Return copies of all arrays in nested tuples."""
    return tuple(array.copy() for array in arrays_of(value))


def put_arrays(source: Any, target: Any) -> None:
    """Copy the arrays of ``source`` into those of ``target``, which have the same number and shapes."""
    for array, place in zip(arrays_of(source), arrays_of(target), strict=True):
        place[...] = array


def put_state(source: State, target: State, world: World) -> None:
    """Copy ``source`` into ``target``, which shares its arrays with ``world``, and prepare the next step."""
    put_numbers(source, target, world)
    prepare(world.tree, target.arrays, world.scratch)


def put_numbers(source: State, target: State, world: World) -> None:
    """Copy ``source`` into ``target``, except poses and rates in the world's scratch, which ``prepare`` computes."""
    put_arrays(source.arrays, target.arrays)
    if target.projectile is not None and source.projectile is not None:
        target.projectile[:] = source.projectile
    target.floor = None if source.floor is None else source.floor.copy()
    join_floor(world.ground, target)
    put_efforts(world)
    world.log.cursor[OBSERVED] = -1
    world.log.down[:] = target.arrays.mode != NONE


def seeds_of(world: World) -> tuple[int, int]:
    """Return the seeds of the sensors' and of the actuators' noise."""
    return int(world.sensors.seed[0]), int(world.actuators.seed[0])


def put_seeds(seeds: tuple[int, int], world: World) -> None:
    """Set the seeds of the noise; perfect sensors and ideal actuators stay noiseless."""
    world.sensors.seed[0] = seeds[0]
    if world.actuators.seed[0] >= 0:
        world.actuators.seed[0] = seeds[1]

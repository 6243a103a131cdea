"""The plant between two control ticks: steps with the joints' torques held, recorded as they go."""

from typing import NamedTuple

from biped.kernels.dynamics import Motion
from biped.kernels.log import ROWS, STRIDE, Log, is_full, log_contact_changes, observe, record_row
from biped.kernels.newton import Solver
from biped.kernels.pushes import Pushes
from biped.kernels.state import STEPS, Plant
from biped.kernels.step import FAILED, OK, step, time_of
from biped.kernels.thrown import ARMED, Thrown, step_with_thrown
from biped.kernels.tree import FLOATING, Tree
from biped.kernels.variational import Workspace
from contact.jit import kernel, routine
from contact.kernels import FloorParameters

# Why a loop came back, besides OK and FAILED.
FELL = 2
LOG_FULL = 3


class FallLimits(NamedTuple):
    """Beyond these the tree has fallen; ``biped.Fall`` documents them."""

    height: float  # [m] least height of the root
    upright: float  # least cosine between the root's vertical axis and the world's
    rate: float  # [rad/s] greatest joint rate


class World(NamedTuple):
    """All that a closed loop advances, in one argument."""

    tree: Tree
    floor: FloorParameters
    plant: Plant
    pushes: Pushes
    work: Workspace
    motion: Motion  # shares its poses and inertias with ``work``
    solver: Solver
    thrown: Thrown
    fall: FallLimits
    log: Log


@kernel
def has_fallen(world):
    """Whether the root is too low or too far from upright, or a joint too fast; needs the rates."""
    plant, fall = world.plant, world.fall
    if world.tree.kind[0] != FLOATING:
        return False
    for dof in range(6, plant.rate.shape[0]):
        if abs(world.motion.rates[dof]) > fall.rate:
            return True
    return plant.q[2] < fall.height or world.work.now.rotation[0, 8] < fall.upright


@kernel
def observe_world(world):
    """Velocities at the present state."""
    observe(world.tree, world.plant, world.motion, world.log)


@routine
def record(world):
    """Append a row for the present state."""
    observe_world(world)
    log = world.log
    place = record_row(world.tree, world.floor, world.plant, world.motion, log, time_of(world.plant))
    if world.thrown.status[ARMED] == 1:
        for k in range(7):
            log.rows[log.cursor[ROWS] - 1, place + k] = world.thrown.plant.q[k]


@routine
def hold(world, steps):
    """Take ``steps`` steps, recording every ``stride``-th state before it is left; OK or FAILED."""
    plant, log = world.plant, world.log
    for _ in range(steps):
        if plant.count[STEPS] % log.cursor[STRIDE] == 0:
            record(world)
        if step_world(world) == FAILED:
            return FAILED
        log_contact_changes(plant, log, time_of(plant))
    return OK


@kernel
def step_world(world):
    if world.thrown.status[ARMED] == 0:
        return step(world.tree, world.floor, world.plant, world.pushes, world.work, world.solver)
    return step_with_thrown(
        world.tree, world.floor, world.plant, world.pushes, world.work,
        world.motion, world.solver, world.thrown, world.log,
    )  # fmt: skip


@kernel
def must_stop(world, period):
    """FELL or LOG_FULL at a control tick, ``period`` steps before the next one, else OK; needs the rates."""
    if has_fallen(world):
        return FELL
    if is_full(world.log, period):
        return LOG_FULL
    return OK


@routine
def coast(world, ticks, period):
    """``ticks`` times ``period`` steps without a controller; how many ticks were done, and why it ended."""
    for tick in range(ticks):
        observe_world(world)
        reason = must_stop(world, period)
        if reason == OK:
            reason = hold(world, period)
        if reason != OK:
            return tick, reason
    return ticks, OK

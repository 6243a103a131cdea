"""From a model, a floor and disturbances to the arrays that the compiled loops take."""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from biped.columns import Columns
from biped.disturbance import Push, Throw, compile_pushes
from biped.errors import InputError
from biped.integrator import Recursive
from biped.kernels.dynamics import Motion, new_motion
from biped.kernels.hold import FallLimits, World
from biped.kernels.log import new_log
from biped.kernels.state import new_plant
from biped.kernels.step import prepare
from biped.kernels.thrown import ARMED, TARGET, Thrown, new_thrown
from biped.kernels.variational import Workspace, new_workspace
from biped.model import Model, rigid_box
from biped.state import State
from contact import Floor

ROWS = 1024
EVENTS = 4096


@dataclass(frozen=True)
class Fall:
    """When a model counts as fallen.

    The defaults are far outside of what balancing on two feet does: the trunk's centre of mass stands
    1.23 m high in the home configuration and starts the experiments at 1.035 m.

    Attributes:
        height: [m] least height of the root's centre of mass.
        tilt: [rad] greatest angle between the root's vertical axis and the world's.
        joint_rate: [rad/s] greatest rate of a joint; beyond it a foot is being flung in the air.
    """

    height: float = 0.6
    tilt: float = 1.2
    joint_rate: float = 100.0

    @property
    def limits(self) -> FallLimits:
        """What the kernels take."""
        return FallLimits(self.height, float(np.cos(self.tilt)), self.joint_rate)


NEVER = FallLimits(-np.inf, -2.0, np.inf)


class Sizes(NamedTuple):
    """How much a log holds."""

    stride: int
    extra: int


def build_world(
    model: Model,
    floor: Floor,
    state: State,
    integrator: Recursive,
    pushes: list[Push],
    throw: Throw | None,
    fall: Fall | None,
    columns: Columns,
    sizes: Sizes,
) -> World:
    """The world of the compiled loops; it shares the arrays of ``state``, which a run changes in place."""
    work = new_workspace(model.n, model.nq, model.nv, model.nc)
    prepare(model.tree, state.plant, work)
    rows = max(ROWS, 2)
    log = new_log(rows, len(columns.names), EVENTS * max(1, model.nc), model.nc, sizes.extra, sizes.stride)
    log.down[:] = state.plant.mode != 1
    return World(
        tree=model.tree,
        floor=floor.parameters,
        plant=state.plant,
        pushes=compile_pushes(model, pushes),
        work=work,
        motion=_motion_sharing(model, work),
        solver=integrator.solver,
        thrown=_build_thrown(model, state, throw),
        fall=fall.limits if fall is not None and model.is_floating else NEVER,
        log=log,
    )


def _motion_sharing(model: Model, work: Workspace) -> Motion:
    return new_motion(model.n, model.nv, model.nc)._replace(poses=work.now, inertia=work.inertia)


def _build_thrown(model: Model, state: State, throw: Throw | None) -> Thrown:
    block = rigid_box(throw.mass, throw.size, "thrown") if throw else rigid_box(1.0, (1.0, 1.0, 1.0), "none")
    block = block.with_gravity(model.gravity)
    if throw is not None and state.thrown is None:
        twist = [*throw.velocity, *throw.angular_velocity]
        state.thrown = State.at(block, block.configuration(throw.position, throw.orientation), twist).plant
    plant = state.thrown if state.thrown is not None else new_plant(block.nq, block.nv, block.nc)
    if throw is not None:
        own = State(block, plant)
        own.set_step(float(state.plant.clock[1]))
    work = new_workspace(block.n, block.nq, block.nv, block.nc)
    saved = new_plant(model.nq, model.nv, model.nc)
    thrown = new_thrown(block.tree, plant, work, saved, new_plant(block.nq, block.nv, block.nc))
    if throw is not None:
        _arm(model, throw, thrown)
    return thrown


def _arm(model: Model, throw: Throw, thrown: Thrown) -> None:
    prepare(thrown.tree, thrown.plant, thrown.work)
    target = next((shape for shape in model.shapes if shape.body == throw.target), None)
    if target is None:
        known = ", ".join(shape.body for shape in model.shapes)
        raise InputError(f"throw.target = {throw.target!r} has no box to hit; bodies with one are {known}")
    if not np.allclose(target.rotation, np.eye(3)):
        raise InputError(f"throw.target = {throw.target!r}: its box is turned in its body, which is not supported")
    index = model.body_index(throw.target)
    thrown.status[ARMED] = 1
    thrown.status[TARGET] = index
    thrown.half[:] = np.asarray(throw.size) / 2.0
    thrown.target_half[:] = np.asarray(target.size) / 2.0
    thrown.target_offset[:] = np.asarray(target.center) - np.asarray(model.bodies[index].com)
    thrown.law[:] = (throw.restitution, throw.friction)

"""What actuators give of a law's impedance, within their limits in every step, and what of it is passive."""

import math

import numpy as np
from numpy.typing import NDArray

from biped.control.controller import Impedance
from biped.integrators import Integrator
from biped.kernels.loop.closed_loop import World
from biped.kernels.loop.measurement import Actuators, put_effort
from biped.kernels.state.simulation_state import GIVEN, SimulationState, unbounded
from biped.kernels.tree import tree as trees
from biped.model import Model
from biped.model.errors import unknown
from biped.model.strength import Strength
from contact.arrays import Floats, Integers


def can_bound(integrator: Integrator) -> bool:
    """Whether its steps keep what actuators give within bounds."""
    return integrator.takes_passive_joints and not integrator.steps_from_python


def with_bounds(model: Model, impedance: Impedance) -> trees.Tree:
    """A run's own tree: its rows of passive parts have room for bounds, and the passive parts of an impedance."""
    rows = model.tree.passive.copy() if len(model.tree.passive) else _without_limits(model.n)
    for joint in impedance.passive:
        row = rows[model.joint_index(joint)]
        row[trees.SPRING], row[trees.REST] = impedance.stiffness.get(joint, 0.0), impedance.rest.get(joint, 0.0)
        row[trees.DAMPING] += impedance.damping.get(joint, 0.0)
    return model.tree._replace(passive=rows)


def _without_limits(joints: int) -> Floats:
    """(joints, PASSIVE) rows of joints in which nothing acts."""
    rows = np.zeros((joints, trees.PASSIVE))
    rows[:, [trees.LOWER, trees.MIN_EFFORT]] = -math.inf
    rows[:, [trees.UPPER, trees.MAX_SPEED, trees.MAX_EFFORT]] = math.inf
    return rows


def given_by_muscles(model: Model, impedance: Impedance) -> Integers:
    """(nv,) 1 where an impedance is the actuators' to give.

    Raises:
        ModelError: something is passive that is no joint of the model.
    """
    for joint in impedance.passive:
        if joint not in model.joint_names:
            raise unknown("joint", joint, model.joint_names)
    bounds = np.zeros(model.nv, dtype=np.int64)
    for values in (impedance.stiffness, impedance.damping):
        for joint in values.keys() - set(impedance.passive):
            bounds[model.dof(joint)] |= values[joint] > 0.0
    return bounds


def set_impedance(model: Model, state: SimulationState, impedance: Impedance) -> None:
    """Springs and dampers of a run's state."""
    for values, array in (
        (impedance.stiffness, state.stiffness),
        (impedance.damping, state.damping),
        (impedance.rest, state.setpoint),
    ):
        array[:] = 0.0
        for joint, value in values.items():
            array[model.dof(joint)] = value


def let_actuators_give(world: World, bounds: Integers) -> None:
    """Let the impedance of joints where ``bounds`` (nv,) is 1 be the actuators', and no other be the state's.

    Of what a lag gives in a tick, the share that is new is the impedance's.
    """
    state, actuators = world.state, world.actuators
    actuators.bounds[:] = bounds
    for values in (state.stiffness, state.damping):
        values[:] *= bounds * (1.0 - actuators.kept[0])
    state.effort[0] = np.maximum(state.effort[0], -actuators.limit)
    state.effort[1] = np.minimum(state.effort[1], actuators.limit)
    put_efforts(world)


def forget_efforts(state: SimulationState) -> None:
    """Where no actuators give an impedance, what they gave and could give is not known later either."""
    state.effort[:] = unbounded(state.torque.size)
    state.counts[GIVEN] = 0


def put_efforts(world: World) -> None:
    """Bound the steps by what the state says that the actuators could give at the last tick."""
    tree, bounds = world.tree, world.actuators.bounds
    for i in np.flatnonzero(tree.dofs == 1) if bounds.any() else ():
        if bounds[tree.first_v[i]]:
            put_effort(tree, world.state, i)


def unheeded(model: Model, tree: trees.Tree, actuators: Actuators, held: NDArray[np.bool_]) -> dict[str, float]:
    """[N·m] by joint that an impedance holds: the limit of its actuator, where no step keeps the joint within it.

    Args:
        model: what moves.
        tree: its tree in the run.
        actuators: of its joints.
        held: (nv,) which an impedance holds.
    """
    if actuators.seed[0] < 0:
        return {}
    most, kept = actuators.limit, np.full(model.nv, np.inf)
    if actuators.strength.size:
        most = np.minimum(most, actuators.strength[:, :, Strength._fields.index("peak")].max(axis=1))
    for i in np.flatnonzero(tree.dofs == 1) if len(tree.passive) else ():
        kept[tree.first_v[i]] = tree.passive[i, trees.MAX_EFFORT]
    dofs = {joint: model.dof(joint) for joint in model.joint_names}
    alone = held & (actuators.bounds == 0)
    return {joint: float(most[dof]) for joint, dof in dofs.items() if alone[dof] and most[dof] < kept[dof]}

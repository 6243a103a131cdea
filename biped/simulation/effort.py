"""The share of a controller's impedance that actuators exert, within their limits, and the passive share."""

import math

import numpy as np
from numpy.typing import NDArray

from biped.control.controller import Impedance
from biped.errors import InputError
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
    """Return True if the integrator can bound the torques of actuators within its steps."""
    return integrator.takes_passive_joints and not integrator.steps_from_python


def with_bounds(model: Model, impedance: Impedance) -> trees.Tree:
    """Return a copy of the model's tree for one run, with a passive row for each joint and the passive impedance."""
    rows = model.tree.passive.copy() if len(model.tree.passive) else _without_limits(model.n)
    for joint in impedance.passive:
        row = rows[model.joint_index(joint)]
        row[trees.SPRING], row[trees.REST] = impedance.stiffness.get(joint, 0.0), impedance.rest.get(joint, 0.0)
        row[trees.DAMPING] += impedance.damping.get(joint, 0.0)
    return model.tree._replace(passive=rows)


def check_tone(integrator: Integrator, listed: dict[str, Integrator]) -> None:
    """Check that the integrator supports intrinsic stiffness.

    Raises:
        InputError: it does not; the message names those in ``listed`` that do.
    """
    if not can_bound(integrator):
        supporting = ", ".join(name for name, other in listed.items() if can_bound(other))
        raise InputError(
            f"integrator {integrator.name!r} does not support actuators.stiffness; supported by: {supporting}; or set "
            "actuators.stiffness and actuators.damping to 0"
        )


def add_tone(world: World) -> None:
    """Add the intrinsic stiffness and damping of muscles to the run's own copy of the tree.

    Joints with a spring have none. The rest angles are those of the state.
    """
    tree, state, tone = world.tree, world.state, world.actuators.tone
    for i in np.flatnonzero(tree.dofs == 1):
        dof, row = tree.first_v[i], tree.passive[i]
        if state.stiffness[dof] > 0.0 or row[trees.SPRING] > 0.0:
            tone[:, dof] = 0.0
        elif tone[0, dof] > 0.0:
            row[trees.SPRING], row[trees.REST] = tone[0, dof], state.setpoint[dof]
            row[trees.DAMPING] += tone[1, dof]


def _without_limits(joints: int) -> Floats:
    """Return (joints, PASSIVE) rows of joints without passive torques."""
    rows = np.zeros((joints, trees.PASSIVE))
    rows[:, [trees.LOWER, trees.MIN_EFFORT]] = -math.inf
    rows[:, [trees.UPPER, trees.MAX_SPEED, trees.MAX_EFFORT]] = math.inf
    return rows


def given_by_muscles(model: Model, impedance: Impedance) -> Integers:
    """Return (nv,) 1 where the actuators exert an impedance, 0 elsewhere.

    Raises:
        ModelError: a name in ``impedance.passive`` is no joint of the model.
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
    """Write the stiffness, damping and rest angles of an impedance to the state of a run."""
    for values, array in (
        (impedance.stiffness, state.stiffness),
        (impedance.damping, state.damping),
        (impedance.rest, state.setpoint),
    ):
        if array is not state.setpoint:  # the state keeps the rest angles of intrinsic stiffness
            array[:] = 0.0
        for joint, value in values.items():
            array[model.dof(joint)] = value


def let_actuators_give(world: World, bounds: Integers) -> None:
    """Let the actuators exert the impedance of joints where ``bounds`` (nv,) is 1, and remove all other impedance.

    If actuators lag, the impedance is multiplied by the share of a torque change that they follow within a tick.
    """
    state, actuators = world.state, world.actuators
    actuators.bounds[:] = bounds
    for values in (state.stiffness, state.damping):
        values[:] *= bounds * (1.0 - actuators.kept[0])
    state.effort[0] = np.maximum(state.effort[0], -actuators.limit)
    state.effort[1] = np.minimum(state.effort[1], actuators.limit)
    put_efforts(world)


def forget_efforts(state: SimulationState) -> None:
    """Reset the recorded efforts and their bounds, for a run in which no actuators exert an impedance."""
    state.effort[:] = unbounded(state.torque.size)
    state.counts[GIVEN] = 0


def put_efforts(world: World) -> None:
    """Bound the torques within steps by the actuators' range at the last tick, as the state holds it."""
    tree, bounds = world.tree, world.actuators.bounds
    for i in np.flatnonzero(tree.dofs == 1) if bounds.any() else ():
        if bounds[tree.first_v[i]]:
            put_effort(tree, world.state, i)


def unheeded(model: Model, tree: trees.Tree, actuators: Actuators, held: NDArray[np.bool_]) -> dict[str, float]:
    """Return the actuator limits [N·m] that no time step enforces, by joint with an impedance.

    Args:
        model: the simulated model.
        tree: the model's tree in the run.
        actuators: the actuators of the joints.
        held: (nv,) True where an impedance acts.
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

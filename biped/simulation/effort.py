"""Actuators that bound, within the steps, what a joint exerts that an impedance holds."""

import numpy as np
from numpy.typing import NDArray

from biped.control.controller import Controller, Impedance
from biped.errors import InputError
from biped.integrators import Integrator
from biped.kernels.loop.measurement import BOUNDS, Actuators
from biped.kernels.state.simulation_state import INTO_TICK
from biped.kernels.tree.tree import LOWER, MAX_EFFORT, MAX_SPEED, PASSIVE, UPPER, Tree
from biped.model import Model
from biped.model.strength import Strength
from biped.runs.state import State
from contact.arrays import Floats


def impedance_of(model: Model, controller: Controller | None) -> dict[str, Floats]:
    """(nv,) stiffness, damping and setpoint of the joints' impedance, as ``SimulationState`` names them."""
    impedance = (None if controller is None else controller.impedance(model)) or Impedance()
    given = {"stiffness": impedance.stiffness, "damping": impedance.damping, "setpoint": impedance.rest}
    found = {name: np.zeros(model.nv) for name in given}
    for name, values in given.items():
        for joint, value in values.items():
            found[name][model.dof(joint)] = value
    return found


def with_limits(tree: Tree, actuators: Actuators, held: NDArray[np.bool_], integrator: Integrator) -> Tree:
    """The tree whose actuators give, in every step, no more than their limits: the law's torque and the impedance.

    Torques of joints without impedance are within the limits before the steps. The tree has efforts of its own, which
    change from tick to tick with the joints' strength. The same tree comes back where no joint has both, and with an
    integrator that knows no efforts of joints, or has its own (an engine): of these ``unbounded`` tells.

    Args:
        tree: of what moves.
        actuators: of its joints; they are told.
        held: (nv,) which an impedance holds.
        integrator: what takes the steps.
    """
    bounded = held & np.isfinite(_most(actuators))
    if not bounded.any() or integrator.steps_from_python or not integrator.takes_passive_joints:
        return tree
    actuators.seed[BOUNDS] = 1
    passive = tree.passive.copy() if len(tree.passive) else _without_limits(len(tree.parent))
    for i in np.flatnonzero(tree.dofs == 1):
        dof = tree.first_v[i]
        if bounded[dof]:
            passive[i, MAX_EFFORT] = min(passive[i, MAX_EFFORT], actuators.limit[dof])
    return tree._replace(passive=passive)


def unbounded(model: Model, actuators: Actuators, held: NDArray[np.bool_]) -> dict[str, float]:
    """[N·m] by joint that an impedance holds: the limit of its actuator, where no step keeps the joint within it.

    Args:
        model: what moves.
        actuators: of its joints, after ``with_limits``.
        held: (nv,) which an impedance holds.
    """
    if actuators.seed[BOUNDS] == 1:
        return {}
    most, dofs = _most(actuators), {joint: model.dof(joint) for joint in model.joint_names}
    return {joint: float(most[dof]) for joint, dof in dofs.items() if held[dof] and np.isfinite(most[dof])}


def check_whole_ticks(state: State, actuators: Actuators, held: NDArray[np.bool_]) -> None:
    """Whether a run may go on from within a control tick, whose start decided what strength the joints have.

    Raises:
        InputError: an impedance holds a joint with such strength: the state does not know it.
    """
    if state.arrays.counts[INTO_TICK] and actuators.strength.size and (held & np.isfinite(_most(actuators))).any():
        raise InputError(
            "the state is within a control tick, at whose start the strength of joints that an impedance holds was "
            "found: let the run before end at a tick, or leave actuators.strength out"
        )


def _most(actuators: Actuators) -> Floats:
    """(nv,) [N·m] the most that each can give, at any angle and rate."""
    most = actuators.limit
    if actuators.seed[0] < 0:
        return np.full(len(most), np.inf)
    if actuators.strength.size:
        most = np.minimum(most, actuators.strength[:, :, Strength._fields.index("peak")].max(axis=1))
    return most


def _without_limits(joints: int) -> Floats:
    """(joints, PASSIVE) rows of joints in which nothing acts."""
    rows = np.zeros((joints, PASSIVE))
    rows[:, LOWER] = -np.inf
    rows[:, [UPPER, MAX_SPEED, MAX_EFFORT]] = np.inf
    return rows

"""Propagation of variations through steps taken by the machine code of the simulation.

Each step is taken by ``advance`` of the closed loop; then its derivative is computed from its two ends. A step in parts
is undone and repeated part by part.
"""

from typing import Any, NamedTuple

import numpy as np

from biped.derivatives.linearization.kernels.step import StepDerivative, differentiate_step, new_step_derivative
from biped.derivatives.linearization.kernels.tangent import Tangent, carry, new_tangent, seed
from biped.kernels.loop.closed_loop import ADVANCE, Loop, World
from biped.kernels.state.checkpoint import Checkpoint, new_checkpoint, roll_back, save_checkpoint
from biped.kernels.state.pushes import Pushes
from biped.kernels.state.simulation_state import RETRIED, STEP_LENGTH, SimulationState, new_simulation_state
from biped.kernels.state.status import OK
from biped.kernels.step.step import count_step, prepare, time_of
from biped.kernels.tree.tree import Tree
from biped.kernels.variational.equations import Scratch, new_scratch
from biped.kernels.variational.joints import JOINT_SWITCHES
from contact.arrays import Floats, Integers
from contact.ground import Ground
from contact.regimes import SWITCHES
from contact.vectors import copy1
from kernelcache import Entry, Packed, addresses, call, kernel, part

# Return values of ``linearize_steps`` besides those of ``biped.kernels.state.status``.
TOO_MANY_PARTS = -100  # a step needs more than MOST_PARTS parts
UNKNOWN_STEP = -101  # something other than the equations of a variational step moved the tree

# Greatest number of parts of a step.
MOST_PARTS = 256
# [N·s] Rounding error of a step's equations, also relative to the tree's momentum.
LEFT_OVER = 1e-6

# Indices of ``Linearized.taken``.
SUBSTEPS = 0
TAKEN = 1

# Indices of the addresses of parts.
BEGIN, GO_BACK, DIFFERENTIATE, CARRY, SET_OFF, TAKE_STEP = range(6)
KEEP = 6  # called for each step, or part of one
STEP = 7  # ``advance_world`` of the loop
PARTS = 8


class Linearized(NamedTuple):
    """A world with variations and buffers."""

    body: Any  # the discrete body of its method
    tree: Tree
    ground: Ground
    state: SimulationState
    pushes: Pushes
    live: Scratch  # the scratch of the world
    derivative: StepDerivative
    tangent: Tangent
    before: SimulationState  # the state at the start of a step, or a part of one
    scratch: Scratch
    checkpoint: Checkpoint
    driven: Integers  # the degrees of freedom whose torques vary
    taken: Integers  # (TAKEN,)
    switch: Floats  # (substeps, nc, SWITCHES) quantities that vanish at kinks of the contact law
    joint_switch: Floats  # (substeps, nv, JOINT_SWITCHES) quantities that vanish at kinks of the torques in joints
    mode: Integers  # (substeps, nc) the held contact modes
    regime: Integers  # (substeps, nc)
    parts: Integers  # (PARTS,) addresses of separately compiled parts
    left_over: Floats  # (1,) [N·s] residual of the last step's equations


def new_linearized(world: World, columns: int, driven: Integers, substeps: int) -> Linearized:
    """Return buffers for a number of variations of a world, and for the records of ``substeps`` steps."""
    n, nq, nv = world.tree.parent.shape[0], world.state.q.shape[0], world.state.momentum.shape[0]
    nc = world.state.mode.shape[0]
    return Linearized(
        body=world.method.body, tree=world.tree, ground=world.ground, state=world.state, pushes=world.pushes,
        live=world.scratch, derivative=new_step_derivative(n, nv, nc), tangent=new_tangent(n, nv, nc, columns),
        before=new_simulation_state(nq, nv, nc), scratch=new_scratch(n, nq, nv, nc),
        checkpoint=new_checkpoint(nq, nv, nc), driven=driven, taken=np.zeros(TAKEN, dtype=np.int64),
        switch=np.full((substeps, nc, SWITCHES), np.inf), joint_switch=np.full((substeps, nv, JOINT_SWITCHES), np.inf),
        mode=np.zeros((substeps, nc), dtype=np.int64), regime=np.zeros((substeps, nc), dtype=np.int64),
        parts=np.zeros(PARTS, dtype=np.int64), left_over=np.zeros(1),
    )  # fmt: skip


@kernel
def note_beginning(state, before):
    """Copy the parts of the state that the equations of the coming step depend on."""
    copy1(state.q, before.q)
    copy1(state.momentum, before.momentum)
    copy1(state.mode, before.mode)
    copy1(state.torque, before.torque)
    copy1(state.stiffness, before.stiffness)
    copy1(state.damping, before.damping)
    copy1(state.setpoint, before.setpoint)
    for c in range(state.mode.shape[0]):
        copy1(state.anchor[c], before.anchor[c])


@kernel
def note_contact(L):
    """Record modes, regimes and switches of the last step."""
    step = L.taken[SUBSTEPS]
    if step < L.mode.shape[0]:
        for c in range(L.mode.shape[1]):
            L.mode[step, c], L.regime[step, c] = L.before.mode[c], L.derivative.points.regime[c]
            copy1(L.derivative.points.switch[c], L.switch[step, c])
        if L.tree.passive.shape[0] > 0:
            for dof in range(L.joint_switch.shape[1]):
                copy1(L.derivative.joints.switch[dof], L.joint_switch[step, dof])
    L.taken[SUBSTEPS] = step + 1


@part
def set_off_part(L):
    """Begin with the present state of the world and a variation of each of its numbers and of each torque."""
    prepare(L.tree, L.state, L.live)
    seed(L.tangent, L.driven)
    L.taken[SUBSTEPS] = 0
    return OK


@part
def begin_part(L):
    """Record the start of a step."""
    note_beginning(L.state, L.before)
    save_checkpoint(L.state, L.checkpoint)
    return OK


@part
def go_back_part(L):
    """Undo the step."""
    roll_back(L.state, L.checkpoint)
    prepare(L.tree, L.state, L.live)
    return OK


@part
def differentiate_part(L, h):
    """Compute the derivative of the step of length h that led to the present state."""
    L.left_over[0] = differentiate_step(
        L.body, L.tree, L.ground, L.before, L.state.q, L.pushes, L.scratch, L.derivative, L.taken[SUBSTEPS], h
    )
    return OK


@part
def carry_part(L, h):
    """Propagate the variations through the step."""
    carry(L.tree, L.scratch, L.derivative, L.tangent, h)
    note_contact(L)
    return OK


@kernel
def is_explained(L):
    """Return True if the equations of a variational step hold between its start and its end."""
    return L.left_over[0] <= LEFT_OVER * (1.0 + greatest(L.state.momentum))


@kernel
def greatest(values):
    most = 0.0
    for k in range(values.shape[0]):
        most = max(most, abs(values[k]))
    return most


@part
def take_whole_step(L, world, keep, target, begin, h):
    """Take one step and call ``keep`` for it; a step in parts is undone and repeated part by part.

    Args:
        L: the ``Linearized``.
        world: address of the loop's world.
        keep: address of the part to call for each part of a step, with ``target``, ``L``, start and length [s].
        target: address of the first argument of ``keep``.
        begin: [s] start of the step.
        h: [s] length of the step.
    """
    done, size = 0, MOST_PARTS
    while done < MOST_PARTS:
        call(L.parts[BEGIN], L)
        retried = L.state.counts[RETRIED]  # of steps so far
        length, since = h * (size / MOST_PARTS), begin + h * (done / MOST_PARTS)
        reason = call(L.parts[STEP], world, 0, since, length)
        if reason != OK:
            return reason
        if L.state.counts[RETRIED] != retried:
            L.state.counts[RETRIED] = retried
            if size == 1:
                return TOO_MANY_PARTS
            call(L.parts[GO_BACK], L)
            size //= 2
            continue
        reason = call(keep, target, L, since, length)
        if reason != OK:
            return reason
        done += size
    count_step(L.state)
    return OK


@part
def keep_derivative(target, L, begin, h):
    """Propagate the variations through the last step."""
    call(L.parts[DIFFERENTIATE], L, h)
    if not is_explained(L):
        return UNKNOWN_STEP
    return call(L.parts[CARRY], L, h)


@part
def linearize_steps(L, world, steps):
    """Take ``steps`` steps with held torques and propagate the variations; return OK or a reason to stop."""
    for _ in range(steps):
        begin, h = time_of(L.state), L.state.clock[STEP_LENGTH]
        reason = call(L.parts[TAKE_STEP], L, world, L.parts[KEEP], L, begin, h)
        if reason != OK:
            return reason
    return OK


def step_calls(buffers: Any) -> tuple[tuple[Any, ...], ...]:
    """Return the parts with their arguments, in the order of ``Linearized.parts``."""
    return (
        (begin_part, buffers), (go_back_part, buffers), (differentiate_part, buffers, 0.0), (carry_part, buffers, 0.0),
        (set_off_part, buffers), (take_whole_step, buffers, 0, 0, 0, 0.0, 0.0), (keep_derivative, 0, buffers, 0.0, 0.0),
    )  # fmt: skip


class Linearizer:
    """A loop with linearized steps; the constructor compiles or loads all kernels.

    Columns of its variations are displacements, momenta, anchors, and the torques on the ``driven`` degrees of freedom.
    """

    def __init__(self, loop: Loop, driven: Integers, substeps: int) -> None:
        self.loop = loop
        nv, nc = loop.world.state.momentum.shape[0], loop.world.state.mode.shape[0]
        self.buffers = new_linearized(loop.world, 2 * nv + 2 * nc + len(driven), driven, substeps)
        buffers = Packed(self.buffers)
        self.buffers.parts[:STEP] = addresses(step_calls(buffers))
        self.buffers.parts[STEP] = loop.world.parts[ADVANCE]
        self._set_off, self._take = Entry(set_off_part, buffers), Entry(linearize_steps, buffers, 0, 0)
        self.take(0)

    def set_off(self) -> None:
        """Begin with the present state of the world."""
        self._set_off()

    def take(self, steps: int) -> int:
        """Take ``steps`` steps of the loop with the present torques; return OK or a reason to stop."""
        return self._take(self.loop.place, steps)

"""The first guesses of Lee et al. 2016, section 3.3."""

from typing import NamedTuple

from biped.kernels.state.method import set_guess
from biped.kernels.tree.dynamics import factor_mass_matrix, load_bias_forces, take_off
from biped.kernels.tree.factorization import solve_inboard, solve_outboard
from biped.kernels.tree.kinematics import move_bodies
from biped.kernels.tree.tree import PRISMATIC, REVOLUTE
from biped.kernels.variational.equations import displace
from biped.kernels.variational.newton import extrapolate
from contact.jit import kernel, routine
from contact.modes import NONE
from contact.vectors import copy1, load3, scale

EXTRAPOLATED = 0
CURRENT = 1
EULER = 2
DYNAMICS = 3


class Proposed(NamedTuple):
    """The tree goes on as in the last three steps (0), stays (1), goes on as in the last step (2), or accelerates (3).

    One class for all, so that the kernels are compiled for one.
    """

    number: int  # of the paper's IG1, IG2, IG3, or 0 for ours


@set_guess.register(Proposed)
def propose(tree, ground, plant, pushes, work, guess, h):
    if guess.number == EXTRAPOLATED:
        extrapolate(tree, ground, plant, pushes, work, guess, h)
    else:
        go_on(tree, plant, pushes, work, guess, h)


@kernel
def go_on(tree, plant, pushes, work, guess, h):
    """As one of the paper's guesses."""
    work.delta[:] = 0.0
    if guess.number == EULER:
        copy1(plant.rate, work.delta)
    elif guess.number == DYNAMICS:
        set_accelerations(tree, plant, pushes, work, h)
        for dof in range(plant.rate.shape[0]):
            work.delta[dof] = plant.rate[dof] + h * work.delta[dof]
    work.shift[:] = 0.0
    displace(tree, work.motion.poses, plant.q, work.shift, h, work.delta, work.q, work.shift)


@routine
def set_accelerations(tree, plant, pushes, work, h):
    """M⁻¹(Q − C) at k, into ``work.delta``: gravity, torques, pushes, and the contact forces of the last step."""
    motion = work.motion
    s = motion.poses.motion
    move_bodies(tree, motion.poses, plant.rate, motion.velocity, motion.drift)
    factor_mass_matrix(tree, motion, 0)
    load_bias_forces(tree, motion, 0)
    for c in range(tree.contact_body.shape[0]):
        if plant.mode[c] != NONE:
            take_off(motion.factors.wrench, tree.contact_body[c], load3(motion.poses.contact, c), load3(plant.force, c))
    for j in range(pushes.body.shape[0]):
        take_off(motion.factors.wrench, pushes.body[j], load3(pushes.left, j), scale(1.0 / h, load3(pushes.impulse, j)))
    set_joint_loads(tree, plant, work.diagonal)
    solve_inboard(tree, s, work.diagonal, motion.factors, 0)
    solve_outboard(tree, s, motion.factors, work.delta)


@kernel
def set_joint_loads(tree, plant, load):
    """Torques held on the joints, and those of their springs and dampers as they are now."""
    for i in range(tree.parent.shape[0]):
        for dof in range(tree.first_v[i], tree.first_v[i] + tree.dofs[i]):
            load[dof] = plant.torque[dof]
            if tree.kind[i] == REVOLUTE or tree.kind[i] == PRISMATIC:
                stretch = plant.q[tree.first_q[i]] - plant.setpoint[dof]
                load[dof] -= plant.stiffness[dof] * stretch + plant.damping[dof] * plant.rate[dof]

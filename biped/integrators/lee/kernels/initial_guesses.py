"""The initial guesses of Lee et al. 2016, section 3.3."""

from typing import NamedTuple

from biped.kernels.state.method import remember, set_initial_guess
from biped.kernels.tree.dynamics import factor_mass_matrix, load_bias_forces, take_off
from biped.kernels.tree.factorization import solve_inboard, solve_outboard
from biped.kernels.tree.kinematics import move_bodies
from biped.kernels.tree.tree import PRISMATIC, REVOLUTE
from biped.kernels.variational.newton import extrapolate, go_on_at_rates, remember_rates
from contact.modes import NONE
from contact.vectors import copy1, load3, scale
from kernelcache import kernel, routine

EXTRAPOLATED, CURRENT, EULER, DYNAMICS = range(4)


class InitialGuess(NamedTuple):
    """The initial guess: extrapolate three steps (0), stay (1), repeat the last step (2), or use accelerations (3).

    All guesses share one class, so that kernels are compiled once.
    """

    number: int  # 1 to 3 for the paper's IG1 to IG3, or 0 for ours


@set_initial_guess.register(InitialGuess)
def propose(tree, ground, state, pushes, scratch, guess, h):
    if guess.number == EXTRAPOLATED:
        extrapolate(tree, ground, state, pushes, scratch, guess, h)
    else:
        go_on(tree, state, pushes, scratch, guess, h)


@kernel
def go_on(tree, state, pushes, scratch, guess, h):
    """Set the candidate by one of the paper's guesses."""
    scratch.delta[:] = 0.0
    if guess.number == EULER:
        copy1(state.cache.rate, scratch.delta)
    elif guess.number == DYNAMICS:
        set_accelerations(tree, state, pushes, scratch, h)
        for dof in range(state.cache.rate.shape[0]):
            scratch.delta[dof] = state.cache.rate[dof] + h * scratch.delta[dof]
    go_on_at_rates(tree, state, scratch, h)


@remember.register(InitialGuess)
def remember_for_guess(tree, state, scratch, guess, h):
    remember_rates(tree, state, scratch, h)


@routine
def set_accelerations(tree, state, pushes, scratch, h):
    """Write M⁻¹(Q − C) at k to ``scratch.delta``: gravity, torques, pushes, and contact forces of the last step."""
    motion = scratch.motion
    s = motion.poses.motion
    move_bodies(tree, motion.poses, state.cache.rate, motion.velocity, motion.bias)
    factor_mass_matrix(tree, motion, 0)
    load_bias_forces(tree, motion, 0)
    for c in range(tree.contact_body.shape[0]):
        if state.mode[c] != NONE:
            take_off(motion.factors.wrench, tree.contact_body[c], load3(motion.poses.contact, c), load3(state.force, c))
    for j in range(pushes.body.shape[0]):
        take_off(motion.factors.wrench, pushes.body[j], load3(pushes.left, j), scale(1.0 / h, load3(pushes.impulse, j)))
    set_joint_loads(tree, state, scratch.diagonal)
    solve_inboard(tree, s, scratch.diagonal, motion.factors, 0)
    solve_outboard(tree, s, motion.factors, scratch.delta)


@kernel
def set_joint_loads(tree, state, load):
    """Set the held torques of the joints, and the present ones of their springs and dampers."""
    for i in range(tree.parent.shape[0]):
        for dof in range(tree.first_v[i], tree.first_v[i] + tree.dofs[i]):
            load[dof] = state.torque[dof]
            if tree.kind[i] == REVOLUTE or tree.kind[i] == PRISMATIC:
                stretch = state.q[tree.first_q[i]] - state.setpoint[dof]
                load[dof] -= state.stiffness[dof] * stretch + state.damping[dof] * state.cache.rate[dof]

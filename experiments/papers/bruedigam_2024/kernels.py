"""Kernels: trot of the quadruped of figure 13, and root search of the methods compared in figure 10."""

import math
from typing import Any, NamedTuple

from biped.integrators.lee.kernels.quasi_newton import set_correction
from biped.kernels.solve.causes import cause_of
from biped.kernels.state.method import find_root
from biped.kernels.variational.equations import displace
from biped.kernels.variational.newton import evaluate
from contact.arrays import Floats
from controllers import control
from controllers.kernels.joint_pd import PdLaw, pd_torque


class TrotLaw(NamedTuple):
    """Parameters of a trot, one for each degree of freedom: targets are centre + swing cos(ω t + phase)."""

    pd: PdLaw
    centre: Floats  # (nv,) [rad]
    swing: Floats  # (nv,) [rad]
    phase: Floats  # (nv,) [rad]
    frequency: float  # ω [rad/s]


@control.register(TrotLaw)
def trot(law, measurement, torque, recorded):
    """Set τ = −k_p (θ − θ_d(t)) − k_d θ̇; the rate of the target is left out, as in the authors' program."""
    tree = measurement.tree
    for i in range(tree.parent.shape[0]):
        if tree.dofs[i] == 1:
            dof = tree.first_v[i]
            angle = law.frequency * measurement.time[0] + law.phase[dof]
            law.pd.target[dof] = law.centre[dof] + law.swing[dof] * math.cos(angle)
            torque[dof] = pd_torque(law.pd, measurement, tree.first_q[i], dof)


class Unfloored(NamedTuple):
    """Root finder that iterates to the given tolerance, even if it is below the rounding error."""

    finder: Any  # root finder that computes the corrections


@find_root.register(Unfloored)
def find_to_the_tolerance(tree, ground, state, pushes, scratch, method, root_finder, h):
    """Iterate algorithm 1 of Lee et al. 2016; return the number of iterations, or a cause of failure."""
    iteration = 0
    while True:
        norm = evaluate(method.body, tree, ground, state, pushes, scratch, h)
        if norm <= method.solver.tolerance:
            return iteration
        if iteration >= method.solver.max_iterations or not math.isfinite(norm):
            return cause_of(norm)
        set_correction(root_finder.finder, tree, ground, state, scratch, method.body, h, iteration)
        displace(tree, scratch.next, scratch.q, scratch.shift, 1.0, scratch.delta, scratch.q, scratch.shift)
        iteration += 1

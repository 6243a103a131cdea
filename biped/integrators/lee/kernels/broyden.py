"""Broyden's (good) method with a full inverse: O(n²) an iteration (Broyden 1965; Lee et al. 2016, section 4.3)."""

from typing import NamedTuple

import numpy as np

from biped.integrators.lee.kernels.quasi_newton import iterate_quasi_newton, set_correction, solve_by_mass
from biped.kernels.state.method import find_root
from biped.kernels.tree.dynamics import factor_mass_matrix
from contact.arrays import Floats
from kernelcache import kernel, routine


class Broyden(NamedTuple):
    """Broyden's inverse of Newton's matrix, which starts each step as h M(q_k)⁻¹ and is updated by every correction.

    It is restarted in each step, so that a step depends on the plant only. The restart is O(n²) too, one solve for each
    degree of freedom. (Lee et al. do not state their start.)
    """

    inverse: Floats  # (nv, nv)
    residual: Floats  # (nv,) residual before the last correction
    load: Floats  # (nv,) a unit vector, then the change of the residual
    image: Floats  # (nv,)
    row: Floats  # (nv,)


def new_broyden(nv: int) -> Broyden:
    """Return buffers for nv degrees of freedom."""
    return Broyden(np.full((nv, nv), np.nan), *(np.full(nv, np.nan) for _ in range(4)))


@kernel
def start_inverse(root_finder, tree, scratch, h):
    """Set the inverse to h M(q_k)⁻¹, row by row; it is symmetric."""
    factor_mass_matrix(tree, scratch.motion, 0)
    root_finder.load[:] = 0.0
    for j in range(root_finder.load.shape[0]):
        root_finder.load[j] = 1.0
        solve_by_mass(tree, scratch, root_finder.load, h, root_finder.inverse[j])
        root_finder.load[j] = 0.0


@routine
def learn(H, delta, change, image, row):
    """Add (δ − H y) δᵀH / (δᵀH y) to H, so that H y = δ for the change y of the residual (Sherman and Morrison).

    H is not changed if the residual did not change along the step.
    """
    n = delta.shape[0]
    row[:] = 0.0
    along = 0.0
    for i in range(n):
        total = 0.0
        for j in range(n):
            total += H[i, j] * change[j]
            row[j] += delta[i] * H[i, j]
        image[i] = total
        along += delta[i] * total
    if not abs(along) > 0.0:
        return
    for i in range(n):
        factor = (delta[i] - image[i]) / along
        for j in range(n):
            H[i, j] += factor * row[j]


@routine
def multiply(H, vector, result):
    """Set ``result`` to H times a vector."""
    for i in range(result.shape[0]):
        total = 0.0
        for j in range(vector.shape[0]):
            total += H[i, j] * vector[j]
        result[i] = total


@set_correction.register(Broyden)
def set_broyden_correction(root_finder, tree, ground, state, scratch, body, h, iteration):
    if iteration == 0:
        start_inverse(root_finder, tree, scratch, h)
    else:
        for j in range(root_finder.load.shape[0]):
            root_finder.load[j] = root_finder.residual[j] - scratch.residual[j]
        learn(root_finder.inverse, scratch.delta, root_finder.load, root_finder.image, root_finder.row)
    for j in range(root_finder.residual.shape[0]):
        root_finder.residual[j] = scratch.residual[j]
    multiply(root_finder.inverse, scratch.residual, scratch.delta)


find_root.register(Broyden)(iterate_quasi_newton)

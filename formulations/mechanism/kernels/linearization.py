"""All derivatives of a step's equations at the solution, in one pass (Johnson, Schultz & Murphey 2014)."""

from typing import NamedTuple

from biped.kernels.midpoint import derivatives
from biped.kernels.midpoint.equations import MidpointBuffers, new_midpoint_buffers, place_middle
from biped.kernels.tree.kinematics import Poses, new_poses, place_bodies
from contact.arrays import Floats, unset
from contact.vectors import copy1
from formulations.mechanism.kernels import derivatives as force_derivatives
from formulations.mechanism.kernels.constraints import set_constraint_rows
from formulations.mechanism.kernels.jets import Jets, new_jets
from formulations.mechanism.kernels.points import place_points
from kernelcache import kernel, part


class Derivatives(NamedTuple):
    """Buffers and results: derivatives by (q, v) in the middle of the step, q at indices 0 … n − 1, then v."""

    middle: MidpointBuffers
    beyond: derivatives.Beyond
    jets: Jets
    arms: Floats  # (np, 3)
    node: Poses  # poses at one end of the step
    node_q: Floats  # (n,)
    gradient: Floats  # (2n,) first derivatives of L
    hessian: Floats  # (2n, 2n) second derivatives of L
    triples: derivatives.Triples  # third derivatives of L; empty for order 2, as are ``bends`` and ``bent``
    force: Floats  # (n, 2n) first derivatives of f
    bends: force_derivatives.Bends  # second derivatives of f
    rows: Floats  # (2, m, n) Dh at both ends of the step
    curvature: Floats  # (2, m, n, n) D²h at both ends of the step
    bent: derivatives.Triples  # Σ λ_c D³h_c at the beginning


class Sizes(NamedTuple):
    """Upper bounds of the numbers of third derivatives of L, second derivatives of f, and third derivatives of h."""

    triples: int
    bends: int
    bent: int


def new_derivatives(n: int, m: int, points: int, sizes: Sizes) -> Derivatives:
    """Return buffers for the derivatives of the equations of n coordinates and m constraints."""
    return Derivatives(
        middle=new_midpoint_buffers(n, 0), beyond=derivatives.new_beyond(n), jets=new_jets(n), arms=unset(points, 3),
        node=new_poses(n, n, 0), node_q=unset(n), gradient=unset(2 * n), hessian=unset(2 * n, 2 * n),
        triples=derivatives.new_triples(sizes.triples), force=unset(n, 2 * n),
        bends=force_derivatives.new_bends(sizes.bends),
        rows=unset(2, m, n), curvature=unset(2, m, n, n), bent=derivatives.new_triples(sizes.bent),
    )  # fmt: skip


@part
def derive_part(step, order):
    """Compute all ``results`` of a solved step to order 2 or 3."""
    clear(step.results)
    set_tree_derivatives(step.mechanics.tree, step.q, step.moved, step.alpha, step.h, order, step.results)
    add_potential_derivatives(step.mechanics, order, step.results)
    force_derivatives.add_force_derivatives(
        step.mechanics, step.inputs, 0, step.results.middle, order, step.results.force, step.results.bends
    )
    set_end_derivatives(step.mechanics, step.q, step.moved, step.multiplier, order, 0.0, step.results)
    set_end_derivatives(step.mechanics, step.q, step.moved, step.multiplier, order, 1.0, step.results)
    return 0


@kernel
def clear(results):
    """Set arrays to zero, and empty the lists."""
    set_zeros(results.hessian)
    set_zeros(results.force)
    set_zeros(results.curvature)
    results.triples.total[0] = results.bends.total[0] = results.bent.total[0] = 0


@kernel
def set_zeros(array):
    flat = array.reshape(-1)
    for i in range(flat.shape[0]):
        flat[i] = 0.0


@kernel
def set_tree_derivatives(tree, q, moved, alpha, h, order, results):
    """Set the derivatives of the tree's Lagrangian."""
    copy1(moved, results.middle.moved)
    place_middle(tree, q, alpha, h, results.middle)
    derivatives.gather_beyond(tree, results.middle, results.beyond)
    derivatives.set_lagrangian_gradient(tree, results.middle, results.beyond, results.gradient)
    derivatives.set_lagrangian_hessian(tree, results.middle, results.beyond, results.hessian)
    if order >= 3:
        derivatives.list_lagrangian_third(tree, results.middle, results.beyond, results.triples)


@kernel
def add_potential_derivatives(mechanics, order, results):
    """Add the derivatives of all potentials except uniform gravity (part of the tree)."""
    poses, arms, jets = results.middle.poses, results.arms, results.jets
    gradient, hessian, third = results.gradient, results.hessian, results.triples
    place_points(mechanics.points, poses, arms)
    force_derivatives.add_spring_derivatives(mechanics, poses, arms, jets, order, gradient, hessian, third)
    force_derivatives.add_weight_derivatives(mechanics, poses, arms, jets, order, gradient, hessian, third)
    force_derivatives.add_coordinate_spring_derivatives(
        mechanics, results.middle.middle, order, gradient, hessian, third
    )


@kernel
def set_end_derivatives(mechanics, q, moved, multiplier, order, end, results):
    """Set Dh and D²h at the beginning (``end`` 0) or the end (1) of the step, and λ · D³h at the beginning."""
    tree, points, q_end = mechanics.tree, mechanics.points, results.node_q
    for j in range(q.shape[0]):
        q_end[j] = q[j] + end * moved[j]
    place_bodies(tree, q_end, results.node)
    place_points(points, results.node, results.arms)
    where = 0 if end == 0.0 else 1
    set_constraint_rows(tree, mechanics.constraints, points, results.node, results.arms, q_end, results.rows[where])
    end_order = order if end == 0.0 else 2
    force_derivatives.add_constraint_derivatives(
        mechanics, results.node, results.arms, q_end, results.jets, results.curvature[where], multiplier, end_order,
        results.bent,
    )  # fmt: skip

"""Kernel data of a mechanism, and the buffers of its steps."""

from typing import NamedTuple

import numpy as np

from biped.kernels.midpoint.equations import MidpointBuffers, new_midpoint_buffers
from biped.kernels.tree.kinematics import Poses, new_poses
from biped.kernels.tree.tree import Tree
from contact.arrays import Floats, Integers, unset
from formulations.mechanism.kernels.ballast import Ballast
from formulations.mechanism.kernels.constraints import Constraints
from formulations.mechanism.kernels.custom import Customs
from formulations.mechanism.kernels.forces import Forces
from formulations.mechanism.kernels.points import Points
from formulations.mechanism.kernels.potentials import CoordinateSprings, Springs, Weights


class Mechanics(NamedTuple):
    """Constants of a mechanism: n coordinates, m constraints, np points."""

    tree: Tree  # one body a coordinate
    prescribed: Integers  # (n,) 1 where the motion is given
    points: Points
    springs: Springs
    coordinate_springs: CoordinateSprings
    weights: Weights
    forces: Forces
    constraints: Constraints
    ballast: Ballast
    border: Integers  # (1,) number of unknowns in addition to the tree's: multipliers, forces between bodies, ballast


class Rule(NamedTuple):
    """Settings of a step and its solution."""

    alpha: float
    h: float  # [s]
    tolerance: float  # of the residual [N·s or N·m·s], and of the constraints [m or rad]
    max_iterations: int
    max_backtracks: int
    share: float  # of the impulses of forces (not of potentials) that acts at a step's beginning; the rest at its end


# Places in ``Motion.counts``.
STEPS = 0  # taken
KNOWN = 1  # rows of ``past`` that are filled, at most all
KEPT = 2  # 1: the factors of the last step may serve
WAIT = 3  # steps until they are tried again
ITERATIONS = 4  # of Newton's method, in all
MOST_ITERATIONS = 5
FRESH = 6  # 1: the momentum comes from rates, not from a step before
LAST_ITERATIONS = 7
COUNTS = 8

# Of the last displacements that an extrapolation needs.
PAST = 3


class Motion(NamedTuple):
    """State of a motion: arrays that change from step to step."""

    q: Floats  # (n,)
    momentum: Floats  # (n,)
    multiplier: Floats  # (m,) λ of the last step [N·s or N·m·s]
    past: Floats  # (PAST, n) the last displacements, the latest first
    counts: Integers  # (COUNTS,)
    work: Floats  # (1,) [J] of forces without a potential
    residual: Floats  # (3,) of the last candidate: the equations' norm, the largest constraint, both by tolerances


def new_motion(n: int, m: int) -> Motion:
    """Return the arrays of a motion before its start."""
    z = np.zeros
    return Motion(
        q=z(n), momentum=z(n), multiplier=z(m), past=z((PAST, n)), counts=z(COUNTS, dtype=np.int64), work=z(1),
        residual=z(3),
    )  # fmt: skip


class Border(NamedTuple):
    """Unknowns μ in addition to the tree's: T δ + Lᵀ μ = e and R δ + C μ = f, with rows of R and L."""

    rows: Floats  # (b, n) R
    columns: Floats  # (b, n) L; of the constraints Dh(q_k)
    corner: Floats  # (b, b) C
    load: Floats  # (b,) f
    solved: Floats  # (b, n) T⁻¹ Lᵀ, its columns as rows
    schur: Floats  # (b, b) C − R T⁻¹ Lᵀ, factored
    order: Integers  # (b,)
    unknown: Floats  # (b,) μ


def new_border(b: int, n: int) -> Border:
    """Buffers for b unknowns; the corner is zero until something is written there."""
    return Border(
        rows=unset(b, n), columns=unset(b, n), corner=np.zeros((b, b)), load=unset(b), solved=unset(b, n),
        schur=unset(b, b), order=np.zeros(b, dtype=np.int64), unknown=unset(b),
    )  # fmt: skip


class Buffers(NamedTuple):
    """Buffers of a step and of evaluations at a node, with the components' buffers."""

    customs: Customs

    middle: MidpointBuffers
    end: Poses  # at q_{k+1}
    middle_arms: Floats  # (np, 3)
    end_arms: Floats  # (np, 3)
    border: Border
    values: Floats  # (m,) h(q_{k+1})
    end_q: Floats  # (n,) q_{k+1}
    right_load: Floats  # (n,)
    base_moved: Floats  # (n,) where a line search begins
    base_multiplier: Floats  # (m,)
    node: MidpointBuffers
    node_arms: Floats  # (np, 3)
    node_border: Border
    node_q: Floats  # (n,) configuration to evaluate
    node_rates: Floats  # (n,)
    node_momentum: Floats  # (n,)
    given_rates: Floats  # (n,) of prescribed coordinates; zero for the others
    energy: Floats  # (2,) kinetic and potential [J]


def new_buffers(n: int, m: int, b: int, points: int, customs: Customs, ballast: int = 0) -> Buffers:
    """Buffers, filled with NaN."""
    return Buffers(
        customs=customs, middle=new_midpoint_buffers(n, 0), end=new_poses(n, n, 0), middle_arms=unset(points, 3),
        end_arms=unset(points, 3), border=new_border(b, n), values=unset(m), end_q=unset(n), right_load=unset(n),
        base_moved=unset(n), base_multiplier=unset(m), node=new_midpoint_buffers(n, 0), node_arms=unset(points, 3),
        node_border=new_border(m + ballast, n), node_q=np.zeros(n), node_rates=np.zeros(n), node_momentum=unset(n),
        given_rates=np.zeros(n), energy=unset(2),
    )  # fmt: skip


# Indices of ``World.parts``, which are compiled separately.
EVALUATE, FACTOR, CORRECT, SOLVE, COMMIT, IMPULSES, ROWS, MOMENTUM, RATES, ENERGIES, CONSTRAINTS, BEGIN = range(12)
TAKE_STEPS, RECORD_END, PARTS = range(12, 15)


class World(NamedTuple):
    """Data of a motion, in one argument."""

    mechanics: Mechanics
    motion: Motion
    rule: Rule
    buffers: Buffers
    inputs: Floats  # (., 1 + inputs) time and functions of it in the middle of steps; row 1 is that of the first step
    given: Floats  # (., n) prescribed coordinates; row 1 belongs to where the first step begins
    rows: Floats  # (., columns) recorded rows
    parts: Integers  # (PARTS,) addresses of separately compiled parts

"""Data of a mechanism for kernels, and buffers of its time steps."""

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
    """Constants of a mechanism with n coordinates, m constraints and np points."""

    tree: Tree  # one body for each coordinate
    prescribed: Integers  # (n,) 1 if the motion is prescribed
    points: Points
    springs: Springs
    coordinate_springs: CoordinateSprings
    weights: Weights
    forces: Forces
    constraints: Constraints
    ballast: Ballast
    border: Integers  # (1,) number of unknowns besides q: multipliers, forces between bodies, ballast


class Rule(NamedTuple):
    """Settings of a time step and its solution."""

    alpha: float
    h: float  # [s]
    tolerance: float  # of the residual [N·s or N·m·s], and of the constraints [m or rad]
    max_iterations: int
    max_backtracks: int
    share: float  # share of the impulses of forces without a potential that acts at the beginning of a step


# Entries of ``Motion.counts``.
STEPS = 0  # number of time steps taken
KNOWN = 1  # number of filled rows of ``past``
KEPT = 2  # 1: the factors of the last step can be used again
WAIT = 3  # number of steps until these factors are tried again
ITERATIONS = 4  # total number of Newton iterations
MOST_ITERATIONS = 5  # largest number in a step
FRESH = 6  # 1: the momentum is computed from rates, not by a step
LAST_ITERATIONS = 7  # number in the last step
COUNTS = 8

# Number of displacements that the extrapolation uses.
PAST = 3


class Motion(NamedTuple):
    """State of a motion: arrays that change from step to step."""

    q: Floats  # (n,)
    momentum: Floats  # (n,)
    multiplier: Floats  # (m,) λ of the last step [N·s or N·m·s]
    past: Floats  # (PAST, n) the last displacements, the latest first
    counts: Integers  # (COUNTS,)
    work: Floats  # (1,) [J] of forces without a potential
    residual: Floats  # (3,) of the last candidate: norm of the equations, of the constraints, of both / tolerances


def new_motion(n: int, m: int) -> Motion:
    """Return the arrays of a motion before its start."""
    z = np.zeros
    return Motion(
        q=z(n), momentum=z(n), multiplier=z(m), past=z((PAST, n)), counts=z(COUNTS, dtype=np.int64), work=z(1),
        residual=z(3),
    )  # fmt: skip


class Border(NamedTuple):
    """Unknowns μ besides the change δ of q: T δ + Lᵀ μ = e and R δ + C μ = f."""

    rows: Floats  # (b, n) R
    columns: Floats  # (b, n) L; for the constraints Dh(q_k)
    corner: Floats  # (b, b) C
    load: Floats  # (b,) f
    solved: Floats  # (b, n) T⁻¹ Lᵀ, its columns as rows
    schur: Floats  # (b, b) C − R T⁻¹ Lᵀ, factored
    order: Integers  # (b,) row exchanges
    unknown: Floats  # (b,) μ


def new_border(b: int, n: int) -> Border:
    """Return buffers for b unknowns μ, with a corner of zeros."""
    return Border(
        rows=unset(b, n), columns=unset(b, n), corner=np.zeros((b, b)), load=unset(b), solved=unset(b, n),
        schur=unset(b, b), order=np.zeros(b, dtype=np.int64), unknown=unset(b),
    )  # fmt: skip


class Buffers(NamedTuple):
    """Buffers of a time step, of evaluations at a node, and of user-defined components."""

    customs: Customs

    middle: MidpointBuffers
    end: Poses  # poses at q_{k+1}
    middle_arms: Floats  # (np, 3)
    end_arms: Floats  # (np, 3)
    border: Border
    values: Floats  # (m,) h(q_{k+1})
    end_q: Floats  # (n,) q_{k+1}
    right_load: Floats  # (n,) impulses on coordinates after the middle
    base_moved: Floats  # (n,) displacement at the start of a line search
    base_multiplier: Floats  # (m,) multipliers at the start of a line search
    node: MidpointBuffers
    node_arms: Floats  # (np, 3)
    node_border: Border
    node_q: Floats  # (n,) configuration to evaluate
    node_rates: Floats  # (n,)
    node_momentum: Floats  # (n,)
    given_rates: Floats  # (n,) rates of prescribed coordinates; zero for other coordinates
    energy: Floats  # (2,) kinetic and potential [J]


def new_buffers(n: int, m: int, b: int, points: int, customs: Customs, ballast: int = 0) -> Buffers:
    """Return buffers filled with NaN."""
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
    inputs: Floats  # (., 1 + inputs) time and functions of time in the middle of steps; row 1: first step
    given: Floats  # (., n) prescribed coordinates at the beginnings of steps; row 1: first step
    rows: Floats  # (., columns) recorded rows
    parts: Integers  # (PARTS,) addresses of separately compiled parts

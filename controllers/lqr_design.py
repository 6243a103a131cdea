"""Design of the standing regulator: cost of deviations, and optimal gains."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple, TypeVar

import numpy as np

from biped.derivatives.linearization import Linearization
from biped.derivatives.linearization.stance import held_stance, linearize_stance, warm_up_stance
from biped.dynamics import mass_matrix
from biped.dynamics.whole_body import WholeBody
from biped.errors import InputError
from biped.model import Model
from biped.optimal import regulator, steady_regulator
from biped.runs.postures import has_human_legs, standing
from biped.runs.state import State
from contact import Floor
from contact.arrays import Floats

T = TypeVar("T")

#: Number of designs and of stances that are cached for a model.
MOST_KEPT = 64
#: Relative singular value below which torques count as causing no motion in a control period.
STRAIN_ONLY = 1e-9

Weights3 = tuple[float, float, float]


class Plan(NamedTuple):
    """Conditions of a stance, and the time over which it is linearized."""

    floor: Floor
    place: Weights3 | None  # [m] of the root; None for a robot's own posture
    step: float  # [s]
    period: float  # [s]
    posture: tuple[float, ...] | None = None  # (nq,) posture in place of that with the root at ``place``


class Cost(NamedTuple):
    """Weights of deviations per second; joints are in the order of ``model.joint_names``."""

    com: Weights3  # [1/m²]
    com_velocity: Weights3  # [s²/m²]
    trunk: Weights3  # [1/rad²]
    trunk_rate: Weights3  # [s²/rad²]
    joints: tuple[float, ...]  # [1/rad²]
    joint_rates: tuple[float, ...]  # [s²/rad²]
    torque: tuple[tuple[float, ...], ...]  # [1/(N·m)²] a matrix
    horizon: float  # [s]
    end: float  # [s] weight of the final state, as a duration of Q


@dataclass(frozen=True)
class StanceModel:
    """Posture at rest, and its linearization x' = A x + B u over a control period with torques held.

    x = (δq, δp) in tangent coordinates. The anchors of the floor's springs are parameters: they do not move while all
    points stick.
    """

    state: State  #: posture, and the torques that hold it
    linearization: Linearization  #: linearization over a control period

    @property
    def model(self) -> Model:
        """The standing model."""
        return self.state.model

    @property
    def A(self) -> Floats:  # noqa: N802
        """The state matrix A (2 nv, 2 nv)."""
        return self.linearization.dynamic

    @property
    def B(self) -> Floats:  # noqa: N802
        """The input matrix B (2 nv, joints)."""
        return self.linearization.input_matrix

    @cached_property
    def mass(self) -> Floats:
        """The mass matrix M (nv, nv) in the posture: δp = M v."""
        return mass_matrix(self.model, self.state.q)

    def rows(self) -> tuple[Floats, Floats]:
        """Return the Jacobian (3, nv) of the centre of mass, and M⁻¹ (nv, nv), from momenta to rates."""
        rates: Floats = np.asarray(np.linalg.inv(self.mass), dtype=np.float64)
        return WholeBody(self.model, self.state.q).com_jacobian, rates

    @cached_property
    def straining(self) -> Floats:
        """Orthonormal torques (joints, k) that cause no motion while the soles do not move.

        With rigid soles, motions satisfy J v = 0 with the contact points' Jacobian J. Torques orthogonal to the joint
        rates of all such motions only press the feet against each other and the floor.
        """
        body = WholeBody(self.model, self.state.q)
        J = np.vstack([body.contact_jacobian(name) for name in self.model.contact_names])
        _, sizes, right = np.linalg.svd(J)
        free = right[int((sizes > STRAIN_ONLY * sizes[0]).sum()) :, 6:]
        _, sizes, right = np.linalg.svd(free)
        rest: Floats = right[int((sizes > STRAIN_ONLY).sum()) :].T
        return rest


@dataclass(frozen=True)
class Design:
    """Regulator u = u_0 − K x of a stance.

    Attributes:
        stance: linearized stance.
        Q: (2 nv, 2 nv) cost matrix of the state in a period.
        R: (joints, joints) cost matrix of the torques in a period.
        gains: (periods + 1, joints, 2 nv) gain K for each period of the horizon; the last is the steady-state gain.
        costs: (periods + 1, 2 nv, 2 nv) P for each period, xᵀ P x being the remaining cost; the last: steady state.
    """

    stance: StanceModel
    Q: Floats
    R: Floats
    gains: Floats
    costs: Floats

    @property
    def steady_gain(self) -> Floats:
        """Steady-state gain K (joints, 2 nv)."""
        return self.gains[-1]

    @property
    def steady_cost(self) -> Floats:
        """Steady-state cost P (2 nv, 2 nv)."""
        return self.costs[-1]

    @property
    def closed_loop(self) -> Floats:
        """Closed-loop matrix A − B K (2 nv, 2 nv) with the steady-state gain K."""
        return self.stance.A - self.stance.B @ self.steady_gain

    def __str__(self) -> str:
        linear, strains = self.stance.linearization, self.stance.straining.shape[1]
        return (
            f"regulator of {self.stance.model.name}: {len(self.Q)} states, "
            f"{linear.controllability_rank} controllable; {strains} of {len(self.R)} torques only strain the feet; "
            f"greatest |λ| {np.abs(np.linalg.eigvals(self.closed_loop)).max():.6f} "
            f"({linear.spectral_radius:.6f} with torques held)"
        )


def kept(model: Model, compute: Callable[..., T], *key: Any) -> T:
    """Return ``compute(model, *key)``, cached; the oldest result of each function is dropped first."""
    results = _cache(model, compute)
    result = results.get(key)
    if result is None:
        while len(results) >= MOST_KEPT:
            results.pop(next(iter(results)), None)
        result = results[key] = compute(model, *key)
    return result


def _cache(model: Model, compute: Callable[..., T]) -> dict[Any, T]:
    results: dict[Any, T] = model.derived.setdefault((kept, compute), {})
    return results


def stance_of(model: Model, plan: Plan) -> StanceModel:
    """Return the stance of a model in the conditions of ``plan``, with its linearization; cached.

    Raises:
        InputError: the model does not stand, or a point's contact law is not differentiable in this stance.
    """
    return kept(model, _stance, plan)


def warm_up(model: Model, plan: Plan, announce: Callable[[str], None]) -> None:
    """Compile the kernels that linearize a stance, unless they are on disk; ``announce`` gets a message before.

    Raises:
        InputError: the model does not stand.
    """
    if (plan,) not in _cache(model, _stance):
        warm_up_stance(model, plan.floor, _state(model, plan), announce, step=plan.step, period=plan.period)


def design_of(model: Model, plan: Plan, cost: Cost) -> Design:
    """Return the regulator of a model, cached.

    Raises:
        InputError: the model does not stand, or no feedback of least cost stabilizes it.
    """
    return kept(model, _design, plan, cost)


def _stance(model: Model, plan: Plan) -> StanceModel:
    state = _state(model, plan)
    linearization = linearize_stance(model, plan.floor, state, step=plan.step, period=plan.period)
    if len(linearization.kept) != 2 * model.nv:
        raise InputError(f"{model.name!r} does not stand with all of its contact points sticking to the floor")
    return StanceModel(state, linearization)


def _state(model: Model, plan: Plan) -> State:
    if plan.posture is not None:
        return held_stance(model, plan.floor, np.array(plan.posture))
    place = plan.place if has_human_legs(model) else None
    return held_stance(model, plan.floor, standing(model, plan.floor, place).q)


def _design(model: Model, plan: Plan, cost: Cost) -> Design:
    stance = stance_of(model, plan)
    A, B = stance.A, stance.B
    Q, R = plan.period * _state_cost(stance, cost), plan.period * np.array(cost.torque)
    steady = steady_regulator(A, B, Q, R)
    count = round(cost.horizon / plan.period) if np.isfinite(cost.horizon) else 0
    if not count:
        return Design(stance, Q, R, steady.gains, steady.costs)
    along = regulator(
        np.broadcast_to(A, (count, *A.shape)), np.broadcast_to(B, (count, *B.shape)), Q, R,
        final=cost.end / plan.period * Q,
    )  # fmt: skip
    gains = np.concatenate([along.gains, steady.gains])
    return Design(stance, Q, R, gains, np.concatenate([along.costs[:-1], steady.costs]))


def _state_cost(stance: StanceModel, cost: Cost) -> Floats:
    """Return the state cost Cᵀ W C (2 nv, 2 nv), where C maps the state to the weighted deviations."""
    nv = stance.model.nv
    com, rates = stance.rows()
    dofs = [stance.model.dof(name) for name in stance.model.joint_names]
    identity = np.eye(nv)
    places = np.vstack([com, identity[3:6], identity[dofs]])
    C = np.block([[places, np.zeros_like(places)], [np.zeros_like(places), places @ rates]])
    weights = np.concatenate([cost.com, cost.trunk, cost.joints, cost.com_velocity, cost.trunk_rate, cost.joint_rates])
    matrix: Floats = C.T @ (weights[:, None] * C)
    return 0.5 * (matrix + matrix.T)

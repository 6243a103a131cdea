"""Programs of ``contact_qp`` for tests (random, and recorded from runs), and optimality conditions."""

import math
from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import count
from typing import Any, NamedTuple

import numpy as np
import qpsolvers

from biped import Body, Controller, Fall, Model, Observation, Push, Run, State, human, simulate, standing
from contact.arrays import Floats, Integers
from controllers.kernels import contact_qp
from controllers.kernels.whole_body import WholeBodyLaw
from controllers.whole_body import WholeBodyController
from kernelcache import routine

INPUTS = (
    "hessian", "gradient", "spread", "preferred", "base", "grasp", "load", "carries", "friction", "rows", "lower",
    "upper",
)  # fmt: skip

#: Function that is shown the observation, the law, and the joints' torques.
See = Callable[[Observation, WholeBodyLaw, Floats], object]


class Matrices(NamedTuple):
    """½ yᵀ P y − gᵀ y, E y = e, C y ≥ c, of the unknowns y that are not held at zero."""

    P: Floats
    g: Floats
    E: Floats
    e: Floats
    C: Floats
    c: Floats
    places: Integers  # of y among all unknowns


def matrices(qp: contact_qp.ContactQp, bounded: int) -> Matrices:
    """Return a program as matrices; its H must not be factored yet."""
    n, m = len(qp.gradient), len(qp.carries)
    size = n + 3 * m
    places = np.concatenate([np.arange(n), n + np.flatnonzero(np.repeat(qp.carries, 3))])
    P = np.zeros((size, size))
    P[:n, :n] = np.tril(qp.hessian) + np.tril(qp.hessian, -1).T
    P[n:, n:] = qp.spread[0] * np.eye(3 * m)
    g = np.concatenate([qp.gradient, qp.spread[0] * qp.preferred])
    pyramid = np.column_stack(
        [
            -np.array(contact_qp.COSINES),
            -np.array(contact_qp.SINES),
            np.full(contact_qp.SIDES, qp.friction[0] * contact_qp.INNER),
        ]
    )
    sides = np.zeros((contact_qp.SIDES * m, size))
    for point in range(m):
        sides[contact_qp.SIDES * point : contact_qp.SIDES * (point + 1), n + 3 * point : n + 3 * point + 3] = pyramid
    sides = sides[np.repeat(qp.carries, contact_qp.SIDES) == 1]
    rows, lower, upper = qp.rows[:bounded], qp.lower[:bounded], qp.upper[:bounded]
    low, high = lower > -np.inf, upper < np.inf
    C = np.vstack([sides, rows[low], -rows[high]])
    c = np.concatenate([np.zeros(len(sides)), lower[low], -upper[high]])
    E = np.hstack([qp.base, -qp.grasp])
    return Matrices(P[np.ix_(places, places)], g[places], E[:, places], qp.load.copy(), C[:, places], c, places)


class Kept(WholeBodyController):
    """Whole-body controller that keeps its law in ``kept``, with the program of the last tick."""

    kept: WholeBodyLaw

    def law(self, model: Model) -> WholeBodyLaw:
        object.__setattr__(self, "kept", super().law(model))
        return self.kept


class Watched(Controller):
    """Whole-body controller evaluated from Python; calls ``see`` every few ticks."""

    def __init__(self, see: See, every: int = 1, **settings: Any) -> None:
        self.asked, self.see = Kept(**settings), see
        self.period, self._every, self._ticks = self.asked.period, every, count()

    def torques(self, observation: Observation) -> Floats:
        torques = self.asked.torques(observation)
        if next(self._ticks) % self._every == 0:
            self.see(observation, self.asked.kept, torques)
        return torques


def copied(law: WholeBodyLaw) -> contact_qp.ContactQp:
    """Return a copy of the last tick's program, its H no longer factored."""
    own = law.qp._replace(**{name: getattr(law.qp, name).copy() for name in contact_qp.ContactQp._fields})
    factor = np.tril(own.hessian)
    own.hessian[:] = factor @ factor.T
    return own


@routine
def factor_and_solve(qp, bounded):
    contact_qp.factor_contact_qp(qp)
    return contact_qp.solve_contact_qp(qp, bounded)


def ours(qp: contact_qp.ContactQp, bounded: int) -> tuple[int, Floats]:
    kept = qp.hessian.copy()
    ended = factor_and_solve(qp, bounded)
    qp.hessian[:] = kept
    return int(ended), qp.unknown.copy()


#: What is asked of the libraries: quadprog takes no options, its end is exact to rounding.
OPTIONS: dict[str, dict[str, float]] = {
    "quadprog": {},
    "proxqp": {"eps_abs": 1e-10, "eps_rel": 0.0, "max_iter": 10000},
    "piqp": {"eps_abs": 1e-10, "eps_rel": 0.0},
}


def theirs(solver: str, said: Matrices) -> Floats | None:
    """Return a library's solution, or None.

    Unknowns are scaled to a curvature of one, since most libraries stop by residuals.
    """
    unit = 1.0 / np.sqrt(np.diag(said.P))
    P = unit[:, None] * said.P * unit
    problem = qpsolvers.Problem(P, -unit * said.g, -said.C * unit, -said.c, said.E * unit, said.e)
    found = qpsolvers.solve_problem(problem, solver=solver, **OPTIONS[solver])
    return unit * found.x if found.found else None


class Optimality(NamedTuple):
    """Violations of the Karush-Kuhn-Tucker conditions, each relative to its scale."""

    stationarity: float
    equality: float
    inequality: float
    complementarity: float
    sign: float

    @property
    def worst(self) -> float:
        return max(self)


def optimality(said: Matrices, y: Floats, multipliers: Floats, which: Floats) -> Optimality:
    """Return the conditions at y, with multipliers of E's rows and of the rows ``which`` of C."""
    count = len(said.e)
    slack = said.C @ y - said.c
    pull = said.E.T @ multipliers[:count] + said.C[which].T @ multipliers[count:]
    scale = max(abs(said.g).max(), abs(said.P @ y).max(), abs(pull).max(), 1.0)
    size = 1.0 + abs(y).max()
    return Optimality(
        stationarity=abs(said.P @ y - said.g - pull).max() / scale, equality=abs(said.E @ y - said.e).max() / size,
        inequality=max(-slack.min(initial=0.0), 0.0) / size, complementarity=abs(slack[which]).max(initial=0.0) / size,
        sign=max(-multipliers[count:].min(initial=0.0), 0.0) / scale,
    )  # fmt: skip


def own_multipliers(qp: contact_qp.ContactQp, bounded: int) -> tuple[Floats, np.ndarray]:
    """Return our solver's multipliers (E's rows, then active rows of C) and the active rows."""
    count, m = int(qp.counts[contact_qp.ACTIVE]), len(qp.carries)
    numbers = np.full(contact_qp.SIDES * m + 2 * bounded, -1)
    carrying = np.flatnonzero(np.repeat(qp.carries, contact_qp.SIDES))
    numbers[carrying] = np.arange(len(carrying))
    low, high = qp.lower[:bounded] > -np.inf, qp.upper[:bounded] < np.inf
    numbers[contact_qp.SIDES * m + 2 * np.flatnonzero(low)] = len(carrying) + np.arange(low.sum())
    numbers[contact_qp.SIDES * m + 2 * np.flatnonzero(high) + 1] = len(carrying) + low.sum() + np.arange(high.sum())
    which = numbers[qp.active[contact_qp.BASE : count]]
    assert (which >= 0).all()
    return qp.multiplier[:count].copy(), which


def drawn(random: np.random.Generator, tight: float, spread: float) -> tuple[contact_qp.ContactQp, int]:
    n, m, r = int(random.integers(6, 25)), int(random.integers(0, 9)), int(random.integers(0, 13))
    qp = contact_qp.new_contact_qp(n, m, r)
    root = random.normal(size=(n, n))
    qp.hessian[:] = root @ root.T + 1e-3 * np.eye(n)
    qp.gradient[:], qp.spread[0] = 10.0 * random.normal(size=n), spread
    qp.base[:], qp.load[:] = 5.0 * random.normal(size=(contact_qp.BASE, n)), 20.0 * random.normal(size=contact_qp.BASE)
    qp.load[2] -= 100.0
    for point in range(m):
        x, y, z = 0.3 * random.normal(size=3)
        here = slice(3 * point, 3 * point + 3)
        qp.grasp[:3, here], qp.grasp[3:, here] = np.eye(3), [[0, -z, y], [z, 0, -x], [-y, x, 0]]
    qp.carries[:], qp.friction[0] = random.random(m) < 0.8, random.uniform(0.2, 0.9)
    limits = tight * random.uniform(1.0, 3.0, size=r)
    qp.preferred[:] = 30.0 * random.normal(size=3 * m) * np.repeat(qp.carries, 3)
    qp.rows[:], qp.lower[:], qp.upper[:] = random.normal(size=qp.rows.shape), -limits, limits
    qp.upper[random.random(r) < 0.2] = np.inf
    return qp, r


#: [rad] Room that a joint has from where it stands, where its range of motion leaves it less: the thesis's human stands
#: with its ankles bent beyond that.
LEEWAY = 0.2


def limited(model: Model) -> Model:
    at = standing(model).q
    ranges = {
        joint: (min(lower, at[model.coordinate(joint)] - LEEWAY), max(upper, at[model.coordinate(joint)] + LEEWAY))
        for joint, lower, upper in model.ranges
    }
    return replace(model, bodies=tuple(_limited(body, ranges) for body in model.bodies))


def _limited(body: Body, ranges: dict[str, tuple[float, float]]) -> Body:
    if body.joint.name not in ranges:
        return body
    lower, upper = ranges[body.joint.name]
    return replace(body, joint=replace(body.joint, lower=lower, upper=upper, max_velocity=8.0, max_effort=120.0))


def on_one_leg(model: Model) -> State:
    q = standing(model).q.copy()
    for joint, turn in (("left_hip_pitch", 0.3), ("left_knee_pitch", -0.6), ("left_ankle_pitch", 0.05)):
        q[model.coordinate(joint)] += turn
    return State.at(model, q)


class Scene(NamedTuple):
    model: Model
    state: State
    angle: float
    impulse: float


def scenes(count: int) -> Iterator[Scene]:
    """Return pushes in all directions, from negligible to irresistible; alternately free, limited, on one leg."""
    free, bounded = human(), limited(human())
    starts = (
        (free, standing(free)), (bounded, standing(bounded)), (free, on_one_leg(free)), (bounded, on_one_leg(bounded)),
    )  # fmt: skip
    for k in range(count):
        model, state = starts[k % len(starts)]
        yield Scene(model, state, 2.4 * k, 4.0 + 56.0 * ((0.618 * k) % 1.0))


def run_of(scene: Scene, controller: Controller, duration: float) -> Run:
    direction = (-math.cos(scene.angle), -math.sin(scene.angle), 0.0)
    push = Push("trunk", direction, impulse=scene.impulse, start=0.02, duration=0.1)
    return simulate(
        scene.model, controller, state=scene.state, duration=duration, step=1e-3, disturbances=(push,), fall=Fall()
    )


def recorded(runs: int, duration: float, every: int = 1) -> Iterator[contact_qp.ContactQp]:
    for scene in scenes(runs):
        found: list[contact_qp.ContactQp] = []
        run_of(scene, Watched(keeping(found), every), duration)
        yield from found


def keeping(found: list[contact_qp.ContactQp]) -> See:
    return lambda _, law, __: found.append(copied(law))

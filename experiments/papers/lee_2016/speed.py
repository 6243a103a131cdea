"""Figure 3: computing time over the number of bodies, for each root finder."""

import time
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from biped.errors import IntegrationError
from biped.integrators import Integrator, Lee, LeeBroyden, LeeNewton, LeeRiqn, Midpoint, ScalableVariational
from biped.integrators.lee.kernels.broyden import new_broyden
from biped.integrators.lee.kernels.quasi_newton import Riqn
from biped.kernels.loop.closed_loop import Loop
from biped.kernels.state.method import Variational
from biped.kernels.state.simulation_state import ITERATIONS, RETRIED
from biped.kernels.state.status import OK
from biped.kernels.tree.tree import Tree
from biped.model import Model
from biped.runs.state import State
from biped.simulation.scene import Scene
from experiments.papers.criteria import LINEAR, stated, when, within_factor
from experiments.papers.figures import Curve, draw_growth, power
from experiments.papers.item import Finding, Kind, Outcome, Progress
from experiments.papers.lee_2016.kernels import EveryPair, OnMidpointRule, new_every_pair
from experiments.papers.lee_2016.runs import ASSUMPTIONS, STEP, lee_chain, random_start
from experiments.timing import interleaved, one_core, part, ratios, seconds
from experiments.visualization.look import style

SIZES, QUICK_SIZES = (2, 5, 10, 20, 50, 100, 200), (10, 100)
REPEATS, QUICK_REPEATS = 10, 2
STEPS, QUICK_STEPS = 1000, 50
#: Number of time steps for which times are shown, as in the paper.
SHOWN_STEPS = 10_000
#: Least number of bodies for slopes.
LONG = 20

SVI, NEWTON, BROYDEN = "SVI + Newton", "DRNEA + Newton", "DRNEA + Broyden"
SVI_BROYDEN, SVI_RIQN = "SVI + Broyden", "SVI + RIQN"
AUTHORS_SVI = "SVI + Newton, every pair"
RIQN, RIQN_IG1, RIQN_OURS = "DRNEA + RIQN", "DRNEA + RIQN, IG1", "DRNEA + RIQN, our guess"
OURS = "exact Newton in O(n) (ours)"
MIDPOINT = "SVI's equations, Newton in O(n) (ours)"


@dataclass(frozen=True)
class AuthorsSvi(ScalableVariational):
    """SVI as in the authors' program, with derivatives of each body by all coordinates and all pairs of them."""

    def _derivatives(self, wide: Tree) -> EveryPair:
        return new_every_pair(wide.parent.shape[0])


@dataclass(frozen=True)
class QuasiNewtonSvi(ScalableVariational):
    """SVI with a root finder of the paper instead of Newton's method."""

    broyden: bool = False

    def method(self, model: Model) -> Variational:
        finder = new_broyden(model.nv) if self.broyden else Riqn()
        return super().method(model)._replace(root_finder=OnMidpointRule(finder))


@dataclass(frozen=True)
class Way:
    """Method of the figure: integrator, exponent of n with which its cost grows, and colour."""

    integrator: Integrator
    power: int
    color: str


WAYS = {
    SVI: Way(ScalableVariational(guess="dynamics"), 3, style.PURPLE),
    SVI_BROYDEN: Way(QuasiNewtonSvi(guess="dynamics", broyden=True), 2, style.DARKER[1]),
    SVI_RIQN: Way(QuasiNewtonSvi(guess="dynamics"), 2, style.DARKER[0]),
    NEWTON: Way(LeeNewton(guess="dynamics"), 3, style.RED),
    BROYDEN: Way(LeeBroyden(guess="dynamics"), 2, style.ORANGE),
    RIQN: Way(LeeRiqn(guess="dynamics"), 1, style.BLUE),
    RIQN_IG1: Way(LeeRiqn(guess="current"), 1, style.BLACK),
    RIQN_OURS: Way(LeeRiqn(), 1, style.SKY),
    OURS: Way(Lee(), 1, style.GREEN),
    MIDPOINT: Way(Midpoint(), 1, style.GREY),
}
#: Method timed only for the factors that the paper prints, since its buffers grow with n³; not in a quick version.
PRINTED = {AUTHORS_SVI: Way(AuthorsSvi(guess="dynamics"), 3, style.PURPLE)}
PRINTED_SIZES = (10, 100)


class Cost(NamedTuple):
    """Cost of the time steps of a run."""

    seconds: float  # [s] processor time of a time step
    iterations: float  # mean number of iterations per time step
    retried: int  # number of time steps that were retried in parts


def cost_of(integrator: Integrator, start: State, steps: int) -> Cost:
    """Take ``steps`` steps of 1 ms from a copy of ``start``, and time them without the overhead of a run."""
    state = start.copy()
    unrecorded = (steps + 1) * STEP
    scene = Scene(state.model, state=state, step=STEP, integrator=integrator, record_every=unrecorded)
    world = scene.prepare(in_place=True).world
    loop = Loop(world, None)  # compiled or loaded before the clock starts
    reasons: list[int] = []
    taken = seconds(lambda: reasons.append(loop.rollout(steps)), time.process_time)
    if reasons != [OK]:
        raise IntegrationError(f"{integrator.name}: no solution of a step of {state.model.name} at {state.time:g} s")
    counts = state.arrays.counts
    return Cost(taken / steps, counts[ITERATIONS] / steps, int(counts[RETRIED]))


#: Costs of repeated runs, by method and number of bodies.
Costs = dict[tuple[str, int], list[Cost]]


def ways_at(bodies: int, quick: bool = False) -> dict[str, Way]:
    """Return the methods that are timed for a number of bodies."""
    return WAYS | PRINTED if bodies in PRINTED_SIZES and not quick else WAYS


def steps_of(way: Way, bodies: int, most: int) -> int:
    """Return the number of steps to time: fewer if they would take too long."""
    return min(most, max(10, most * 50 ** (way.power - 1) // bodies ** (way.power - 1)))


def produce(quick: bool, progress: Progress) -> Outcome:
    sizes, repeats, most = (QUICK_SIZES, QUICK_REPEATS, QUICK_STEPS) if quick else (SIZES, REPEATS, STEPS)
    costs: Costs = {}
    with one_core():
        for number, bodies in enumerate(sizes):
            start = random_start(lee_chain(bodies).with_gravity((0.0, 0.0, 0.0)))
            cases = {
                (name, bodies): partial(cost_of, way.integrator, start, steps_of(way, bodies, most))
                for name, way in ways_at(bodies, quick).items()
            }
            costs |= interleaved(cases, repeats, warm_up=False, progress=part(progress, number, len(sizes)))
    tables = {"Time and iterations": _table(costs, most), "Growth": _growth(costs, sizes)}
    return Outcome(_findings(costs, sizes), _assumptions(most, repeats), tables, {"speed": _draw(costs, sizes)})


def _assumptions(most: int, repeats: int) -> tuple[str, ...]:
    return (
        *ASSUMPTIONS,
        f"no gravity, as in the authors' program; instead of the paper's 10,000 steps, runs of {most} steps from the "
        f"same start, {repeats} of each method in turn; the median is shown, scaled to 10,000 steps; methods with full "
        "matrices take fewer steps if the chain is long (see the table)",
        "the paper's methods start from the guess IG3, ours from its extrapolation; RIQN is also timed from our guess, "
        "and from IG1, which gives the printed numbers of iterations (figure 4 (b)) and is nearest to the paper's RIQN",
        "SVI is the midpoint rule of Johnson and Murphey (2009) by their recursions, only for coordinates that move a "
        f"body, and each pair once; {AUTHORS_SVI!r} is for all bodies and all pairs, as in the authors' program",
        "Broyden's method starts each step from the inverse of the mass matrix",
        "times are processor times of the process, which exclude other processes",
    )


def median(costs: Costs, name: str, bodies: int) -> float:
    """Return the median time of a time step [s]."""
    return float(np.median([cost.seconds for cost in costs[name, bodies]]))


def ratio(costs: Costs, slow: str, fast: str, bodies: int) -> float:
    """Return the median ratio of the times of two methods that are run in turn."""
    slower, faster = ([cost.seconds for cost in costs[name, bodies]] for name in (slow, fast))
    return float(np.median(ratios(slower, faster)))


def slope(costs: Costs, name: str, sizes: tuple[int, ...]) -> float:
    """Return the exponent of the number of bodies with which the time grows, over the long chains."""
    return power(sizes, [median(costs, name, bodies) for bodies in sizes], LONG if len(sizes) > 2 else 0)


def _table(costs: Costs, most: int) -> pd.DataFrame:
    return pd.DataFrame([{
        "method": name, "bodies": bodies, "10,000 steps [s]": SHOWN_STEPS * median(costs, name, bodies),
        "a step [µs]": 1e6 * median(costs, name, bodies), "iterations a step": repeated[0].iterations,
        "steps in parts": repeated[0].retried, "steps timed at once": steps_of(ways_at(bodies)[name], bodies, most),
    } for (name, bodies), repeated in costs.items()])  # fmt: skip


def _growth(costs: Costs, sizes: tuple[int, ...]) -> pd.DataFrame:
    return pd.DataFrame({
        "method": list(WAYS), "power of n, a step": [slope(costs, name, sizes) for name in WAYS],
        "power of n, an evaluation and its correction": [evaluation_slope(costs, name, sizes) for name in WAYS],
    })  # fmt: skip


def evaluation_slope(costs: Costs, name: str, sizes: tuple[int, ...]) -> float:
    """Return ``slope`` of the time per evaluation of the residual: longer chains need more evaluations."""
    counts = {bodies: 1.0 + costs[name, bodies][0].iterations for bodies in sizes}
    fewer = {(name, n): [cost._replace(seconds=cost.seconds / counts[n]) for cost in costs[name, n]] for n in sizes}
    return slope(fewer, name, sizes)


def _findings(costs: Costs, sizes: tuple[int, ...]) -> tuple[Finding, ...]:
    return (
        _fastest(costs, sizes),
        _linear("RIQN", "O(n)", costs, RIQN, sizes),
        _linear("exact Newton (ours)", "not in the paper", costs, OURS, sizes, kind="ours"),
        _same_finder(costs, sizes),
        _increasingly(costs),
        *(
            _factor(f"DRNEA over {name}, both with Newton's method", costs, way, NEWTON, bodies, published)
            for bodies, published in zip(PRINTED_SIZES, (15.0, 32.0), strict=True)
            for name, way in (("SVI", SVI), ("SVI for every pair", AUTHORS_SVI))
            if (way, bodies) in costs
        ),
        _factor("RIQN over Newton's method, both with DRNEA", costs, NEWTON, RIQN, 10, 3.8),
        _factor("RIQN over Newton's method, both with DRNEA", costs, NEWTON, RIQN, 100, 53.0),
        _ours(costs, sizes, RIQN, "from IG3", _CHEAP),
        _ours(costs, sizes, RIQN_IG1, "from IG1", f"{_CHEAP}; IG1 costs nothing, while IG3 solves the dynamics"),
        _ours(costs, sizes, RIQN_OURS, "from our guess", _CHEAP),
        _few(costs, sizes),
    )


def _fastest(costs: Costs, sizes: tuple[int, ...]) -> Finding:
    methods = (SVI, SVI_BROYDEN, SVI_RIQN, NEWTON, BROYDEN)
    slower = [n for n in sizes if any(ratio(costs, other, RIQN, n) < 1.0 for other in methods)]
    fastest = "fastest at every size"
    ours = f"another method is faster at {', '.join(map(str, slower))} bodies" if slower else fastest
    note = "factoring the full matrix of a few bodies takes less time than RIQN's additional iterations"
    quantity = "RIQN with DRNEA against the paper's other methods"
    return stated(quantity, "the best performance", ours, when(fastest, not slower), why=note)


def _same_finder(costs: Costs, sizes: tuple[int, ...]) -> Finding:
    """State the factor by which DRNEA is faster than SVI with each of the paper's root finders."""
    pairs = {"Newton": (SVI, NEWTON), "Broyden": (SVI_BROYDEN, BROYDEN), "RIQN": (SVI_RIQN, RIQN)}
    factors_of = {finder: {n: ratio(costs, *pair, n) for n in sizes} for finder, pair in pairs.items()}
    text = "; ".join(f"{finder} {_by_size(factors)}" for finder, factors in factors_of.items())
    least = min(min(factors.values()) for factors in factors_of.values())
    return stated("DRNEA over SVI with the same root finder: times faster", "better performance", text,
                  when("above 1 with each at every size", least > 1.0), why=_LOOPS)  # fmt: skip


def _increasingly(costs: Costs) -> Finding:
    """State for which of the paper's two contributions the speedup grows more from 10 to 100 bodies."""
    first, last = PRINTED_SIZES
    impulse, drnea = (
        ratio(costs, *pair, last) / ratio(costs, *pair, first) for pair in ((NEWTON, RIQN), (SVI, NEWTON))
    )
    return stated(f"factors of RIQN over Newton's method and of DRNEA over SVI, {last} over {first} bodies",
                  "the impulse-based Jacobian is increasingly more effective: 13.9 and 2.1, derived: 53/3.8, 32/15",
                  f"{impulse:.1f} and {drnea:.1f}", when("first greater", impulse > drnea), why=_LOOPS)  # fmt: skip


def _linear(
    what: str, published: str, costs: Costs, name: str, sizes: tuple[int, ...], kind: Kind = "evidence"
) -> Finding:
    quantity, grown = f"growth of the time of an iteration, {what}: power of n", evaluation_slope(costs, name, sizes)
    note = "longer chains also need more iterations; the growth of the time of a whole step is in the table"
    return stated(quantity, published, grown, LINEAR, note, kind=kind)


def _factor(what: str, costs: Costs, slow: str, fast: str, bodies: int, published: float) -> Finding:
    quantity, ours = f"{what}, {bodies} bodies: times faster", ratio(costs, slow, fast, bodies)
    return stated(quantity, published, ours, within_factor(published, 2), why=_WHY.get(slow, _LOOPS))


_LOOPS = (
    "the authors compare implementations on DART's objects; here both are compiled loops over the same arrays, and our "
    "Newton's matrix has one 6 x 6 block per body"
)
_WHY = {
    SVI: "the authors' program evaluates SVI's derivatives of all bodies by all pairs of coordinates, for a long chain "
    "nine times as many as there are different nonzero ones; 'every pair' evaluates all of them",
    AUTHORS_SVI: f"{_LOOPS}; both evaluate the same derivatives, whose number grows with n³",
}


_CHEAP = (
    "both need one factorization per step; RIQN factors the mass matrix, which costs less than Newton's matrix, and at "
    "1 ms its additional iterations, without factorization, cost little"
)


def _ours(costs: Costs, sizes: tuple[int, ...], other: str, which: str, why: str) -> Finding:
    """State the factor by which exact Newton is faster than a variant of RIQN; ``why`` explains a low factor."""
    factors = {n: ratio(costs, other, OURS, n) for n in sizes}
    criterion = when("at least 2 at every size", min(factors.values()) >= 2.0)
    quantity = f"exact Newton in O(n) (ours) over RIQN {which}: times faster"
    return stated(quantity, "not in the paper", _by_size(factors), criterion, why=why, kind="ours")


def _by_size(values: dict[int, float]) -> str:
    return ", ".join(f"{value:.2f} at {n}" for n, value in values.items())


def _few(costs: Costs, sizes: tuple[int, ...]) -> Finding:
    means = {n: costs[OURS, n][0].iterations for n in sizes}
    criterion = when("mean of at most 3", max(means.values()) <= 3.0)
    return stated(
        "iterations per step, exact Newton in O(n) (ours)", "not in the paper", _by_size(means), criterion, kind="ours"
    )


def _draw(costs: Costs, sizes: tuple[int, ...]) -> Figure:
    curves = [
        Curve(
            sizes, [SHOWN_STEPS * median(costs, name, bodies) for bodies in sizes],
            f"{name}: $n^{{{slope(costs, name, sizes):.2f}}}$", way.color,
        )
        for name, way in WAYS.items()
    ]  # fmt: skip
    return draw_growth("A serial chain, h = 1 ms", "bodies", "time of 10,000 steps [s]", curves, (7.0, 4.4))

"""Claims of Wendlandt 1997 that no table or figure shows: sections 3.4, 4.2.4, 4.4 and 5.4, by measurements of ours."""

import time
from collections.abc import Iterable
from functools import partial

import numpy as np
import pandas as pd

from biped import dynamics
from biped.integrators import Integrator, Maximal, integrator_named
from biped.model import Model, chain
from biped.runs.run import Run
from biped.runs.state import State
from biped.simulation.simulate import simulate
from contact.arrays import Floats
from experiments.benchmarks.speed.chains import BEND, LENGTH, MASS, THICKNESS
from experiments.benchmarks.timing import seconds
from experiments.catalogue.parameters.parameter import Value
from experiments.catalogue.registry import experiment_named
from experiments.papers.criteria import LINEAR, below, near, stated, when
from experiments.papers.growth import medians, power
from experiments.papers.item import Finding, Item, Outcome, Progress, items_of
from experiments.papers.lee_2016.speed import cost_of
from experiments.papers.wendlandt_1997.experiment1 import NEAR
from experiments.papers.wendlandt_1997.simulated import run_of

#: Links of chains, and how often each is timed; those of the shortest chain, whose time is that of a call.
LINKS, QUICK_LINKS, REPEATS, QUICK_REPEATS, SHORTEST = (50, 100, 200), (50, 200), 9, 3, 1
CHAINS = "chains of hinges, turned askew, as in `biped bench`; the processor's time"


def _askew(links: int) -> tuple[Model, Floats]:
    model = chain(links, length=LENGTH, thickness=THICKNESS, mass=MASS).without_contacts()
    return model, np.full(links, BEND)


def forward(quick: bool, progress: Progress) -> Outcome:
    """Hold the recursive forward dynamics against a solver of the mass matrix, and time it over the links."""
    sizes, repeats = (QUICK_LINKS, QUICK_REPEATS) if quick else (LINKS, REPEATS)
    cases, apart = {}, []
    for links in (SHORTEST, *sizes):
        model, q = _askew(links)
        v, torque = 0.5 * q, np.cos(np.arange(links))
        found = dynamics.forward_dynamics(model, q, v, torque)
        bias = dynamics.inverse_dynamics(model, q, v, np.zeros(links))
        dense = np.linalg.solve(dynamics.mass_matrix(model, q), torque - bias)
        apart.append(float(np.abs(found - dense).max() / np.abs(dense).max()))
        cases[links] = partial(_time_of_call, partial(dynamics.forward_dynamics, model, q, v, torque))
    times = medians(cases, repeats, progress, warm_up=True)
    findings = (
        stated("power of the number of links, recursive forward dynamics", "linear-time",
               power(sizes, [times[links] - times[SHORTEST] for links in sizes]), LINEAR,
               "beyond what a call of one link takes"),
        stated("its accelerations less those by the mass matrix and LU decomposition, of the greatest",
               "solve the linear system involving the mass matrix", max(apart), below(1e-8)),
    )  # fmt: skip
    table = pd.DataFrame([{"links": links, "a call [µs]": 1e6 * taken} for links, taken in times.items()])
    return Outcome(findings, (CHAINS,), {"Forward dynamics": table})


def _time_of_call(call: partial[Floats], calls: int = 200) -> float:
    return seconds(lambda: [call() for _ in range(calls)], time.process_time) / calls


#: [s] steps whose errors give the order; [s] of the motion; and of the step whose derivatives are taken.
ORDER_STEPS, SPAN, LARGE = (4e-3, 2e-3, 1e-3), 0.2, 2e-2
INTEGRATORS = ("maximal", "recursive")


def multibody(quick: bool, progress: Progress) -> Outcome:
    """Measure what the thesis says of its multibody integrator."""
    sizes, repeats = (QUICK_LINKS, QUICK_REPEATS) if quick else (LINKS, REPEATS)
    cases = {(name, links): partial(_time_of_iteration, name, links) for links in sizes for name in INTEGRATORS}
    times = medians(cases, repeats, progress, warm_up=True)
    thesis, (strays, angular) = Maximal(tolerance=1e-13), _flight()
    findings = (
        *(stated(f"power of the number of links, an iteration, {name}", "linear-time",
                 power(sizes, [times[name, links] for links in sizes]), LINEAR) for name in INTEGRATORS),
        stated("power of the step that the error of a chain's angles falls with", "second-order accurate",
               order(thesis), near(2, 0.05)),
        stated("change of the symplectic form by a step, of one", "symplectic", symplectic_defect(thesis), below(1e-6)),
        stated("centre of mass of a human in flight, off a straight line at its momentum, at most [m]", "momentum",
               strays, below(1e-9)),
        stated("change of its angular momentum about the origin, of its size", "momentum", angular, below(1e-9)),
    )  # fmt: skip
    assumed = (
        CHAINS,
        "maximal is (5.11) with its joint constraints, solved along the tree; recursive takes the same steps in the "
        "joints' coordinates (theorem 2.1). Both are 2-step methods in their configurations: the state's momentum is "
        "the discrete one of the last two",
    )
    table = pd.DataFrame(
        [{"integrator": name, "links": n, "an iteration [µs]": 1e6 * t} for (name, n), t in times.items()]
    )
    return Outcome(findings, assumed, {"Iterations": table})


def _time_of_iteration(name: str, links: int) -> float:
    """Return the processor's time of an evaluation and its correction [s], of the first steps of a chain."""
    cost = cost_of(integrator_named(name), State.at(*_askew(links)), 20_000 // links)
    return cost.seconds / (1.0 + cost.iterations)


def order(integrator: Integrator) -> float:
    """Return the order of an integrator on a chain, from three steps, each half of the one before."""
    model, q = _askew(3)
    ends = [
        simulate(model, state=State.at(model, q), step=h, duration=SPAN, integrator=integrator).state.q
        for h in ORDER_STEPS
    ]
    return float(np.log2(np.abs(ends[0] - ends[1]).max() / np.abs(ends[1] - ends[2]).max()))


def _flight() -> tuple[float, float]:
    """Return how far the centre of mass is off its line in flight [m], and the relative change of angular momentum."""
    changes: dict[str, Value] = {"integrator.name": "maximal", "run.duration": 1.0}
    run, start = experiment_named("tumble").run(changes), experiment_named("tumble").build(changes).state
    places = run.frame[["com_x", "com_y", "com_z"]].to_numpy()
    velocity = start.momentum[:3] / start.model.total_mass
    straight = places[0] + run.frame["time"].to_numpy()[:, None] * velocity
    before, after = (s.momentum[3:6] + np.cross(s.q[:3], s.momentum[:3]) for s in (start, run.state))
    change = np.linalg.norm(after - before) / np.linalg.norm(before)
    return float(np.abs(places - straight).max()), float(change)


def symplectic_defect(integrator: Integrator) -> float:
    """Return the greatest entry of DᵀΩD − Ω, for D of a step of a double pendulum in (q, p), by central differences."""
    model, size = chain(2).without_contacts(), 1e-5
    at = np.array([0.4, 1.1, 0.7, -0.5])

    def after(y: Floats) -> Floats:
        state = State.at(model, y[:2], np.linalg.solve(dynamics.mass_matrix(model, y[:2]), y[2:]))
        end = simulate(model, state=state, step=LARGE, duration=LARGE, integrator=integrator).state
        return np.concatenate([end.q, end.momentum])

    D = np.array([(after(at + size * e) - after(at - size * e)) / (2.0 * size) for e in np.eye(4)]).T
    omega = np.kron([[0.0, 1.0], [-1.0, 0.0]], np.eye(2))
    return float(np.abs(D.T @ omega @ D - omega).max())


#: [1/s²] and [1/s] of the orientation, as printed; random starts, [rad/s] the standard deviation of their rates.
STIFFNESS, DAMPING = 50.0, 7.07
STARTS, QUICK_STARTS, RATE = 1000, 200, 5.0
#: [s] of the error dynamics, whose slowest rate is 3.5 1/s, and its step.
SETTLING, SETTLING_STEP = 10.0, 2e-3


def orientations(quick: bool, progress: Progress) -> Outcome:
    """Let the error dynamics (4.26) go from random starts, over all rotations."""
    starts, rng = QUICK_STARTS if quick else STARTS, np.random.default_rng(1997)
    y = np.hstack([rng.normal(size=(starts, 4)), RATE * rng.normal(size=(starts, 3))])
    y[:, :4] /= np.linalg.norm(y[:, :4], axis=1)[:, None]
    first = 2.0 * np.degrees(np.arccos(np.abs(y[:, 0])))
    left = np.linalg.norm(settled(y, STIFFNESS, progress)[:, 1:4], axis=1)
    came = int(np.count_nonzero(left < 1e-9))
    findings = (
        stated(f"starts from which the orientation error is below 1e-9 after {SETTLING:g} s",
               "many initial conditions: the error has always converged to zero", f"{came} of {starts}",
               when("all", came == starts)),
    )  # fmt: skip
    assumed = (
        f"errors drawn evenly over all rotations, up to {first.max():.1f}°, rates with {RATE:g} rad/s of standard "
        "deviation about each axis, by Runge and Kutta's method; (4.26) is the same for every desired trajectory",
    )
    return Outcome(findings, assumed)


def settled(y: Floats, stiffness: float, progress: Progress = lambda _: None) -> Floats:
    """Return the errors (4.26) after ``SETTLING``: rows of a quaternion, scalar first, and an angular velocity."""

    def rates(y: Floats) -> Floats:
        s, v, w = y[:, :1], y[:, 1:4], y[:, 4:]
        turning = np.hstack([-np.sum(v * w, axis=1, keepdims=True), s * w + np.cross(w, v)])
        return np.hstack([0.5 * turning, -stiffness * np.where(s < 0.0, -v, v) - DAMPING * w])

    h = SETTLING_STEP
    for k in range(round(SETTLING / h)):
        a = rates(y)
        b = rates(y + 0.5 * h * a)
        c = rates(y + 0.5 * h * b)
        y = y + h / 6.0 * (a + 2.0 * b + 2.0 * c + rates(y + h * c))
        progress((k + 1) * h / SETTLING)
    return y


#: Part by which parameters are changed.
SMALL = 0.01
#: Parameters that are changed alike.
CHANGED = (
    ("controller.kp_position",), ("controller.kd_position",), ("controller.kp_orientation",),
    ("controller.kd_orientation",), ("floor.mu_s", "floor.mu_d"), ("floor.k_n",), ("floor.b_n",),
)  # fmt: skip
#: [°] of turns and [m] of ways of the set point, and [s] in which it moves there.
TURN, WAY, RISE = 30.0, 0.05, 1.0
#: [m/s] of blocks that are faster than the printed 4.5, by so much each.
FASTER = (4.75, 5.0, 5.25, 5.5, 9.0)
#: The set point: upright, until it goes to another place after a second, and stays there.
SET_POINT: dict[str, Value] = {
    "controller.target_orientation": (1.0, 0.0, 0.0, 0.0), "controller.motion.shape": "step",
    "controller.motion.start": 1.0, "controller.motion.rise": RISE, "controller.motion.hold": 100.0, "run.duration": 5.0,
}  # fmt: skip


def summary(quick: bool, progress: Progress) -> Outcome:  # noqa: ARG001 - runs take a tenth of a second
    """Measure what section 4.4 says of the controller as a whole."""
    changes = {"+".join(names): sensitivity(names) for names in CHANGED}
    progress(0.4)
    turns = {f"{sign * TURN:+g}° about {'xyz'[axis]}": _turned(axis, sign) for axis in range(3) for sign in (1.0, -1.0)}
    ways = {f"{sign * WAY:+g} m along {'xyz'[axis]}": _moved(axis, sign) for axis in range(3) for sign in (1.0, -1.0)}
    progress(0.8)
    block = experiment_named("thrown-block")
    verdicts = {speed: block.run({"block.velocity": (-speed, 0.0, 0.2)}).summary["verdict"] for speed in FASTER}
    too_fast = [speed for speed, verdict in verdicts.items() if verdict != "recovered"]
    findings = (
        stated(f"greatest change of the trunk's path by {SMALL:.0%} of a parameter, of its range, over that part",
               "a sensitivity to small changes in the parameters was not observed", max(changes.values()),
               below(1, "below 1: less than in proportion")),
        _region(f"set points it comes to, turned by {TURN:g}°", turns),
        _region(f"set points it comes to, moved by {100 * WAY:g} cm in a second", ways),
        stated("block that is twice as fast, 9 m/s", "can not recover from a projectile that is too fast",
               verdicts[9.0], when("it does not recover", 9.0 in too_fast)),
        stated("slowest block that it does not recover from, of some [m/s]", "above 4.5", min(too_fast, default=np.inf),
               near(5.25, 0.25, "5 … 5.5, as by `biped block-speed`"), kind="ours"),
    )  # fmt: skip
    assumed = (
        f"sensitivity: both experiments, all of {', '.join(changes)} alone; `biped sensitivity` does it over ranges",
        f"operating region: experiment 1's start, upright, the set point turned or moved from (−1, 0, 110) cm within "
        f"{RISE:g} s; how large is large, is ours. Over gains: `biped stability-map`",
    )
    table = pd.DataFrame({"parameter": list(changes), "change of the path over its own": list(changes.values())})
    rows = pd.DataFrame([{"set point": name, "verdict": run.summary["verdict"], "reason": run.summary["reason"]}
                         for name, run in (turns | ways).items()])  # fmt: skip
    return Outcome(findings, assumed, {"Sensitivity": table, "Set points": rows})


def sensitivity(names: Iterable[str]) -> float:
    """Return the greatest change of the trunk's path, of its range, over the part that parameters are changed by."""
    worst = 0.0
    for experiment in ("stand-tilted", "thrown-block"):
        chosen, base = experiment_named(experiment), run_of(experiment)
        values = chosen.values({}).as_json()
        larger = {name: (np.asarray(values[name]) * (1.0 + SMALL)).tolist() for name in names}
        path, other = (run.frame[["body_x", "body_y", "body_z"]].to_numpy() for run in (base, chosen.run(larger)))
        change = np.linalg.norm(other - path, axis=1).max() / np.linalg.norm(np.ptp(path, axis=0))
        worst = max(worst, float(change) / SMALL)
    return worst


def _turned(axis: int, sign: float) -> Run:
    turn = [0.0, 0.0, 0.0]
    turn[axis] = sign * float(np.radians(TURN))
    return _led({"controller.motion.turn": turn})


def _moved(axis: int, sign: float) -> Run:
    way = [0.0, 0.0, 0.0]
    way[axis] = sign * WAY
    return _led({"controller.motion.displacement": way})


def _led(changes: dict[str, Value]) -> Run:
    return experiment_named("stand-tilted").run(SET_POINT | changes)


def _region(quantity: str, runs: dict[str, Run]) -> Finding:
    came = {name for name, run in runs.items() if run.summary["verdict"] == "recovered"
            and run.summary["position_error"] < NEAR}  # fmt: skip
    others = ", ".join(f"{name} ({runs[name].summary['reason']})" for name in runs if name not in came)
    return stated(quantity, "a large operating region", f"{len(came)} of {len(runs)}",
                  when("all", len(came) == len(runs)), why=f"not {others}")  # fmt: skip


#: Name, title, place in the thesis, what recomputes it.
ITEMS: tuple[Item, ...] = items_of(
    "Wendlandt 1997",
    (
        ("section-3.4", "recursive forward dynamics", "section 3.4", forward),
        ("section-4.2.4", "convergence of the orientation error", "section 4.2.4, (4.26)", orientations),
        ("section-4.4", "the balancing controller as a whole", "section 4.4", summary),
        ("section-5.4", "the multibody integrator", "sections 5, 5.4 and 5.5", multibody),
    ),
)

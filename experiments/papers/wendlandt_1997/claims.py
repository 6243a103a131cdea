"""Claims of Wendlandt 1997 in words (3.4, 4.2.4, 4.4, 5.4), and possible causes of differences in experiments 1, 2."""

from functools import partial

import numpy as np
import pandas as pd
from scipy.integrate import solve_ivp

from biped.derivatives.linearization import linearize
from biped.integrators import Integrator, Maximal, integrator_named
from biped.model import chain
from biped.runs.run import Run
from biped.runs.state import State
from biped.simulation.scene import Scene
from biped.simulation.simulate import simulate
from contact.arrays import Floats
from experiments.catalogue.parameters.parameter import Value
from experiments.catalogue.registry import experiment_named
from experiments.papers.criteria import LINEAR, below, near, stated, when
from experiments.papers.figures import medians, power
from experiments.papers.item import Finding, Outcome, Progress, items_of
from experiments.papers.lee_2016.speed import cost_of
from experiments.papers.wendlandt_1997 import experiment1, experiment2
from experiments.papers.wendlandt_1997.simulated import run_of

#: Edges [m] of blocks of 1.8 kg other than the cube; rigid floor with the restitution of the thesis; names of times.
BLOCKS = ((0.01, 0.3, 0.3), (0.03, 0.245, 0.245), (0.03, 0.1, 0.1), (0.03, 0.4, 0.05), (0.06, 0.17, 0.17))
RIGID: dict[str, Value] = {"integrator.name": "rigid", "integrator.restitution": 0.2}
TIMES = ["hit", "left heel up", "left heel down", "right heel up", "right heel down"]


def unexplained(quick: bool, progress: Progress) -> Outcome:  # noqa: ARG001 - runs take a third of a second
    thrown, tilted = (experiment_named(name).run for name in ("thrown-block", "stand-tilted"))
    stays = np.isinf(experiment2.rises(tilted(RIGID), "left_toes"))
    progress(0.4)
    runs = {"springs, cube": run_of("thrown-block"), "rigid floor, cube": thrown(RIGID)}
    runs |= {f"springs, {edges} m": thrown({"block.size": edges}) for edges in BLOCKS}
    rows = pd.DataFrame([experiment2.disturbances(run) for run in runs.values()], columns=TIMES)
    what, ours = "front of the left foot on a rigid floor, experiment 1", "stays down" if stays else "rises"
    first = stated(what, "rises at about 0.18 s", ours, when("stays down", stays), kind="ours")
    rows.insert(0, "floor and block", list(runs))
    return Outcome((first, *compared(rows)), ("rigid floor: integrator `rigid`",), {"Times of experiment 2 [s]": rows})


def compared(rows: pd.DataFrame) -> tuple[Finding, ...]:
    """State which differences of experiment 2 are explained by the floor or by the size of the block."""
    hits, delay = rows["hit"], rows[["left heel up", "right heel up"]].max(axis=1) - rows["hit"]
    left = int((rows["left heel down"] < rows["right heel down"]).sum())
    return (
        stated("longest time from the hit to a heel's rise, all floors and blocks [s]", "0.05, derived: 0.13 − 0.08",
               float(delay.max()), below(0.04, "below 0.04: no floor or block explains it"), kind="ours"),
        stated("foot that lands first, all floors and blocks", "right", f"left in {left} of {len(rows)}",
               when("left in all: no floor or block explains it", left == len(rows)), kind="ours"),
        stated("times of the hit, all blocks [s]", "about 0.08", f"{hits.min():.3f} … {hits.max():.3f}",
               when("0.08 is among them: the size explains it", hits.min() < 0.08 < hits.max()), kind="ours"),
    )  # fmt: skip


#: Printed gains [1/s²], [1/s]; duration [s] of the error dynamics, with a slowest rate of 3.5/s; numbers of starts.
STIFFNESS, DAMPING, SETTLING, STARTS, QUICK_STARTS = 50.0, 7.07, 10.0, 1000, 200


def orientations(quick: bool, progress: Progress) -> Outcome:
    starts, rng = QUICK_STARTS if quick else STARTS, np.random.default_rng(1997)
    y = np.hstack([rng.normal(size=(starts, 4)), 5.0 * rng.normal(size=(starts, 3))])
    y[:, :4] /= np.linalg.norm(y[:, :4], axis=1)[:, None]
    came = int(np.count_nonzero(settled(y, STIFFNESS) < 1e-6))
    progress(1.0)
    what, claim = f"starts with an orientation error below 1e-6 after {SETTLING:g} s", "has always converged to zero"
    finding = stated(what, claim, f"{came} of {starts}", when("all", came == starts))
    return Outcome((finding,), ("(4.26) from random rotations and rates (standard deviation 5 rad/s)",))


def settled(y: Floats, stiffness: float) -> Floats:
    """Return the norms of errors (4.26) after ``SETTLING``, from rows of a quaternion and an angular velocity."""

    def rates(_: float, flat: Floats) -> Floats:
        s, v, w = np.split(flat.reshape(y.shape), (1, 4), axis=1)
        turning = 0.5 * np.hstack([-np.sum(v * w, axis=1, keepdims=True), s * w + np.cross(w, v)])
        return np.hstack([turning, -stiffness * np.where(s < 0.0, -v, v) - DAMPING * w]).ravel()

    end = solve_ivp(rates, (0.0, SETTLING), y.ravel(), rtol=1e-8, atol=1e-10).y[:, -1]
    return np.asarray(np.linalg.norm(end.reshape(y.shape)[:, 1:4], axis=1))


#: Parameters that are changed by 1 %; set point: upright, then moved aside from 1 to 2 s.
CHANGED = (
    *(f"controller.{k}_{what}" for k in ("kp", "kd") for what in ("position", "orientation")),
    "floor.k_n",
    "floor.b_n",
)
ASIDE: dict[str, Value] = {"controller.target_orientation": (1.0, 0.0, 0.0, 0.0), "controller.motion.shape": "step",
                           "controller.motion.rise": 1.0, "controller.motion.start": 1.0,
                           "controller.motion.hold": 9.0, "run.duration": 5.0}  # fmt: skip


def controller(quick: bool, progress: Progress) -> Outcome:  # noqa: ARG001 - runs take a tenth of a second
    worst, fast = max(map(sensitivity, CHANGED)), {"block.velocity": (-9.0, 0.0, 0.2)}
    progress(0.5)
    verdict = experiment_named("thrown-block").run(fast).summary["verdict"]
    findings = (
        stated("largest change of the trunk's path / its range / relative change of a parameter (1 %)",
               "a sensitivity to small changes in the parameters was not observed", worst, below(1)),
        region("set points it comes to, turned by 30°", _led("turn", float(np.radians(30.0)))),
        region("set points it comes to, moved by 5 cm in a second", _led("displacement", 0.05)),
        stated("verdict with a block of 9 m/s instead of 4.5", "can not recover if it is too fast", verdict,
               when("it does not recover", verdict != "recovered"), "`biped block-speed` finds the fastest block"),
    )  # fmt: skip
    assumed = (
        "sensitivity: experiment 2; each gain, and the floor's stiffness and damping. See also `biped sensitivity`",
        "operating region: from upright at (−1, 0, 110) cm, in both directions along and about each axis; the size of "
        "a large region is not printed. For gains, see `biped stability-map`",
    )
    return Outcome(findings, assumed)


def sensitivity(name: str) -> float:
    """Return the largest change of the trunk's path / its range / relative change of a parameter."""
    block = experiment_named("thrown-block")
    changed = block.run({name: (1.01 * np.asarray(block.values({}).as_json()[name])).tolist()})
    path, other = (run.frame[["body_x", "body_y", "body_z"]].to_numpy() for run in (run_of("thrown-block"), changed))
    return float(np.linalg.norm(other - path, axis=1).max() / np.linalg.norm(np.ptp(path, axis=0)) / 0.01)


def _led(motion: str, size: float) -> dict[str, Run]:
    ways = dict(zip(("+x", "+y", "+z", "−x", "−y", "−z"), (*np.eye(3), *-np.eye(3)), strict=True))
    led = experiment_named("stand-tilted").run
    return {way: led(ASIDE | {f"controller.motion.{motion}": (size * row).tolist()}) for way, row in ways.items()}


def region(quantity: str, runs: dict[str, Run]) -> Finding:
    """Return the finding on how many set points the human reaches; ``runs`` has the run of each set point by name."""
    missed = [f"{name}: {run.summary['reason']}" for name, run in runs.items()
              if run.summary["verdict"] != "recovered" or run.summary["position_error"] > experiment1.NEAR]  # fmt: skip
    came = f"{len(runs) - len(missed)} of {len(runs)}"
    return stated(quantity, "a large operating region", came, when("all", not missed), why=f"not {', '.join(missed)}")


#: Numbers of links, numbers of repeats, and timed integrators: one forward dynamics per step, and those of 5.4.
LINKS, QUICK_LINKS, REPEATS, QUICK_REPEATS = (50, 100, 200), (50, 200), 9, 3
TIMED = ("semi-implicit-euler", "maximal", "recursive")


def _askew(links: int) -> State:
    return State.at(chain(links, length=0.03).without_contacts(), np.full(links, 0.2), np.full(links, 0.2))


def multibody(quick: bool, progress: Progress) -> Outcome:
    sizes, repeats = (QUICK_LINKS, QUICK_REPEATS) if quick else (LINKS, REPEATS)
    cases = {(name, n): partial(_iteration, name, n) for name in TIMED for n in sizes}
    times = medians(cases, repeats, progress, warm_up=True)
    thesis, start = Maximal(tolerance=1e-13), _askew(2)
    step = linearize(Scene(start.model, state=start, step=0.02, integrator=thesis)).A
    tumble = experiment_named("tumble").run({"integrator.name": "maximal", "run.duration": 1.0}).summary
    findings = (
        *(stated(f"power of the number of links, an iteration, {name}", "linear-time",
                 power(sizes, [times[name, n] for n in sizes]), LINEAR) for name in TIMED),
        stated("power of the step with which the error falls", "second-order", order(thesis), near(2, 0.05)),
        stated("change of the symplectic form by a step", "symplectic", symplectic_defect(step), below(1e-9)),
        stated("change of a human's angular momentum in flight, with moving joints [N·m·s]", "momentum",
               tumble["angular_momentum_defect"], below(1e-9)),
    )  # fmt: skip
    assumed = (
        "bent chains of hinges. A step of semi-implicit Euler is one forward dynamics (algorithm 3.3); maximal is "
        "(5.11), solved along the tree; recursive takes the same steps in joint coordinates (theorem 2.1)",
        "two-step form: the momentum of the state is the discrete momentum of the last two configurations",
    )
    return Outcome(findings, assumed)


def _iteration(name: str, links: int) -> float:
    """Return the processor time [s] of an evaluation of the residual and its correction."""
    cost = cost_of(integrator_named(name), _askew(links), 20_000 // links)
    return cost.seconds / (1.0 + cost.iterations)


def order(integrator: Integrator) -> float:
    """Return the order of an integrator on a chain, from runs with three time steps, each half of the one before."""
    start, steps = _askew(3), (4e-3, 2e-3, 1e-3)
    run = partial(simulate, start.model, state=start, duration=0.2, integrator=integrator)
    coarse, middle, fine = (run(step=h).state.q for h in steps)
    return float(np.log2(np.abs(coarse - middle).max() / np.abs(middle - fine).max()))


def symplectic_defect(D: Floats) -> float:
    """Return the largest entry of DᵀΩD − Ω, for the derivative D of a map of (q, p)."""
    omega = np.kron([[0.0, 1.0], [-1.0, 0.0]], np.eye(len(D) // 2))
    return float(np.abs(D.T @ omega @ D - omega).max())


_ROWS = (
    ("other-floors-and-blocks", "experiments 1 and 2 with other floors and blocks", "section 4.3", unexplained),
    ("section-4.2.4", "convergence of the orientation error", "section 4.2.4, (4.26)", orientations),
    ("section-4.4", "the balancing controller as a whole", "section 4.4", controller),
    ("section-5.4", "forward dynamics and multibody integrator", "sections 3.4, 5.4 and 5.5", multibody),
)
ITEMS = items_of("Wendlandt 1997", _ROWS)

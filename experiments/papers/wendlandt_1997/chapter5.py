"""Section 5.3 of Wendlandt 1997: figures 5.3 to 5.6, of a box that is thrown along the floor."""

from dataclasses import replace
from functools import partial

import numpy as np

from biped.runs.run import Run
from contact import ContactState
from experiments.catalogue.box_drop import FRICTION
from experiments.papers.criteria import above, stated, when
from experiments.papers.item import Finding, Item
from experiments.papers.wendlandt_1997.friction_search import FACTS, Fact, Motion
from experiments.papers.wendlandt_1997.simulated import simulated_figure

#: By kind of figure: its title, and the facts that the text states about it.
_FIGURES: dict[str, tuple[str, tuple[str, ...]]] = {
    "centre-of-mass": ("Center of Mass", ("first touch", "flight", "y increases", "rest")),
    "quaternion": ("Quaternion Orientation", ("flip",)),
    "friction-states": (
        "Friction States", ("vertex 1", "vertex 2", "vertices 3, 4", "vertices 5–8"),
    ),
    "newton-iterations": ("Number of Newton-Raphson Iterations", ("Newton",)),
}  # fmt: skip
_ASSUMPTIONS = (
    f"Friction: the thesis prints no coefficient; {FRICTION:g}, static and dynamic, is in the only interval in which "
    "all of these statements hold (biped reproduce wendlandt-1997 friction).",
    "The quaternion at the start is normalized.",
)

#: Facts of the motion before the first contact, which do not depend on friction.
_BEFORE = ("first touch", "flight")
_CHOSEN = f"the friction, {FRICTION:g}, is in the middle of the interval in which all facts hold"


def _compare(kind: str, run: Run) -> tuple[Finding, ...]:
    motion = Motion(run)
    findings = [_judged(fact, motion) for name in _FIGURES[kind][1] for fact in FACTS if fact.name == name]
    if kind == "centre-of-mass":
        findings.append(_penetration(run))
    if kind == "newton-iterations":
        findings.append(_iterations(motion))
    return tuple(findings)


def _judged(fact: Fact, motion: Motion) -> Finding:
    finding = stated(fact.name, fact.statement, fact.measured(motion), when("the statement holds", fact.holds(motion)))
    return finding if fact.name in _BEFORE else replace(finding, note=_CHOSEN, kind="chosen")


def _penetration(run: Run) -> Finding:
    depth = 0.1 - float(run.frame["body_z"].iloc[-1])
    return stated("penetration at the equilibrium [mm]", "there is one", 1e3 * depth, above(0))


def _iterations(motion: Motion) -> Finding:
    """State whether the step with the most iterations is in the first sliding of vertex 1."""
    iterations, slides = motion.run.frame["newton_iterations"].to_numpy(), motion.states[0] == ContactState.SLIDING
    begin = int(np.argmax(slides))
    end = begin + int(np.argmin(slides[begin:]))
    at, sliding = int(np.argmax(iterations)), motion.time[[begin, end]]
    return stated("time of the most iterations [s]", "during the initial sliding of vertex 1", float(motion.time[at]),
                  when(f"from {sliding[0]:.3f} to {sliding[1]:.3f} s, the time of the sliding here", begin <= at < end),
                  why=f"while vertex 1 slides, at most {iterations[begin:end].max()} are taken; the reason is not "
                  "known: the thesis prints neither its first guess nor its tolerance")  # fmt: skip


ITEMS: tuple[Item, ...] = tuple(
    simulated_figure(
        "box-drop", kind, f"{what} for the Contact Simulation", "Wendlandt 1997, section 5.3", partial(_compare, kind),
        _ASSUMPTIONS,
    )
    for kind, (what, _) in _FIGURES.items()
)  # fmt: skip

"""Section 5.3 of Wendlandt 1997: the figures of a box that is thrown along the floor, 5.3 to 5.6."""

from dataclasses import replace
from functools import partial

from biped.runs.run import Run
from experiments.catalogue.box_drop import FRICTION
from experiments.papers.criteria import stated, when
from experiments.papers.item import Finding, Item
from experiments.papers.wendlandt_1997.friction_search import FACTS, Fact, Motion
from experiments.papers.wendlandt_1997.simulated import simulated_figure

#: [kg], [m/s²] and [N/m] as printed.
_WEIGHT, _STIFFNESS = 70.0 * 9.81, 75_000.0
#: By the kind of figure: what it shows, and the facts that the text tells about it.
_FIGURES: dict[str, tuple[str, tuple[str, ...]]] = {
    "centre-of-mass": ("Center of Mass", ("first touch", "flight", "y increases", "rest")),
    "quaternion": ("Quaternion Orientation", ("flip",)),
    "friction-states": (
        "Friction States", ("first touch", "vertex 1", "vertex 2", "vertices 3, 4", "vertices 5–8"),
    ),
    "newton-iterations": ("Number of Newton-Raphson Iterations", ("Newton",)),
}  # fmt: skip
_ASSUMPTIONS = (
    f"Friction: the thesis prints no coefficient; {FRICTION:g}, static and dynamic, is in the one interval in which "
    "all of these statements hold (biped search-friction).",
    "The orientation at the start is made unit.",
)

#: Facts of the motion before anything touches, which has no friction.
_BEFORE = ("first touch", "flight")
_CHOSEN = f"friction {FRICTION:g} is in the middle of the interval in which this and the others hold"


def _compare(kind: str, run: Run) -> tuple[Finding, ...]:
    motion = Motion(run)
    findings = [_found(fact, motion) for name in _FIGURES[kind][1] for fact in FACTS if fact.name == name]
    if kind == "centre-of-mass":
        findings.append(_penetration(run))
    return tuple(findings)


def _found(fact: Fact, motion: Motion) -> Finding:
    finding = stated(fact.name, fact.statement, fact.measured(motion), when("it is so", fact.holds(motion)))
    return finding if fact.name in _BEFORE else replace(finding, note=_CHOSEN, kind="chosen")


def _penetration(run: Run) -> Finding:
    depth = 0.1 - float(run.frame["body_z"].iloc[-1])
    expected = _WEIGHT / (4.0 * _STIFFNESS)
    return stated("penetration at the equilibrium [mm]", "there is one", 1e3 * depth,
                  when(f"weight over four springs, {1e3 * expected:.4g} mm, within 0.1%",
                       abs(depth - expected) < 1e-3 * expected))  # fmt: skip


ITEMS: tuple[Item, ...] = tuple(
    simulated_figure(
        "box-drop", kind, f"{what} for the Contact Simulation", "Wendlandt 1997, section 5.3", partial(_compare, kind),
        _ASSUMPTIONS,
    )
    for kind, (what, _) in _FIGURES.items()
)  # fmt: skip

"""Figures 8a and 9a: cost of a step over the number of links, compared with minimal coordinates and MuJoCo's loops."""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple
from xml.etree.ElementTree import Element, SubElement, tostring

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from biped.inputs.extras import has, need
from biped.integrators import Integrator, LeeRiqn, Recursive
from biped.model import Body, Joint, Model, box_inertia, revolute, spherical
from biped.runs.run import Run
from biped.runs.state import State
from biped.simulation.simulate import simulate
from contact.arrays import Floats
from experiments.papers.bruedigam_2024.kernels import Unfloored
from experiments.papers.criteria import LINEAR, above, at_most, below, stated, within_factor
from experiments.papers.figures import Curve, draw_growth, medians, power, step_seconds
from experiments.papers.item import Finding, Outcome, Progress
from experiments.visualization.look import style
from formulations.assembly import Assembly, Placement
from formulations.assembly.examples import THICKNESS, four_bar_chain, pendulum

#: Time step [s].
STEP = 0.01
#: Initial angle [rad] of a pendulum's first joint, about x; other joints are straight.
START = math.pi / 4.0


@dataclass(frozen=True)
class UnflooredRiqn(LeeRiqn):
    """Integrator of Lee et al. 2016 whose tolerance is not raised to the rounding error, as in the paper.

    A step that does not reach the tolerance fails.
    """

    def _finder(self, model: Model) -> Unfloored:
        return Unfloored(super()._finder(model))


def pendulum_tree(links: int, kind: str = "revolute") -> Model:
    """Return the pendulum of ``assembly.examples`` as a model: links of 1 m and 1 kg, joints of one kind."""
    inertia = box_inertia(1.0, (THICKNESS, THICKNESS, 1.0))
    bodies = [
        Body(f"link_{k}", 1.0, inertia, (0.0, 0.0, -0.5), _joint(kind, k), parent=f"link_{k - 1}" if k > 1 else None)
        for k in range(1, links + 1)
    ]
    return Model(f"pendulum_{links}", tuple(bodies))


def _joint(kind: str, k: int) -> Joint:
    name, place = f"joint_{k}", (0.0, 0.0, -1.0 if k > 1 else 0.0)
    return spherical(name, place) if kind == "spherical" else revolute(name, (1.0, 0.0, 0.0), place)


def raised(model: Model) -> State:
    """Return the state of a pendulum at rest whose first joint is turned about x."""
    turn = (math.cos(0.5 * START), math.sin(0.5 * START), 0.0, 0.0)
    first = START if model.bodies[0].joint.kind == "revolute" else turn
    return State.at(model, model.configuration(angles={"joint_1": first}))


def in_minimal(integrator: Integrator, links: int, steps: int, kind: str = "revolute") -> Run:
    """Return the run of a pendulum by an integrator in minimal coordinates, with only the first and the last row."""
    state, duration = raised(pendulum_tree(links, kind)), steps * STEP
    return simulate(
        state.model, state=state, step=STEP, duration=duration, integrator=integrator, record_every=duration
    )


class Energies(NamedTuple):
    """Energies [J] of a motion, (rows,)."""

    kinetic: Floats
    total: Floats

    @property
    def lost(self) -> float:
        """Energy lost from start to end, relative to the greatest kinetic energy."""
        return float((self.total[0] - self.total[-1]) / self.kinetic.max())

    @property
    def range(self) -> float:
        """Range of the energy, relative to the greatest kinetic energy."""
        return float(np.ptp(self.total) / self.kinetic.max())


def loops_of_ours(segments: int, step: float, steps: int) -> Energies:
    """Return the energies of a chain of loops, computed by our integrator."""
    assembly, start = four_bar_chain(segments)
    frame = assembly.simulate(steps * step, step, start).frame
    return Energies(*(frame[name].to_numpy() for name in ("kinetic_energy", "energy")))


def loops_in_mujoco(segments: int, step: float, steps: int, *, method: str = "Euler", closed: bool = True) -> Energies:
    """Return the energies of a chain of loops in MuJoCo at the start of each step, with its default solvers.

    Unless ``closed``, the branches swing separately; ``method`` is the integrator's name in MuJoCo.
    """
    need("mujoco")
    import mujoco

    engine = mujoco.MjModel.from_xml_string(loops_mjcf(segments, step, method, closed=closed))
    data, energies = mujoco.MjData(engine), np.empty((steps + 1, 2))
    assembly, start = four_bar_chain(segments)
    first = assembly.simulate(step, step, start).frame.iloc[0]
    for k in range(engine.njnt):
        data.qpos[k] = first[f"angle_{engine.joint(k).name}"]
    for row in energies:
        mujoco.mj_forward(engine, data)  # since a step's last stage overwrites them
        row[:] = data.energy  # potential and kinetic
        mujoco.mj_step(engine, data)
    return Energies(energies[:, 1], energies.sum(axis=1))


def loops_mjcf(segments: int, step: float, method: str, *, closed: bool) -> str:
    """Return ``assembly.examples.four_bar_chain`` as MJCF: a tree, with pairs of points to connect if ``closed``."""
    root = Element("mujoco")
    SubElement(SubElement(root, "option", timestep=str(step), integrator=method), "flag", energy="enable")
    hung, at = SubElement(root, "worldbody"), "0 0 0"
    equality = SubElement(root, "equality")
    for k in range(1, segments + 1):
        lower = {}
        for side in ("left", "right"):
            upper = _link(hung, f"{side}_{k}", f"top_{side}_{k}", at)
            lower[side] = _link(upper, f"{side}_lower_{k}", f"middle_{side}_{k}", "0 0 -1")
        if closed:
            SubElement(equality, "connect", body1=f"left_lower_{k}", body2=f"right_lower_{k}", anchor="0 0 -1")
        hung, at = lower["left"], "0 0 -1"
    return tostring(root, encoding="unicode")


def _link(parent: Element, name: str, hinge: str, at: str) -> Element:
    """Add a link of 1 m and 1 kg that hangs on a hinge about x at its upper end."""
    inertia = box_inertia(1.0, (THICKNESS, THICKNESS, 1.0))
    body = SubElement(parent, "body", name=name, pos=at)
    SubElement(body, "joint", name=hinge, type="hinge", axis="1 0 0")
    SubElement(body, "inertial", pos="0 0 -0.5", mass="1", diaginertia=" ".join(str(inertia[i][i]) for i in range(3)))
    return body


STEPS, QUICK_STEPS = 1000, 100
LINKS, QUICK_LINKS = (1, 2, 5, 10, 20, 50, 100), (10, 100)
SEGMENTS, QUICK_SEGMENTS = tuple(range(1, 11)), (2, 8)
REPEATS, QUICK_REPEATS = 9, 3
#: Least numbers of links and of segments from which powers are computed.
LONG_LINKS, LONG_SEGMENTS = 10, 2
#: Times that differ by at most this factor count as comparable.
COMPARABLE = 2.0
KINDS = ("revolute", "spherical")
#: Number of segments whose energies are compared, and shares of energy that count as kept and as lost.
SWINGING, KEPT, LOST = 2, 0.05, 0.1
ASSUMED = (
    "times are the median of runs on one core minus that of a run of one step, sizes in turn; the paper takes the "
    "best of 100 runs",
    "the paper's curves cannot be read off: its statements about them are compared",
)
MINIMAL_ASSUMED = (
    *ASSUMED,
    "instead of RigidBodyDynamics: `recursive`, whose steps in minimal coordinates equal ours to rounding, so that "
    "only the coordinates differ; pendulums of ten links or more, whose runs take much longer than their set-up",
)
LOOPS_ASSUMED = (
    "rhombi of four links of 1 m, open by π/4, each hung from the rhombus above",
    "MuJoCo's energies if it is installed, with loops closed by `connect` constraints with default settings; "
    "RigidBodyDynamics, which fails for more than one segment, is not run",
)
DEARER = "ours costs several times as much: it has unknowns of bodies and joints, not one or three per joint"


def step_cost(
    assembly: Assembly, start: Placement, steps: int, *, complementarity: float = 1e-12, tolerance: float = 1e-10
) -> float:
    """Return the processor time of a step [s]."""

    def run(count: int) -> object:
        return assembly.simulate(
            count * STEP, STEP, start, record_every=count, complementarity=complementarity, tolerance=tolerance
        )

    return step_seconds(run, steps)


def costs(cases: Mapping[str, Callable[[], float]], repeats: int, progress: Progress) -> dict[str, float]:
    """Return the median time of each case [s]."""
    next(iter(cases.values()))()  # compiled before the clock starts
    return medians(cases, repeats, progress)


def tree(quick: bool, progress: Progress) -> Outcome:
    sizes, steps, repeats = (QUICK_LINKS, QUICK_STEPS, QUICK_REPEATS) if quick else (LINKS, STEPS, REPEATS)
    cases: dict[str, Callable[[], float]] = {}
    for kind in KINDS:
        for links in sizes:
            assembly = pendulum(links, kind=kind)
            start = assembly.place({"joint_1": START if kind == "revolute" else (START, 0.0, 0.0)})
            cases[f"{kind} {links}"] = partial(step_cost, assembly, start, steps)
            if links >= LONG_LINKS:
                cases[f"{kind}, minimal {links}"] = partial(minimal_cost, links, kind)
    times = costs(cases, repeats, progress)
    columns = (*KINDS, *(f"{kind}, minimal" for kind in KINDS))
    table = pd.DataFrame([
        {"links": links} | {f"{name} [µs]": 1e6 * times.get(f"{name} {links}", math.nan) for name in columns}
        for links in sizes
    ])  # fmt: skip
    powers = {name: power(sizes, table[f"{name} [µs]"], LONG_LINKS) for name in columns}
    figures = {"cost": _draw(table, "links", powers, "Pendulums")}
    return Outcome((*_grown(powers), *_against_minimal(table.iloc[-1])), MINIMAL_ASSUMED, {"A step": table}, figures)


def minimal_cost(links: int, kind: str) -> float:
    """Return the processor time [s] of a step of a pendulum in minimal coordinates."""
    integrator = Recursive(tolerance=1e-10)
    return step_seconds(lambda count: in_minimal(integrator, links, count, kind), STEPS)


def _grown(powers: dict[str, float]) -> tuple[Finding, ...]:
    return tuple(
        stated(f"power of the number of links, {name}", "linear", value, LINEAR) for name, value in powers.items()
    )


def _against_minimal(longest: "pd.Series[float]") -> tuple[Finding, ...]:
    """State ratios of the cost of a step of the longest pendulums, between kinds of joints and of coordinates."""
    links = f"{int(longest['links'])} links"
    cost = {str(name).removesuffix(" [µs]"): float(value) for name, value in longest.items()}
    revolute, spherical = (cost[kind] / cost[f"{kind}, minimal"] for kind in KINDS)
    return (
        stated(f"time of a step, spherical / revolute joints, maximal coordinates, {links}",
               "spherical joints have fewer constraints", cost["spherical"] / cost["revolute"], below(1)),
        stated(f"time of a step, spherical / revolute joints, minimal coordinates, {links}",
               "spherical joints perform worse", cost["spherical, minimal"] / cost["revolute, minimal"], above(1)),
        stated(f"time of a step, maximal / minimal coordinates, revolute joints, {links}",
               "minimal coordinates are naturally faster", revolute, above(1)),
        *(stated(f"time of a step, maximal over minimal, {kind} joints, {links}", "comparable computation times", ratio,
                 within_factor(1.0, COMPARABLE), why=DEARER)
          for kind, ratio in zip(KINDS, (revolute, spherical), strict=True)),
    )  # fmt: skip


def loops(quick: bool, progress: Progress) -> Outcome:
    sizes, steps, repeats = (QUICK_SEGMENTS, QUICK_STEPS, QUICK_REPEATS) if quick else (SEGMENTS, STEPS, REPEATS)
    assemblies = {segments: four_bar_chain(segments) for segments in sizes}
    times = costs({str(n): partial(step_cost, *made, steps) for n, made in assemblies.items()}, repeats, progress)
    table = pd.DataFrame([
        {"segments": n, "four-bar [µs]": 1e6 * times[str(n)], "blocks filled in": assemblies[n][0].fill_in}
        for n in sizes
    ])  # fmt: skip
    grown = power(sizes, table["four-bar [µs]"], LONG_SEGMENTS)
    energies = swung()
    findings = (
        stated("power of the number of segments", "modest increase, no longer fully linear", grown, at_most(1.5)),
        stated("fill-in blocks per further segment, largest − smallest number", "cycles of fixed size: O(n)",
               _unevenness(table), at_most(0, "none")),
        *_kept(energies),
    )  # fmt: skip
    kept = pd.DataFrame([
        {"method": name, "range of the energy": motion.range, "lost": motion.lost} for name, motion in energies.items()
    ])  # fmt: skip
    figure = _draw(table, "segments", {"four-bar": grown}, "Loops")
    return Outcome(
        findings, (*ASSUMED, *LOOPS_ASSUMED), {"A step": table, "Energies, two segments": kept}, {"cost": figure}
    )


def swung() -> dict[str, Energies]:
    """Return the energies of a chain of loops over 10 s: by our integrator, and by MuJoCo if it is installed."""
    energies = {"ours": loops_of_ours(SWINGING, STEP, STEPS)}
    if has("mujoco"):
        for method in ("Euler", "RK4"):
            for closed in (True, False):
                name = f"MuJoCo, {method}, {'closed' if closed else 'open'}"
                energies[name] = loops_in_mujoco(SWINGING, STEP, STEPS, method=method, closed=closed)
    return energies


def _kept(energies: dict[str, Energies]) -> tuple[Finding, ...]:
    """State the change of energy of a chain of loops, relative to the greatest kinetic energy."""
    ours = stated("range of our energy / largest kinetic energy, two segments, 10 s", "not in the paper",
                  energies["ours"].range, below(KEPT), kind="ours")  # fmt: skip
    if len(energies) == 1:
        return (ours,)
    lost = {name: motion.lost for name, motion in energies.items()}
    return (
        ours,
        stated("energy lost in MuJoCo by Euler's method, closed loops / open chains",
               "closing the loops introduces high damping",
               lost["MuJoCo, Euler, closed"] / lost["MuJoCo, Euler, open"], above(2),
               why="Euler's method, MuJoCo's default, loses as much energy of chains that are not closed"),
        stated("energy lost in MuJoCo by the Runge-Kutta method, closed loops − open chains",
               "closing the loops introduces high damping",
               lost["MuJoCo, RK4, closed"] - lost["MuJoCo, RK4, open"], above(LOST)),
    )  # fmt: skip


def _unevenness(table: pd.DataFrame) -> int:
    """Return the spread of the number of fill-in blocks per further segment: zero for constant fill-in."""
    rates = np.diff(table["blocks filled in"]) / np.diff(table["segments"])
    return round(float(np.ptp(rates)))


def _draw(table: pd.DataFrame, by: str, powers: dict[str, float], title: str) -> Figure:
    curves = [
        Curve(table[by], table[f"{kind} [µs]"], f"{kind}: $n^{{{grown:.2f}}}$", color)
        for (kind, grown), color in zip(powers.items(), (style.BLUE, style.SKY, style.RED, style.ORANGE), strict=False)
    ]
    return draw_growth(f"{title}, Δt = 0.01 s", by, "a step [µs]", curves)

"""Figure 8b: chains of spheres that fall on a floor: cost of a step over the number of spheres, ours and MuJoCo's."""

import math
from functools import partial
from importlib.metadata import version
from xml.etree.ElementTree import Element, SubElement, tostring

import numpy as np
import pandas as pd

from contact.arrays import Floats
from experiments.papers.bruedigam_2024.cost import costs, step_cost
from experiments.papers.criteria import LINEAR, at_least, at_most, stated, when
from experiments.papers.figures import Curve, draw_growth, power
from experiments.papers.item import Finding, Outcome, Progress
from formulations.assembly import Assembly, AssemblyStepError, Placement, PointContact, RigidBody, joint

RADIUS, MASS, SPACING, FRICTION, STEP, STEPS, QUICK_STEPS = 0.25, 1.0, 1.0, 1.0, 0.01, 1000, 200
#: Number of steps in the authors' program; the caption prints 1000.
PROGRAM_STEPS = 500
#: Angle [rad] of the straight chain at the start, from hanging down.
START = math.radians(135.0)
SPHERES, QUICK_SPHERES = (2, 5, 10, 20, 30, 44), (5, 20)
#: Number of spheres of a chain that is too long for the paper's MuJoCo.
LONGER = 60
REPEATS, QUICK_REPEATS = 5, 3
LONG = 5
#: Solver settings; the products allow penetrations of tens of micrometres, as in the paper's figure 7d.
COMPLEMENTARITY, TOLERANCE = 1e-6, 1e-7
#: MuJoCo's violation [m] in the paper, number of spheres above which it holds, and above which MuJoCo fails.
PRINTED, PRINTED_BEYOND, FAILS_BEYOND = 0.1, 20, 44
#: Moment of inertia [kg m²] of a solid sphere.
MOMENT = 0.4 * MASS * RADIUS * RADIUS
ASSUMED = (
    "friction, spacing and start are those of the authors' program; 1000 steps as printed; the program has 500, for "
    "which the notes have results",
    "the chain is free: its first sphere stands on the floor, the others rise from there at 45°; joints are half-way "
    "between spheres; spheres touch only the floor",
    "tolerances: products up to 1e-6 N·s·m, equations to 1e-7; with the defaults, a step of 44 spheres has no solution",
    "times as in figure 8a; MuJoCo with its defaults, Euler's method, and the paper's time step and friction",
    "MuJoCo fails if it warns of numbers that are too large or not finite, after which it resets the simulation",
)


def chain(spheres: int) -> tuple[Assembly, Placement]:
    """Return a chain of spheres ``sphere_1`` … with joints ``joint_2`` … between them, and its straight pose."""
    half = 0.5 * SPACING
    solid = ((MOMENT, 0.0, 0.0), (0.0, MOMENT, 0.0), (0.0, 0.0, MOMENT))
    names = [f"sphere_{k}" for k in range(1, spheres + 1)]
    joints = tuple(
        joint("spherical", f"joint_{k}", names[k - 2], names[k - 1], inboard_point=(0.0, 0.0, -half),
              outboard_point=(0.0, 0.0, half))
        for k in range(2, spheres + 1)
    )  # fmt: skip
    contacts = tuple(PointContact(f"floor_{name}", name, friction=FRICTION, radius=RADIUS) for name in names)
    assembly = Assembly(f"chain_{spheres}", tuple(RigidBody(name, MASS, solid) for name in names), joints, contacts)
    turn = (math.cos(0.5 * START), math.sin(0.5 * START), 0.0, 0.0)
    return assembly, assembly.place(poses={"sphere_1": ((0.0, 0.0, RADIUS), turn)})


def depths(spheres: int, steps: int) -> tuple[Floats, float | None]:
    """Return penetrations (rows,) [m] of the deepest sphere, and the time [s] of a step that fails, or None."""
    assembly, start = chain(spheres)
    ended = None
    try:
        motion = assembly.simulate(steps * STEP, STEP, start, complementarity=COMPLEMENTARITY, tolerance=TOLERANCE)
    except AssemblyStepError as error:
        motion, ended = error.run, STEP * error.run.summary["steps"]
    gaps = motion.frame[[f"{contact.name}_gap" for contact in assembly.contacts]].to_numpy()
    return np.maximum(0.0, -gaps.min(axis=1)), ended


def mjcf(spheres: int) -> str:
    """Return the chain of spheres as MJCF, straight along the initial direction."""
    root = Element("mujoco")
    SubElement(root, "option", timestep=str(STEP), integrator="Euler")
    world = SubElement(root, "worldbody")
    floor = {"contype": "1", "conaffinity": "0", "friction": f"{FRICTION} 0.005 0.0001"}
    SubElement(world, "geom", {"type": "plane", "size": "0 0 1", **floor})
    above, place = world, f"0 0 {RADIUS}"
    for number in range(spheres):
        turn = {"quat": f"{math.cos(0.5 * START)} {math.sin(0.5 * START)} 0 0"} if number == 0 else {}
        body = SubElement(above, "body", {"pos": place, **turn})
        kind = {"type": "ball", "pos": f"0 0 {0.5 * SPACING}"} if number else {"type": "free"}
        SubElement(body, "joint", kind)
        SubElement(body, "inertial", pos="0 0 0", mass=str(MASS), diaginertia=f"{MOMENT} {MOMENT} {MOMENT}")
        SubElement(
            body, "geom", type="sphere", size=str(RADIUS), contype="0", conaffinity="1", friction=floor["friction"]
        )
        above, place = body, f"0 0 {-SPACING}"
    return tostring(root, encoding="unicode")


def mujoco_depths(spheres: int, steps: int) -> tuple[Floats, float | None]:
    """Return penetrations (rows,) [m] of the deepest sphere, and the time [s] at which MuJoCo fails, or None."""
    import mujoco

    mujoco.set_mju_user_warning(lambda _: None)  # otherwise MuJoCo prints them, and writes a file
    engine = mujoco.MjModel.from_xml_string(mjcf(spheres))
    data, depths = mujoco.MjData(engine), [0.0]
    for _ in range(steps):
        before = float(data.time)
        mujoco.mj_step(engine, data)
        if any(warning.number for warning in data.warning):
            return np.array(depths), before
        depths.append(max(0.0, RADIUS - float(data.geom_xpos[1:, 2].min())))
    return np.array(depths), None


def produce(quick: bool, progress: Progress) -> Outcome:
    sizes, steps, repeats = (QUICK_SPHERES, QUICK_STEPS, QUICK_REPEATS) if quick else (SPHERES, STEPS, REPEATS)
    cost = partial(step_cost, steps=steps, complementarity=COMPLEMENTARITY, tolerance=TOLERANCE)
    times = costs({str(n): partial(cost, *chain(n)) for n in sizes}, repeats, progress)
    table = pd.DataFrame([row_of(n, 1e6 * times[str(n)]) for n in sizes] + [row_of(LONGER)])
    grown = power(sizes, table["spheres [µs]"][: len(sizes)], LONG)
    findings = (stated("power of the number of spheres", "linear", grown, LINEAR), *violations(table))
    timed = table.dropna(subset="spheres [µs]")
    curve = Curve(timed["spheres"], timed["spheres [µs]"], f"$n^{{{grown:.2f}}}$")
    figure = draw_growth("Chains of spheres on a floor, Δt = 0.01 s", "spheres", "a step [µs]", [curve])
    return Outcome(findings, ASSUMED, {"A step": table}, {"spheres": figure})


def row_of(spheres: int, cost: float = math.nan) -> dict[str, float | int | None]:
    """Return a row of the table: cost of a step [µs], penetration and time of failure, ours and MuJoCo's."""
    (ours, our_end), (theirs, their_end) = depths(spheres, STEPS), mujoco_depths(spheres, STEPS)
    return {
        "spheres": spheres, "spheres [µs]": cost, "violation [m]": ours.max(), "ends at [s]": our_end,
        "MuJoCo's violation [m]": theirs.max(), "in 500 steps [m]": theirs[: PROGRAM_STEPS + 1].max(),
        "MuJoCo's ends at [s]": their_end,
    }  # fmt: skip


def violations(table: pd.DataFrame) -> tuple[Finding, ...]:
    """State violations of the floor, and which chains cannot be computed."""
    worst = float(table["violation [m]"].max())
    many = table[table["spheres"] > PRINTED_BEYOND]
    least, in_program = (float(many[name].min()) for name in ("MuJoCo's violation [m]", "in 500 steps [m]"))
    beyond = table["spheres"] > FAILS_BEYOND
    return (
        stated("penetration of the floor, ours, all numbers of spheres [m]", 0.0, worst, at_most(1e-9)),
        _taken("chains that our integrator", table, "ends at [s]", "a longer chain ends with an error"),
        stated(f"smallest penetration in MuJoCo with more than {PRINTED_BEYOND} spheres [m]", f"{PRINTED} or more",
               least, at_least(PRINTED, "the same"), f"{in_program:.3g} in the 500 steps of the authors' program"),
        _taken(f"chains of up to {FAILS_BEYOND} spheres that MuJoCo", table[~beyond], "MuJoCo's ends at [s]",
               f"MuJoCo {version('mujoco')} takes fewer spheres than the version of the paper"),
        _taken(f"chains of more than {FAILS_BEYOND} spheres that MuJoCo", table[beyond], "MuJoCo's ends at [s]",
               none=True),
    )  # fmt: skip


def _taken(which: str, table: pd.DataFrame, column: str, why: str = "", *, none: bool = False) -> Finding:
    """State how many of these chains are simulated for all steps; the paper states all, or none."""
    ends, printed = table[column], "none" if none else "all"
    taken, early = int(ends.isna().sum()), int((ends < PROGRAM_STEPS * STEP).sum())
    note = f"{len(ends) - early} in the 500 steps of the authors' program"
    return stated(f"{which} simulates for all steps", printed, f"{taken} of {len(ends)}",
                  when(printed, taken == (0 if none else len(ends))), f"{note}; {why}" if why else note)  # fmt: skip

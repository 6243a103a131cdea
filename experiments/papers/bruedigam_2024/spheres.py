"""Figure 8b: chains of spheres that fall on a floor; cost of a step over their number, compared with MuJoCo."""

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
#: Steps that the authors' program takes, where the caption prints 1000.
PROGRAM_STEPS = 500
#: [rad] of the straight chain from where it would hang.
START = math.radians(135.0)
SPHERES, QUICK_SPHERES = (2, 5, 10, 20, 30, 44), (5, 20)
#: A chain that is longer than the paper's MuJoCo could take.
LONGER = 60
REPEATS, QUICK_REPEATS = 5, 3
LONG = 5
#: Solver settings: products that leave tens of micrometres, as in the paper's figure 7d.
COMPLEMENTARITY, TOLERANCE = 1e-6, 1e-7
#: [m] MuJoCo's violation in the paper, beyond so many spheres; it fails beyond so many.
PRINTED, PRINTED_BEYOND, FAILS_BEYOND = 0.1, 20, 44
#: [kg m²] of a solid sphere.
MOMENT = 0.4 * MASS * RADIUS * RADIUS
ASSUMED = (
    "friction, spacing and start are those of the authors' program; 1000 steps as printed; the program has 500: "
    "notes say what these give",
    "the chain is free: its first sphere stands on the floor, the others rise from there at 45°; joints are half-way "
    "between spheres, which touch the floor alone",
    "products up to 1e-6 N·s·m and equations to 1e-7; with the defaults, 44 spheres meet a step without a solution",
    "times as in figure 8a; MuJoCo with its defaults, Euler's method, the paper's step and friction",
    "MuJoCo fails where it warns of numbers that are not finite or too large, after which it starts again",
)


def chain(spheres: int) -> tuple[Assembly, Placement]:
    """Return spheres ``sphere_1`` … with joints ``joint_2`` … before them, and their straight start."""
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
    """Return penetrations (rows,) [m] of the deepest sphere, and the time [s] of a failed step, or None."""
    assembly, start = chain(spheres)
    ended = None
    try:
        motion = assembly.simulate(steps * STEP, STEP, start, complementarity=COMPLEMENTARITY, tolerance=TOLERANCE)
    except AssemblyStepError as error:
        motion, ended = error.run, STEP * error.run.summary["steps"]
    gaps = motion.frame[[f"{contact.name}_gap" for contact in assembly.contacts]].to_numpy()
    return np.maximum(0.0, -gaps.min(axis=1)), ended


def mjcf(spheres: int) -> str:
    """Return the chain of spheres as MuJoCo reads it, straight along the start's direction."""
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

    mujoco.set_mju_user_warning(lambda _: None)  # else they are printed, and written to a file where one stands
    engine = mujoco.MjModel.from_xml_string(mjcf(spheres))
    data, found = mujoco.MjData(engine), [0.0]
    for _ in range(steps):
        before = float(data.time)
        mujoco.mj_step(engine, data)
        if any(warning.number for warning in data.warning):
            return np.array(found), before
        found.append(max(0.0, RADIUS - float(data.geom_xpos[1:, 2].min())))
    return np.array(found), None


def produce(quick: bool, progress: Progress) -> Outcome:
    sizes, steps, repeats = (QUICK_SPHERES, QUICK_STEPS, QUICK_REPEATS) if quick else (SPHERES, STEPS, REPEATS)
    cost = partial(step_cost, steps=steps, complementarity=COMPLEMENTARITY, tolerance=TOLERANCE)
    found = costs({str(n): partial(cost, *chain(n)) for n in sizes}, repeats, progress)
    table = pd.DataFrame([row_of(n, 1e6 * found[str(n)]) for n in sizes] + [row_of(LONGER)])
    grown = power(sizes, table["spheres [µs]"][: len(sizes)], LONG)
    findings = (stated("power of the number of spheres", "linear", grown, LINEAR), *violations(table))
    timed = table.dropna(subset="spheres [µs]")
    curve = Curve(timed["spheres"], timed["spheres [µs]"], f"$n^{{{grown:.2f}}}$")
    figure = draw_growth("Chains of spheres on a floor, Δt = 0.01 s", "spheres", "a step [µs]", [curve])
    return Outcome(findings, ASSUMED, {"A step": table}, {"spheres": figure})


def row_of(spheres: int, cost: float = math.nan) -> dict[str, float | int | None]:
    """Return a row of the table: cost of a step [µs], depth of the spheres and when a step fails, ours and MuJoCo's."""
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
        stated("violation of the floor with all numbers of spheres [m]", 0.0, worst, at_most(1e-9)),
        _taken("chains that ours", table, "ends at [s]", "a longer one ends in the typed error"),
        stated(f"MuJoCo's violation with more than {PRINTED_BEYOND} spheres, the least [m]", f"{PRINTED} or more",
               least, at_least(PRINTED, "the same"), f"{in_program:.3g} in the 500 steps of the authors' program"),
        _taken(f"chains of up to {FAILS_BEYOND} spheres that MuJoCo", table[~beyond], "MuJoCo's ends at [s]",
               f"MuJoCo {version('mujoco')} takes fewer than that of the paper"),
        _taken(f"chains of more than {FAILS_BEYOND} spheres that MuJoCo", table[beyond], "MuJoCo's ends at [s]",
               none=True),
    )  # fmt: skip


def _taken(which: str, table: pd.DataFrame, column: str, why: str = "", *, none: bool = False) -> Finding:
    """State how many of these chains take all steps: all, or none."""
    ends, printed = table[column], "none" if none else "all"
    taken, early = int(ends.isna().sum()), int((ends < PROGRAM_STEPS * STEP).sum())
    found = f"{len(ends) - early} in the 500 steps of the authors' program"
    return stated(f"{which} takes to their end", printed, f"{taken} of {len(ends)}",
                  when(printed, taken == (0 if none else len(ends))), f"{found}; {why}" if why else found)  # fmt: skip

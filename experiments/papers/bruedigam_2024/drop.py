"""Figure 7d: penetration of a dropped cube into the floor."""

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from biped.inputs.extras import has, need
from contact.arrays import Floats
from experiments.papers.criteria import at_least, at_most, stated, when, within, within_factor
from experiments.papers.figures import Curve, drawn
from experiments.papers.item import Finding, Outcome, Progress
from experiments.visualization.look import style
from formulations.assembly.examples import box

EDGE, MASS, FRICTION, STEP, DURATION = 0.5, 1.0, 0.3, 0.01, 1.0
#: Heights of the drop [m]: of the figure, and of the table.
HEIGHT = 0.4
HEIGHTS, QUICK_HEIGHTS = tuple(np.linspace(0.0, 1.0, 21).tolist()), (0.1, 0.4, 1.0)
#: Height of the cube at rest above the floor, and penetration in MuJoCo, as printed [m].
PRINTED, MUJOCO = 43e-6, 0.027
#: Smallest / largest violation, above which violations count as similar.
SIMILAR = 0.5
#: Height [m] of a corner at which its impulse m g Δt/4 times the height is 1e-12 N·s·m.
RESTING = 1e-12 / (0.25 * MASS * 9.81 * STEP)
ASSUMED = (
    "friction and heights are those of the authors' program",
    "MuJoCo is run if it is installed, with its default settings, as in the paper",
    "the cube's height above the floor is due to the tolerance of complementarity (height times impulse): with "
    "products of 1e-6 N·s·m ours is of the order of the paper's 43 µm; the table has the default of 1e-12",
)


def dropped(height: float, product: float = 1e-12) -> tuple[Floats, Floats, Floats]:
    """Return times [s], heights of the cube's bottom [m], and the smallest gap of a corner at each time [m]."""
    cube = box((EDGE, EDGE, EDGE), MASS, FRICTION)
    start = cube.place(poses={"box": ((0.0, 0.0, 0.5 * EDGE + height), (1.0, 0.0, 0.0, 0.0))})
    motion = cube.simulate(DURATION, STEP, start, complementarity=product)
    gaps = motion.frame[[f"{contact.name}_gap" for contact in cube.contacts]].to_numpy()
    return motion.time, motion.position("box")[:, 2] - 0.5 * EDGE, gaps.min(axis=1)


#: MuJoCo model: a cube above a plane; ``height`` [m] is that of its centre.
MODEL = """
<mujoco><option timestep="{step}" integrator="Euler"/><worldbody>
  <geom type="plane" size="10 10 1" friction="{friction}"/>
  <body pos="0 0 {height}"><freejoint/>
    <geom type="box" size="{half} {half} {half}" mass="{mass}" friction="{friction}"/></body>
</worldbody></mujoco>
"""


def dropped_in_mujoco(height: float) -> Floats:
    """Return heights of the cube's bottom [m] in MuJoCo at the times of ``dropped``, with default solref and solimp."""
    need("mujoco")
    import mujoco

    half = 0.5 * EDGE
    text = MODEL.format(step=STEP, friction=FRICTION, height=half + height, half=half, mass=MASS)
    model = mujoco.MjModel.from_xml_string(text)
    data = mujoco.MjData(model)
    bottom = [height]
    for _ in range(round(DURATION / STEP)):
        mujoco.mj_step(model, data)
        bottom.append(float(data.qpos[2]) - half)
    return np.array(bottom)


def produce(quick: bool, progress: Progress) -> Outcome:
    heights = QUICK_HEIGHTS if quick else HEIGHTS
    rows = []
    for number, height in enumerate(heights):
        _, bottom, gap = dropped(height)
        row = {"height [m]": height, "least gap [m]": gap.min(), "at rest above the floor [m]": bottom[-1]}
        if has("mujoco"):
            row["MuJoCo, deepest [m]"] = dropped_in_mujoco(height).min()
        rows.append(row)
        progress((number + 1) / len(heights))
    table = pd.DataFrame(rows)
    time, bottom, _ = dropped(HEIGHT)
    _, loose, _ = dropped(HEIGHT, 1e-6)
    least, most = float(table["least gap [m]"].min()), float(table["at rest above the floor [m]"].max())
    findings: tuple[Finding, ...] = (
        stated("penetration of the floor, all heights [m]", 0.0, max(0.0, -least), at_most(0, "none"),
               "MuJoCo in the paper: 0.027"),
        stated("height of the cube at rest above the floor, all heights [m]", PRINTED, most,
               when(f"above 0, at most {RESTING:.2g}", 0.0 < most <= RESTING),
               "the height at which a corner's share of the weight gives a product of 1e-12 N·s·m",
               kind="better"),
        stated("height at rest with products up to 1e-6 N·s·m, dropped from 0.4 m [m]", PRINTED, float(loose[-1]),
               within_factor(PRINTED, 3), "products of the paper's own solver are not printed", kind="chosen"),
    )  # fmt: skip
    other = dropped_in_mujoco(HEIGHT) if has("mujoco") else None
    if other is not None:
        findings = (*findings, *_in_mujoco(float(-other.min()), -table["MuJoCo, deepest [m]"]))
    return Outcome(findings, ASSUMED, {"Drops": table}, {"drop": _draw(time, bottom, other)})


def _in_mujoco(deepest: float, all_heights: "pd.Series[float]") -> tuple[Finding, Finding]:
    least, most = float(all_heights.min()), float(all_heights.max())
    return (
        stated("penetration of MuJoCo's cube from 0.4 m [m]", MUJOCO, deepest, within(MUJOCO, 0.1)),
        stated("penetration of MuJoCo's cube, all heights, smallest / largest", "similar violations", least / most,
               at_least(SIMILAR),
               why=f"from {least:.2g} to {most:.2g} m, depending on how deep in the floor the last free step ends"),
    )  # fmt: skip


def _draw(time: Floats, bottom: Floats, other: Floats | None) -> Figure:
    printed = Curve(time, np.full(len(time), -MUJOCO), "deepest, MuJoCo in the paper", style.RED, "--")
    theirs = [] if other is None else [Curve(time, other, "MuJoCo", style.ORANGE, width=1.0)]
    titles = "A cube dropped from 0.4 m, Δt = 0.01 s", "time [s]", "height of its bottom [m]"
    return drawn(titles, [Curve(time, bottom, "rigid contact (ours)"), *theirs, printed])

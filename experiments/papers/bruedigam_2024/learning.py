"""Figure 13: the quadruped Unitree A1 learns to walk, in episodes with different gaits.

The model is the authors' simplified URDF, the trot is that of their program. x points forward, y to the left. Legs are
FR, FL, RR and RL; each has a hip about x, and a thigh and a calf about y. Only the feet touch the floor: four points
below the calves. As in the authors' program, joints have no limits.
"""

import math
import os
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from numpy.typing import ArrayLike

from biped import (
    Body,
    Box,
    ContactPoint,
    Controller,
    Fall,
    Joint,
    Model,
    Rigid,
    Run,
    Scene,
    State,
    floating,
    forward_kinematics,
    revolute,
)
from biped.model.geometry import Matrix3, Vector3, quaternion_matrix
from biped.simulation.session import Session
from contact import Floor
from contact.arrays import Floats
from controllers.kernels.joint_pd import PdLaw
from experiments.papers.bruedigam_2024.kernels import TrotLaw
from experiments.papers.criteria import above, at_most, stated
from experiments.papers.figures import Curve, drawn, plotted
from experiments.papers.item import Finding, Kind, Outcome, Progress
from experiments.visualization.look import style
from formulations.assembly import Assembly, AssemblyStepError, from_model, placement_of


class Unit(NamedTuple):
    """Link of the authors' URDF."""

    mass: float  # [kg]
    com: Vector3  # [m] in the link's axes
    inertia: tuple[float, float, float, float, float, float]  # [kg m²] xx, xy, xz, yy, yz, zz, about the centre of mass

    @property
    def tensor(self) -> Matrix3:
        """Inertia (3, 3) [kg m²] about the centre of mass."""
        xx, xy, xz, yy, yz, zz = self.inertia
        return (xx, xy, xz), (xy, yy, yz), (xz, yz, zz)


#: Links of the left front leg; the other legs are mirror images.
TRUNK = Unit(4.713, (0.012731, 0.002186, 0.000515),
             (0.01683993, 8.3902e-05, 0.000597679, 0.056579028, 2.5134e-05, 0.064713601))  # fmt: skip
HIP = Unit(0.696, (-0.003311, 0.000635, 3.1e-05),
           (0.000469246, -9.409e-06, -3.42e-07, 0.00080749, -4.66e-07, 0.000552929))  # fmt: skip
THIGH = Unit(1.013, (-0.003237, -0.022327, -0.027326),
             (0.005529065, 4.825e-06, 0.000343869, 0.005139339, 2.2448e-05, 0.001367788))  # fmt: skip
CALF = Unit(0.166, (0.006435, 0.0, -0.107388), (0.002997972, 0.0, -0.000141163, 0.003014022, 0.0, 3.2426e-05))
#: Legs in the program's order, with the signs of x and y of their hips: front and left are positive.
LEGS = {"FR": (1, -1), "FL": (1, 1), "RR": (-1, -1), "RL": (-1, 1)}
PARTS = ("hip", "thigh", "calf")
#: Positions [m] of the hip from the trunk's origin, of the thigh from the hip, and of the knee from the thigh.
HIP_PLACE, THIGH_PLACE, KNEE_PLACE = (0.183, 0.047, 0.0), (0.0, 0.08505, 0.0), (0.0, 0.0, -0.2)
#: Position [m] of the foot from the calf's centre of mass.
FOOT = (0.0, 0.0, -0.1)
#: Torque limits [N·m] of hips, thighs and calves in the URDF; neither the authors' program nor ours applies them.
EFFORT = (20.0, 55.0, 55.0)
#: Height [m] of the feet above the floor at the start of an episode.
CLEARANCE = 0.01
TRUNK_SIZE: Vector3 = (0.267, 0.194, 0.114)
THIGH_SIZE: Vector3 = (0.0245, 0.034, 0.2)
CALF_SIZE: Vector3 = (0.016, 0.016, 0.2)


def quadruped() -> Model:
    """Return A1: a trunk on four legs of three hinges each, ``FR_hip`` …, ``FR_thigh`` …, ``FR_calf`` …."""
    bodies, feet, shapes = [_body("trunk", TRUNK, floating("trunk"))], [], [Box("trunk", TRUNK_SIZE)]
    for leg, (front, left) in LEGS.items():
        hip, thigh, calf = (f"{leg}_{part}" for part in PARTS)
        at_trunk, at_hip = mirrored_point(HIP_PLACE, front, left), mirrored_point(THIGH_PLACE, 1, left)
        bodies += [
            _body(hip, mirrored(HIP, front, left), revolute(hip, (1, 0, 0), at_trunk), "trunk"),
            _body(thigh, mirrored(THIGH, 1, left), revolute(thigh, (0, 1, 0), at_hip), hip),
            _body(calf, CALF, revolute(calf, (0, 1, 0), KNEE_PLACE), thigh),
        ]
        x, y, z = (a + b for a, b in zip(CALF.com, FOOT, strict=True))
        feet.append(ContactPoint(leg, calf, (x, y, z)))
        shapes += [Box(thigh, THIGH_SIZE, (0.0, 0.0, -0.1)), Box(calf, CALF_SIZE, (0.0, 0.0, -0.1))]
    return Model("A1", tuple(bodies), tuple(feet), tuple(shapes))


def crouched(model: Model, thigh: float, calf: float) -> State:
    """Return a state at rest: these angles [rad] in all legs, the trunk level at x = 0, feet just above the floor."""
    angles = {f"{leg}_thigh": thigh for leg in LEGS} | {f"{leg}_calf": calf for leg in LEGS}
    q = model.configuration(angles=angles)
    q[:3] = 0.0
    q[2] = CLEARANCE - forward_kinematics(model, q).contact[0, 2]
    return State.at(model, q)


def limbs(model: Model, q: ArrayLike) -> Floats:
    """Return positions (4, 3, 3) [m] of thigh joint, knee and foot of each leg, in the order of ``LEGS``."""
    motion = forward_kinematics(model, q)
    positions = np.zeros((len(LEGS), 3, 3))
    for points, leg, foot in zip(positions, LEGS, motion.contact, strict=True):
        for point, name in zip(points, (f"{leg}_thigh", f"{leg}_calf"), strict=False):
            i = model.body_index(name)
            point[:] = motion.position[i] - quaternion_matrix(motion.orientation[i]) @ model.bodies[i].com
        points[2] = foot
    return positions


def mirrored_point(point: Vector3, x: int, y: int) -> Vector3:
    """Return a point of the left front leg mirrored to another leg, by the signs of x and y."""
    return x * point[0], y * point[1], point[2]


def mirrored(unit: Unit, x: int, y: int) -> Unit:
    """Return the mirror image of a link."""
    xx, xy, xz, yy, yz, zz = unit.inertia
    return Unit(unit.mass, mirrored_point(unit.com, x, y), (xx, x * y * xy, x * xz, yy, y * yz, zz))


def _body(name: str, unit: Unit, joint: Joint, parent: str | None = None) -> Body:
    return Body(name, unit.mass, unit.tensor, unit.com, joint, parent)


#: Gains of hips, thighs and calves: stiffness [N·m/rad] and damping [N·m·s/rad].
STIFFNESS, DAMPING = (100.0, 80.0, 60.0), (5.0, 4.0, 3.0)
#: Frequency [Hz] / first parameter of the gait.
PACE = 10.0


class Gait(NamedTuple):
    """Learned parameters of the trot, in the order of the authors' program."""

    pace: float  # frequency / 10 Hz
    thigh_swing: float  # [rad] amplitude of the thighs' angle
    thigh: float  # [rad] mean of the thighs' angle
    calf_swing: float  # [rad] amplitude of the calves' angle
    calf: float  # [rad] mean of the calves' angle


@dataclass(frozen=True)
class Trot(Controller):
    """Trot by springs and dampers in the joints, whose targets oscillate.

    Diagonal legs swing together, the two pairs half a period apart; calves lag their thighs by a quarter of a period.
    """

    gait: Gait
    period: float = 1e-3  # [s] control period

    def law(self, model: Model) -> TrotLaw:
        """Return the parameters of the trot's kernel."""
        kp, kd, centre, swing, phase = np.zeros((5, model.nv))
        for leg, (front, left) in LEGS.items():
            half = 0.0 if front != left else math.pi
            parts = (
                ("hip", 0.0, 0.0, 0.0),
                ("thigh", self.gait.thigh, self.gait.thigh_swing, half),
                ("calf", self.gait.calf, self.gait.calf_swing, half - 0.5 * math.pi),
            )
            for (part, *target), *gains in zip(parts, STIFFNESS, DAMPING, strict=True):
                dof = model.dof(f"{leg}_{part}")
                kp[dof], kd[dof] = gains
                centre[dof], swing[dof], phase[dof] = target
        pd = PdLaw(kp, kd, target=np.zeros(model.nv), limit=np.full(model.nv, np.inf))
        return TrotLaw(pd, centre, swing, phase, 2.0 * math.pi * PACE * self.gait.pace)


def in_maximal(gait: Gait, friction: float) -> tuple[Assembly, dict[str, Callable[[Floats], Floats]]]:
    """Return the quadruped in maximal coordinates, with joint springs and dampers, and the forces of the targets."""
    model = quadruped()
    bare, law = from_model(model, friction=friction), Trot(gait).law(model)
    joints = []
    forces: dict[str, Callable[[Floats], Floats]] = {}
    for joint in bare.joints:
        dof = model.dof(joint.name)
        motor = replace(joint.freedoms[0], stiffness=law.pd.kp[dof], damping=law.pd.kd[dof])
        joints.append(replace(joint, freedoms=(motor,)))
        forces[joint.name] = partial(_rest, law, dof)
    return Assembly(bare.name, bare.bodies, tuple(joints), bare.contacts, bare.gravity), forces


def _rest(law: TrotLaw, dof: int, time: Floats) -> Floats:
    """Return the torque [N·m] that moves the rest of a joint's spring from zero to the target."""
    target = law.centre[dof] + law.swing[dof] * np.cos(law.frequency * time + law.phase[dof])
    return np.asarray(law.pd.kp[dof] * target)


#: Spread of proposals without a direction, and factor by which each failure reduces it.
SPREAD, SHRINKING = 0.1, 0.9
#: Step along the direction of the last success, and spread of proposals about its end.
STRIDE, NARROW = 0.01, 0.002
STEP, FRICTION = 0.001, 0.2
DURATION, EPISODES = 10.0, 100
QUICK_DURATION, QUICK_EPISODES = 1.0, 12
#: Start of the program's search: a crouch in which no joint swings.
START = Gait(pace=0.1, thigh_swing=0.0, thigh=1.0, calf_swing=0.0, calf=-1.5)
#: Seeds of the random generator; the program has the first, but another generator.
SEEDS, QUICK_SEEDS = tuple(range(1, 9)), (1,)
#: Seeds of the searches in maximal coordinates, which take seven times as long.
MAXIMAL_SEEDS = (1,)
#: Number of time steps between checks of the trunk's height in maximal coordinates.
LOOK = 10
#: Printed distance [m] after all episodes.
PRINTED = 12.0
#: Penetration [m] of the feet that counts as zero.
NONE = 1e-9
#: Least height of the trunk, which has no contact points.
UPSIDE_DOWN = Fall(height=0.0, tilt=math.pi, joint_rate=math.inf)
#: Legs on the drawn side, and the diagonally opposite legs.
NEAR, OPPOSITE = ("FR", "RR"), {"FR": "RL", "RR": "FL"}
DIAGONALS = {"FR": style.BLUE, "RL": style.BLUE, "FL": style.RED, "RR": style.RED}
#: Number of drawn instants of a stride, distance [m] between them, and time [s] between rows of the drawn run.
DRAWN, APART, EVERY = 5, 0.6, 0.005
ASSUMED = (
    "all numbers except the time step and the number and length of episodes are from the authors' program: search, "
    "gait, start, gains, friction in four directions, masses and lengths; the paper's appendix was not available",
    "limits of joints and motors are used neither in the authors' program nor here",
    "NumPy's random generator instead of Julia's: a seed draws other numbers, so several seeds are used; the result of "
    "a seed depends on rounding, since gaits that stumble are chaotic",
    "an episode fails if the trunk goes below the floor or a time step has no solution; the authors' program may count "
    "the distance until then as a success",
    "one seed is run in maximal coordinates; all seeds are run in joint coordinates with the same contact model "
    "(`Rigid`), which takes a seventh of the time; the tests compare motions in both coordinates",
)


class RandomSearch:
    """Random search for parameters: call ``propose``, then ``judge`` with the result.

    As in the authors' program: after a success, the search continues by a step in the direction that led to it; after a
    failure, it continues in all directions from the best parameters, by shorter steps after each failure.
    """

    def __init__(self, start: ArrayLike, seed: int) -> None:
        self.best: Floats = np.array(start, dtype=float)  # (n,) parameters
        self.achieved: list[float] = []  # best result after each try; greater is better
        self._random = np.random.default_rng(seed)
        self._spread = SPREAD
        self._direction: Floats | None = None  # unit direction of the last success
        self._tried = self.best

    def propose(self) -> Floats:
        """Return the next parameters to try, (n,)."""
        about = self._random.standard_normal(len(self.best))
        if self._direction is None:
            self._tried = self.best + self._spread * about
        else:
            self._tried = self.best + STRIDE * self._direction + NARROW * about
        return self._tried

    def judge(self, achieved: float | None) -> None:
        """Judge the last proposal by its result; None if it failed."""
        least = self.achieved[-1] if self.achieved else 0.0
        if achieved is not None and achieved > least:
            change = self._tried - self.best
            self.best, self._direction, self._spread = self._tried, change / math.sqrt(change @ change), SPREAD
            self.achieved.append(achieved)
        else:
            self._direction, self._spread = None, SHRINKING * self._spread
            self.achieved.append(least)


def scene(gait: Gait, duration: float, step: float = STEP, record_every: float | None = None) -> Scene:
    """Return the scene of an episode."""
    model, floor = quadruped(), Floor(mu_s=FRICTION, mu_d=FRICTION)
    return Scene(
        model, Trot(gait, STEP), floor, crouched(model, gait.thigh, gait.calf), duration, step,
        integrator=Rigid(directions=4), fall=UPSIDE_DOWN, record_every=record_every or duration,
    )  # fmt: skip


def walked(gait: Gait, duration: float, step: float = STEP) -> float | None:
    """Return the forward distance of the trunk in an episode [m]; None if it fails."""
    session = Session(scene(gait, duration, step))
    session.advance(round(duration / session.period))
    return None if session.has_ended else float(session.state.q[0])


def walked_in_maximal(gait: Gait, duration: float, step: float = STEP) -> float | None:
    """Return the forward distance [m] in an episode in maximal coordinates; None if it fails."""
    assembly, forces = in_maximal(gait, FRICTION)
    model = quadruped()
    start = placement_of(model, crouched(model, gait.thigh, gait.calf).q)
    try:
        motion = assembly.simulate(duration, step, start, forces=forces, record_every=LOOK)
    except AssemblyStepError:
        return None
    trunk = motion.position("trunk")
    return None if trunk[:, 2].min() <= 0.0 else float(trunk[-1, 0])


def learn(
    seeds: Sequence[int], episodes: int, duration: float, progress: Progress, workers: int | None = None,
    way: Callable[[Gait, float], float | None] = walked,
) -> list[RandomSearch]:  # fmt: skip
    """Run a search for each seed; episodes run in parallel threads, whose number does not change the results.

    ``way`` returns the distance [m] of a gait in an episode of this ``duration`` [s]; None if it fails.
    """
    searches = [RandomSearch(START, seed) for seed in seeds]

    def walk(gait: Gait) -> float | None:
        return way(gait, duration)

    walk(START)  # compiles what is to be compiled
    with ThreadPoolExecutor(workers or os.cpu_count()) as pool:
        for episode in range(episodes):
            gaits = [Gait(*search.propose().tolist()) for search in searches]
            for search, distance in zip(searches, pool.map(walk, gaits), strict=True):
                search.judge(distance)
            progress((episode + 1) / episodes)
    return searches


def produce(quick: bool, progress: Progress) -> Outcome:
    seeds, episodes, duration = (QUICK_SEEDS, QUICK_EPISODES, QUICK_DURATION) if quick else (SEEDS, EPISODES, DURATION)
    searches = learn(seeds, episodes, duration, lambda done: progress(0.4 * done))
    maximal = learn(MAXIMAL_SEEDS, episodes, duration, lambda done: progress(0.4 + 0.6 * done), way=walked_in_maximal)
    table = pd.DataFrame([_row(seed, search, duration) for seed, search in zip(seeds, searches, strict=True)])
    learned = [search.achieved[-1] for search in maximal]
    table["learned in maximal coordinates [m]"] = pd.Series(learned).reindex(table.index)
    gait = Gait(*searches[0].best.tolist())
    run, period = scene(gait, duration, record_every=EVERY).run(), 1.0 / abs(PACE * gait.pace)
    figures = {
        "learning": _draw_learning(seeds, searches),
        "gait": _draw_gait(run, period, seeds[0]),
        "footfalls": _draw_footfalls(run, period, seeds[0]),
    }
    findings = (
        _distance("maximal", learned, episodes, duration, quick),
        _distance("joint", table["distance [m]"].tolist(), episodes, duration, quick, kind="ours"),
        stated("largest penetration of the feet [m]", "rigid contacts",
               float(table["feet in the floor at most [m]"].max()), at_most(NONE)),
    )  # fmt: skip
    return Outcome(findings, ASSUMED, {"Learned gaits": table}, figures)


def _row(seed: int, search: RandomSearch, duration: float) -> dict[str, float | str | None]:
    gait = Gait(*search.best.tolist())
    run = scene(gait, duration, record_every=STEP).run()
    torque = run.frame[[f"torque_{leg}_{part}" for leg in LEGS for part in PARTS]].abs().to_numpy()
    effort = torque.reshape(-1, len(PARTS)).max(axis=0) / EFFORT
    return {
        "seed": seed, "distance [m]": search.achieved[-1],
        "the same gait at half the step [m]": walked(gait, duration, 0.5 * STEP),
        "aside [m]": float(run.frame["trunk_y"].iloc[-1]), "frequency [Hz]": abs(PACE * gait.pace),
        "thighs [rad]": f"{gait.thigh:.3f} ± {abs(gait.thigh_swing):.3f}",
        "calves [rad]": f"{gait.calf:.3f} ± {abs(gait.calf_swing):.3f}",
        "feet in the floor at most [m]": float(run.frame["deepest_point"].max()),
        "greatest part of a motor's effort": float(effort.max()),
    }  # fmt: skip


def _distance(
    coordinates: str, distances: Sequence[float], episodes: int, duration: float, quick: bool, kind: Kind = "evidence"
) -> Finding:
    """State the distances [m] of the seeds; after a few short episodes, state only that they walk forward."""
    quantity = f"distance after {episodes} episodes of {duration:g} s in {coordinates} coordinates, median of seeds [m]"
    note = f"the paper has one run; ours: {min(distances):.3g} to {max(distances):.3g} m" if len(distances) > 1 else ""
    median = float(np.median(distances))
    if quick:
        return stated(quantity, "not in the paper", median, above(0, "it walks forward"), kind="ours")
    return stated(quantity, f"more than {PRINTED:g}", median, above(PRINTED), note, kind=kind)


def _draw_learning(seeds: Sequence[int], searches: Sequence[RandomSearch]) -> Figure:
    with plotted("Learning to walk", "episode", "distance of the best gait [m]") as (figure, axes):
        for seed, search in zip(seeds, searches, strict=True):
            look: dict[str, Any] = {"color": style.BLUE, "lw": 1.8, "zorder": 3, "label": f"seed {seed}"}
            if seed != seeds[0]:
                look = {"color": style.GREY, "lw": 0.8}
            axes.step(range(1, len(search.achieved) + 1), search.achieved, where="post", **look)
        if len(searches) > 1:
            median = np.median([search.achieved for search in searches], axis=0)
            axes.step(range(1, len(median) + 1), median, where="post", color=style.RED, label="median of all seeds")
            axes.axhline(PRINTED, color=style.BLACK, ls="--", label="printed, after 100 episodes")
    return figure


def _draw_gait(run: Run, period: float, seed: int) -> Figure:
    """Draw the last stride, viewed from the right."""
    end = float(run.frame["time"].iloc[-1])
    times = np.linspace(max(end - period, 0.0), end, DRAWN)
    rows = run.frame[list(run.state.model.coordinate_names)].to_numpy()[np.rint(times / EVERY).astype(int)]
    with plotted(f"The last stride of seed {seed}", "time [s]", "height [m]") as (figure, axes):
        for k, q in enumerate(rows):
            points = limbs(run.state.model, q)[..., [0, 2]] + [APART * k - q[0], 0.0]
            axes.plot(*points[[0, 2], 0].T, color=style.BLACK, lw=4)
            for leg, name in zip(points, LEGS, strict=True):
                label = f"{name}, {OPPOSITE[name]}" if k == 0 and name in NEAR else None
                axes.plot(*leg.T, color=DIAGONALS[name], ls="-" if name in NEAR else ":", label=label)
        axes.axhline(0.0, color=style.GREY, lw=0.8)
        axes.set_xticks(APART * np.arange(DRAWN), [f"{time:.3f}" for time in times])
        axes.set(aspect="equal", xlim=(-0.5, APART * (DRAWN - 1) + 0.3), ylim=(-0.02, 0.36))
        axes.legend(loc="lower center", bbox_to_anchor=(0.5, 1.0), ncols=2)
    return figure


def _draw_footfalls(run: Run, period: float, seed: int) -> Figure:
    """Draw the normal forces of the last two strides."""
    time = run.frame["time"].to_numpy()
    last = time >= time[-1] - 2.0 * period
    curves = [
        Curve(time[last], run.frame[f"contact_{name}_fz"][last], name, DIAGONALS[name], "-" if name in NEAR else ":")
        for name in LEGS
    ]
    return drawn((f"Two strides of seed {seed}", "time [s]", "normal force [N]"), curves)

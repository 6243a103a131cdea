"""Figures 11 and 12: scissor lift of five segments, compared with its equation of one degree of freedom."""

from itertools import pairwise

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from contact.arrays import Floats
from experiments.engines.pybullet.linkage import Linkage, LinkageSettings
from experiments.papers.criteria import above, at_most, below, near, smaller, stated, when
from experiments.papers.figures import Curve, drawn
from experiments.papers.item import Finding, Outcome, Progress
from experiments.papers.johnson_murphey_2009 import motions
from experiments.papers.johnson_murphey_2009.motions import (
    INERTIA,
    LENGTH,
    MASS,
    SLIDER,
    START,
    Motion,
    OneDegreeLift,
    printed_inertia,
)
from experiments.timing import part
from experiments.visualization.look import style
from formulations.mechanism import Mechanism
from formulations.mechanism.examples import scissor_configuration, scissor_frames, scissor_lift, scissor_pins

SEGMENTS, STEP = 5, 0.01
SHORT, LONG, QUICK_LONG = 10.0, 1000.0, 60.0
#: Printed run times [s] of 10 s, of trep, and of ODE by its time step [s].
PRINTED_SECONDS = {(motions.OURS, STEP): 1.74} | {
    (motions.BULLET, step): seconds for step, seconds in ((0.01, 0.19), (0.001, 1.85), (0.0001, 18.47))
}
STEPS, QUICK_STEPS = (0.01, 0.001, 0.0001), (0.01, 0.001)
#: Interval [s] of PyBullet's samples.
EVERY = 0.02

STAND_IN = "ODE in the paper, PyBullet here"
ASSUMPTIONS = (
    "links of 5 m, 1 kg and 1 kg m², a slider of 1 kg, released at 0.05π rad: as in the authors' program "
    "(examples/scissor.py), since the paper prints no values; g is 9.81, as in listing 1",
    "benchmark: SciPy's DOP853 at 1e-12 on the Lagrangian of one degree of freedom (instead of Mathematica's NDSolve), "
    "for one swing, which is repeated with the period computed by quadrature, so that errors do not accumulate",
    "the printed Lagrangian has ½ sin² θ instead of ¼ sin² θ (the centre of a link is at half its length), and I "
    "inside m_L L² (…); the caption of figure 10 says that links have no inertia, the text gives them I",
)


def lift_mechanism(segments: int) -> Mechanism:
    return scissor_lift(segments, length=LENGTH, mass=MASS, inertia=INERTIA, slider=SLIDER)


def lift_start(segments: int) -> dict[str, float]:
    return scissor_configuration(segments, START, length=LENGTH)


def lift_linkage(segments: int, step: float, settings: LinkageSettings) -> Linkage:
    frames = scissor_frames(segments, length=LENGTH, mass=MASS, inertia=INERTIA, slider=SLIDER)
    return Linkage(frames, lift_start(segments), scissor_pins(segments), step=step, settings=settings)


def short_run(quick: bool, progress: Progress) -> Outcome:
    mechanism, q, exact = lift_mechanism(SEGMENTS), lift_start(SEGMENTS), OneDegreeLift(SEGMENTS)
    variational = motions.ours(mechanism, q, "L1", duration=SHORT, step=STEP)
    half = motions.ours(mechanism, q, "L1", duration=SHORT, step=STEP / 2.0)
    progress(0.1)
    steps = QUICK_STEPS if quick else STEPS
    bullets = {}
    for number, (step, settings) in enumerate(
        (step, kind) for kind in (motions.ITERATIVE, motions.DIRECT) for step in steps
    ):
        linkage = lift_linkage(SEGMENTS, step, settings)
        done = part(progress, number, 2 * len(steps))
        bullets[step, settings.direct] = motions.bullet(linkage, "L1", duration=SHORT, every=EVERY, progress=done)
    findings = (*_proof(mechanism, exact), *_tracking(variational, half, exact), *_dissipation(bullets, exact))
    tables = {"Trajectories of 10 s": _table(variational, bullets, exact)}
    assumed = (*ASSUMPTIONS, motions.BASELINE, "printed run times: trep and ODE, on the authors' machine")
    return Outcome(findings, assumed, tables, {"trajectories": _draw(variational, bullets, exact)})


def error(motion: Motion, exact: OneDegreeLift) -> Floats:
    """Return the error of the angle [rad]."""
    return motion.angle - exact.angle(motion.time)


def released(exact: OneDegreeLift) -> float:
    """Return the energy [J] that the lift can lose: at the start minus at rest in the lowest position."""
    return float(exact.energy(START, 0.0) - exact.energy(np.pi / 2.0, 0.0))


def _proof(mechanism: Mechanism, exact: OneDegreeLift) -> tuple[Finding, ...]:
    """Compare the kinetic energy of the Lagrangian with that of the mechanism's bodies."""
    wrong, right = [], []
    for angle in np.linspace(0.1, 3.0, 7):
        q, v = scissor_configuration(SEGMENTS, angle, length=LENGTH), lift_rates(SEGMENTS, angle, 1.0)
        kinetic = mechanism.kinetic_energy(q, v)
        right.append(0.5 * float(exact.inertia(angle)) / kinetic - 1.0)
        wrong.append(0.5 * printed_inertia(SEGMENTS, angle) / kinetic - 1.0)
    return (
        stated("kinetic energy by the Lagrangian as printed / that of the bodies − 1, largest",
               "the Lagrangian for a lift", float(np.abs(wrong).max()), below(1e-12),
               "a misprint: ½ sin² θ for ¼ sin² θ, and I inside m_L L² (…)"),
        stated("kinetic energy by the Lagrangian as derived / that of the bodies − 1, largest",
               "not in the paper", float(np.abs(right).max()), below(1e-12), kind="ours"),
    )  # fmt: skip


def lift_rates(segments: int, angle: float, rate: float) -> dict[str, float]:
    """Return the rates of all coordinates of a lift whose angle has this rate [rad/s]."""
    v = {"slider": -LENGTH * np.sin(angle) * rate, "L1": rate, "R1": -rate}
    for k in range(2, segments + 1):
        v |= {f"L{k}": 2.0 * rate, f"R{k}": -2.0 * rate}
    return v


def _tracking(variational: Motion, half: Motion, exact: OneDegreeLift) -> tuple[Finding, ...]:
    most, finer = (float(np.abs(error(motion, exact)).max()) for motion in (variational, half))
    order = float(np.log2(most / finer))
    swing = np.pi - 2.0 * START
    return (
        stated("largest error of the angle in 10 s / swing, variational integrator",
               "tracks the benchmark solution almost perfectly", most / swing, below(0.005)),
        stated("order of that error, from h and h/2", "second order accuracy", order, near(2, 0.05)),
        motions.joined(variational),
    )  # fmt: skip


def _dissipation(bullets: dict[tuple[float, bool], Motion], exact: OneDegreeLift) -> tuple[Finding, ...]:
    steps = [step for step, direct in bullets if not direct]
    errors = {key: float(np.abs(error(motion, exact)).max()) for key, motion in bullets.items()}
    lost = [loss(bullets[step, False], exact) for step in steps]
    soon = until_half_lost(bullets[steps[0], False], exact) / exact.period
    nearest, fine = min(errors[step, False] for step in steps), steps[-1]
    return (
        stated("periods until half of the released energy is lost, force balance, h = 0.01 s",
               "dissipates most of the energy immediately", soon, below(1, "within the first period"), STAND_IN),
        stated("energy lost in 10 s / released energy, force balance, by decreasing time step",
               "smaller time step trajectories dissipate energy more slowly",
               ", ".join(f"{share:.4f}" for share in lost),
               when("less with each smaller step", all(a > b for a, b in pairwise(lost))),
               why="PyBullet loses more with 0.001 s than with 0.01 s, by the remaining errors of its iterations; "
               "in this respect it cannot replace ODE"),
        stated("largest error of the angle in 10 s, force balance with its best time step [rad]",
               "all depart from the true trajectory", nearest, above(0.5), STAND_IN),
        stated(f"largest error of the angle, direct / iterative solver, h = {fine:g} s", "not in the paper",
               errors[fine, True] / errors[fine, False], at_most(0.1),
               "the loss is due to the remaining errors of the iterations, not to force balance itself", kind="ours"),
    )  # fmt: skip


def loss(motion: Motion, exact: OneDegreeLift) -> float:
    """Return the energy lost at the end, divided by the released energy."""
    return float((motion.energy[0] - motion.energy[-1]) / released(exact))


def until_half_lost(motion: Motion, exact: OneDegreeLift) -> float:
    """Return the time until half of the released energy is lost [s]; infinity if it never is."""
    gone = (motion.energy[0] - motion.energy) / released(exact) > 0.5
    return float(motion.time[np.argmax(gone)]) if gone.any() else float("inf")


def _table(variational: Motion, bullets: dict[tuple[float, bool], Motion], exact: OneDegreeLift) -> pd.DataFrame:
    rows = {(motions.OURS, STEP): variational}
    for (step, direct), motion in bullets.items():
        rows[motions.BULLET_DIRECT if direct else motions.BULLET, step] = motion
    return pd.DataFrame([{
        "method": name, "h [s]": step, "greatest error [rad]": np.abs(error(motion, exact)).max(),
        "energy lost, of what is released": loss(motion, exact), "points apart at most [m]": motion.defect,
        "run time [s]": motion.seconds, "printed [s]": PRINTED_SECONDS.get((name, step), np.nan),
    } for (name, step), motion in rows.items()])  # fmt: skip


_STEP_COLORS, _LEGEND = (style.RED, style.ORANGE, style.SKY), {"loc": "upper left", "ncols": 2}


def _draw(variational: Motion, bullets: dict[tuple[float, bool], Motion], exact: OneDegreeLift) -> Figure:
    steps = [step for step, direct in bullets if not direct]
    curves = [_benchmark(exact, 0.0, SHORT), _angle(variational, f"{motions.OURS}, h = {STEP:g} s", style.BLACK)]
    curves += [_angle(bullets[step, False], f"PyBullet, h = {step:g} s", color)
               for step, color in zip(steps, _STEP_COLORS, strict=False)]  # fmt: skip
    curves.append(
        _angle(bullets[steps[0], True], f"PyBullet, direct solver, h = {steps[0]:g} s", style.GREEN)._replace(
            line="--", width=1.0
        )
    )
    titles = f"A scissor lift of {SEGMENTS} segments", "time [s]", "angle of the links [rad]"
    return drawn(titles, curves, size=(7.0, 4.2), legend=_LEGEND, ylim=(0.0, 4.6))


def _benchmark(exact: OneDegreeLift, begin: float, end: float) -> Curve:
    time = np.linspace(begin, end, round(100 * (end - begin)))
    return Curve(time, exact.angle(time), "benchmark, one degree of freedom", "#C8C8C8", width=3.5)


def _angle(motion: Motion, label: str, color: str, since: float = 0.0) -> Curve:
    shown = motion.time >= since
    return Curve(motion.time[shown], motion.angle[shown], label, color, width=1.2)


def long_run(quick: bool, progress: Progress) -> Outcome:
    duration, exact = QUICK_LONG if quick else LONG, OneDegreeLift(SEGMENTS)
    motion = motions.ours(
        lift_mechanism(SEGMENTS), lift_start(SEGMENTS), "L1", duration=duration, step=STEP, progress=progress
    )
    crossings = crossing_times(motion)
    shift = crossings[-1] - exact_crossing(exact, len(crossings) - 1)
    period = 2.0 * float(np.diff(crossings).mean())
    last = motion.time > duration - 2.0 * exact.period
    ends = float(motion.angle[last].min() - START), float(motion.angle[last].max() - (np.pi - START))
    worst = max(map(abs, ends))
    shape = float(np.abs(motion.angle[last] - exact.angle(motion.time[last] - shift)).max())
    findings = (
        stated(f"phase shift after {duration:g} s; the period is {exact.period:.4g} s [s]",
               "a slight phase shift from accumulated error", shift,
               smaller(0.1 * exact.period, "below a tenth of the period")),
        stated("period / period of the benchmark − 1", "the frequency is still close", period / exact.period - 1.0,
               smaller(1e-3)),
        stated("largest error of the last turning points [rad]", "the amplitude is still close", worst, below(0.01)),
        stated("largest error of the last two swings without the phase shift [rad]", "the shape is still close", shape,
               below(0.02)),
        motions.joined(motion),
    )  # fmt: skip
    table = pd.DataFrame({
        "quantity": ["period [s]", "phase shift at the end [s]", "range of the energy [J]", "run time [s]"],
        "benchmark": [exact.period, 0.0, 0.0, np.nan], "ours": [period, shift, np.ptp(motion.energy), motion.seconds],
    })  # fmt: skip
    titles, since = (f"After {duration:g} s, h = {STEP:g} s", "time [s]", "angle of the links [rad]"), duration - 15.0
    curves = _benchmark(exact, since, duration), _angle(motion, motions.OURS, style.BLACK, since)
    figures = {"long-time": drawn(titles, curves, legend=_LEGEND, ylim=(0.0, 4.0))}
    return Outcome(findings, ASSUMPTIONS, {f"After {duration:g} s": table}, figures)


def crossing_times(motion: Motion) -> Floats:
    """Return the times [s] at which the links hang straight down, by cubic interpolation."""
    away = motion.angle - np.pi / 2.0
    times = []
    for k in np.flatnonzero(np.sign(away[1:]) != np.sign(away[:-1])):
        near = slice(max(k - 1, 0), k + 3)
        times.append(float(np.polyval(np.polyfit(away[near], motion.time[near] - motion.time[k], 3), 0.0)))
        times[-1] += float(motion.time[k])
    return np.array(times)


def exact_crossing(exact: OneDegreeLift, number: int) -> float:
    """Return the time [s] of a crossing by its number from 0: a quarter of a period, three quarters, …"""
    return exact.period * (0.25 + 0.5 * number)

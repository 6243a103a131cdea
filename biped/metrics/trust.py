"""Checks of a run's reliability, from its log.

``docs/verdicts.md`` gives the limits and the reasons for them.
"""

from typing import NamedTuple

import numpy as np

from biped.metrics.measurement import Measurement, added
from biped.metrics.metric import metric_named
from biped.model.strength import human_torques
from biped.runs.trust import ENERGY, FAILED, LEAST_ENERGY, OK, WARNING, Check, Passed

#: Limits of the momentum residual, over the scale of momentum: methods that conserve momentum, other methods.
MOMENTUM, MOMENTUM_NOT_KEPT = 1e-7, 0.05
#: Largest share of time steps retried in parts.
RETRIED = 0.05
#: Column of a controller that solves a program at each tick: 0 if all of its limits were met.
PROGRAM_ENDED = "qp_ended"
#: Largest share of a run with an unsolved program.
UNSOLVED = 0.01
#: [m] Penetration of a contact point: more than any sole yields; and more than the height of a foot.
DEEP, TOO_DEEP = 0.02, 0.1
#: [1/rad] Inverse angle at 2°; torques of a controller that is singular for a straight joint grow with it.
STRAIGHT = 1.0 / np.radians(2.0)
#: [rad] Lower bound of the angle from straight in this check.
NEAREST = 1e-6
#: [rad/s] Joint speed above that of any human (knee in a kick: 30 rad/s).
FAST = 40.0


def trust(run: Measurement) -> tuple[Check, ...]:
    """Return all applicable checks of a run, in the order of a table."""
    if not len(run.rows):
        return ()
    checks = (*_ledger(run), *_solver(run), *_program(run), *_contact(run), *_joints(run), _over(run))
    return tuple(check for check in checks if check is not None)


def failure_of(checks: tuple[Check, ...]) -> Check | None:
    """Return the first check that failed, or None."""
    return next((check for check in checks if check.passed == FAILED), None)


class Extremes(NamedTuple):
    """Extreme values that checks of a run use."""

    penetration: float  # [m] depth of the deepest contact point in the floor
    sunk: float  # [m] depth of the root in the floor; negative above it, NaN without a floating root
    joint_rate: float  # [rad/s] rate of the fastest rotary joint
    fastest: int  # number of this joint; -1 if none rotates
    exchanged: float  # [J] sum of the ranges of all energies and works in the balance
    kinetic: float  # [J] greatest kinetic energy


def extremes(run: Measurement) -> Extremes:
    """Return the extreme values of a run."""
    heights, energies = run.contacts[0][:, :-1, 2], run.rows[:, run.places.energy]
    rates = np.abs(run.rows[:, run.places.rate]) * run.layout.angular
    rate = float(rates.max(initial=0.0))
    return Extremes(
        max(0.0, -float(heights[:, :-1].min(initial=0.0))),
        -float(heights[:, -1].min()),
        rate,
        int(np.argmax(rates.max(axis=0))) if rate > 0.0 else -1,
        float(added(np.ptp(energies, axis=0))),
        float(energies[:, 0].max()),
    )


def _graded(value: float, limit: float, beyond: Passed) -> Passed:
    return OK if value <= limit else beyond


def _scales(run: Measurement) -> tuple[float, float]:
    """Return scales of energy [J] and momentum [N·s] for the model: of its pendulum, and of its fastest motion."""
    mass, gravity = run.model.total_mass, float(np.linalg.norm(run.model.gravity))
    energy = mass * gravity * run.layout.standing_height + run.once(extremes).kinetic
    return energy, float(np.sqrt(2.0 * mass * energy))


def _ledger(run: Measurement) -> tuple[Check | None, ...]:
    by = run.context.stepping
    energy, momentum = _scales(run)
    residual, exchanged = float(run.value("ledger_residual") or 0.0), run.once(extremes).exchanged
    limit = max(ENERGY * exchanged, LEAST_ENERGY * energy)
    beyond: Passed = WARNING if by.is_engine else FAILED
    text = f"{residual:.3g} J that no work accounts for, of {exchanged:.3g} J exchanged"
    balance = Check("energy residual", residual, limit, "J", _graded(residual, limit, beyond), text)
    defect = run.value("momentum_defect")
    if not isinstance(defect, float):
        return (balance,)
    limit = (MOMENTUM if by.conserves_momentum else MOMENTUM_NOT_KEPT) * momentum
    text = f"{defect:.2g} N·s that no impulse accounts for"
    return balance, Check("momentum residual", defect, limit, "N*s", _graded(defect, limit, beyond), text)


def _solver(run: Measurement) -> tuple[Check | None, ...]:
    steps, retried, by = run.context.steps, run.context.retried_steps, run.context.stepping
    checks = []
    if steps and retried is not None:
        part = retried / steps
        text = f"{retried} of {steps} time steps were retried in parts"
        checks.append(Check("retried steps", part, RETRIED, "1", _graded(part, RETRIED, WARNING), text))
    if by.stable_step is not None:
        text = f"time step {by.step:.3g} s; on this floor {by.name} is stable up to about {by.stable_step:.2g} s"
        checks.append(Check("step", by.step, by.stable_step, "s", _graded(by.step, by.stable_step, WARNING), text))
    return tuple(checks)


def _program(run: Measurement) -> tuple[Check, ...]:
    if PROGRAM_ENDED not in run.layout.columns:
        return ()
    part = float(np.mean(run[PROGRAM_ENDED] != 0.0))
    text = f"{100.0 * part:.3g} % of the time the controller's program had no solution within all of its limits"
    return (Check("control program", part, UNSOLVED, "1", _graded(part, UNSOLVED, WARNING), text),)


def _contact(run: Measurement) -> tuple[Check | None, ...]:
    if not run.model.nc:
        return ()
    depth = run.once(extremes).penetration
    passed = FAILED if depth > TOO_DEEP else _graded(depth, DEEP, WARNING)
    text = f"a contact point was {1e3 * depth:.3g} mm in the floor"
    return Check("penetration", depth, DEEP, "m", passed, text), _sunk(run)


def _sunk(run: Measurement) -> Check | None:
    """Check that the root is above the floor; only contact points touch the floor."""
    depth = run.once(extremes).sunk
    if not depth > 0.0:
        return None
    text = (
        f"the {_spelt(run.model.body_names[0])} sank {depth:.3g} m into the floor, which acts on contact points only: "
        "biped.ragdoll adds contact points for falls, and fall=Fall() ends a run before"
    )
    return Check("sinking", depth, 0.0, "m", FAILED, text)


def _joints(run: Measurement) -> tuple[Check | None, ...]:
    peaks = run.once(extremes)
    if peaks.fastest < 0:
        return ()
    joint = _spelt(run.layout.joints[peaks.fastest])
    text = f"the {joint} turned at {peaks.joint_rate:.3g} rad/s"
    return (
        Check("joint speed", peaks.joint_rate, FAST, "rad/s", _graded(peaks.joint_rate, FAST, WARNING), text),
        _torque(run),
        _unheeded(run),
        _singular(run),
    )


def _singular(run: Measurement) -> Check | None:
    """Check the joint that came nearest to a singularity of the controller."""
    angles = run.context.singular_angles
    if not angles:
        return None
    nearest = {joint: float(np.abs(run[f"angle_{joint}"] - angle).min()) for joint, angle in angles.items()}
    joint = min(nearest, key=lambda name: nearest[name])
    steep = 1.0 / max(nearest[joint], NEAREST)
    text = (
        f"the {_spelt(joint)} came within {np.degrees(nearest[joint]):.3g}° of straight, where the controller's "
        "torques grow without bounds (controller.largest_inertia bounds them)"
    )
    return Check("straight leg", steep, STRAIGHT, "1/rad", _graded(steep, STRAIGHT, WARNING), text)


def _torque(run: Measurement) -> Check | None:
    """Check the joint whose peak torque is the largest multiple of a human's, if the model is a human."""
    limits = human_torques(run.model)
    torques = run.values(metric_named("peak_torque_JOINT"))
    peaks = {joint: peak for joint in limits if isinstance(peak := torques.get(f"peak_torque_{joint}"), float)}
    if not peaks:
        return None
    joint = max(peaks, key=lambda name: peaks[name] / limits[name])
    peak, limit = peaks[joint], limits[joint]
    text = f"the {_spelt(joint)} exerted {peak:.3g} N·m; a strong human exerts {limit:.3g} N·m"
    return Check("joint torque", peak, limit, "N*m", _graded(peak, limit, WARNING), text)


def _unheeded(run: Measurement) -> Check | None:
    """Check the joint whose torque with an impedance most exceeds its actuator's limit, which ignores impedances."""
    limits = run.context.unheeded_limits
    if not limits:
        return None
    torques = np.abs(run.rows[:, run.places.torque]).max(axis=0)
    peaks = {joint: float(peak) for joint, peak in zip(run.layout.joints, torques, strict=True) if joint in limits}
    joint = max(peaks, key=lambda name: peaks[name] / limits[name])
    peak, limit = peaks[joint], limits[joint]
    text = (
        f"the {_spelt(joint)}, with an impedance, exerted {peak:.3g} N·m; its actuator's limit is {limit:.3g} "
        "N·m: with this integrator, limits and lag of Actuators apply only to the controller's torques"
    )
    return Check("impedance", peak, limit, "N*m", _graded(peak, limit, WARNING), text)


def _over(run: Measurement) -> Check | None:
    """Check that a disturbance acted after the start of the run; otherwise the run shows no recovery."""
    began, spans = float(run["time"][0]), run.context.disturbance_spans
    if not spans or any(span.ends > began for span in spans):
        return None
    last = max(spans, key=lambda span: span.ends)
    text = f"{last.what} ended at {last.ends:.4g} s, before this run began at {began:.4g} s: nothing disturbed it"
    return Check("disturbance", began - last.ends, 0.0, "s", WARNING, text)


def _spelt(joint: str) -> str:
    return joint.replace("_", " ")

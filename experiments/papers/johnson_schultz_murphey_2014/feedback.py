"""Figures 4, 6 and 7: feedback that returns a pendulum and the marionette to their reference motions."""

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from biped.optimal import Trajectory, closed_loop, regulator
from contact.arrays import Floats
from experiments.papers.criteria import above, below, stated
from experiments.papers.figures import Curve, drawn
from experiments.papers.item import Finding, Outcome, Progress
from experiments.papers.johnson_schultz_murphey_2014 import convergence, puppet
from experiments.papers.johnson_schultz_murphey_2014.pendulum import pendulum
from experiments.visualization.look import style
from formulations.mechanism import DiscreteMechanism

#: Initial (θ, p) of the pendulum, instead of (0, 0).
START = (1.0, 1.0)
#: Shares of the initial error; the table has the times from which the error stays below them.
BACK = (0.5, 0.05, 0.01)
REFERENCE, FEASIBLE, CLOSED, OPEN = "infeasible reference", "feasible reference", "closed loop", "open loop"
#: Duration [s] of the marionette's motion.
DURATION, QUICK_DURATION = 10.0, 3.0
#: Largest remaining share of the initial error with feedback; a short version has less time.
SMALL, QUICK_SMALL = 0.05, 0.3
#: Joint that is rotated at the start, and angle of the rotation [rad].
TURNED, BY = "torso_rz", 0.1
#: Cost of configuration variables; the other costs are 1.
WEIGHT = 100.0
WITH, WITHOUT = "with feedback", "without"
COLORS = {WITHOUT: (style.GREY, "-"), WITH: (style.BLUE, "-")}


def feedback(
    system: DiscreteMechanism, path: Trajectory, Q: Floats, R: Floats, progress: Progress = lambda _: None
) -> Floats:
    """Return LQR gains (steps, inputs, states) along ``path`` for the weights Q, R (Johnson et al. 2014, eq. (36))."""
    A, B = np.empty((len(path.u), Q.shape[0], Q.shape[0])), np.empty((len(path.u), Q.shape[0], R.shape[0]))
    for k, (x, u) in enumerate(zip(path.x, path.u, strict=False)):
        step = system.linearize(x, u, k * system.step)
        A[k], B[k] = step.A, step.B
        progress((k + 1) / len(path.u))
    return regulator(A, B, Q, R).gains


def apart(path: Trajectory, desired: Trajectory, count: int | None = None) -> Floats:
    """Return the norm (N + 1,) of the error of the state, or of its first ``count`` variables."""
    return np.asarray(np.linalg.norm((path.x - desired.x)[:, :count], axis=1))


def back_after(time: Floats, error: Floats, share: float) -> float:
    """Return the time [s] from which the error stays below a share of the initial error; infinity if it does not."""
    above = np.flatnonzero(error >= share * error[0])
    return float(time[above[-1] + 1]) if above[-1] + 1 < len(time) else float("inf")


def regulate(quick: bool, progress: Progress) -> Outcome:  # noqa: ARG001 - the whole takes seconds
    system = pendulum()
    desired = convergence.search(system, "newton", progress=lambda done: progress(0.8 * done)).path
    gains = feedback(system, desired, np.eye(2), np.eye(1))
    closed, opened = (closed_loop(system, desired, K, np.array(START)) for K in (gains, 0.0 * gains))
    progress(1.0)
    paths = {REFERENCE: convergence.desired(), FEASIBLE: desired, CLOSED: closed, OPEN: opened}
    time = np.linspace(0.0, system.step * convergence.STEPS, convergence.STEPS + 1)
    assumed = (
        *convergence.ASSUMPTIONS,
        "the regulator's costs, which are not printed, are those of the authors' program: Q = I, R = 1, final cost Q",
        "the error is the norm of the error of (θ, p)",
    )
    errors = {CLOSED: apart(closed, desired), OPEN: apart(opened, desired)}
    tables = {"Back on the reference": _returns(time, errors), "Angles": _angles(time, paths)}
    findings = _regulated(errors[CLOSED], errors[OPEN])
    return Outcome(findings, assumed, tables, {"regulation": _draw_angles(time, paths)})


def _regulated(closed: Floats, opened: Floats) -> tuple[Finding, ...]:
    left = float(opened[len(opened) // 2 :].min() / opened[0])
    return (
        stated("error at the end / initial error, with feedback", "stabilizes … to the feasible reference",
               float(closed[-1] / closed[0]), below(1e-2), "the table shows how quickly, which is not printed"),
        stated("smallest error in the second half / initial error, without feedback", "not in the text",
               left, above(1), kind="ours"),
    )  # fmt: skip


def _returns(time: Floats, errors: dict[str, Floats]) -> pd.DataFrame:
    return pd.DataFrame([
        {"run": name} | {f"below {share:g} of the error at the start from [s]": back_after(time, error, share)
                         for share in BACK} for name, error in errors.items()
    ])  # fmt: skip


def _angles(time: Floats, paths: dict[str, Trajectory]) -> pd.DataFrame:
    columns = {f"θ, {name} [rad]": path.x[:, 0] for name, path in paths.items()}
    return pd.DataFrame({"time [s]": time} | columns)


def _draw_angles(time: Floats, paths: dict[str, Trajectory]) -> Figure:
    looks = {
        REFERENCE: (style.BLACK, ":"), FEASIBLE: (style.BLACK, "-"),
        CLOSED: (style.BLUE, "--"), OPEN: (style.RED, "-."),
    }  # fmt: skip
    titles = "A pendulum that starts at (1, 1) instead of (0, 0)", "time [s]", "θ [rad]"
    return drawn(titles, [Curve(time, path.x[:, 0], name, *looks[name]) for name, path in paths.items()])


def stabilize(quick: bool, progress: Progress) -> Outcome:
    system = puppet.puppet()
    steps = round((QUICK_DURATION if quick else DURATION) / puppet.STEP)
    path = puppet.reference(system, steps, lambda done: progress(0.2 * done))
    n, size = system.states, system.mechanism.size
    weights = np.where(np.arange(n) < size, WEIGHT, 1.0)
    gains = feedback(system, path, np.diag(weights), np.eye(system.inputs), lambda done: progress(0.2 + 0.4 * done))
    x = turned(system, path)
    paths = {WITH: closed_loop(system, path, gains, x), WITHOUT: closed_loop(system, path, 0.0 * gains, x)}
    progress(1.0)
    time = np.linspace(0.0, puppet.STEP * steps, steps + 1)
    errors = {name: apart(moved, path, size) for name, moved in paths.items()}
    column = system.state_names.index(TURNED)
    angles = {name: (moved.x - path.x)[:, column] for name, moved in paths.items()}
    closures = system.mechanism.largest_constraints(system.configuration_of(paths[WITH].x))
    assumed = (
        *puppet.ASSUMPTIONS,
        f"the torso is rotated about the vertical, {TURNED}, by {BY:g} rad, and then the smallest change that makes "
        f"the strings fit again leaves {angles[WITH][0]:.5f} rad; the authors' program instead simulates with constant "
        "inputs, to a state with an error of 44 %",
        f"the error is that of the {size} configuration variables; the regulator's final cost is its Q",
        f"duration: {time[-1]:g} s",
    )
    findings = _stabilized(errors, angles, QUICK_SMALL if quick else SMALL, float(np.max(closures)))
    figures = {
        "error": _draw_errors(time, errors, "error of the configuration"),
        "torso": _draw_errors(time, angles | {"reference": 0.0 * time}, "error of the torso's rotation [rad]"),
    }
    return Outcome(findings, assumed, {"Errors": _errors_table(time, errors, angles)}, figures)


def turned(system: DiscreteMechanism, path: Trajectory) -> Floats:
    """Return the initial state (80,) with a rotated torso."""
    mechanism = system.mechanism
    q = system.configuration_of(path.x[0])
    q[mechanism.coordinates.index(TURNED)] += BY
    return system.state(mechanism.satisfy_constraints(q))


def persisting(error: Floats) -> float:
    """Return the root mean square error of the last quarter, divided by the initial error."""
    return float(np.sqrt(np.mean(error[-(len(error) // 4) :] ** 2)) / error[0])


def _stabilized(
    errors: dict[str, Floats], angles: dict[str, Floats], small: float, closure: float
) -> tuple[Finding, ...]:
    closed, opened = persisting(errors[WITH]), persisting(errors[WITHOUT])
    better = float(np.mean(errors[WITH] < errors[WITHOUT]))
    half = len(angles[WITHOUT]) // 2
    torso, free = (float(np.sqrt(np.mean(angles[name][half:] ** 2))) for name in (WITH, WITHOUT))
    return (
        stated("error in the last quarter / initial error, with feedback", "converges to the reference trajectory",
               closed, below(small)),
        stated("error in the last quarter / initial error, without feedback", "persist throughout the time horizon",
               opened, above(0.2)),
        stated("share of the time in which the error with feedback is smaller than without",
               "significantly improves the norm of the error", better, above(0.8)),
        stated("root mean square of the torso's error in the second half, with / without feedback",
               "significantly improves", torso / free, below(0.5)),
        stated("largest constraint error [m]", "enforce the holonomic constraint at every time step", closure,
               below(1e-9)),
    )  # fmt: skip


def _errors_table(time: Floats, errors: dict[str, Floats], angles: dict[str, Floats]) -> pd.DataFrame:
    columns = {f"error {name}": values for name, values in errors.items()}
    columns |= {f"torso {name} [rad]": values for name, values in angles.items()}
    return pd.DataFrame({"time [s]": time} | columns).iloc[::5]


def _draw_errors(time: Floats, errors: dict[str, Floats], label: str) -> Figure:
    curves = [Curve(time, values, name, *COLORS.get(name, (style.BLACK, ":"))) for name, values in errors.items()]
    return drawn(("The marionette, its torso rotated by 0.1 rad", "time [s]", label), curves)

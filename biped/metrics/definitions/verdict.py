"""Verdict of a run, such as recovered, stepped, fell, lost control or undecided, with a reason."""

import math

import numpy as np

from biped.kernels.loop.log import ABSENT, IMPACT
from biped.metrics.definitions.gait import STEPPING_ON, gait_of
from biped.metrics.definitions.sources import HOF
from biped.metrics.kernels import metrics as kernels
from biped.metrics.kernels.support import CONTACT_FORCE, DOWN
from biped.metrics.measurement import Measurement
from biped.metrics.metric import Metric, Value, register
from biped.metrics.trust import failure_of, trust
from biped.runs.verdict import COMPLETED, FAILED, FELL, INTERRUPTED, RECOVERED, STEPPED, UNDECIDED, UNRELIABLE
from contact.arrays import Floats

#: Duration of a disturbance, in time constants of the pendulum, after which the run can be judged: by then an
#: unbalanced motion has grown e⁵ = 150-fold.
LASTING = 5.0
#: Share of the weight that parts other than the feet bear, above which the body counts as down.
OFF_FEET = 0.5
#: Height of the centre of mass, over its height in the home configuration, below which the body counts as down.
LOW = 0.5
#: Sinking speed, over the standing height per time constant, above which the body may be collapsing between its feet.
SINKING = 0.1
#: Verdict and reason.
Judgement = tuple[str, str]


def time_outside(run: Measurement) -> float | None:
    """Return the time [s], up to the end, in which the body could not recover in place; None if undetermined."""
    if not run.model.nc or not len(run.rows):
        return None
    duration = float(kernels.time_outside(run.rows, run.places, run.body, run.series, run.scratch))
    return None if math.isnan(duration) else duration


def time_constant(run: Measurement) -> float:
    """Return the time constant 1/ω₀ [s] of the equivalent pendulum (Hof et al. 2005)."""
    return math.sqrt(run.body.length / float(-run.body.gravity[2]))


def judgement(run: Measurement) -> dict[str, Value]:
    """Return the verdict, its reason, and the limit that ended the run."""
    word, reason = _judged(run)
    if word == FELL and (steps := _steps(run)):
        reason += f", after {steps}"
    limit = run.context.ending.limit
    hit = None if limit is None else limit.name if limit.name != "joint_rate" else limit.subject
    return {"verdict": word, "reason": reason, "limit_hit": hit}


def _judged(run: Measurement) -> Judgement:
    ending, limit = run.context.ending, run.context.ending.limit
    if ending.verdict in (FAILED, INTERRUPTED):
        return ending.verdict, ending.reason
    wrong = failure_of(run.once(trust))
    if wrong is not None:
        return UNRELIABLE, wrong.text
    if ending.verdict in (FELL, COMPLETED):
        return ending.verdict, ending.reason
    outside, moved = run.once(time_outside), run.value("foot_displacement")
    if outside is not None and (lost := _lost(run, outside)):
        return FELL, f"{_where(run, lost)} for the last {lost:.2f} s"
    if limit is not None:
        return ending.verdict, ending.reason + _margin(run)
    if down := lying(run):
        return FELL, down
    if outside is None or not isinstance(moved, float):
        return (COMPLETED, "") if not outside else (UNDECIDED, "nothing has touched the floor yet")
    if cause := active_disturbance(run):
        return UNDECIDED, cause
    gait = run.once(gait_of)
    if gait is not None and gait.cycle and _end(run) <= gait.due:
        return (UNDECIDED, gait.doubt) if gait.doubt else (STEPPED, STEPPING_ON)
    if outside:
        return UNDECIDED, f"{_where(run, outside)}, but only for the last {outside:.2g} s"
    if down := sinking(run):
        return UNDECIDED, down
    return _stood(run, moved)


def _lost(run: Measurement, outside: float) -> float:
    """Return the time [s] for which the body could not recover in place if that is too long, otherwise zero.

    A stepping body has one more gait cycle, from its last landing that was as good as the same foot's landing before. A
    body that has stepped for less than two cycles may be about to walk off, unless a limit ended the run.
    """
    gait, end = run.once(gait_of), _end(run)
    if gait is None or end - outside > gait.due:
        return outside if outside > time_constant(run) else 0.0
    if not gait.cycle and end <= gait.due and run.context.ending.limit is None:
        return 0.0
    lost = min(outside, end - gait.caught)
    return lost if lost > time_constant(run) + gait.cycle else 0.0


def _end(run: Measurement) -> float:
    """Return the time [s] of the last row."""
    return float(run.rows[-1, run.places.time])


def lying(run: Measurement) -> str:
    """Describe how a model with feet lies on the floor at the end; return "" if it does not, or if undetermined.

    A fall is coming to rest on the ground, not on the feet (WHO 2007). The criteria are: most of the weight, averaged
    over a time constant, is on points that belong to no foot; or the centre of mass is far too low.
    """
    if not run.layout.feet or run.once(time_outside) is None:
        return ""
    loads = _last(run, time_constant(run))[:, run.places.contact + CONTACT_FORCE + 2].mean(axis=0)
    off_feet = np.where(run.places.foot < 0, loads, 0.0)
    if off_feet.sum() > OFF_FEET * loads.sum():
        body = run.model.contact_points[int(off_feet.argmax())].body.replace("_", " ")
        return f"{off_feet.sum() / loads.sum():.0%} of its weight is not on its feet, most of that on the {body}"
    height, upright = float(_heights(run)[-1]), run.layout.standing_height
    return f"centre of mass at {height:.2g} m of the {upright:.2g} m upright" if height < LOW * upright else ""


def sinking(run: Measurement) -> str:
    """Describe how fast the centre of mass sinks at the end; return "" if it hardly sinks."""
    heights = _heights(run)
    span = float(run.rows[-1, run.places.time] - run.rows[-len(heights), run.places.time])
    rate = float(heights[0] - heights[-1]) / span if span > 0.0 else 0.0
    fast = rate > SINKING * run.layout.standing_height / time_constant(run)
    return f"its centre of mass sinks at {rate:.2g} m/s" if fast else ""


def _heights(run: Measurement) -> Floats:
    """Return the heights [m] of the centre of mass above the floor below it, in the last moment of a run."""
    last, places = _last(run, kernels.LAST_MOMENT), run.places
    x, y, z = last[:, places.com : places.com + 3].T
    if places.platform == ABSENT:
        return z
    ox, oy, oz, w, i, j, k = last[:, places.platform : places.platform + 7].T
    normal = 2.0 * (i * k + w * j), 2.0 * (j * k - w * i), 1.0 - 2.0 * (i**2 + j**2)
    heights: Floats = z - oz + (normal[0] * (x - ox) + normal[1] * (y - oy)) / normal[2]
    return heights


def _last(run: Measurement, span: float) -> Floats:
    """Return the rows of the last ``span`` [s]."""
    return run.rows[_since(run, span) :]


def _since(run: Measurement, span: float) -> int:
    """Return the first row of the last ``span`` [s]."""
    return run.row_at(_end(run) - span)


def _margin(run: Measurement) -> str:
    """Return the final margin of stability as text, for the reason of a run that a limit ended."""
    margin = run.value("margin_of_stability_end")
    return f", margin of stability {1e3 * margin:+.0f} mm" if isinstance(margin, float) else ""


def _where(run: Measurement, outside: float) -> str:
    """Describe where the body was for the last ``outside`` [s]: off the floor, or outside of the base of support."""
    touched = run.series[_since(run, outside) + 1 :, DOWN].any()  # the row before is not outside
    return "outside of its base of support" if touched else "nothing touches the floor"


def _stood(run: Measurement, moved: float) -> Judgement:
    if moved <= run.context.step_threshold:
        return RECOVERED, "in place"
    return STEPPED, _steps(run) or f"a foot {1e2 * moved:.3g} cm from where it stood"


def _steps(run: Measurement) -> str:
    """Return the number of recovery steps as text; empty if it is zero or undetermined."""
    steps = run.value("footsteps")
    return f"{steps} step{'s' if steps != 1 else ''}" if steps else ""


def is_open(run: Measurement) -> bool:
    """Return True if a longer run could give a verdict: it is undecided, and no disturbance acts at the end."""
    return run.value("verdict") == UNDECIDED and (" acted " in (cause := active_disturbance(run)) or not cause)


def active_disturbance(run: Measurement) -> str:
    """Describe the disturbance that acts at the end of the run; return "" if none acts, or the run can be judged."""
    end, tau, gait = _end(run), time_constant(run), run.once(gait_of)
    wait = tau if gait is None or end > gait.due else max(tau, gait.cycle)
    for span in sorted(run.context.disturbance_spans, key=lambda span: -span.ends):
        if span.begins < end and span.ends > end - wait and end - span.begins < max(LASTING * tau, span.period):
            since = "still acts" if span.ends >= end else f"acted {end - span.ends:.2g} s before the end"
            return f"{span.what} {since}"
    return "the thrown box is in flight" if _is_in_flight(run) else ""


def _is_in_flight(run: Measurement) -> bool:
    """Return True if a thrown box has hit nothing so far, and is still above the floor."""
    columns = run.layout.columns
    if "projectile_z" not in columns or run.events is None or (run.events[:, 1] == IMPACT).any():
        return False
    return bool(run["projectile_z"][-1] > 0.0)


register(
    Metric(
        "verdict", "", "verdict", judgement,
        "by `docs/verdicts.md`, the first that applies: failed, interrupted; unreliable: a check of the run fails; "
        "fell: root too low or too tilted, `time_outside` above 1/ω₀, or body on the floor; lost control: a joint was "
        "too fast; undecided: a disturbance still acts, `time_outside` is above zero, or the centre of mass sinks; "
        "stepped: `foot_displacement` above 5 cm; recovered. A body that continues to step has stepped if the last "
        "cycle is no worse than the previous cycle; otherwise it is undecided, or fell one cycle later",
        of_whole_run=True,
    ),
    Metric("reason", "", "reason of the verdict", judgement, "in a few words", of_whole_run=True),
    Metric("limit_hit", "", "limit of `biped.Fall` that ended the run", judgement, "height, tilt, or name of a joint",
           of_whole_run=True),
    Metric("fell_at", "s", "time of a fall", lambda run: run.context.fell_at,
           "first time at which a limit of `biped.Fall` is reached", of_whole_run=True),
    Metric(
        "time_outside", "s", "final time outside of the base of support", time_outside,
        "since the last row in which a foot touches the floor and the extrapolated centre of mass is within the base "
        "of support; it is computed for a moving floor that continues and that stops, with and without the offset by a "
        "steady push (zero moment point less centre of pressure, mean of 0.1 s)", HOF, of_whole_run=True,
    ),
)  # fmt: skip

"""How a run ended: whether it recovered, stepped, fell, lost control, or cannot be judged, and why."""

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

#: In time constants of the pendulum: a disturbance that has lasted so long is withstood or not. What is not balanced
#: has grown e⁵ = 150-fold by then.
LASTING = 5.0
#: Who has more than this part of its weight on other than its feet is down.
OFF_FEET = 0.5
#: So is who has its centre of mass below this part of its height in the home configuration.
LOW = 0.5
#: Who comes down faster than this part of that height in a time constant may be collapsing between its feet.
SINKING = 0.1
#: The word, and why.
Judgement = tuple[str, str]


def time_outside(run: Measurement) -> float | None:
    """[s] for how long, up to the end, it is past recovering; None where nothing says."""
    if not run.model.nc or not len(run.rows):
        return None
    found = float(kernels.time_outside(run.rows, run.places, run.body, run.series, run.scratch))
    return None if math.isnan(found) else found


def time_constant(run: Measurement) -> float:
    """[s] 1/ω₀ of the pendulum that stands for the body (Hof et al. 2005)."""
    return math.sqrt(run.body.length / float(-run.body.gravity[2]))


def judgement(run: Measurement) -> dict[str, Value]:
    """The verdict, its reason, and the limit that ended the run."""
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
    if acting := still_acting(run):
        return UNDECIDED, acting
    gait = run.once(gait_of)
    if gait is not None and gait.cycle and _end(run) <= gait.due:
        return (UNDECIDED, gait.doubt) if gait.doubt else (STEPPED, STEPPING_ON)
    if outside:
        return UNDECIDED, f"{_where(run, outside)}, but only for the last {outside:.2g} s"
    if down := sinking(run):
        return UNDECIDED, down
    return _stood(run, moved)


def _lost(run: Measurement, outside: float) -> float:
    """Return for how long [s] the body has been past recovering if that is too long, else zero.

    A body that steps has a whole gait cycle more, from its last landing that was as good as that of the same foot
    before. If it has stepped for less than two cycles, it may be about to walk off, unless a limit ended the run.
    """
    gait, end = run.once(gait_of), _end(run)
    if gait is None or end - outside > gait.due:
        return outside if outside > time_constant(run) else 0.0
    if not gait.cycle and end <= gait.due and run.context.ending.limit is None:
        return 0.0
    lost = min(outside, end - gait.caught)
    return lost if lost > time_constant(run) + gait.cycle else 0.0


def _end(run: Measurement) -> float:
    """Return the last row's time [s]."""
    return float(run.rows[-1, run.places.time])


def lying(run: Measurement) -> str:
    """How a model with feet is down at the end, in words; empty where it is not, or nothing says.

    A fall is to come to rest on the ground, on other than the feet (WHO 2007): so is who has most of its weight, the
    mean of a time constant, on points of no foot, or its centre of mass far too low.
    """
    if not run.layout.feet or run.once(time_outside) is None:
        return ""
    loads = _last(run, time_constant(run))[:, run.places.contact + CONTACT_FORCE + 2].mean(axis=0)
    others = np.where(run.places.foot < 0, loads, 0.0)
    if others.sum() > OFF_FEET * loads.sum():
        body = run.model.contact_points[int(others.argmax())].body.replace("_", " ")
        return f"{others.sum() / loads.sum():.0%} of its weight is not on its feet, most of that on the {body}"
    height, upright = float(_heights(run)[-1]), run.layout.standing_height
    return f"centre of mass at {height:.2g} m of the {upright:.2g} m upright" if height < LOW * upright else ""


def sinking(run: Measurement) -> str:
    """How fast the centre of mass still comes down, in words; empty where it hardly does."""
    heights = _heights(run)
    span = float(run.rows[-1, run.places.time] - run.rows[-len(heights), run.places.time])
    rate = float(heights[0] - heights[-1]) / span if span > 0.0 else 0.0
    fast = rate > SINKING * run.layout.standing_height / time_constant(run)
    return f"its centre of mass sinks at {rate:.2g} m/s" if fast else ""


def _heights(run: Measurement) -> Floats:
    """[m] of the centre of mass above the floor below it, in the last moment of a run."""
    last, places = _last(run, kernels.LAST_MOMENT), run.places
    x, y, z = last[:, places.com : places.com + 3].T
    if places.platform == ABSENT:
        return z
    ox, oy, oz, w, i, j, k = last[:, places.platform : places.platform + 7].T
    normal = 2.0 * (i * k + w * j), 2.0 * (j * k - w * i), 1.0 - 2.0 * (i**2 + j**2)
    heights: Floats = z - oz + (normal[0] * (x - ox) + normal[1] * (y - oy)) / normal[2]
    return heights


def _last(run: Measurement, span: float) -> Floats:
    """The rows of the last so many seconds."""
    return run.rows[_since(run, span) :]


def _since(run: Measurement, span: float) -> int:
    """The first row of the last so many seconds."""
    return run.row_at(_end(run) - span)


def _margin(run: Measurement) -> str:
    """That of a run whose joints were out of control: it tells whether balance was."""
    margin = run.value("margin_of_stability_end")
    return f", margin of stability {1e3 * margin:+.0f} mm" if isinstance(margin, float) else ""


def _where(run: Measurement, outside: float) -> str:
    """Where it has been for so many seconds [s]: off the floor the whole time, or outside of what it stands on."""
    touched = run.series[_since(run, outside) + 1 :, DOWN].any()  # the row before says that it is not
    return "outside of its base of support" if touched else "nothing touches the floor"


def _stood(run: Measurement, moved: float) -> Judgement:
    if moved <= run.context.step_threshold:
        return RECOVERED, "in place"
    return STEPPED, _steps(run) or f"a foot {1e2 * moved:.3g} cm from where it stood"


def _steps(run: Measurement) -> str:
    """How many it took, in words; empty if none, or nothing says."""
    steps = run.value("footsteps")
    return f"{steps} step{'s' if steps != 1 else ''}" if steps else ""


def is_open(run: Measurement) -> bool:
    """Return whether a longer run could decide: the verdict is undecided, and no disturbance acts at the end."""
    return run.value("verdict") == UNDECIDED and (" acted " in (acting := still_acting(run)) or not acting)


def still_acting(run: Measurement) -> str:
    """Which disturbance the run ends in, in words; empty where none acts that has not lasted long enough to tell."""
    end, tau, gait = _end(run), time_constant(run), run.once(gait_of)
    wait = tau if gait is None or end > gait.due else max(tau, gait.cycle)
    for span in sorted(run.context.acting, key=lambda span: -span.ends):
        if span.begins < end and span.ends > end - wait and end - span.begins < max(LASTING * tau, span.period):
            since = "still acts" if span.ends >= end else f"acted {end - span.ends:.2g} s before the end"
            return f"{span.what} {since}"
    return "the thrown box is in flight" if _is_in_flight(run) else ""


def _is_in_flight(run: Measurement) -> bool:
    """Whether a thrown box has hit nothing so far, and is still above the floor."""
    columns = run.layout.columns
    if "projectile_z" not in columns or run.events is None or (run.events[:, 1] == IMPACT).any():
        return False
    return bool(run["projectile_z"][-1] > 0.0)


register(
    Metric(
        "verdict", "", "how it ended, in one word", judgement,
        "as `docs/verdicts.md` has it, in this order: failed, interrupted; unreliable, if a check of the run fails; "
        "fell, where it was too low or too tilted, `time_outside` is above 1/ω₀, or it lies on other than its feet; "
        "lost control, where a joint was too fast; undecided, if a disturbance still acts, it is outside for less, or "
        "its centre of mass sinks; stepped, if `foot_displacement` is above 5 cm; recovered; if it steps on: stepped, "
        "if the last cycle is no worse than the one before, else undecided, or fell after a cycle more",
        of_whole_run=True,
    ),
    Metric("reason", "", "why, in a few words", judgement, "of the verdict", of_whole_run=True),
    Metric("limit_hit", "", "the limit of a fall that ended it", judgement, "height, tilt, or a joint",
           of_whole_run=True),
    Metric("fell_at", "s", "when the limits of a fall were hit", lambda run: run.context.fell_at,
           "as `biped.Fall` sets them", of_whole_run=True),
    Metric(
        "time_outside", "s", "how long it is past recovering, up to the end", time_outside,
        "since the last row in which a foot touches and the extrapolated centre of mass is within the base of support, "
        "whether a moving floor goes on or stops at once; also when set off by the moment of a steady push: zero "
        "moment point less centre of pressure, mean of 0.1 s", HOF, of_whole_run=True,
    ),
)  # fmt: skip

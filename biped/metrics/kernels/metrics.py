"""Numbers of a whole run from its rows and its series; NaN where there is nothing to measure.

``begin`` is the first row that counts. Fields and columns are named like the metrics. The definitions in words are in
``biped.metrics.definitions``.
"""

import math
from typing import NamedTuple

from biped.kernels.loop.log import ABSENT
from biped.metrics.kernels import support
from biped.metrics.kernels.polygon import inside_by
from contact.modes import STICKING
from contact.vectors import mat_vec, norm, sub, vector_at
from kernelcache import kernel, routine

#: [s] before the end over which the moment of what else pushes is averaged.
LAST_MOMENT = 0.1
#: [s] after a foot came down, in which its greatest force is that of the landing.
IMPACT = 0.05

#: Columns of ``measure_feet``.
OF_FOOT = ("peak_grf", "mean_grf", "impact_peak")
PEAK_FORCE, MEAN_FORCE, IMPACT_PEAK = range(3)
#: Columns of ``measure_steps``: its foot, the last row on the floor and that of landing, how far it went along the
#: floor, how far it landed beyond the extrapolated centre of mass, how high it was lifted, and how fast it came down.
OF_STEP = ("foot", "left", "landed", "x", "y", "beyond", "clearance", "speed")
FOOT, LEFT, LANDED, STEP, _, BEYOND, CLEARANCE, SPEED = range(8)


class Displacement(NamedTuple):
    foot_displacement: float
    foot_creep: float


@kernel
def has(series, k, column):
    return not math.isnan(series[k, column])


@kernel
def is_foot_down(row, places, foot):
    _, R = support.floor_frame(row, places)
    for c in range(places.contact.shape[0]):
        if places.foot[c] == foot and support.is_down(row, places, c, support.normal_of(R)):
            return True
    return False


@kernel
def middle_in_floor(row, places, foot):
    """The middle of a foot's points, in the floor's frame."""
    origin, R = support.floor_frame(row, places)
    x, y, z, n = 0.0, 0.0, 0.0, 0
    for c in range(places.contact.shape[0]):
        if places.foot[c] == foot:
            p = support.seen_from(origin, R, support.contact_place(row, places, c))
            x, y, z, n = x + p[0], y + p[1], z + p[2], n + 1
    return x / n, y / n, z / n


@kernel
def lowest_of(row, places, foot):
    """The height of a foot's lowest point above the floor."""
    origin, R = support.floor_frame(row, places)
    low = math.inf
    for c in range(places.contact.shape[0]):
        if places.foot[c] == foot:
            low = min(low, support.seen_from(origin, R, support.contact_place(row, places, c))[2])
    return low


@kernel
def describe_step(rows, places, series, foot, left, landed, out):
    origin, R = support.floor_frame(rows[landed], places)
    place, before = middle_in_floor(rows[landed], places, foot), middle_in_floor(rows[left], places, foot)
    xcom = support.seen_from(origin, R, (series[landed, support.XCOM], series[landed, support.XCOM + 1], origin[2]))
    away = sub(place, before)
    out[FOOT], out[LEFT], out[LANDED] = foot, left, landed
    out[STEP], out[STEP + 1] = away[0], away[1]
    length = math.hypot(away[0], away[1])
    out[BEYOND] = math.nan
    if length > 0.0:
        out[BEYOND] = ((place[0] - xcom[0]) * away[0] + (place[1] - xcom[1]) * away[1]) / length
    at_left, high = lowest_of(rows[left], places, foot), 0.0
    for k in range(left, landed):
        high = max(high, lowest_of(rows[k], places, foot) - at_left)
    out[CLEARANCE] = high
    out[SPEED] = math.nan
    if landed - left > 2:  # it was in the air in two rows at least
        before, last = rows[landed - 2], rows[landed - 1]
        fallen = lowest_of(before, places, foot) - lowest_of(last, places, foot)
        out[SPEED] = fallen / (last[places.time] - before[places.time])


@routine
def measure_steps(rows, places, series, begin, threshold, left, found):
    """(…, OF_STEP) into ``found``, as they land; how many there are. ``left`` (feet,) is a workspace.

    A step is a landing of a foot whose middle is farther than ``threshold`` from where it last left the floor.
    """
    n = 0
    for foot in range(left.shape[0]):
        left[foot] = begin
    for k in range(begin + 1, rows.shape[0]):
        for foot in range(left.shape[0]):
            down, was_down = is_foot_down(rows[k], places, foot), is_foot_down(rows[k - 1], places, foot)
            if down and not was_down:
                place, before = middle_in_floor(rows[k], places, foot), middle_in_floor(rows[left[foot]], places, foot)
                if norm(sub(place, before)) > threshold:
                    describe_step(rows, places, series, foot, left[foot], k, found[n])
                    n += 1
            if was_down and not down:
                left[foot] = k - 1
    return n


@routine
def measure_feet(rows, places, series, begin, found):
    """(feet, OF_FOOT): greatest and mean normal force, and the greatest after a landing."""
    n = rows.shape[0]
    for foot in range(found.shape[0]):
        peak, impulse, impact = 0.0, 0.0, math.nan
        landed = -math.inf
        was_down = is_foot_down(rows[begin], places, foot)
        for k in range(begin, n):
            time, force = rows[k, places.time], series[k, support.FEET + foot]
            down = is_foot_down(rows[k], places, foot)
            if down and not was_down:
                landed = time
            was_down = down
            peak = max(peak, force)
            if time - landed <= IMPACT and not force <= impact:
                impact = force
            if k > begin:  # a row's force is that of the step before it
                impulse += force * (time - rows[k - 1, places.time])
        span = rows[n - 1, places.time] - rows[begin, places.time]
        found[foot, PEAK_FORCE], found[foot, IMPACT_PEAK] = peak, impact
        found[foot, MEAN_FORCE] = math.nan
        if span > 0.0:
            found[foot, MEAN_FORCE] = impulse / span


@routine
def measure_displacement(rows, places):
    """How far the points are from where they first stood, and how far those crept that stick, on the floor.

    The first is in space, at the end, the most of any point; NaN where no point ever stood. The second is along the
    floor, in the last quarter of the rows, of points that stick throughout it.
    """
    n = rows.shape[0]
    moved, crept = math.nan, math.nan
    origin, R = support.floor_frame(rows[n - 1], places)
    tail = max(1, n // 4)
    for c in range(places.contact.shape[0]):
        now = support.seen_from(origin, R, support.contact_place(rows[n - 1], places, c))
        for k in range(n):
            o, Q = support.floor_frame(rows[k], places)
            if support.is_down(rows[k], places, c, support.normal_of(Q)):
                away = norm(sub(now, support.seen_from(o, Q, support.contact_place(rows[k], places, c))))
                if not away <= moved:
                    moved = away
                break
        sticks = tail > 1
        for k in range(n - tail, n):
            sticks = sticks and rows[k, places.contact[c]] == STICKING
        if sticks:
            o, Q = support.floor_frame(rows[n - tail], places)
            step = sub(now, support.seen_from(o, Q, support.contact_place(rows[n - tail], places, c)))
            away = math.sqrt(step[0] * step[0] + step[1] * step[1])
            if not away <= crept:
                crept = away
    return Displacement(moved, crept)


@kernel
def moment_of_others(rows, places, series, k):
    """By how much the moment of what else pushes sets off the pendulum at a row; seen from above, in world axes.

    Zero moment point less centre of pressure, mean of the last moment: it leans so far against a steady force.
    """
    dx, dy, count = 0.0, 0.0, 0
    end = rows[k, places.time]
    j = k
    while j >= 0 and end - rows[j, places.time] <= LAST_MOMENT:
        if has(series, j, support.COP) and has(series, j, support.ZMP):
            dx += series[j, support.ZMP] - series[j, support.COP]
            dy += series[j, support.ZMP + 1] - series[j, support.COP + 1]
            count += 1
        j -= 1
    if count == 0:
        return 0.0, 0.0
    _, R = support.floor_frame(rows[k], places)
    off = mat_vec(R, (dx / count, dy / count, 0.0))
    return off[0], off[1]


@kernel
def is_outside(rows, places, body, series, scratch, k):
    """Whether the body is past recovering without a step at a row: 1, 0, or NaN where nothing says.

    Nothing touches, or the extrapolated centre of mass is outside of the base of support: whether a moving floor goes
    on as it moves or stops at once, and also where it is set off by the moment of what else pushes.
    """
    corners = support.gather_base(rows[k], places, scratch)
    if corners == 0:
        return 1.0
    if not has(series, k, support.XCOM):
        return math.nan
    if inside_by(scratch.hull, corners, series[k, support.XCOM], series[k, support.XCOM + 1]) >= 0.0:
        return 0.0
    ahead = math.sqrt(body.length / -body.gravity[2])
    x = series[k, support.COM] + ahead * series[k, support.VELOCITY]
    y = series[k, support.COM + 1] + ahead * series[k, support.VELOCITY + 1]
    dx, dy = moment_of_others(rows, places, series, k)
    inside = inside_by(scratch.hull, corners, x, y)
    inside = max(inside, inside_by(scratch.hull, corners, x - dx, y - dy))
    inside = max(
        inside, inside_by(scratch.hull, corners, series[k, support.XCOM] - dx, series[k, support.XCOM + 1] - dy)
    )
    return 0.0 if inside >= 0.0 else 1.0


@routine
def time_outside(rows, places, body, series, scratch):
    """[s] for how long up to the end the body is past recovering: since the last row that says no; NaN if none does."""
    n = rows.shape[0]
    if places.contact.shape[0] == 0 or not -body.gravity[2] > 0.0:
        return math.nan
    k = n - 1
    while k >= 0:
        outside = is_outside(rows, places, body, series, scratch, k)
        if k == n - 1 and math.isnan(outside):
            return math.nan
        if outside != 1.0:
            break
        k -= 1
    return rows[n - 1, places.time] - rows[max(k, 0), places.time]


class Extremes(NamedTuple):
    penetration: float  # [m] of the deepest contact point in the floor
    sunk: float  # [m] of the place of the root in the floor; below zero above it
    joint_rate: float  # [rad/s] of the fastest joint
    fastest: float  # its number
    exchanged: float  # [J]
    kinetic: float  # [J] the most


@kernel
def extent_of(rows, column):
    low, high = rows[0, column], rows[0, column]
    for k in range(rows.shape[0]):
        low, high = min(low, rows[k, column]), max(high, rows[k, column])
    return low, high


@routine
def measure_extremes(rows, places, angular):
    """What checks of a run look at; ``angular`` (nj,) says which joints turn.

    ``places.energy`` begins with the kinetic one. The energy exchanged is the sum of the ranges of all energies and
    works of the ledger.
    """
    deepest, sunk, fastest, joint = 0.0, -math.inf, 0.0, -1.0
    for k in range(rows.shape[0]):
        origin, R = support.floor_frame(rows[k], places)
        for c in range(places.contact.shape[0]):
            deepest = max(deepest, -support.seen_from(origin, R, support.contact_place(rows[k], places, c))[2])
        if places.root != ABSENT:
            sunk = max(sunk, -support.seen_from(origin, R, vector_at(rows[k], places.root))[2])
        for j in range(places.rate.shape[0]):
            if angular[j] and abs(rows[k, places.rate[j]]) > fastest:
                fastest, joint = abs(rows[k, places.rate[j]]), float(j)
    exchanged = 0.0
    for column in places.energy:
        low, high = extent_of(rows, column)
        exchanged += high - low
    return Extremes(deepest, sunk, fastest, joint, exchanged, extent_of(rows, places.energy[0])[1])


@routine
def fit_sine(rows, time, table, column, begin, frequency):
    """The cosine and sine parts of a column at a frequency [Hz], by least squares with a constant.

    Over whole cycles this is the discrete Fourier transform at that frequency, and it stays right where the last
    row is not quite at the end of a cycle. (0, 0) for a column that does not change.
    """
    n = table.shape[0]
    omega = 2.0 * math.pi * frequency
    origin = rows[begin, time]
    one, c1, s1, cc, cs, ss = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
    y1, yc, ys = 0.0, 0.0, 0.0
    offset = table[begin, column]
    for k in range(begin, n):
        phase = omega * (rows[k, time] - origin)
        c, s, y = math.cos(phase), math.sin(phase), table[k, column] - offset
        one += 1.0
        c1 += c
        s1 += s
        cc += c * c
        cs += c * s
        ss += s * s
        y1 += y
        yc += y * c
        ys += y * s
    # The constant eliminated first.
    cc -= c1 * c1 / one
    cs -= c1 * s1 / one
    ss -= s1 * s1 / one
    yc -= c1 * y1 / one
    ys -= s1 * y1 / one
    determinant = cc * ss - cs * cs
    return (yc * ss - ys * cs) / determinant, (ys * cc - yc * cs) / determinant

"""Numbers of a whole run from its rows and its series; NaN where there is nothing to measure.

``begin`` is the first row that counts. The definitions in words are in ``biped.metrics.registry``.
"""

import math

from biped.metrics.kernels.polygon import inside_by
from biped.metrics.kernels.support import (
    AREA,
    CAPTURE_MARGIN,
    COP,
    COP_MARGIN,
    DOWN,
    FEET,
    MARGIN,
    NORMAL,
    XCOM,
    ZMP,
    ZMP_MARGIN,
    contact_place,
    floor_frame,
    gather_base,
    is_down,
    normal_of,
    seen_from,
    vector_at,
)
from contact.jit import kernel, routine
from contact.modes import STICKING
from contact.vectors import dot, mat_vec, norm, sub

#: [s] before the end over which the moment of what else pushes is averaged.
LAST_MOMENT = 0.1
#: [s] after a foot came down, in which its greatest force is that of the landing.
IMPACT = 0.05
#: −2 ln(1 − 0.95): the 95 % quantile of χ² with two degrees of freedom.
CHI_SQUARE = -2.0 * math.log(0.05)

# Columns of ``measure_joints``.
PEAK_TORQUE = 0
RMS_TORQUE = 1
PEAK_POWER = 2
POSITIVE_WORK = 3
NEGATIVE_WORK = 4
OF_JOINT = 5

# Columns of ``measure_feet``.
PEAK_FORCE = 0
MEAN_FORCE = 1
IMPACT_PEAK = 2
FOOTSTEPS = 3
OF_FOOT = 4


@kernel
def least_of(series, column, begin):
    """The least number of a column, NaN where there is none."""
    least = math.nan
    for k in range(begin, series.shape[0]):
        if not series[k, column] >= least and not math.isnan(series[k, column]):
            least = series[k, column]
    return least


@kernel
def most_of(series, column, begin):
    most = math.nan
    for k in range(begin, series.shape[0]):
        if not series[k, column] <= most and not math.isnan(series[k, column]):
            most = series[k, column]
    return most


@kernel
def last_of(series, column):
    return series[series.shape[0] - 1, column]


@routine
def measure_stability(rows, places, series, begin):
    """Least and last margins; the time without any contact."""
    aloft = 0.0
    for k in range(begin, series.shape[0] - 1):
        if series[k, DOWN] == 0:
            aloft += rows[k + 1, places.time] - rows[k, places.time]
    return (
        least_of(series, MARGIN, begin),
        last_of(series, MARGIN),
        least_of(series, CAPTURE_MARGIN, begin),
        last_of(series, CAPTURE_MARGIN),
        least_of(series, COP_MARGIN, begin),
        least_of(series, ZMP_MARGIN, begin),
        last_of(series, AREA),
        aloft,
        most_of(series, NORMAL, begin),
    )


@kernel
def has(series, k, column):
    return not math.isnan(series[k, column])


@routine
def measure_pressure(rows, places, series, begin):
    """Path, mean velocity, mean and RMS distance, ranges and ellipse of the centre of pressure (Prieto et al. 1996).

    A piece of the path lies between two rows that both have a centre; what lies between others is left out.
    """
    nothing = math.nan
    n, x, y = 0, 0.0, 0.0
    path, span = 0.0, 0.0
    low_x, high_x, low_y, high_y = math.inf, -math.inf, math.inf, -math.inf
    for k in range(begin, series.shape[0]):
        if has(series, k, COP):
            n += 1
            x += series[k, COP]
            y += series[k, COP + 1]
            low_x, high_x = min(low_x, series[k, COP]), max(high_x, series[k, COP])
            low_y, high_y = min(low_y, series[k, COP + 1]), max(high_y, series[k, COP + 1])
            if k > begin and has(series, k - 1, COP):
                step_x = series[k, COP] - series[k - 1, COP]
                step_y = series[k, COP + 1] - series[k - 1, COP + 1]
                path += math.sqrt(step_x * step_x + step_y * step_y)
                span += rows[k, places.time] - rows[k - 1, places.time]
    if n < 3 or span <= 0.0:
        return nothing, nothing, nothing, nothing, nothing, nothing, nothing
    x /= n
    y /= n
    xx, xy, yy, away = 0.0, 0.0, 0.0, 0.0
    for k in range(begin, series.shape[0]):
        if has(series, k, COP):
            dx, dy = series[k, COP] - x, series[k, COP + 1] - y
            xx += dx * dx
            xy += dx * dy
            yy += dy * dy
            away += math.sqrt(dx * dx + dy * dy)
    determinant = max(xx * yy - xy * xy, 0.0) / ((n - 1) * (n - 1))
    area = math.pi * CHI_SQUARE * math.sqrt(determinant)
    return path, path / span, away / n, math.sqrt((xx + yy) / n), high_x - low_x, high_y - low_y, area


@routine
def measure_recovery(rows, places, errors, begin, near, level):
    """Settling time, greatest errors, overshoots, and the errors at the end; ``errors`` as of ``fill_errors``."""
    n = errors.shape[0]
    settled = begin
    peak, peak_at, turned, turned_at = -1.0, begin, -1.0, begin
    for k in range(begin, n):
        e, a = vector_at(errors[k], 0), vector_at(errors[k], 3)
        if norm(e) > near or norm(a) > level:
            settled = k + 1
        if norm(e) > peak:
            peak, peak_at = norm(e), k
        if norm(a) > turned:
            turned, turned_at = norm(a), k
    settling = math.nan
    if settled < n:
        settling = rows[settled, places.time] - rows[begin, places.time]
    tail = max(1, n // 10)
    position, orientation = 0.0, 0.0
    for k in range(n - tail, n):
        position += norm(vector_at(errors[k], 0))
        orientation += norm(vector_at(errors[k], 3))
    return (
        settling,
        peak,
        turned,
        overshoot(errors, 0, peak_at, peak),
        overshoot(errors, 3, turned_at, turned),
        position / tail,
        orientation / tail,
    )


@kernel
def overshoot(errors, place, at, peak):
    """How far an error swings to the other side of zero after its greatest, along that one."""
    most = 0.0
    if peak > 0.0:
        for k in range(at, errors.shape[0]):
            most = max(most, -dot(vector_at(errors[k], place), vector_at(errors[at], place)) / peak)
    return most


@routine
def measure_joints(rows, places, begin, found):
    """(nj, OF_JOINT) of each joint; of all: the root of the mean sum of squares, peak power, both works.

    A torque is held from a row to the next, so that its work in between is torque times change of angle.
    """
    n = rows.shape[0]
    span = rows[n - 1, places.time] - rows[begin, places.time]
    squares, works_up, works_down = 0.0, 0.0, 0.0
    for j in range(places.torque.shape[0]):
        torque, rate, angle = places.torque[j], places.rate[j], places.angle[j]
        peak, power, square, up, down = 0.0, 0.0, 0.0, 0.0, 0.0
        for k in range(begin, n):
            row = rows[k]
            peak = max(peak, abs(row[torque]))
            power = max(power, abs(row[torque] * row[rate]))
            if k + 1 < n:
                square += row[torque] * row[torque] * (rows[k + 1, places.time] - row[places.time])
                work = row[torque] * (rows[k + 1, angle] - row[angle])
                up += max(work, 0.0)
                down += min(work, 0.0)
        found[j, PEAK_TORQUE], found[j, PEAK_POWER] = peak, power
        found[j, POSITIVE_WORK], found[j, NEGATIVE_WORK] = up, down
        found[j, RMS_TORQUE] = math.nan
        if span > 0.0:
            found[j, RMS_TORQUE] = math.sqrt(square / span)
        squares += square
        works_up += up
        works_down += down
    most = 0.0
    for k in range(begin, n):
        power = 0.0
        for j in range(places.torque.shape[0]):
            power += rows[k, places.torque[j]] * rows[k, places.rate[j]]
        most = max(most, abs(power))
    rms = math.nan
    if span > 0.0:
        rms = math.sqrt(squares / span)
    return rms, most, works_up, works_down


@kernel
def is_foot_down(row, places, foot):
    _, R = floor_frame(row, places)
    for c in range(places.contact.shape[0]):
        if places.foot[c] == foot and is_down(row, places, c, normal_of(R)):
            return True
    return False


@kernel
def middle_in_floor(row, places, foot):
    """The middle of a foot's points, in the floor's frame."""
    origin, R = floor_frame(row, places)
    x, y, z, n = 0.0, 0.0, 0.0, 0
    for c in range(places.contact.shape[0]):
        if places.foot[c] == foot:
            p = seen_from(origin, R, contact_place(row, places, c))
            x, y, z, n = x + p[0], y + p[1], z + p[2], n + 1
    return x / n, y / n, z / n


@routine
def measure_feet(rows, places, series, begin, threshold, found):
    """(feet, OF_FOOT): greatest and mean normal force, the greatest after a landing, and the steps taken."""
    n = rows.shape[0]
    for foot in range(found.shape[0]):
        peak, impulse, impact, steps = 0.0, 0.0, math.nan, 0.0
        landed = -math.inf
        was_down = is_foot_down(rows[begin], places, foot)
        left = middle_in_floor(rows[begin], places, foot)
        for k in range(begin, n):
            time, force = rows[k, places.time], series[k, FEET + foot]
            down = is_foot_down(rows[k], places, foot)
            if down and not was_down:
                landed = time
                if norm(sub(middle_in_floor(rows[k], places, foot), left)) > threshold:
                    steps += 1.0
            if was_down and not down:
                left = middle_in_floor(rows[k - 1], places, foot)
            was_down = down
            peak = max(peak, force)
            if time - landed <= IMPACT and not force <= impact:
                impact = force
            if k > begin:  # a row's force is that of the step before it
                impulse += force * (time - rows[k - 1, places.time])
        span = rows[n - 1, places.time] - rows[begin, places.time]
        found[foot, PEAK_FORCE], found[foot, IMPACT_PEAK], found[foot, FOOTSTEPS] = peak, impact, steps
        found[foot, MEAN_FORCE] = math.nan
        if span > 0.0:
            found[foot, MEAN_FORCE] = impulse / span


@routine
def measure_displacement(rows, places):
    """How far the points are from where they first stood, and how far those crept that stick, on the floor.

    The first is in space, at the end, the most of any point; NaN where no point ever stood. The second is along the
    floor, in the last quarter of the rows, of points that stick throughout it (``foot_creep`` of
    ``biped.runs.summary``).
    """
    n = rows.shape[0]
    moved, crept = math.nan, math.nan
    origin, R = floor_frame(rows[n - 1], places)
    tail = max(1, n // 4)
    for c in range(places.contact.shape[0]):
        now = seen_from(origin, R, contact_place(rows[n - 1], places, c))
        for k in range(n):
            o, Q = floor_frame(rows[k], places)
            if is_down(rows[k], places, c, normal_of(Q)):
                away = norm(sub(now, seen_from(o, Q, contact_place(rows[k], places, c))))
                if not away <= moved:
                    moved = away
                break
        sticks = tail > 1
        for k in range(n - tail, n):
            sticks = sticks and rows[k, places.contact[c]] == STICKING
        if sticks:
            o, Q = floor_frame(rows[n - tail], places)
            step = sub(now, seen_from(o, Q, contact_place(rows[n - tail], places, c)))
            away = math.sqrt(step[0] * step[0] + step[1] * step[1])
            if not away <= crept:
                crept = away
    return moved, crept


@routine
def is_falling(rows, places, body, series, room):
    """Whether the body falls at the end: 1, 0, or NaN where nothing says.

    The extrapolated centre of mass is outside of the base of support; also when it is set off by the moment of what
    else pushes, zero moment point less centre of pressure (mean of the last moment): a body that leans against a steady
    force does not fall.
    """
    n = rows.shape[0]
    last = rows[n - 1]
    if places.contact.shape[0] == 0 or not -body.gravity[2] > 0.0:
        return math.nan
    corners = gather_base(last, places, room)
    if corners == 0:
        return 1.0
    if not has(series, n - 1, XCOM):
        return math.nan
    x, y = series[n - 1, XCOM], series[n - 1, XCOM + 1]
    if inside_by(room.hull, corners, x, y) >= 0.0:
        return 0.0
    dx, dy, count = 0.0, 0.0, 0
    k = n - 1
    while k >= 0 and last[places.time] - rows[k, places.time] <= LAST_MOMENT:
        if has(series, k, COP) and has(series, k, ZMP):
            dx += series[k, ZMP] - series[k, COP]
            dy += series[k, ZMP + 1] - series[k, COP + 1]
            count += 1
        k -= 1
    if count == 0:
        return 1.0
    _, R = floor_frame(last, places)
    off = mat_vec(R, (dx / count, dy / count, 0.0))
    return 0.0 if inside_by(room.hull, corners, x - off[0], y - off[1]) >= 0.0 else 1.0


@routine
def measure_ledger(rows, places):
    """The greatest energy and momenta that nothing accounts for, and iterations of a solve; of all rows."""
    residual, linear, angular, newton = 0.0, 0.0, 0.0, 0.0
    for k in range(rows.shape[0]):
        row = rows[k]
        residual = max(residual, abs(row[places.residual]))
        linear = max(linear, norm(vector_at(row, places.defect)))
        angular = max(angular, norm(vector_at(row, places.defect + 3)))
        newton = max(newton, row[places.newton])
    return residual, linear, angular, newton


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

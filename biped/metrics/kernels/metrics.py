"""Criterion for a body that cannot recover in place, and fits of sines to columns.

The definitions in words are in ``biped.metrics.definitions``.
"""

import math

from biped.metrics.kernels import support
from biped.metrics.kernels.polygon import inside_by
from contact.vectors import mat_vec
from kernelcache import kernel, routine

#: [s] Time before the end over which the moment of other forces is averaged.
LAST_MOMENT = 0.1


@kernel
def has(series, k, column):
    return not math.isnan(series[k, column])


@kernel
def moment_of_others(rows, places, series, k):
    """Return the horizontal offset [m] of the pendulum by the moment of other forces, in inertial axes.

    The offset is the zero moment point less the centre of pressure, mean of the last moment: the lean against a steady
    force.
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
    """Return 1 if the body cannot recover without a step at row ``k``, 0 if it can, NaN if undetermined.

    It cannot if nothing touches the floor, or if the extrapolated centre of mass is outside of the base of support for
    a moving floor that continues and that stops, with and without the offset by the moment of other forces.
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
    """Return the time [s], up to the end, in which the body could not recover in place; NaN if undetermined."""
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


@routine
def fit_sine(rows, time, table, column, begin, frequency):
    """Return the cosine and sine parts of a column at a frequency [Hz], fitted by least squares with a constant.

    Over whole cycles this is the discrete Fourier transform at that frequency; it remains accurate if the last row is
    not quite at the end of a cycle. The result is (0, 0) for a constant column.
    """
    n = table.shape[0]
    omega = 2.0 * math.pi * frequency
    origin = rows[begin, time]
    count, c1, s1, cc, cs, ss = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
    y1, yc, ys = 0.0, 0.0, 0.0
    offset = table[begin, column]
    for k in range(begin, n):
        phase = omega * (rows[k, time] - origin)
        c, s, y = math.cos(phase), math.sin(phase), table[k, column] - offset
        count += 1.0
        c1 += c
        s1 += s
        cc += c * c
        cs += c * s
        ss += s * s
        y1 += y
        yc += y * c
        ys += y * s
    # Eliminate the constant.
    cc -= c1 * c1 / count
    cs -= c1 * s1 / count
    ss -= s1 * s1 / count
    yc -= c1 * y1 / count
    ys -= s1 * y1 / count
    determinant = cc * ss - cs * cs
    return (yc * ss - ys * cs) / determinant, (ys * cc - yc * cs) / determinant

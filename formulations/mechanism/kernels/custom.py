"""User-defined potentials, forces and constraints: functions of positions and coordinates, compiled separately.

The arguments of a component, its strains z, are positions of points (three entries each) and coordinates (one each).
The functions of a component are a separate part, called by address, so that the steps are compiled only once.
"""

from typing import Any, NamedTuple

from biped.kernels.midpoint.elimination import subtract_arm_block
from biped.kernels.midpoint.equations import add_point_impulse, point_velocity
from contact.arrays import Floats, Integers
from contact.vectors import load3
from formulations.mechanism.kernels.points import add_point_pairings
from kernelcache import call, kernel

# Kinds.
POTENTIAL, FORCE, CONSTRAINT = range(3)

# Quantities that a part computes.
ENERGY = 0  # energy of a potential, into ``energy``
FORCES = 1  # forces on the strains, into ``force``
SLOPES = 2  # derivatives of the forces by z, into ``slope``: for potentials with second derivatives
VALUES = 3  # h of a constraint, into ``value``
JACOBIAN = 4  # ∂h/∂z of a constraint, into ``jacobian``

# Relative step of differences that replace derivatives in Newton's matrix.
SPREAD = 1e-6


class CustomBuffers(NamedTuple):
    """Arguments and results of one component's functions."""

    number: Floats  # constants of the component, in the order of its fields
    z: Floats  # (s,)
    rate: Floats  # (s,) ż
    energy: Floats  # (1,)
    force: Floats  # (s,)
    slope: Floats  # (s, s)
    rate_slope: Floats  # (s, s)
    value: Floats  # (rows,)
    jacobian: Floats  # (rows, s)


class Customs(NamedTuple):
    """User-defined components of a mechanism; all strains are in one array, contiguous for each component."""

    kind: Integers  # (k,)
    exact: Integers  # (k,) 1 if the part computes SLOPES
    address: Integers  # (k,) address of the part
    place: Any  # (k,) addresses of the ``CustomBuffers``; without compilation, the ``CustomBuffers``
    first: Integers  # (k + 1,) first strain of each component
    slopes: Integers  # (k,) first entry in ``slope``, or for a constraint in ``jacobian``
    row: Integers  # (k,) first row of h of a constraint
    rows: Integers  # (k,) number of rows of h
    value: Integers  # (k,) first entry in ``values``
    border: Integers  # (k,) first row in the border, if not a constraint
    point: Integers  # (s,) point of a strain, or −1
    axis: Integers  # (s,) axis of the point's position
    coordinate: Integers  # (s,) coordinate of a strain that is not a point's
    z: Floats  # (s,) common array of the components' strains
    rate: Floats  # (s,)
    force: Floats  # (s,)
    energy: Floats  # (k,)
    slope: Floats  # (.,) of all components, row by row
    rate_slope: Floats  # (.,)
    values: Floats  # (.,)
    jacobian: Floats  # (.,)


@kernel
def set_strains(customs, arms, q):
    """Set z from positions of points and coordinates."""
    for i in range(customs.z.shape[0]):
        if customs.point[i] >= 0:
            customs.z[i] = arms[customs.point[i], customs.axis[i]]
        else:
            customs.z[i] = q[customs.coordinate[i]]


@kernel
def set_strain_rates(customs, points, arms, buffers):
    """Set ż in the middle of a time step."""
    for i in range(customs.rate.shape[0]):
        p = customs.point[i]
        customs.rate[i] = 0.0
        if p < 0:
            customs.rate[i] = buffers.rates[customs.coordinate[i]]
        elif points.body[p] >= 0:
            customs.rate[i] = point_velocity(buffers, points.body[p], load3(arms, p))[customs.axis[i]]


@kernel
def ask_custom(customs, k, time, quantity):
    return call(customs.address[k], customs.place[k], quantity, time)


@kernel
def ask_slopes(customs, k, time):
    """Compute the derivatives of the forces by z and ż, by differences if the part does not compute them."""
    if customs.exact[k] != 0:
        ask_custom(customs, k, time, SLOPES)
        return
    set_differences(customs, k, time, customs.z, customs.slope)
    if customs.kind[k] == FORCE:
        set_differences(customs, k, time, customs.rate, customs.rate_slope)
    ask_custom(customs, k, time, FORCES)


@kernel
def set_differences(customs, k, time, moved, slope):
    """Set derivatives of the forces by central differences; only Newton's matrix uses them."""
    first, size = customs.first[k], customs.first[k + 1] - customs.first[k]
    for j in range(size):
        kept = moved[first + j]
        spread = SPREAD * max(1.0, abs(kept))
        moved[first + j] = kept - spread
        ask_custom(customs, k, time, FORCES)
        for i in range(size):
            slope[customs.slopes[k] + i * size + j] = customs.force[first + i]
        moved[first + j] = kept + spread
        ask_custom(customs, k, time, FORCES)
        for i in range(size):
            before = slope[customs.slopes[k] + i * size + j]
            slope[customs.slopes[k] + i * size + j] = 0.5 / spread * (customs.force[first + i] - before)
        moved[first + j] = kept


@kernel
def duration_of(customs, k, potentials, forces):
    return potentials if customs.kind[k] == POTENTIAL else forces


@kernel
def along(axis, value):
    return (value if axis == 0 else 0.0, value if axis == 1 else 0.0, value if axis == 2 else 0.0)


@kernel
def add_custom_impulses(customs, points, arms, time, potentials, forces, buffers, load):
    """Add the impulses of components; ``potentials`` and ``forces`` are the times [s] for which each kind acts."""
    if customs.kind.shape[0] == 0:
        return
    set_strains(customs, arms, buffers.middle)
    set_strain_rates(customs, points, arms, buffers)
    for k in range(customs.kind.shape[0]):
        if customs.kind[k] != CONSTRAINT:
            ask_custom(customs, k, time, FORCES)
            duration = duration_of(customs, k, potentials, forces)
            for i in range(customs.first[k], customs.first[k + 1]):
                add_strain_impulse(customs, points, arms, i, duration * customs.force[i], buffers, load)


@kernel
def add_strain_impulse(customs, points, arms, i, impulse, buffers, load):
    p = customs.point[i]
    if p < 0:
        load[customs.coordinate[i]] += impulse
    elif points.body[p] >= 0:
        add_point_impulse(buffers, points.body[p], load3(arms, p), along(customs.axis[i], impulse))


@kernel
def add_custom_blocks(customs, points, arms, potentials, forces, buffers):
    """Add the lever-arm terms of forces at points to Newton's matrix; call after ``add_custom_impulses``."""
    for k in range(customs.kind.shape[0]):
        if customs.kind[k] != CONSTRAINT:
            duration = duration_of(customs, k, potentials, forces)
            for i in range(customs.first[k], customs.first[k + 1]):
                p = customs.point[i]
                if p >= 0 and points.body[p] >= 0:
                    impulse = along(customs.axis[i], duration * customs.force[i])
                    subtract_arm_block(buffers.factors.by_pose, points.body[p], load3(arms, p), impulse)


@kernel
def set_custom_border(tree, customs, points, arms, time, alpha, h, potentials, forces, buffers, border):
    """Set the border from the forces' derivatives: columns −Uᵀ of the strains, rows of slopes times U.

    The effect of displacements on the rates of points is neglected: it is of order h relative to the rest.
    """
    if customs.kind.shape[0] == 0:
        return
    set_strains(customs, arms, buffers.middle)  # constraints have been evaluated elsewhere since
    set_strain_rates(customs, points, arms, buffers)
    for k in range(customs.kind.shape[0]):
        if customs.kind[k] != CONSTRAINT:
            ask_slopes(customs, k, time)
            begin, end, start = customs.first[k], customs.first[k + 1], customs.border[k]
            for i in range(begin, end):
                set_strain_column(tree, customs, points, arms, i, buffers.poses, border.columns[start + i - begin])
            duration = duration_of(customs, k, potentials, forces)
            set_slope_rows(customs, k, end - begin, alpha * duration, duration / h, border)


@kernel
def set_strain_column(tree, customs, points, arms, i, poses, row):
    for j in range(row.shape[0]):
        row[j] = 0.0
    add_strain(tree, customs, points, arms, i, -1.0, poses, row)


@kernel
def add_strain(tree, customs, points, arms, i, factor, poses, row):
    """Add ``factor`` times ∂z_i/∂q to ``row``."""
    p = customs.point[i]
    if p < 0:
        row[customs.coordinate[i]] += factor
    else:
        add_point_pairings(tree, poses, points.body[p], load3(arms, p), along(customs.axis[i], factor), row)


@kernel
def set_slope_rows(customs, k, s, by_place, by_rate, border):
    start, first = customs.border[k], customs.slopes[k]
    for a in range(s):
        for j in range(border.rows.shape[1]):
            border.rows[start + a, j] = 0.0
        for b in range(s):
            at = first + a * s + b
            slope = by_place * customs.slope[at] + by_rate * customs.rate_slope[at]
            for j in range(border.rows.shape[1]):
                border.rows[start + a, j] += slope * border.columns[start + b, j]
        border.corner[start + a, start + a] = 1.0


@kernel
def custom_energy(customs, arms, q):
    """Return the energy [J] of all user-defined potentials."""
    total = 0.0
    if customs.kind.shape[0] > 0:
        set_strains(customs, arms, q)
    for k in range(customs.kind.shape[0]):
        if customs.kind[k] == POTENTIAL:
            ask_custom(customs, k, 0.0, ENERGY)
            total += customs.energy[k]
    return total


@kernel
def set_custom_values(customs, arms, q, values):
    """Set the user-defined rows of h(q)."""
    if customs.kind.shape[0] > 0:
        set_strains(customs, arms, q)
    for k in range(customs.kind.shape[0]):
        if customs.kind[k] == CONSTRAINT:
            ask_custom(customs, k, 0.0, VALUES)
            for c in range(customs.rows[k]):
                values[customs.row[k] + c] = customs.values[customs.value[k] + c]


@kernel
def set_custom_rows(tree, customs, points, poses, arms, q, rows):
    """Set the user-defined rows of Dh(q)."""
    if customs.kind.shape[0] > 0:
        set_strains(customs, arms, q)
    for k in range(customs.kind.shape[0]):
        if customs.kind[k] == CONSTRAINT:
            ask_custom(customs, k, 0.0, JACOBIAN)
            for c in range(customs.rows[k]):
                set_custom_row(tree, customs, points, poses, arms, k, c, rows[customs.row[k] + c])


@kernel
def set_custom_row(tree, customs, points, poses, arms, k, c, row):
    begin, end = customs.first[k], customs.first[k + 1]
    for j in range(row.shape[0]):
        row[j] = 0.0
    for i in range(begin, end):
        slope = customs.jacobian[customs.slopes[k] + c * (end - begin) + i - begin]
        add_strain(tree, customs, points, arms, i, slope, poses, row)


@kernel
def custom_work(customs, h):
    """Return the work [J] of user-defined forces in a step; call after ``add_custom_impulses``."""
    work = 0.0
    for k in range(customs.kind.shape[0]):
        if customs.kind[k] == FORCE:
            for i in range(customs.first[k], customs.first[k + 1]):
                work += h * customs.force[i] * customs.rate[i]
    return work

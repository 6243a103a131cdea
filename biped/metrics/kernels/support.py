"""Support of the body in each recorded row: floor frame, contact points, centres of pressure and of mass.

Sources: Hof, Gazendam, Sinke 2005; Koolen et al. 2012; Vukobratović, Borovac 2004; Sardain, Bessonnet 2004. The
definitions in words are in ``biped.metrics.definitions``.
"""

import math
from typing import NamedTuple

from biped.kernels.loop.log import ABSENT, ContactColumns
from biped.metrics.kernels.polygon import area_of, convex_hull, inside_by
from contact import vectors as v
from contact.arrays import Floats, Integers
from contact.modes import NONE
from kernelcache import kernel, routine

#: Smallest normal force, over the body's weight, with a centre of pressure.
LEAST_LOAD = 0.01

#: Unit by column of a series; the normal force [N] of each foot follows. ``cop`` and ``zmp`` are in the floor's frame,
#: all other columns in inertial axes.
SERIES = {
    "com_x": "m", "com_y": "m", "com_z": "m",
    "com_vx": "m/s", "com_vy": "m/s", "com_vz": "m/s",
    "xcom_x": "m", "xcom_y": "m", "margin_of_stability": "m",
    "capture_point_x": "m", "capture_point_y": "m", "capture_margin": "m",
    "cop_x": "m", "cop_y": "m", "cop_margin": "m",
    "zmp_x": "m", "zmp_y": "m", "zmp_margin": "m",
    "points_down": "1", "support_area": "m**2",
    "grf_x": "N", "grf_y": "N", "grf_z": "N", "grf_normal": "N",
    "sway_x": "rad", "sway_y": "rad",
    "floor_tilt_x": "rad", "floor_tilt_y": "rad", "floor_x": "m", "floor_y": "m",
}  # fmt: skip
_PLACES = {name: place for place, name in enumerate(SERIES)}
COM = _PLACES["com_x"]
VELOCITY = _PLACES["com_vx"]
XCOM = _PLACES["xcom_x"]
MARGIN = _PLACES["margin_of_stability"]
CAPTURE = _PLACES["capture_point_x"]
CAPTURE_MARGIN = _PLACES["capture_margin"]
COP = _PLACES["cop_x"]
COP_MARGIN = _PLACES["cop_margin"]
ZMP = _PLACES["zmp_x"]
ZMP_MARGIN = _PLACES["zmp_margin"]
DOWN = _PLACES["points_down"]
AREA = _PLACES["support_area"]
FORCE = _PLACES["grf_x"]
NORMAL = _PLACES["grf_normal"]
SWAY = _PLACES["sway_x"]
TILT = _PLACES["floor_tilt_x"]
SHIFT = _PLACES["floor_x"]
FEET = len(SERIES)

# Offsets within the columns of a contact point.
CONTACT_FORCE = ContactColumns._fields.index("fx")
CONTACT_PLACE = ContactColumns._fields.index("x")


class Places(NamedTuple):
    """Indices of quantities in a row of the log; ABSENT for quantities that a run does not have."""

    time: int
    root: int  # position and quaternion of a floating root
    com: int
    momentum: int  # linear, then angular about the centre of mass
    platform: int  # position and quaternion of a moving floor
    residual: int
    energy: Integers  # (energies and works,) of the energy balance
    defect: int
    contact: Integers  # (nc,) mode, force and position of each contact point
    foot: Integers  # (nc,) number of the foot, or -1
    angle: Integers  # (nj,)
    rate: Integers  # (nj,)
    torque: Integers  # (nj,)


class Body(NamedTuple):
    """Properties of the model for the kernels."""

    mass: float  # [kg]
    gravity: Floats  # (3,) [m/s²]
    length: float  # [m] length of the equivalent pendulum


class Scratch(NamedTuple):
    """Workspace for points and a hull."""

    points: Floats  # (nc, 2)
    hull: Floats  # (2 nc + 2, 2)
    touching: Integers  # (feet,)


@kernel
def floor_frame(row, places):
    """Return origin and rotation of the floor's frame, which for a floor at rest is the inertial frame."""
    if places.platform == ABSENT:
        return (0.0, 0.0, 0.0), (1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0)
    return v.vector_at(row, places.platform), v.quat_matrix(v.quaternion_at(row, places.platform + 3))


@kernel
def seen_from(origin, R, p):
    """Return the coordinates, in a frame, of a point ``p`` of the inertial frame."""
    return v.mat_t_vec(R, v.sub(p, origin))


@kernel
def contact_force(row, places, c):
    return v.vector_at(row, places.contact[c] + CONTACT_FORCE)


@kernel
def contact_place(row, places, c):
    return v.vector_at(row, places.contact[c] + CONTACT_PLACE)


@kernel
def is_down(row, places, c, normal):
    """Return True if a point is in contact, or bore load along the floor's ``normal`` in the last time step."""
    return row[places.contact[c]] != NONE or v.dot(normal, contact_force(row, places, c)) > 0.0


@kernel
def normal_of(R):
    return R[2], R[5], R[8]


@routine
def gather_pressed(row, places, scratch):
    """Write the hull of the touching points, in the floor's frame, to ``scratch``; count its corners and the points."""
    origin, R = floor_frame(row, places)
    normal = normal_of(R)
    n = 0
    for c in range(places.contact.shape[0]):
        if is_down(row, places, c, normal):
            p = seen_from(origin, R, contact_place(row, places, c))
            scratch.points[n, 0], scratch.points[n, 1] = p[0], p[1]
            n += 1
    return convex_hull(scratch.points, n, scratch.hull), n


@routine
def gather_base(row, places, scratch):
    """Write the horizontal hull of all points of touching feet to ``scratch``; return its number of corners.

    All points of a tilted foot count, since it comes down on its sole; a point of no foot counts if it touches.
    """
    _, R = floor_frame(row, places)
    normal = normal_of(R)
    for foot in range(scratch.touching.shape[0]):
        scratch.touching[foot] = 0
    for c in range(places.contact.shape[0]):
        if places.foot[c] >= 0 and is_down(row, places, c, normal):
            scratch.touching[places.foot[c]] = 1
    n = 0
    for c in range(places.contact.shape[0]):
        if places.foot[c] >= 0:
            counts = scratch.touching[places.foot[c]] == 1
        else:
            counts = is_down(row, places, c, normal)
        if counts:
            p = contact_place(row, places, c)
            scratch.points[n, 0], scratch.points[n, 1] = p[0], p[1]
            n += 1
    return convex_hull(scratch.points, n, scratch.hull)


@kernel
def floor_height_at(origin, normal, x, y):
    """Return the height of the floor's plane below a point."""
    return origin[2] - (normal[0] * (x - origin[0]) + normal[1] * (y - origin[1])) / normal[2]


@kernel
def floor_velocity(before, after, places, span, p):
    """Return the velocity, from two rows, of the point of a moving floor that is at ``p`` in the row between them."""
    if places.platform == ABSENT or span <= 0.0:
        return 0.0, 0.0, 0.0
    first, A = floor_frame(before, places)
    last, B = floor_frame(after, places)
    return v.scale(1.0 / span, v.sub(v.add(last, v.mat_vec(B, p)), v.add(first, v.mat_vec(A, p))))


@kernel
def pressure_centre(row, places, origin, R):
    """Return the total GRF and, in the floor's frame, normal force and its moments (Sardain & Bessonnet 2004)."""
    total = (0.0, 0.0, 0.0)
    normal, x, y = 0.0, 0.0, 0.0
    for c in range(places.contact.shape[0]):
        force = contact_force(row, places, c)
        total = v.add(total, force)
        pressed = v.mat_t_vec(R, force)[2]
        place = seen_from(origin, R, contact_place(row, places, c))
        normal += pressed
        x += pressed * place[0]
        y += pressed * place[1]
    return total, normal, (x, y)


@kernel
def zero_moment_point(com, force, spin, origin, R):
    """Return the zero moment point in the floor's frame (Vukobratović & Borovac 2004).

    ``force`` is the mass times (acceleration less gravity), ``spin`` the rate of the angular momentum about the centre
    of mass.
    """
    normal = normal_of(R)
    lever = v.sub(com, origin)
    moment = v.add(v.cross(lever, force), spin)
    return v.mat_t_vec(R, v.scale(1.0 / v.dot(normal, force), v.cross(normal, moment)))


@kernel
def put2(out, place, x, y):
    out[place], out[place + 1] = x, y


@kernel
def record_pressure(row, places, body, scratch, corners, out, force, spin, span):
    """Record forces, centres and their margins in the floor's frame; ``scratch`` holds the hull."""
    origin, R = floor_frame(row, places)
    total, normal, sums = pressure_centre(row, places, origin, R)
    least = LEAST_LOAD * body.mass * math.sqrt(body.gravity[0] ** 2 + body.gravity[1] ** 2 + body.gravity[2] ** 2)
    out[AREA], out[NORMAL] = area_of(scratch.hull, corners), normal
    out[FORCE], out[FORCE + 1], out[FORCE + 2] = total
    for foot in range(out.shape[0] - FEET):
        out[FEET + foot] = 0.0
    for c in range(places.contact.shape[0]):
        if places.foot[c] >= 0:
            out[FEET + places.foot[c]] += v.mat_t_vec(R, contact_force(row, places, c))[2]
    if normal > least:
        put2(out, COP, sums[0] / normal, sums[1] / normal)
        out[COP_MARGIN] = inside_by(scratch.hull, corners, out[COP], out[COP + 1])
    if span > 0.0 and v.dot(normal_of(R), force) > least and places.contact.shape[0] > 0:
        zmp = zero_moment_point(v.vector_at(row, places.com), force, spin, origin, R)
        put2(out, ZMP, zmp[0], zmp[1])
        out[ZMP_MARGIN] = inside_by(scratch.hull, corners, zmp[0], zmp[1])


@kernel
def record_pendulum(row, before, after, places, body, scratch, corners, out, span):
    """Record extrapolated centre of mass and capture point, in the horizontal plane, and their margins to the hull."""
    com = v.vector_at(row, places.com)
    velocity = v.scale(1.0 / body.mass, v.vector_at(row, places.momentum))
    out[COM], out[COM + 1], out[COM + 2] = com
    out[VELOCITY], out[VELOCITY + 1], out[VELOCITY + 2] = velocity
    origin, R = floor_frame(row, places)
    normal = normal_of(R)
    below = floor_height_at(origin, normal, com[0], com[1])
    of_floor = floor_velocity(before, after, places, span, seen_from(origin, R, (com[0], com[1], below)))
    relative = v.sub(velocity, of_floor)
    g = -body.gravity[2]
    if not (g > 0.0 and places.contact.shape[0] > 0):
        return
    if body.length > 0.0:
        ahead = math.sqrt(body.length / g)  # 1 / ω0 of Hof et al. 2005
        put2(out, XCOM, com[0] + ahead * relative[0], com[1] + ahead * relative[1])
        out[MARGIN] = inside_by(scratch.hull, corners, out[XCOM], out[XCOM + 1])
    if com[2] > below:
        ahead = math.sqrt((com[2] - below) / g)  # Koolen et al. 2012, with the present height
        put2(out, CAPTURE, com[0] + ahead * relative[0], com[1] + ahead * relative[1])
        out[CAPTURE_MARGIN] = inside_by(scratch.hull, corners, out[CAPTURE], out[CAPTURE + 1])


@kernel
def middle_of_feet(row, places):
    """Return the mean position of the feet's points, or of all points if there are no feet."""
    with_feet = False
    for c in range(places.foot.shape[0]):
        if places.foot[c] >= 0:
            with_feet = True
    total, n = (0.0, 0.0, 0.0), 0
    for c in range(places.foot.shape[0]):
        if places.foot[c] >= 0 or not with_feet:
            total = v.add(total, contact_place(row, places, c))
            n += 1
    return v.scale(1.0 / n, total)


@kernel
def record_sway(row, places, out):
    """Record the angles of the line from the feet to the centre of mass, and the floor's pose (Peterka 2002)."""
    if places.contact.shape[0] > 0:
        r = v.sub(v.vector_at(row, places.com), middle_of_feet(row, places))
        put2(out, SWAY, math.atan2(-r[1], r[2]), math.atan2(r[0], r[2]))
    if places.platform != ABSENT:
        tilt = v.rotation_vector(v.quaternion_at(row, places.platform + 3))
        put2(out, TILT, tilt[0], tilt[1])
        put2(out, SHIFT, row[places.platform], row[places.platform + 1])


@routine
def fill_series(rows, places, body, scratch, series):
    """Fill one line of ``series`` (n, FEET + feet) for each of the n ``rows``; NaN where a quantity is undefined."""
    n = series.shape[0]
    for k in range(n):
        out = series[k]
        for j in range(out.shape[0]):
            out[j] = math.nan
        row, before, after = rows[k], rows[max(k - 1, 0)], rows[min(k + 1, n - 1)]
        span = after[places.time] - before[places.time]
        force = v.scale(-body.mass, (body.gravity[0], body.gravity[1], body.gravity[2]))
        spin = (0.0, 0.0, 0.0)
        if span > 0.0:  # the rates of both momenta, by central differences
            change = v.sub(v.vector_at(after, places.momentum), v.vector_at(before, places.momentum))
            force = v.add(force, v.scale(1.0 / span, change))
            change = v.sub(v.vector_at(after, places.momentum + 3), v.vector_at(before, places.momentum + 3))
            spin = v.scale(1.0 / span, change)
        corners = gather_base(row, places, scratch)
        record_pendulum(row, before, after, places, body, scratch, corners, out, span)
        corners, down = gather_pressed(row, places, scratch)
        out[DOWN] = down
        record_pressure(row, places, body, scratch, corners, out, force, spin, span)
        record_sway(row, places, out)


@routine
def fill_contacts(rows, places, series, where, down):
    """Fill positions [m] in the floor's frame and contacts of each row.

    ``where`` (n, nc + 2, 3) gets the contact points, the root (NaN without one) and the extrapolated centre of mass;
    ``down`` (n, nc) flags the touching points.
    """
    nc = places.contact.shape[0]
    for k in range(where.shape[0]):
        row = rows[k]
        origin, R = floor_frame(row, places)
        for c in range(nc):
            where[k, c, 0], where[k, c, 1], where[k, c, 2] = seen_from(origin, R, contact_place(row, places, c))
            down[k, c] = is_down(row, places, c, normal_of(R))
        root = (math.nan, math.nan, math.nan)
        if places.root != ABSENT:
            root = seen_from(origin, R, v.vector_at(row, places.root))
        xcom = seen_from(origin, R, (series[k, XCOM], series[k, XCOM + 1], origin[2]))
        where[k, nc, 0], where[k, nc, 1], where[k, nc, 2] = root
        where[k, nc + 1, 0], where[k, nc + 1, 1], where[k, nc + 1, 2] = xcom


@routine
def fill_errors(rows, places, position, orientation, on_floor, errors):
    """Fill position errors of the root and rotation vectors from the set point to the root, (n, 6).

    With ``on_floor`` the set point moves horizontally with the point of the floor below it.
    """
    for k in range(errors.shape[0]):
        row, out = rows[k], errors[k]
        desired = (position[0], position[1], position[2])
        if on_floor:
            origin, R = floor_frame(row, places)
            below = v.add(origin, v.mat_vec(R, (position[0], position[1], 0.0)))
            desired = (below[0], below[1], position[2])
        out[0], out[1], out[2] = v.sub(v.vector_at(row, places.root), desired)
        target = (orientation[0], orientation[1], orientation[2], orientation[3])
        out[3], out[4], out[5] = v.rotation_vector(
            v.quat_mul(v.quaternion_at(row, places.root + 3), v.quat_conj(target))
        )


@routine
def fill_foot_wrenches(rows, places, feet, wrenches):
    """Fill ``wrenches`` (n, feet, 9) with each foot's GRF, its point of application and the moment about this point.

    All are in inertial axes. The point is the centre of pressure, at the load-weighted mean height of the foot's
    points. Without load it is the last such point, or the middle of the foot's points at the start. The wrench is
    equivalent to all forces of the foot's points.
    """
    for foot in range(feet):
        for k in range(wrenches.shape[0]):
            row, out = rows[k], wrenches[k, foot]
            _, R = floor_frame(row, places)
            normal = normal_of(R)
            total, load, centre = (0.0, 0.0, 0.0), 0.0, (0.0, 0.0, 0.0)
            middle, points = (0.0, 0.0, 0.0), 0
            for c in range(places.contact.shape[0]):
                if places.foot[c] == foot:
                    force = contact_force(row, places, c)
                    place = contact_place(row, places, c)
                    pressed = v.dot(normal, force)
                    total, load = v.add(total, force), load + pressed
                    centre = v.add(centre, v.scale(pressed, place))
                    middle, points = v.add(middle, place), points + 1
            if load > 0.0:
                centre = v.scale(1.0 / load, centre)
            elif k > 0:
                centre = v.vector_at(wrenches[k - 1, foot], 3)
            else:
                centre = v.scale(1.0 / points, middle)
            moment = (0.0, 0.0, 0.0)
            for c in range(places.contact.shape[0]):
                if places.foot[c] == foot:
                    lever = v.sub(contact_place(row, places, c), centre)
                    moment = v.add(moment, v.cross(lever, contact_force(row, places, c)))
            out[0], out[1], out[2] = total
            out[3], out[4], out[5] = centre
            out[6], out[7], out[8] = moment

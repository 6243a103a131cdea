"""Rigid contact of points with planes or bodies, and friction (Brüdigam et al. 2024, equations 22 to 29).

With P the contact point, φ its height over the plane at the end of the step, d its displacement along the plane in the
step, γ [N·s] the normal impulse, β_i those along the directions b_i, and ψ [m]:

    0 ≤ φ ⊥ γ ≥ 0        0 ≤ μ γ − Σ β_i ⊥ ψ ≥ 0        0 ≤ b_i · d + ψ ⊥ β_i ≥ 0

Here d is the displacement of the point, P₂ − P₁, instead of h times its velocity at z₁ as in the paper: equal to first
order, but a sticking point keeps its position exactly. The interior point method has slacks for the three left sides
and products of pairs that tend to zero. All unknowns of a contact but its point's displacement δ are eliminated by
hand, as a leaf of the graph (figure 4), which leaves an impulse f + δf with δf = f₀ − K δ, K a full 3 x 3 in the
contact's frame. Without directions friction uses the true cone (``biped.kernels.solve.cone``) instead of the pyramid
(``biped.kernels.solve.pyramid``).

A ball touches below its centre: φ is the centre's height less the radius, d the displacement of the touching material
point, so that a rolling ball has d = 0. For two bodies both are relative: φ is the height of a point of one over a
point of the other along a normal that is fixed at the start of the step, and both bodies get the impulse at one
position in the world, so that momenta are conserved at any residual. K enters both bodies' blocks and those between
them.
"""

import math
from typing import NamedTuple

import numpy as np

from biped.kernels.solve import cone as cones
from biped.kernels.solve.pyramid import along, linearized_pyramid, set_sliding_changes, start_pyramid, sum_of_sides
from biped.kernels.solve.rounding import resolved
from contact import vectors as v
from contact.arrays import Floats, Integers
from kernelcache import kernel


class Contacts(NamedTuple):
    """c points of bodies over planes of the ground or over other bodies, each with f directions of friction."""

    body: Integers  # (c,)
    point: Floats  # (c, 3) [m] point, or centre of a ball, from the centre of mass, in the body's axes
    frame: Floats  # (c, 9) rows: normal, towards the body, and two tangents, in world axes
    height: Floats  # (c,) [m] of the point over the origin or the other body's point, along the normal, at a touch
    friction: Floats  # (c,) coefficient; 0 without friction
    directions: Floats  # (f, 2) unit vectors b_i along the tangents, with each also −b_i; none for the true cone
    pair: Integers  # (c,) index of the gap's pair; those of sliding and of the directions follow
    radius: Floats  # (c,) [m] radius of a ball about the point
    other: Integers  # (c,) the touched body, −1 for the ground; contacts with the ground come first
    other_point: Floats  # (c, 3) [m] point of the other body below, along the normal, in that body's axes
    edge: Integers  # (c,) edge of the graph between both bodies; −1 for the ground
    is_upper: Integers  # (c,) 1 where ``body`` comes before ``other`` in the graph's order


def friction_directions(count: int) -> Floats:
    """Return (count, 2) evenly spaced unit directions of the pyramid; none for the true cone."""
    turns = 2.0 * np.pi * np.arange(count) / max(count, 1)
    return np.column_stack([np.cos(turns), np.sin(turns)])


def pairs_of(friction: float, directions: int) -> int:
    """Return the number of pairs of a touching point: one for its gap, and those of the pyramid or the cone."""
    if friction == 0.0:
        return 1
    return 2 + directions if directions else 1 + cones.CONE


def ground_contacts(
    body: Integers, point: Floats, frame: Floats, height: Floats, friction: Floats, directions: Floats, pair: Integers,
    radius: Floats,
) -> Contacts:  # fmt: skip
    """Return contacts with planes of the ground only."""
    c = len(body)
    none = np.full(c, -1, dtype=np.int64)
    return Contacts(
        body, point, frame, height, friction, directions, pair, radius, other=none, other_point=np.zeros((c, 3)),
        edge=none.copy(), is_upper=np.zeros(c, dtype=np.int64),
    )  # fmt: skip


@kernel
def begin_contacts(contacts, motion, buffers):
    """Set arms and gaps at the start of the step."""
    poses = motion.poses
    for c in range(contacts.body.shape[0]):
        set_dimensions(contacts, buffers, c)
        b, o = contacts.body[c], contacts.other[c]
        point = v.mat_vec(v.load9(poses.rotation, b), v.load3(contacts.point, c))
        normal = v.load9(contacts.frame, c)[:3]
        lead = v.scale(contacts.radius[c], normal)
        arm, origin = v.sub(point, lead), v.load3(poses.com, b)
        v.store3(buffers.arm_begin, 2 * c, arm)
        v.store3(buffers.lead_begin, 2 * c, lead)
        if o >= 0:
            other = v.mat_vec(v.load9(poses.rotation, o), v.load3(contacts.other_point, c))
            between = v.sub(origin, v.load3(poses.com, o))
            v.store3(buffers.arm_begin, 2 * c + 1, v.add(between, arm))
            v.store3(buffers.lead_begin, 2 * c + 1, v.sub(other, v.add(between, arm)))
            origin = v.sub(between, other)
        buffers.gap_begin[c] = v.dot(normal, v.add(origin, point)) - contacts.height[c]


@kernel
def set_dimensions(contacts, buffers, c):
    """Set the dimensions of the cones of a contact's slacks and multipliers."""
    at = contacts.pair[c]
    buffers.dimension[at] = 1
    if contacts.friction[c] > 0.0 and cones.is_cone(contacts):
        buffers.dimension[at + 1], buffers.dimension[at + 2], buffers.dimension[at + 3] = cones.CONE, 0, 0
    elif contacts.friction[c] > 0.0:
        buffers.dimension[at + 1 : at + width_of(contacts)] = 1


@kernel
def width_of(contacts):
    """Return the number of slacks of a contact with friction."""
    return 1 + cones.CONE if cones.is_cone(contacts) else 2 + contacts.directions.shape[0]


@kernel
def side_of(contacts, c, side):
    """Return (body, sign) of a side: 0 the body, 1 the other body or −1 for the ground, with opposite sign."""
    return (contacts.body[c], 1.0) if side == 0 else (contacts.other[c], -1.0)


@kernel
def turned_by(turn, arm):
    """Return the change of an arm by a turn (c, u): 2 u × (c r + u × r)."""
    c, ux, uy, uz = turn
    u = (ux, uy, uz)
    return v.scale(2.0, v.cross(u, v.add(v.scale(c, arm), v.cross(u, arm))))


@kernel
def place_contacts(contacts, buffers):
    """Set arms and displacements of the candidate."""
    for c in range(contacts.body.shape[0]):
        frame = v.load9(contacts.frame, c)
        slide = (0.0, 0.0, 0.0)
        for side in range(2):
            b, sign = side_of(contacts, c, side)
            if b >= 0:
                k, turn = 2 * c + side, v.load4(buffers.turn, b)
                arm, lead = v.load3(buffers.arm_begin, k), v.load3(buffers.lead_begin, k)
                change, lead_change = turned_by(turn, arm), turned_by(turn, lead)
                v.store3(buffers.arm_end, k, v.add(arm, change))
                v.store3(buffers.lead_end, k, v.add(lead, lead_change))
                n, x, y = v.mat_vec(frame, v.add(v.load3(buffers.moved, b), change))
                slide = v.add(slide, v.scale(sign, (n + v.dot(frame[:3], lead_change), x, y)))
        v.store3(buffers.slide, c, slide)


@kernel
def gap_of(buffers, c):
    """Return φ [m] of the candidate."""
    return buffers.gap_begin[c] + buffers.slide[c, 0]


@kernel
def resolved_gap(motion, buffers, c, at):
    """Return φ [m], or its slack if they differ by rounding only."""
    return resolved(gap_of(buffers, c), motion.slack[at], abs(buffers.gap_begin[c]) + abs(buffers.slide[c, 0]))


@kernel
def set_contact_impulse(contacts, motion, c):
    """Set the contact's impulse: γ and Σ β_i b_i, in its frame."""
    at = contacts.pair[c]
    motion.contact_impulse[c, 0] = motion.dual[at]
    first, second = 0.0, 0.0
    if contacts.friction[c] > 0.0 and cones.is_cone(contacts):
        first, second = motion.dual[at + 2], motion.dual[at + 3]
    elif contacts.friction[c] > 0.0:
        for i in range(contacts.directions.shape[0]):
            first += contacts.directions[i, 0] * motion.dual[at + 2 + i]
            second += contacts.directions[i, 1] * motion.dual[at + 2 + i]
    motion.contact_impulse[c, 1], motion.contact_impulse[c, 2] = first, second


@kernel
def add_impulse(contacts, buffers, c, target, force):
    """Add an impulse in the contact's frame to the body's row of ``target`` (n, 6), and its opposite to the other's."""
    world = v.mat_t_vec(v.load9(contacts.frame, c), force)
    for side in range(2):
        b, sign = side_of(contacts, c, side)
        if b >= 0:
            before, impulse = v.load6(target, b), v.scale(sign, world)
            moment = v.cross(v.load3(buffers.arm_begin, 2 * c + side), impulse)
            v.store_twist(target, b, v.add(before[:3], impulse), v.add(before[3:], moment))


@kernel
def subtract_contacts(contacts, motion, buffers):
    """Subtract the contacts' impulses from the balances."""
    for c in range(contacts.body.shape[0]):
        set_contact_impulse(contacts, motion, c)
        add_impulse(contacts, buffers, c, buffers.balance, v.scale(-1.0, v.load3(motion.contact_impulse, c)))


@kernel
def contact_defects(contacts, motion, buffers):
    """Return the sum of squared differences between the slacks and their targets."""
    total = 0.0
    for c in range(contacts.body.shape[0]):
        at = contacts.pair[c]
        gap = gap_of(buffers, c) - motion.slack[at]
        total += gap * gap
        if contacts.friction[c] > 0.0 and cones.is_cone(contacts):
            cone, way = cones.cone_defects(contacts, motion, buffers, c)
            total += cone + way
        elif contacts.friction[c] > 0.0:
            cone = contacts.friction[c] * motion.dual[at] - sum_of_sides(contacts, motion, c) - motion.slack[at + 1]
            total += cone * cone
            for i in range(contacts.directions.shape[0]):
                side = along(contacts, buffers, c, i) + motion.dual[at + 1] - motion.slack[at + 2 + i]
                total += side * side
    return total


@kernel
def normal_change(motion, buffers, c, at):
    """Return (γ₀, k) of δγ = γ₀ − k δφ."""
    gamma, s = motion.dual[at], motion.slack[at]
    return (buffers.target[at] - gamma * resolved_gap(motion, buffers, c, at)) / s, gamma / s


@kernel
def linearized_contact(contacts, motion, buffers, c):
    """Return f₀ (3,) and K (9,) in the contact's frame."""
    at = contacts.pair[c]
    start, k = normal_change(motion, buffers, c, at)
    if contacts.friction[c] == 0.0:
        return (start, 0.0, 0.0), (k, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
    if cones.is_cone(contacts):
        return cones.linearized_cone(contacts, motion, buffers, c, start, k)
    return linearized_pyramid(contacts, motion, buffers, c, start, k)


@kernel
def add_contact_block(block, K, arm_begin, lever_end):
    """Add P₁ᵀ K P₂ of a point to a block, K in world axes."""
    KP = v.mat_mul(K, lever_end)
    RK, RKP = v.mat_mul(v.hat(arm_begin), K), v.mat_mul(v.hat(arm_begin), KP)
    for a in range(3):
        for b in range(3):
            block[a, b] += K[3 * a + b]
            block[a, 3 + b] += KP[3 * a + b]
            block[3 + a, b] += RK[3 * a + b]
            block[3 + a, 3 + b] += RKP[3 * a + b]


@kernel
def lever_of(contacts, buffers, c, side):
    """Return (9,) the displacement of a point by a small turn at the step's end; along the normal that of a centre."""
    normal, k = v.load9(contacts.frame, c)[:3], 2 * c + side
    return v.mat_add(
        v.hat(v.scale(-1.0, v.load3(buffers.arm_end, k))),
        v.outer(normal, v.cross(v.load3(buffers.lead_end, k), normal)),
    )


@kernel
def add_contact_blocks(contacts, motion, buffers):
    """Add the contacts to Newton's matrix; they do not depend on the target products."""
    for c in range(contacts.body.shape[0]):
        frame = v.load9(contacts.frame, c)
        _, K = linearized_contact(contacts, motion, buffers, c)
        K = v.mat_mul(v.transposed(frame), v.mat_mul(K, frame))
        arm, lever = v.load3(buffers.arm_begin, 2 * c), lever_of(contacts, buffers, c, 0)
        add_contact_block(buffers.diagonal[contacts.body[c]], K, arm, lever)
        if contacts.other[c] >= 0:
            add_other_blocks(contacts, buffers, c, K, arm, lever)


@kernel
def add_other_blocks(contacts, buffers, c, K, arm, lever):
    """Add the block of the other body and those between both; the arm and the lever are those of ``body``."""
    e, less = contacts.edge[c], v.mat_scale(-1.0, K)
    other_arm, other_lever = v.load3(buffers.arm_begin, 2 * c + 1), lever_of(contacts, buffers, c, 1)
    add_contact_block(buffers.diagonal[contacts.other[c]], K, other_arm, other_lever)
    if contacts.is_upper[c] == 1:
        add_contact_block(buffers.upper[e], less, arm, other_lever)
        add_contact_block(buffers.lower[e], less, other_arm, lever)
    else:
        add_contact_block(buffers.upper[e], less, other_arm, lever)
        add_contact_block(buffers.lower[e], less, arm, other_lever)


@kernel
def add_contact_loads(contacts, motion, buffers):
    """Add P₁ᵀ f₀ of all contacts to the load."""
    for c in range(contacts.body.shape[0]):
        f, _ = linearized_contact(contacts, motion, buffers, c)
        add_impulse(contacts, buffers, c, buffers.load, f)


@kernel
def set_contact_changes(contacts, motion, buffers):
    """Set the changes of the contacts' pairs for the bodies' displacements in ``buffers.load``."""
    for c in range(contacts.body.shape[0]):
        frame = v.load9(contacts.frame, c)
        moved = (0.0, 0.0, 0.0)
        for side in range(2):
            b, sign = side_of(contacts, c, side)
            if b >= 0:
                step, k = v.load6(buffers.load, b), 2 * c + side
                n, x, y = v.mat_vec(frame, v.add(step[:3], v.cross(step[3:], v.load3(buffers.arm_end, k))))
                rise = v.dot(frame[:3], v.cross(step[3:], v.load3(buffers.lead_end, k)))
                moved = v.add(moved, v.scale(sign, (n + rise, x, y)))
        set_point_changes(contacts, motion, buffers, c, moved)


@kernel
def set_point_changes(contacts, motion, buffers, c, moved):
    """Set the changes of the pairs of contact c for a displacement along the normal and two tangents."""
    dn, dx, dy = moved
    at = contacts.pair[c]
    start, k = normal_change(motion, buffers, c, at)
    gamma = start - k * dn
    buffers.dual_change[at] = gamma
    buffers.slack_change[at] = dn + resolved_gap(motion, buffers, c, at) - motion.slack[at]
    if contacts.friction[c] > 0.0 and cones.is_cone(contacts):
        cones.set_cone_changes(contacts, motion, buffers, c, gamma, dx, dy)
    elif contacts.friction[c] > 0.0:
        set_sliding_changes(contacts, motion, buffers, c, gamma, dx, dy)


@kernel
def stiffness_of(contacts, motion, c):
    """Return the stiffness [N·s/m] of the pairs of contact c: γ/s, and Σ β/η for friction."""
    at = contacts.pair[c]
    stiff = motion.dual[at] / motion.slack[at]
    if contacts.friction[c] > 0.0 and cones.is_cone(contacts):
        stiff += cones.cone_stiffness(motion, at)
    elif contacts.friction[c] > 0.0:
        for k in range(at + 2, at + 2 + contacts.directions.shape[0]):
            stiff += motion.dual[k] / motion.slack[k]
    return stiff


@kernel
def pressing_contacts(contacts, motion, buffers):
    """Return the sum [N·s] of the contacts' stiffnesses times the bodies' displacements, for the present solution."""
    total = 0.0
    for c in range(contacts.body.shape[0]):
        stiff = stiffness_of(contacts, motion, c)
        for side in range(2):
            b, _ = side_of(contacts, c, side)
            if b >= 0:
                step = v.load6(buffers.load, b)
                total += stiff * (v.norm(step[:3]) + v.norm(step[3:]) * v.norm(v.load3(buffers.arm_end, 2 * c + side)))
    return total


@kernel
def lighter(contacts, bodies, c):
    """Return the smaller mass [kg] of the touching bodies."""
    b, o = contacts.body[c], contacts.other[c]
    return bodies.mass[b] if o < 0 else min(bodies.mass[b], bodies.mass[o])


@kernel
def start_contacts(contacts, bodies, motion, buffers, h, wide):
    """Set the initial slacks and multipliers inside all inequalities, for the candidate's displacements.

    They are ``wide`` times as far inside as usual.
    """
    for c in range(contacts.body.shape[0]):
        at = contacts.pair[c]
        weight = v.norm((bodies.gravity[0], bodies.gravity[1], bodies.gravity[2])) * h
        way = max(h * weight, 1e-3 * v.norm(v.load3(buffers.slide, c)), abs(min(gap_of(buffers, c), 0.0)))
        way = wide * max(way, 1e-9)
        usual = lighter(contacts, bodies, c) * max(weight, way / h)
        center = way * usual
        gap = max(gap_of(buffers, c), way)
        gamma = max(motion.contact_impulse[c, 0], center / gap)
        motion.slack[at], motion.dual[at] = gap, gamma
        if contacts.friction[c] > 0.0 and cones.is_cone(contacts):
            slide = (buffers.slide[c, 1], buffers.slide[c, 2])
            cones.start_cone(motion, at, contacts.friction[c] * gamma, slide, max(way, 2.0 * math.hypot(*slide)))
        elif contacts.friction[c] > 0.0:
            each = contacts.friction[c] * gamma / (contacts.directions.shape[0] + 1)
            start_pyramid(contacts, motion, buffers, c, each, way)

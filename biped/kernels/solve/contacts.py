"""Rigid contact of points with planes or bodies, and friction (Brüdigam et al. 2024, equations 22 to 29).

With P the contact point, φ its height over the plane at the end of the step, d its displacement along the plane in the
step, γ [N·s] the normal impulse, β_i those along the directions b_i, and ψ [m]:

    0 ≤ φ ⊥ γ ≥ 0        0 ≤ μ γ − Σ β_i ⊥ ψ ≥ 0        0 ≤ b_i · d + ψ ⊥ β_i ≥ 0

Here d is the way of the point itself, P₂ − P₁, where the paper has h times its velocity at z₁: the same to first
order, but a point that sticks then stays where it is. The interior point method has slacks for the three left sides and
products of pairs that tend to zero. All unknowns of a contact but its point's displacement δ are eliminated by hand: a
leaf of the graph (figure 4), which leaves an impulse f + δf with δf = f₀ − K δ, K a full 3 x 3 in the contact's frame.
Without directions friction is in the true cone (``biped.kernels.solve.cone``) instead of the pyramid
(``biped.kernels.solve.pyramid``).

A ball touches below its centre: φ is the centre's height less the radius, d the way of the material point that touches,
so that a ball which rolls has d = 0. Of two bodies both are relative: φ is of a point of one over a point of the other
along a normal that is fixed where the step begins, and both bodies get the impulse at one place in the world, so that
momenta are conserved whatever the iterations leave. K then stands in both bodies' blocks and between them.
"""

import math
from typing import NamedTuple

import numpy as np

from biped.kernels.solve.cone import (
    CONE,
    cone_defects,
    cone_stiffness,
    is_cone,
    linearized_cone,
    set_cone_changes,
    start_cone,
)
from biped.kernels.solve.pyramid import along, linearized_pyramid, set_sliding_changes, start_pyramid, sum_of_sides
from biped.kernels.solve.rounding import resolved
from contact import vectors as vec
from contact.arrays import Floats, Integers
from kernelcache import kernel


class Contacts(NamedTuple):
    """c points of bodies over planes of the ground or over other bodies, each with f directions of friction."""

    body: Integers  # (c,)
    point: Floats  # (c, 3) [m] from the centre of mass, its axes: of a ball its centre
    frame: Floats  # (c, 9) rows: normal, towards the body, and two tangents, in world axes
    height: Floats  # (c,) [m] of the point over the origin or the other body's point, along the normal, at a touch
    friction: Floats  # (c,) coefficient; 0 without friction
    directions: Floats  # (f, 2) unit, b_i among the tangents; −b_i is among them too; none of the true cone
    pair: Integers  # (c,) of its gap; that of sliding and those of the directions follow
    radius: Floats  # (c,) [m] of the ball about the point
    other: Integers  # (c,) the body that is touched, −1 the ground; those of the ground come first
    other_point: Floats  # (c, 3) [m] of the other body, below the point along the normal, likewise
    edge: Integers  # (c,) of the graph, between both bodies; −1 of the ground
    is_upper: Integers  # (c,) 1 where ``body`` comes before ``other`` in the graph's order


def friction_directions(count: int) -> Floats:
    """(count, 2) unit, evenly around: of the pyramid, or none of the true cone."""
    turns = 2.0 * np.pi * np.arange(count) / max(count, 1)
    return np.column_stack([np.cos(turns), np.sin(turns)])


def pairs_of(friction: float, directions: int) -> int:
    """How many pairs a point that touches has: of its gap, and of friction those of the pyramid or of the cone."""
    if friction == 0.0:
        return 1
    return 2 + directions if directions else 1 + CONE


def ground_contacts(
    body: Integers, point: Floats, frame: Floats, height: Floats, friction: Floats, directions: Floats, pair: Integers,
    radius: Floats,
) -> Contacts:  # fmt: skip
    """Those of planes of the ground alone."""
    c = len(body)
    none = np.full(c, -1, dtype=np.int64)
    return Contacts(
        body, point, frame, height, friction, directions, pair, radius, other=none, other_point=np.zeros((c, 3)),
        edge=none.copy(), is_upper=np.zeros(c, dtype=np.int64),
    )  # fmt: skip


@kernel
def begin_contacts(contacts, motion, room):
    """Arms and gaps where the step begins."""
    poses = motion.poses
    for c in range(contacts.body.shape[0]):
        set_dimensions(contacts, room, c)
        b, o = contacts.body[c], contacts.other[c]
        point = vec.mat_vec(vec.load9(poses.rotation, b), vec.load3(contacts.point, c))
        normal = vec.load9(contacts.frame, c)[:3]
        lead = vec.scale(contacts.radius[c], normal)
        arm, origin = vec.sub(point, lead), vec.load3(poses.com, b)
        vec.store3(room.arm_begin, 2 * c, arm)
        vec.store3(room.lead_begin, 2 * c, lead)
        if o >= 0:
            other = vec.mat_vec(vec.load9(poses.rotation, o), vec.load3(contacts.other_point, c))
            between = vec.sub(origin, vec.load3(poses.com, o))
            vec.store3(room.arm_begin, 2 * c + 1, vec.add(between, arm))
            vec.store3(room.lead_begin, 2 * c + 1, vec.sub(other, vec.add(between, arm)))
            origin = vec.sub(between, other)
        room.gap_begin[c] = vec.dot(normal, vec.add(origin, point)) - contacts.height[c]


@kernel
def set_dimensions(contacts, room, c):
    """Those of the cones that the contact's slacks and multipliers stay in."""
    at = contacts.pair[c]
    room.dimension[at] = 1
    if contacts.friction[c] > 0.0 and is_cone(contacts):
        room.dimension[at + 1], room.dimension[at + 2], room.dimension[at + 3] = CONE, 0, 0
    elif contacts.friction[c] > 0.0:
        room.dimension[at + 1 : at + width_of(contacts)] = 1


@kernel
def width_of(contacts):
    """How many slacks a contact with friction has."""
    return 1 + CONE if is_cone(contacts) else 2 + contacts.directions.shape[0]


@kernel
def side_of(contacts, c, side):
    """(body, sign): of side 0 the body, of side 1 the other one, or −1 the ground, whose ways and impulses are less."""
    return (contacts.body[c], 1.0) if side == 0 else (contacts.other[c], -1.0)


@kernel
def turned_by(turn, arm):
    """The change of an arm by a turn (c, u): 2 u × (c r + u × r)."""
    c, ux, uy, uz = turn
    u = (ux, uy, uz)
    return vec.scale(2.0, vec.cross(u, vec.add(vec.scale(c, arm), vec.cross(u, arm))))


@kernel
def place_contacts(contacts, room):
    """Arms and displacements of the candidate."""
    for c in range(contacts.body.shape[0]):
        frame = vec.load9(contacts.frame, c)
        slide = (0.0, 0.0, 0.0)
        for side in range(2):
            b, sign = side_of(contacts, c, side)
            if b >= 0:
                k, turn = 2 * c + side, vec.load4(room.turn, b)
                arm, lead = vec.load3(room.arm_begin, k), vec.load3(room.lead_begin, k)
                change, lead_change = turned_by(turn, arm), turned_by(turn, lead)
                vec.store3(room.arm_end, k, vec.add(arm, change))
                vec.store3(room.lead_end, k, vec.add(lead, lead_change))
                n, x, y = vec.mat_vec(frame, vec.add(vec.load3(room.moved, b), change))
                slide = vec.add(slide, vec.scale(sign, (n + vec.dot(frame[:3], lead_change), x, y)))
        vec.store3(room.slide, c, slide)


@kernel
def gap_of(room, c):
    """[m] φ at the end of the candidate."""
    return room.gap_begin[c] + room.slide[c, 0]


@kernel
def resolved_gap(motion, room, c, at):
    """[m] φ."""
    return resolved(gap_of(room, c), motion.slack[at], abs(room.gap_begin[c]) + abs(room.slide[c, 0]))


@kernel
def set_contact_impulse(contacts, motion, c):
    """γ and Σ β_i b_i, in the contact's frame."""
    at = contacts.pair[c]
    motion.contact_impulse[c, 0] = motion.dual[at]
    first, second = 0.0, 0.0
    if contacts.friction[c] > 0.0 and is_cone(contacts):
        first, second = motion.dual[at + 2], motion.dual[at + 3]
    elif contacts.friction[c] > 0.0:
        for i in range(contacts.directions.shape[0]):
            first += contacts.directions[i, 0] * motion.dual[at + 2 + i]
            second += contacts.directions[i, 1] * motion.dual[at + 2 + i]
    motion.contact_impulse[c, 1], motion.contact_impulse[c, 2] = first, second


@kernel
def add_impulse(contacts, room, c, target, force):
    """An impulse in the contact's frame to what ``target`` (n, 6) has of the body, and its opposite to the other's."""
    world = vec.mat_t_vec(vec.load9(contacts.frame, c), force)
    for side in range(2):
        b, sign = side_of(contacts, c, side)
        if b >= 0:
            before, impulse = vec.load6(target, b), vec.scale(sign, world)
            moment = vec.cross(vec.load3(room.arm_begin, 2 * c + side), impulse)
            vec.store_twist(target, b, vec.add(before[:3], impulse), vec.add(before[3:], moment))


@kernel
def subtract_contacts(contacts, motion, room):
    """The contacts' impulses out of the balances."""
    for c in range(contacts.body.shape[0]):
        set_contact_impulse(contacts, motion, c)
        add_impulse(contacts, room, c, room.balance, vec.scale(-1.0, vec.load3(motion.contact_impulse, c)))


@kernel
def contact_defects(contacts, motion, room):
    """Sum of squares of what is between the slacks and what they stand for."""
    total = 0.0
    for c in range(contacts.body.shape[0]):
        at = contacts.pair[c]
        gap = gap_of(room, c) - motion.slack[at]
        total += gap * gap
        if contacts.friction[c] > 0.0 and is_cone(contacts):
            cone, way = cone_defects(contacts, motion, room, c)
            total += cone + way
        elif contacts.friction[c] > 0.0:
            cone = contacts.friction[c] * motion.dual[at] - sum_of_sides(contacts, motion, c) - motion.slack[at + 1]
            total += cone * cone
            for i in range(contacts.directions.shape[0]):
                side = along(contacts, room, c, i) + motion.dual[at + 1] - motion.slack[at + 2 + i]
                total += side * side
    return total


@kernel
def normal_change(motion, room, c, at):
    """(γ₀, k): δγ = γ₀ − k δφ."""
    gamma, s = motion.dual[at], motion.slack[at]
    return (room.target[at] - gamma * resolved_gap(motion, room, c, at)) / s, gamma / s


@kernel
def linearized_contact(contacts, motion, room, c):
    """f₀ (3,) and K (9,) in the contact's frame."""
    at = contacts.pair[c]
    start, k = normal_change(motion, room, c, at)
    if contacts.friction[c] == 0.0:
        return (start, 0.0, 0.0), (k, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
    if is_cone(contacts):
        return linearized_cone(contacts, motion, room, c, start, k)
    return linearized_pyramid(contacts, motion, room, c, start, k)


@kernel
def add_contact_block(block, K, arm_begin, lever_end):
    """P₁ᵀ K P₂ of a point, K in world axes."""
    KP = vec.mat_mul(K, lever_end)
    RK, RKP = vec.mat_mul(vec.hat(arm_begin), K), vec.mat_mul(vec.hat(arm_begin), KP)
    for a in range(3):
        for b in range(3):
            block[a, b] += K[3 * a + b]
            block[a, 3 + b] += KP[3 * a + b]
            block[3 + a, b] += RK[3 * a + b]
            block[3 + a, 3 + b] += RKP[3 * a + b]


@kernel
def lever_of(contacts, room, c, side):
    """(9,) how a small turn of a body displaces where the step ends: the body's own point along the normal."""
    normal, k = vec.load9(contacts.frame, c)[:3], 2 * c + side
    return vec.mat_add(
        vec.hat(vec.scale(-1.0, vec.load3(room.arm_end, k))),
        vec.outer(normal, vec.cross(vec.load3(room.lead_end, k), normal)),
    )


@kernel
def add_contact_blocks(contacts, motion, room):
    """What the contacts add to Newton's matrix; it does not depend on the products that are aimed at."""
    for c in range(contacts.body.shape[0]):
        frame = vec.load9(contacts.frame, c)
        _, K = linearized_contact(contacts, motion, room, c)
        K = vec.mat_mul(vec.transposed(frame), vec.mat_mul(K, frame))
        arm, lever = vec.load3(room.arm_begin, 2 * c), lever_of(contacts, room, c, 0)
        add_contact_block(room.diagonal[contacts.body[c]], K, arm, lever)
        if contacts.other[c] >= 0:
            add_other_blocks(contacts, room, c, K, arm, lever)


@kernel
def add_other_blocks(contacts, room, c, K, arm, lever):
    """The block of the other body, and those between both; the arm and the lever are those of ``body``."""
    e, less = contacts.edge[c], vec.mat_scale(-1.0, K)
    other_arm, other_lever = vec.load3(room.arm_begin, 2 * c + 1), lever_of(contacts, room, c, 1)
    add_contact_block(room.diagonal[contacts.other[c]], K, other_arm, other_lever)
    if contacts.is_upper[c] == 1:
        add_contact_block(room.upper[e], less, arm, other_lever)
        add_contact_block(room.lower[e], less, other_arm, lever)
    else:
        add_contact_block(room.upper[e], less, other_arm, lever)
        add_contact_block(room.lower[e], less, arm, other_lever)


@kernel
def add_contact_loads(contacts, motion, room):
    """P₁ᵀ f₀ of all contacts."""
    for c in range(contacts.body.shape[0]):
        f, _ = linearized_contact(contacts, motion, room, c)
        add_impulse(contacts, room, c, room.load, f)


@kernel
def set_contact_changes(contacts, motion, room):
    """What becomes of the contacts' pairs when the bodies are displaced by the solution in ``room.load``."""
    for c in range(contacts.body.shape[0]):
        frame = vec.load9(contacts.frame, c)
        moved = (0.0, 0.0, 0.0)
        for side in range(2):
            b, sign = side_of(contacts, c, side)
            if b >= 0:
                step, k = vec.load6(room.load, b), 2 * c + side
                n, x, y = vec.mat_vec(frame, vec.add(step[:3], vec.cross(step[3:], vec.load3(room.arm_end, k))))
                rise = vec.dot(frame[:3], vec.cross(step[3:], vec.load3(room.lead_end, k)))
                moved = vec.add(moved, vec.scale(sign, (n + rise, x, y)))
        set_point_changes(contacts, motion, room, c, moved)


@kernel
def set_point_changes(contacts, motion, room, c, moved):
    """What becomes of the pairs of contact c when its point is displaced, along the normal and two tangents."""
    dn, dx, dy = moved
    at = contacts.pair[c]
    start, k = normal_change(motion, room, c, at)
    gamma = start - k * dn
    room.dual_change[at] = gamma
    room.slack_change[at] = dn + resolved_gap(motion, room, c, at) - motion.slack[at]
    if contacts.friction[c] > 0.0 and is_cone(contacts):
        set_cone_changes(contacts, motion, room, c, gamma, dx, dy)
    elif contacts.friction[c] > 0.0:
        set_sliding_changes(contacts, motion, room, c, gamma, dx, dy)


@kernel
def stiffness_of(contacts, motion, c):
    """[N·s/m] of the pairs of contact c: γ/s, and of friction Σ β/η."""
    at = contacts.pair[c]
    stiff = motion.dual[at] / motion.slack[at]
    if contacts.friction[c] > 0.0 and is_cone(contacts):
        stiff += cone_stiffness(motion, at)
    elif contacts.friction[c] > 0.0:
        for k in range(at + 2, at + 2 + contacts.directions.shape[0]):
            stiff += motion.dual[k] / motion.slack[k]
    return stiff


@kernel
def pressing_contacts(contacts, motion, room):
    """[N·s] Σ of stiffnesses times the ways of the bodies that press on them, for the solution in hand."""
    total = 0.0
    for c in range(contacts.body.shape[0]):
        stiff = stiffness_of(contacts, motion, c)
        for side in range(2):
            b, _ = side_of(contacts, c, side)
            if b >= 0:
                step = vec.load6(room.load, b)
                total += stiff * (
                    vec.norm(step[:3]) + vec.norm(step[3:]) * vec.norm(vec.load3(room.arm_end, 2 * c + side))
                )
    return total


@kernel
def lighter(contacts, bodies, c):
    """[kg] the smaller mass of those that touch."""
    b, o = contacts.body[c], contacts.other[c]
    return bodies.mass[b] if o < 0 else min(bodies.mass[b], bodies.mass[o])


@kernel
def start_contacts(contacts, bodies, motion, room, h, wide):
    """Slacks and multipliers where the iterations begin: inside all inequalities, for the candidate's displacements.

    ``wide`` times as far inside as is usual.
    """
    for c in range(contacts.body.shape[0]):
        at = contacts.pair[c]
        weight = vec.norm((bodies.gravity[0], bodies.gravity[1], bodies.gravity[2])) * h
        way = max(h * weight, 1e-3 * vec.norm(vec.load3(room.slide, c)), abs(min(gap_of(room, c), 0.0)))
        way = wide * max(way, 1e-9)
        usual = lighter(contacts, bodies, c) * max(weight, way / h)
        center = way * usual
        gap = max(gap_of(room, c), way)
        gamma = max(motion.contact_impulse[c, 0], center / gap)
        motion.slack[at], motion.dual[at] = gap, gamma
        if contacts.friction[c] > 0.0 and is_cone(contacts):
            slide = (room.slide[c, 1], room.slide[c, 2])
            start_cone(motion, at, contacts.friction[c] * gamma, slide, max(way, 2.0 * math.hypot(*slide)))
        elif contacts.friction[c] > 0.0:
            each = contacts.friction[c] * gamma / (contacts.directions.shape[0] + 1)
            start_pyramid(contacts, motion, room, c, each, way)

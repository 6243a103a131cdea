"""The contact points of a tree: displacements in a step, impulses of the floor, and their components along the joints.

The pairs of each point and their elimination are those of ``biped.kernels.solve.contacts``, with the floor's normal,
x and y as the contact's frame. The displacement of a sticking point along the floor is from the position where it began
to stick, so that the residual displacements of the interior point method do not accumulate.
"""

import math

from biped.integrators.rigid.kernels.loops import close_direction
from biped.integrators.rigid.kernels.method import COMPLEMENTARITY, RESIDUAL
from biped.integrators.rigid.kernels.pairs import add_pair_wrench, along_rows, count_pairs, couple_pairs
from biped.kernels.solve import contacts as floor_contacts
from biped.kernels.solve.cone import cone_defects, is_cone, psi_of_product, start_cone
from biped.kernels.solve.interior import EPSILON, EQUATIONS, MERIT, OFF_CENTER, PRODUCT, ROUNDINGS, measure_products
from biped.kernels.solve.pyramid import along, start_pyramid, sum_of_sides
from biped.kernels.tree.factorization import add_point_block, solve_inboard, solve_outboard
from biped.kernels.variational.equations import reference_point, world_chord
from contact import vectors as v
from contact.ground import END, START, is_moving, law_at, rotation_of, to_floor
from contact.modes import STICKING
from kernelcache import kernel

# [m] Height at the end of a step up to which a point touches.
TOUCHING = 1e-7
# Greatest expected friction relative to its limit.
WITHIN = 0.999
# Initial ψ of the true cone relative to the displacement: a search from the cone's surface converges badly.
FAR_INSIDE = 10.0


@kernel
def out_of_floor(ground, row, force):
    """Return a vector (normal, x, y) of the floor in world axes."""
    turned = (force[1], force[2], force[0])
    if not is_moving(ground):
        return turned
    return v.mat_vec(rotation_of(ground, row), turned)


@kernel
def into_floor(ground, row, vector):
    """Return a world vector as (normal, x, y) of the floor, the inverse of ``out_of_floor``."""
    x, y, z = vector
    if is_moving(ground):
        x, y, z = v.mat_t_vec(rotation_of(ground, row), vector)
    return z, x, y


@kernel
def begin_points(tree, ground, state, scratch, method):
    """Set the constants of a step: friction, gaps, displacements from the anchors."""
    unknowns, poses = method.unknowns, scratch.motion.poses
    set_touching_arms(ground, START, method.contacts, poses, method.arms.begin)
    for c in range(tree.contact_body.shape[0]):
        start = v.add(reference_point(tree, state.q), v.load3(method.arms.begin, c))
        x, y, z = to_floor(ground, START, start)
        method.contacts.friction[c] = law_at(ground, c).mu_s
        floor_contacts.set_dimensions(method.contacts, unknowns, c)
        unknowns.active[c] = unknowns.watched[c]
        unknowns.gap_begin[c] = z
        unknowns.place[c, 0], unknowns.place[c, 1] = x, y
        sticks = unknowns.mode[c] == STICKING and method.contacts.radius[c] == 0.0
        unknowns.offset[c, 0] = x - state.anchor[c, 0] if sticks else 0.0
        unknowns.offset[c, 1] = y - state.anchor[c, 1] if sticks else 0.0
    for c in range(tree.contact_body.shape[0], unknowns.active.shape[0]):
        floor_contacts.set_dimensions(method.contacts, unknowns, c)
        unknowns.active[c] = unknowns.watched[c]


@kernel
def set_touching_arms(ground, row, contacts, poses, arms):
    """Set the touching points: the points themselves, or those below the centres of balls."""
    for c in range(arms.shape[0]):
        center = v.load3(poses.contact, c)
        if contacts.radius[c] > 0.0:
            center = v.sub(center, v.scale(contacts.radius[c], out_of_floor(ground, row, (1.0, 0.0, 0.0))))
        v.store3(arms, c, center)


@kernel
def set_moved_arms(tree, scratch, method):
    """Set the candidate's positions of the material points that touch at the start of the step."""
    for c in range(tree.contact_body.shape[0]):
        center = v.load3(scratch.next.contact, c)
        if method.contacts.radius[c] > 0.0:
            i, poses = tree.contact_body[c], scratch.motion.poses
            lead = v.sub(v.load3(poses.contact, c), v.load3(method.arms.begin, c))
            lead = v.mat_vec(v.load9(scratch.next.rotation, i), v.mat_t_vec(v.load9(poses.rotation, i), lead))
            center = v.sub(center, lead)
        v.store3(method.arms.moved, c, center)


@kernel
def touching_chord(scratch, arms, c):
    """Return the displacement in the step, in world axes, of the material point that touches at its start."""
    return v.add(v.triple(scratch.shift), v.sub(v.load3(arms.moved, c), v.load3(arms.begin, c)))


@kernel
def floor_way(tree, ground, state, arm, moved):
    """Return a displacement in the world, from an arm at the start of the step, in the floor's frame."""
    if not is_moving(ground):
        return moved
    start = v.add(reference_point(tree, state.q), arm)
    return v.sub(to_floor(ground, END, v.add(start, moved)), to_floor(ground, START, start))


@kernel
def place_points(tree, ground, state, scratch, method):
    """Set the candidate's displacements: of material points along the floor, of balls' centres along the normal."""
    unknowns, arms = method.unknowns, method.arms
    set_moved_arms(tree, scratch, method)
    for c in range(tree.contact_body.shape[0]):
        x, y, z = floor_way(tree, ground, state, v.load3(arms.begin, c), touching_chord(scratch, arms, c))
        if method.contacts.radius[c] > 0.0:
            center = v.load3(scratch.motion.poses.contact, c)
            _, _, z = floor_way(tree, ground, state, center, world_chord(scratch, c))
        v.store3(unknowns.slide, c, (z, x + unknowns.offset[c, 0], y + unknowns.offset[c, 1]))


@kernel
def wake(contacts, unknowns, height):
    """Activate points within ``height`` [m] of the floor in the candidate; return True if there are new ones."""
    is_new = False
    for c in range(contacts.body.shape[0]):
        if unknowns.active[c] == 0 and contacts.other[c] < 0:
            if floor_contacts.gap_of(unknowns, c) <= height:
                unknowns.active[c] = 1
                is_new = True
            else:
                park(contacts, unknowns, c, 0)
    return is_new


@kernel
def load_impulses(ground, row, method, arms, wrench, sign):
    """Set the bodies' wrenches to the impulses of the candidate at ``arms``, times a sign."""
    unknowns, contacts = method.unknowns, method.contacts
    wrench[:] = 0.0
    for c in range(contacts.body.shape[0]):
        if unknowns.active[c] == 1:
            floor_contacts.set_contact_impulse(contacts, unknowns, c)
            if contacts.other[c] < 0:
                impulse = v.scale(sign, out_of_floor(ground, row, v.load3(unknowns.contact_impulse, c)))
                add_wrench(wrench, contacts.body[c], v.load3(arms, c), impulse)
            else:
                k = c - arms.shape[0]
                add_pair_wrench(method.pairs, k, v.load3(unknowns.contact_impulse, c), wrench, sign)


@kernel
def add_wrench(wrench, i, arm, impulse):
    before = v.load6(wrench, i)
    v.store_twist(wrench, i, v.add(before[:3], impulse), v.add(before[3:], v.cross(arm, impulse)))


@kernel
def add_along_joints(tree, motion, wrench, load):
    """Add the components of the bodies' wrenches along the joints to ``load``; the wrenches are summed inboard."""
    for i in range(tree.parent.shape[0] - 1, -1, -1):
        b = v.load6(wrench, i)
        for dof in range(tree.first_v[i], tree.first_v[i] + tree.dofs[i]):
            load[dof] += v.dot6(v.load6(motion, dof), b)
        if tree.parent[i] >= 0:
            v.store6(wrench, tree.parent[i], v.add6(b, v.load6(wrench, tree.parent[i])))


@kernel
def measure_candidate(method, balances, stiff):
    """Set the norm of all equations, and the measures of the products.

    Lengths are multiplied by ``stiff`` [kg/s]; ``balances`` is the sum of the balances' squares.
    """
    unknowns, contacts = method.unknowns, method.contacts
    lengths = impulses = 0.0
    for c in range(contacts.body.shape[0]):
        if unknowns.active[c] == 1:
            at = contacts.pair[c]
            gap = floor_contacts.gap_of(unknowns, c) - unknowns.slack[at]
            lengths += gap * gap
            if contacts.friction[c] > 0.0 and is_cone(contacts):
                cone, way = cone_defects(contacts, unknowns, unknowns, c)
                impulses += cone
                lengths += way
            elif contacts.friction[c] > 0.0:
                most = contacts.friction[c] * unknowns.dual[at]
                cone = most - sum_of_sides(contacts, unknowns, c) - unknowns.slack[at + 1]
                impulses += cone * cone
                for i in range(contacts.directions.shape[0]):
                    side = along(contacts, unknowns, c, i) + unknowns.dual[at + 1] - unknowns.slack[at + 2 + i]
                    lengths += side * side
    unknowns.measure[EQUATIONS] = math.sqrt(balances + impulses + stiff * stiff * lengths)
    measure_products(unknowns, unknowns)


@kernel
def add_stiffnesses(ground, left_row, method, block, left, right, centers, factor):
    """Add ``factor`` times the stiffnesses of the points, with the arms of the impulses and of the points' ends.

    Gaps change with the ``centers``.
    """
    unknowns, contacts = method.unknowns, method.contacts
    for c in range(left.shape[0]):
        if unknowns.active[c] == 1:
            _, K = floor_contacts.linearized_contact(contacts, unknowns, unknowns, c)
            arm, i = v.load3(left, c), contacts.body[c]
            if contacts.radius[c] > 0.0:
                rise = (K[0], 0.0, 0.0, K[3], 0.0, 0.0, K[6], 0.0, 0.0)
                K = (0.0, K[1], K[2], 0.0, K[4], K[5], 0.0, K[7], K[8])
                add_point_block(block, i, arm, v.load3(centers, c), world_stiffness(ground, left_row, rise, factor))
            add_point_block(block, i, arm, v.load3(right, c), world_stiffness(ground, left_row, K, factor))


@kernel
def world_stiffness(ground, left_row, K, factor):
    """Return ``factor`` times a matrix along the normal and the floor, in world axes."""
    W = (
        factor * K[4], factor * K[5], factor * K[3],
        factor * K[7], factor * K[8], factor * K[6],
        factor * K[1], factor * K[2], factor * K[0],
    )  # fmt: skip
    if is_moving(ground):
        W = v.mat_mul(v.mat_mul(rotation_of(ground, left_row), W), v.transposed(rotation_of(ground, END)))
    return W


@kernel
def solve_for_target(
    tree, ground, left_row, method, left, right, left_arms, right_arms, centers, load, factors, factor, change
):  # fmt: skip
    """Set Newton's step ``change`` (nv,) for the products in ``target``, and the changes of the pairs.

    Points are displaced by ``factor`` times the displacement by ``change``.
    """
    unknowns, contacts, pairs = method.unknowns, method.contacts, method.pairs
    rows = pairs.end_rows if left_row == START else pairs.begin_rows
    floors = left_arms.shape[0]
    wrench = factors.wrench
    wrench[:] = 0.0
    for c in range(floors):
        if unknowns.active[c] == 1:
            f, _ = floor_contacts.linearized_contact(contacts, unknowns, unknowns, c)
            impulse = v.scale(-1.0, out_of_floor(ground, left_row, f))
            add_wrench(wrench, contacts.body[c], v.load3(left_arms, c), impulse)
    solve_inboard(tree, left, load, factors, 0)
    solve_outboard(tree, right, factors, change)
    close_direction(tree, method.closing, factors, change)
    if count_pairs(method) > 0:
        couple_pairs(tree, method, rows, factors, factor, change)
    for c in range(contacts.body.shape[0]):
        if unknowns.active[c] == 1:
            if c >= floors:
                moved = v.scale(factor, along_rows(pairs, rows, c - floors, factors.twist))
            else:
                moved = moved_from_floor(ground, contacts, right_arms, centers, factors.twist, factor, c)
            floor_contacts.set_point_changes(contacts, unknowns, unknowns, c, moved)


@kernel
def moved_from_floor(ground, contacts, arms, centers, twist, factor, c):
    """Return a point's displacement by ``factor`` times the twists; along the normal that of a ball's centre."""
    t = v.load6(twist, contacts.body[c])
    z, x, y = into_floor(ground, END, v.scale(factor, v.add(t[:3], v.cross(t[3:], v.load3(arms, c)))))
    if contacts.radius[c] > 0.0:
        z, _, _ = into_floor(ground, END, v.scale(factor, v.add(t[:3], v.cross(t[3:], v.load3(centers, c)))))
    return z, x, y


@kernel
def rounding_of_step(method, twist, arms):
    """Return the error [N·s] of the equations by rounding of Newton's step, by the stiffness of the contacts."""
    unknowns, contacts = method.unknowns, method.contacts
    total = 0.0
    for c in range(contacts.body.shape[0]):
        if unknowns.active[c] == 1:
            moved, stiff = v.load6(twist, contacts.body[c]), floor_contacts.stiffness_of(contacts, unknowns, c)
            if contacts.other[c] < 0:
                total += stiff * v.norm(v.add(moved[:3], v.cross(moved[3:], v.load3(arms, c))))
            else:
                other = v.load6(twist, contacts.other[c])
                total += stiff * (v.norm(moved[:3]) + v.norm(moved[3:]) + v.norm(other[:3]) + v.norm(other[3:]))
    return ROUNDINGS * EPSILON * total


@kernel
def park(contacts, unknowns, c, first):
    """Deactivate the pairs of point c from ``first`` on."""
    at = contacts.pair[c]
    for k in range(at + first, at + floor_contacts.width_of(contacts)):
        unknowns.slack[k], unknowns.dual[k] = 1.0, 0.0
        unknowns.slack_change[k] = unknowns.dual_change[k] = 0.0
        unknowns.target[k] = 0.0


@kernel
def start_point(contacts, unknowns, c, way, center):
    """Set initial pairs inside all inequalities with products ``center``; ``way`` [m] counts as small."""
    at, mu = contacts.pair[c], contacts.friction[c]
    slack = max(floor_contacts.gap_of(unknowns, c), way)
    gamma = center / slack
    unknowns.slack[at], unknowns.dual[at] = slack, gamma
    if mu == 0.0:
        park(contacts, unknowns, c, 1)
        return
    if is_cone(contacts):
        way = (unknowns.slide[c, 1], unknowns.slide[c, 2])
        start_cone(unknowns, at, mu * gamma, way, max(center / (mu * gamma), FAR_INSIDE * math.hypot(*way)))
        return
    each = mu * gamma / (contacts.directions.shape[0] + 1)
    start_pyramid(contacts, unknowns, unknowns, c, each, center / each)


@kernel
def share_of_side(count, i, across, size, angle):
    """Return the impulse along direction i of friction with a size and angle, split to the two nearest directions."""
    off = angle - i * across
    off -= 2.0 * math.pi * math.floor(off / (2.0 * math.pi) + 0.5)
    return size * math.sin(across - abs(off)) / math.sin(across) if abs(off) < across else 0.0


@kernel
def expect_point(contacts, unknowns, c, impulse, near, center):
    """Set pairs with products of about ``center`` [N·s·m] for an expected impulse.

    A point within ``near`` [m] of the floor that sticks has slacks of these products for any displacement of the
    candidate; a point that slides farther has them in the directions of friction, and its displacements in the others.
    """
    at, mu, gamma = contacts.pair[c], contacts.friction[c], impulse[0]
    gap = floor_contacts.gap_of(unknowns, c)
    unknowns.slack[at], unknowns.dual[at] = max(gap if gap > near else 0.0, center / gamma), gamma
    if mu == 0.0:
        park(contacts, unknowns, c, 1)
        return
    if is_cone(contacts):
        expect_cone(contacts, unknowns, c, impulse, near, center)
        return
    count = contacts.directions.shape[0]
    across, angle = 2.0 * math.pi / count, math.atan2(impulse[2], impulse[1])
    size = math.hypot(impulse[1], impulse[2])
    sides = size * (math.sin(across - angle % across) + math.sin(angle % across)) / math.sin(across)
    if sides > WITHIN * mu * gamma:
        size *= WITHIN * mu * gamma / sides
        sides = WITHIN * mu * gamma
    base = (mu * gamma - sides) / (count + 1)
    farthest = 0.0
    for i in range(count):
        farthest = max(farthest, -along(contacts, unknowns, c, i))
    slides = farthest > near
    psi = max(center / base, farthest if slides else 0.0)
    unknowns.slack[at + 1], unknowns.dual[at + 1] = center / psi, psi
    for i in range(count):
        k, side = at + 2 + i, share_of_side(count, i, across, size, angle)
        slack = center / (base + side)
        if slides:
            slack = max(slack, along(contacts, unknowns, c, i) + psi)
        unknowns.slack[k], unknowns.dual[k] = slack, side + center / max(slack, psi)


@kernel
def expect_cone(contacts, unknowns, c, impulse, near, center):
    """Set the friction pairs of the true cone for an expected impulse, with the product ``center`` times the unit."""
    at, most = contacts.pair[c], contacts.friction[c] * impulse[0]
    way = (unknowns.slide[c, 1], unknowns.slide[c, 2])
    if math.hypot(*way) > near:
        start_cone(unknowns, at, most, way, psi_of_product(most, way, center))
        return
    part = min(1.0, WITHIN * most / max(math.hypot(impulse[1], impulse[2]), WITHIN * most)) / most
    first, second = part * impulse[1], part * impulse[2]
    psi = center / (most * (1.0 - first * first - second * second))
    start_cone(unknowns, at, most, (-psi * first, -psi * second), psi)


@kernel
def note_worst(unknowns):
    """Update the worst values of the solved steps."""
    worst = unknowns.worst
    worst[RESIDUAL] = max(worst[RESIDUAL], unknowns.measure[EQUATIONS])
    worst[COMPLEMENTARITY] = max(worst[COMPLEMENTARITY], unknowns.measure[PRODUCT])


@kernel
def set_merit(unknowns):
    """Set the merit of the line search."""
    unknowns.measure[MERIT] = math.hypot(unknowns.measure[EQUATIONS], unknowns.measure[OFF_CENTER])

"""Contacts between capsules on a tree's bodies, and their part in Newton's step.

φ is the true distance of two capsules at the end of the step, so that they do not overlap; the impulse acts along the
normal at the start of the step, on both bodies at one position in the world, so that momenta are conserved at any
residual. Between both bodies K = −∂f/∂δ couples two branches of the tree. Like joints that close loops
(``biped.kernels.tree.loops``), it is a border of the factorization A of everything else: with L and R the bodies'
twists by which the three impulses of each contact act, and by which its point moves,

    (1 + K Y) f = f₀ − K R A⁻¹ e,        Y = R A⁻¹ Lᵀ,

three solves with the tree's factors for each near pair, and none for the others. If the tree has loops, A is that of
the tree with its loops closed.
"""

from biped.integrators.rigid.kernels.loops import add_response, close_response
from biped.kernels.solve.contacts import linearized_contact
from biped.kernels.solve.dense import factor_dense, solve_dense
from biped.kernels.tree.factorization import solve_inboard, solve_outboard
from biped.kernels.tree.kinematics import point_of_body
from contact import vectors as v
from contact.capsules import capsule_gap, point_on_axis
from kernelcache import kernel


@kernel
def capsule_of(poses, pairs, k, side):
    """Return a capsule of pair k in the form of ``contact.capsules``, relative to O."""
    i, at = pairs.body[k, side], 2 * k + side
    center = point_of_body(poses, i, v.load3(pairs.center, at))
    return center, v.mat_vec(v.load9(poses.rotation, i), v.load3(pairs.half, at)), pairs.radius[k, side]


@kernel
def pair_gap(poses, pairs, k):
    """Return (gap [m], normal from the first to the second, middle between their surfaces (3,) [m] from O)."""
    a, b = capsule_of(poses, pairs, k, 0), capsule_of(poses, pairs, k, 1)
    gap, normal, s, _ = capsule_gap(a, b)
    return gap, normal, v.add(point_on_axis(a, s), v.scale(a[2] + 0.5 * gap, normal))


@kernel
def store_row(rows, k, axis, side, direction, place):
    """Store row ``axis`` of pair k along a direction at a point from O, of the second body (1) less the first (0)."""
    along = v.scale(2.0 * side - 1.0, direction)
    v.store_twist(rows, 6 * k + 2 * axis + side, along, v.cross(place, along))


@kernel
def along_rows(pairs, rows, k, twist):
    """Return (3,) the motion of the second point of pair k relative to the first for twists of the bodies."""
    a, b = v.load6(twist, pairs.body[k, 0]), v.load6(twist, pairs.body[k, 1])
    n = v.dot6(v.load6(rows, 6 * k), a) + v.dot6(v.load6(rows, 6 * k + 1), b)
    x = v.dot6(v.load6(rows, 6 * k + 2), a) + v.dot6(v.load6(rows, 6 * k + 3), b)
    y = v.dot6(v.load6(rows, 6 * k + 4), a) + v.dot6(v.load6(rows, 6 * k + 5), b)
    return n, x, y


@kernel
def open_pair(poses, pairs, k):
    """Set contact point, frame and impulse rows of pair k in these poses; return the gap [m]."""
    gap, n, place = pair_gap(poses, pairs, k)
    across = (1.0, 0.0, 0.0) if abs(n[0]) < 0.6 else (0.0, 1.0, 0.0)
    x = v.cross(n, across)
    x = v.scale(1.0 / v.norm(x), x)
    y = v.cross(n, x)
    v.store9(pairs.frame, k, n + x + y)
    for side in range(2):
        i = pairs.body[k, side]
        v.store3(
            pairs.local, 2 * k + side, v.mat_t_vec(v.load9(poses.rotation, i), v.sub(place, v.load3(poses.com, i)))
        )
        store_row(pairs.begin_rows, k, 0, side, n, place)
        store_row(pairs.begin_rows, k, 1, side, x, place)
        store_row(pairs.begin_rows, k, 2, side, y, place)
    return gap


@kernel
def apart(poses, pairs, k):
    """Return (3,) [m] from the first to the second material point of ``open_pair``, in these poses."""
    first = point_of_body(poses, pairs.body[k, 0], v.load3(pairs.local, 2 * k))
    return v.sub(point_of_body(poses, pairs.body[k, 1], v.load3(pairs.local, 2 * k + 1)), first)


@kernel
def wake_pairs(begin, end, method, height):
    """Activate pairs that are within ``height`` [m] in the candidate; return True if there are new ones to place."""
    pairs, unknowns = method.pairs, method.unknowns
    floors, is_new = unknowns.active.shape[0] - pairs.body.shape[0], False
    for k in range(pairs.body.shape[0]):
        c = floors + k
        if unknowns.active[c] == 0:
            gap, _, _ = pair_gap(end, pairs, k)
            if gap <= height:
                unknowns.gap_begin[c] = open_pair(begin, pairs, k)
                unknowns.active[c] = 1
                is_new = True
    return is_new


@kernel
def place_pair(end, pairs, unknowns, c, k):
    """Set the candidate's displacement of pair k, contact c, and the rows of its changes."""
    gap, normal, place = pair_gap(end, pairs, k)
    frame = v.load9(pairs.frame, k)
    x, y = frame[3:6], frame[6:]
    _, along_x, along_y = v.mat_vec(frame, apart(end, pairs, k))
    v.store3(unknowns.slide, c, (gap - unknowns.gap_begin[c], along_x, along_y))
    for side in range(2):
        point = point_of_body(end, pairs.body[k, side], v.load3(pairs.local, 2 * k + side))
        store_row(pairs.end_rows, k, 0, side, normal, place)
        store_row(pairs.end_rows, k, 1, side, x, point)
        store_row(pairs.end_rows, k, 2, side, y, point)


@kernel
def place_pairs(end, method):
    """Set the candidate's displacements of the active pairs."""
    unknowns, pairs = method.unknowns, method.pairs
    floors = unknowns.active.shape[0] - pairs.body.shape[0]
    for k in range(pairs.body.shape[0]):
        if unknowns.active[floors + k] == 1:
            place_pair(end, pairs, unknowns, floors + k, k)


@kernel
def add_pair_wrench(pairs, k, impulse, wrench, sign):
    """Add the impulse (3,) of pair k, in its frame, times a sign, to both bodies' wrenches."""
    for axis in range(3):
        add_row(pairs, k, axis, wrench, sign * impulse[axis])


@kernel
def add_row(pairs, k, axis, wrench, size):
    """Add an impulse of pair k along one axis of its frame to both bodies' wrenches."""
    for side in range(2):
        i = pairs.body[k, side]
        row = v.load6(pairs.begin_rows, 6 * k + 2 * axis + side)
        v.store6(wrench, i, v.add_scaled6(v.load6(wrench, i), size, row))


@kernel
def count_pairs(method):
    """Return the number of active pairs."""
    unknowns, total = method.unknowns, 0
    for c in range(unknowns.active.shape[0] - method.pairs.body.shape[0], unknowns.active.shape[0]):
        total += unknowns.active[c]
    return total


@kernel
def set_pair_responses(tree, method, left, right, rows, nothing, factors, factor):
    """Set the responses to unit impulses of the pairs, and Y times ``factor``; needs A factored."""
    pairs, unknowns = method.pairs, method.unknowns
    floors, count = unknowns.active.shape[0] - pairs.body.shape[0], 0
    for k in range(pairs.body.shape[0]):
        if unknowns.active[floors + k] == 1:
            for axis in range(3):
                r = 3 * count + axis
                factors.wrench[:] = 0.0
                add_row(pairs, k, axis, factors.wrench, -1.0)
                solve_inboard(tree, left, nothing, factors, 0)
                solve_outboard(tree, right, factors, pairs.response[r])
                close_response(tree, method.loops, r, factors, pairs.response[r])
                for i in range(tree.parent.shape[0]):
                    v.store6(pairs.response_twist[r], i, v.load6(factors.twist, i))
            pairs.order[count] = k
            count += 1
    for r in range(3 * count):
        for j in range(count):
            moved = v.scale(factor, along_rows(pairs, rows, pairs.order[j], pairs.response_twist[r]))
            pairs.compliance[3 * j, r], pairs.compliance[3 * j + 1, r], pairs.compliance[3 * j + 2, r] = moved


@kernel
def couple_pairs(tree, method, rows, factors, factor, change):
    """Add the pairs' impulses to A⁻¹ e in ``change`` and ``factors.twist``."""
    pairs, unknowns, contacts = method.pairs, method.unknowns, method.contacts
    count, floors = count_pairs(method), unknowns.active.shape[0] - pairs.body.shape[0]
    for j in range(count):
        k = pairs.order[j]
        f, K = linearized_contact(contacts, unknowns, unknowns, floors + k)
        moved = v.scale(factor, along_rows(pairs, rows, k, factors.twist))
        load = v.sub(f, v.mat_vec(K, moved))
        for axis in range(3):
            pairs.load[3 * j + axis] = load[axis]
        for r in range(3 * count):
            Y = pairs.compliance[3 * j, r], pairs.compliance[3 * j + 1, r], pairs.compliance[3 * j + 2, r]
            KY = v.mat_vec(K, Y)
            for axis in range(3):
                pairs.matrix[3 * j + axis, r] = KY[axis]
    matrix, load, impulse = pairs.matrix[: 3 * count, : 3 * count], pairs.load[: 3 * count], pairs.impulse[: 3 * count]
    for r in range(3 * count):
        matrix[r, r] += 1.0
    scale_rows(matrix, load)
    factor_dense(matrix, pairs.swaps)
    solve_dense(matrix, pairs.swaps, load, impulse)
    for r in range(3 * count):
        size = impulse[r]
        add_response(method.loops, r, size)
        for dof in range(change.shape[0]):
            change[dof] += size * pairs.response[r, dof]
        for i in range(tree.parent.shape[0]):
            for axis in range(6):
                factors.twist[i, axis] += size * pairs.response_twist[r, i, axis]


@kernel
def scale_rows(matrix, load):
    """Scale each equation by its largest number, since stiffnesses of pairs differ by many powers of ten."""
    for r in range(load.shape[0]):
        most = 0.0
        for column in range(load.shape[0]):
            most = max(most, abs(matrix[r, column]))
        for column in range(load.shape[0]):
            matrix[r, column] /= most
        load[r] /= most


@kernel
def keep_pair_work(method, scratch, c, h):
    """Store the work of the impulse of pair contact c at the start of the step, by the mean velocity around it."""
    pairs, unknowns = method.pairs, method.unknowns
    k = c - (unknowns.active.shape[0] - pairs.body.shape[0])
    pairs.work[k] = 0.0
    if unknowns.active[c] == 1:
        velocity = along_rows(pairs, pairs.begin_rows, k, scratch.motion.velocity)
        v.store3(unknowns.velocity, c, velocity)
        chord = v.scale(1.0 / h, v.mat_vec(v.load9(pairs.frame, k), apart(scratch.next, pairs, k)))
        pairs.work[k] = 0.5 * v.dot(v.load3(unknowns.contact_impulse, c), v.add(velocity, chord))


@kernel
def work_of_pair(method, scratch, c, h):
    """Return the work [J] of both impulses of pair contact c, once those of the velocities are known."""
    pairs, unknowns = method.pairs, method.unknowns
    k = c - (unknowns.active.shape[0] - pairs.body.shape[0])
    if unknowns.active[c] == 0:
        return pairs.work[k]
    before = v.mat_vec(v.load9(pairs.frame, k), apart(scratch.motion.poses, pairs, k))
    velocity = along_rows(pairs, pairs.begin_rows, k, method.ahead.velocity)
    return pairs.work[k] + 0.5 * v.dot(v.load3(unknowns.contact_impulse, c), v.sub(velocity, v.scale(1.0 / h, before)))

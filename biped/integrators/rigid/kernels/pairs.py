"""Parts of a tree's bodies that touch one another: capsules, and what their contacts do to Newton's step.

φ is the true distance of two capsules where the step ends, so that none is in another one; the impulse acts along the
normal where the step begins, on both bodies at one place in the world, so that momenta are conserved whatever the
iterations leave. Between both bodies K = −∂f/∂δ couples two branches of the tree. As joints that close loops are
(``biped.kernels.tree.loops``), it is a border of the factorization A of everything else: with L and R the bodies'
twists by which the three impulses of each contact act, and by which its point moves,

    (1 + K Y) f = f₀ − K R A⁻¹ e,        Y = R A⁻¹ Lᵀ,

three solves with the tree's factors for each pair that is near, and nothing for the others. Where the tree has loops,
A is that of the tree with its loops closed.
"""

from biped.integrators.rigid.kernels.loops import add_response, close_response
from biped.kernels.solve.contacts import linearized_contact
from biped.kernels.solve.dense import factor_dense, solve_dense
from biped.kernels.tree.factorization import solve_inboard, solve_outboard
from biped.kernels.tree.kinematics import point_of_body
from contact import vectors as vec
from contact.capsules import capsule_gap, point_on_axis
from kernelcache import kernel


@kernel
def capsule_of(poses, pairs, k, side):
    """A capsule of pair k as ``contact.capsules`` takes it, places from O."""
    i, at = pairs.body[k, side], 2 * k + side
    center = point_of_body(poses, i, vec.load3(pairs.center, at))
    return center, vec.mat_vec(vec.load9(poses.rotation, i), vec.load3(pairs.half, at)), pairs.radius[k, side]


@kernel
def pair_gap(poses, pairs, k):
    """(gap [m], normal from the first to the second, middle between their surfaces (3,) [m] from O)."""
    a, b = capsule_of(poses, pairs, k, 0), capsule_of(poses, pairs, k, 1)
    gap, normal, s, _ = capsule_gap(a, b)
    return gap, normal, vec.add(point_on_axis(a, s), vec.scale(a[2] + 0.5 * gap, normal))


@kernel
def store_row(rows, k, axis, side, direction, place):
    """Row ``axis`` of pair k: along a direction at a place from O, of the second body (1) less the first (0)."""
    along = vec.scale(2.0 * side - 1.0, direction)
    vec.store_twist(rows, 6 * k + 2 * axis + side, along, vec.cross(place, along))


@kernel
def along_rows(pairs, rows, k, twist):
    """(3,) how the second point of pair k moves from the first as the bodies do."""
    a, b = vec.load6(twist, pairs.body[k, 0]), vec.load6(twist, pairs.body[k, 1])
    n = vec.dot6(vec.load6(rows, 6 * k), a) + vec.dot6(vec.load6(rows, 6 * k + 1), b)
    x = vec.dot6(vec.load6(rows, 6 * k + 2), a) + vec.dot6(vec.load6(rows, 6 * k + 3), b)
    y = vec.dot6(vec.load6(rows, 6 * k + 4), a) + vec.dot6(vec.load6(rows, 6 * k + 5), b)
    return n, x, y


@kernel
def open_pair(poses, pairs, k):
    """Where pair k touches in these poses, in which frame, and how impulses act there; the gap [m]."""
    gap, n, place = pair_gap(poses, pairs, k)
    across = (1.0, 0.0, 0.0) if abs(n[0]) < 0.6 else (0.0, 1.0, 0.0)
    x = vec.cross(n, across)
    x = vec.scale(1.0 / vec.norm(x), x)
    y = vec.cross(n, x)
    vec.store9(pairs.frame, k, n + x + y)
    for side in range(2):
        i = pairs.body[k, side]
        vec.store3(
            pairs.local,
            2 * k + side,
            vec.mat_t_vec(vec.load9(poses.rotation, i), vec.sub(place, vec.load3(poses.com, i))),
        )
        store_row(pairs.begin_rows, k, 0, side, n, place)
        store_row(pairs.begin_rows, k, 1, side, x, place)
        store_row(pairs.begin_rows, k, 2, side, y, place)
    return gap


@kernel
def apart(poses, pairs, k):
    """(3,) [m] from the first body's material point where pair k was opened to the second's, in these poses."""
    first = point_of_body(poses, pairs.body[k, 0], vec.load3(pairs.local, 2 * k))
    return vec.sub(point_of_body(poses, pairs.body[k, 1], vec.load3(pairs.local, 2 * k + 1)), first)


@kernel
def wake_pairs(begin, end, method, height):
    """Look at the pairs too that the candidate brings this near [m]; whether there are new ones, to be placed."""
    pairs, unknowns = method.pairs, method.unknowns
    floors, found = unknowns.active.shape[0] - pairs.body.shape[0], False
    for k in range(pairs.body.shape[0]):
        c = floors + k
        if unknowns.active[c] == 0:
            gap, _, _ = pair_gap(end, pairs, k)
            if gap <= height:
                unknowns.gap_begin[c] = open_pair(begin, pairs, k)
                unknowns.active[c] = 1
                found = True
    return found


@kernel
def place_pair(end, pairs, unknowns, c, k):
    """The candidate's way of pair k, contact c, and the rows of its changes."""
    gap, normal, place = pair_gap(end, pairs, k)
    frame = vec.load9(pairs.frame, k)
    x, y = frame[3:6], frame[6:]
    _, along_x, along_y = vec.mat_vec(frame, apart(end, pairs, k))
    vec.store3(unknowns.slide, c, (gap - unknowns.gap_begin[c], along_x, along_y))
    for side in range(2):
        point = point_of_body(end, pairs.body[k, side], vec.load3(pairs.local, 2 * k + side))
        store_row(pairs.end_rows, k, 0, side, normal, place)
        store_row(pairs.end_rows, k, 1, side, x, point)
        store_row(pairs.end_rows, k, 2, side, y, point)


@kernel
def place_pairs(end, method):
    """The candidate's ways of the pairs that are looked at."""
    unknowns, pairs = method.unknowns, method.pairs
    floors = unknowns.active.shape[0] - pairs.body.shape[0]
    for k in range(pairs.body.shape[0]):
        if unknowns.active[floors + k] == 1:
            place_pair(end, pairs, unknowns, floors + k, k)


@kernel
def add_pair_wrench(pairs, k, impulse, wrench, sign):
    """The impulse (3,) of pair k, in its frame, to both bodies' wrenches, times a sign."""
    for axis in range(3):
        add_row(pairs, k, axis, wrench, sign * impulse[axis])


@kernel
def add_row(pairs, k, axis, wrench, size):
    """An impulse of pair k along one axis of its frame to both bodies' wrenches."""
    for side in range(2):
        i = pairs.body[k, side]
        row = vec.load6(pairs.begin_rows, 6 * k + 2 * axis + side)
        vec.store6(wrench, i, vec.add_scaled6(vec.load6(wrench, i), size, row))


@kernel
def count_pairs(method):
    """How many pairs are looked at."""
    unknowns, total = method.unknowns, 0
    for c in range(unknowns.active.shape[0] - method.pairs.body.shape[0], unknowns.active.shape[0]):
        total += unknowns.active[c]
    return total


@kernel
def set_pair_responses(tree, method, left, right, rows, nothing, factors, factor):
    """What unit impulses of the pairs do to the unknowns and the bodies, and Y times ``factor``; needs A factored."""
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
                    vec.store6(pairs.response_twist[r], i, vec.load6(factors.twist, i))
            pairs.order[count] = k
            count += 1
    for r in range(3 * count):
        for j in range(count):
            moved = vec.scale(factor, along_rows(pairs, rows, pairs.order[j], pairs.response_twist[r]))
            pairs.compliance[3 * j, r], pairs.compliance[3 * j + 1, r], pairs.compliance[3 * j + 2, r] = moved


@kernel
def couple_pairs(tree, method, rows, factors, factor, change):
    """From A⁻¹ e in ``change`` and in ``factors.twist`` to what they are with the pairs' impulses."""
    pairs, unknowns, contacts = method.pairs, method.unknowns, method.contacts
    count, floors = count_pairs(method), unknowns.active.shape[0] - pairs.body.shape[0]
    for j in range(count):
        k = pairs.order[j]
        f, K = linearized_contact(contacts, unknowns, unknowns, floors + k)
        moved = vec.scale(factor, along_rows(pairs, rows, k, factors.twist))
        load = vec.sub(f, vec.mat_vec(K, moved))
        for axis in range(3):
            pairs.load[3 * j + axis] = load[axis]
        for r in range(3 * count):
            Y = pairs.compliance[3 * j, r], pairs.compliance[3 * j + 1, r], pairs.compliance[3 * j + 2, r]
            KY = vec.mat_vec(K, Y)
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
    """Each equation by its largest number: stiffnesses of pairs differ by many powers of ten."""
    for r in range(load.shape[0]):
        most = 0.0
        for column in range(load.shape[0]):
            most = max(most, abs(matrix[r, column]))
        for column in range(load.shape[0]):
            matrix[r, column] /= most
        load[r] /= most


@kernel
def keep_pair_work(method, scratch, c, h):
    """The work of the impulse of contact c, a pair's, where the step begins: by the mean velocity around it."""
    pairs, unknowns = method.pairs, method.unknowns
    k = c - (unknowns.active.shape[0] - pairs.body.shape[0])
    pairs.work[k] = 0.0
    if unknowns.active[c] == 1:
        velocity = along_rows(pairs, pairs.begin_rows, k, scratch.motion.velocity)
        vec.store3(unknowns.velocity, c, velocity)
        chord = vec.scale(1.0 / h, vec.mat_vec(vec.load9(pairs.frame, k), apart(scratch.next, pairs, k)))
        pairs.work[k] = 0.5 * vec.dot(vec.load3(unknowns.contact_impulse, c), vec.add(velocity, chord))


@kernel
def work_of_pair(method, scratch, c, h):
    """[J] of both impulses of contact c, a pair's, once those of the velocities are known."""
    pairs, unknowns = method.pairs, method.unknowns
    k = c - (unknowns.active.shape[0] - pairs.body.shape[0])
    if unknowns.active[c] == 0:
        return pairs.work[k]
    before = vec.mat_vec(vec.load9(pairs.frame, k), apart(scratch.motion.poses, pairs, k))
    velocity = along_rows(pairs, pairs.begin_rows, k, method.ahead.velocity)
    return pairs.work[k] + 0.5 * vec.dot(
        vec.load3(unknowns.contact_impulse, c), vec.sub(velocity, vec.scale(1.0 / h, before))
    )

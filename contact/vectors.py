"""Small vectors, matrices and quaternions as tuples of floats, without cost in compiled code.

A vector is ``(x, y, z)``, a 3 x 3 matrix nine floats row by row, a quaternion ``(w, x, y, z)``. Functions ``load…`` and
``store…`` copy them from and to row ``i`` of a two-dimensional array.
"""

import math

from contact.analytic import cos, sin, sqrt
from kernelcache import kernel


@kernel
def triple(a):
    """Return an array of three numbers as a vector."""
    return a[0], a[1], a[2]


@kernel
def load3(rows, i):
    return rows[i, 0], rows[i, 1], rows[i, 2]


@kernel
def store3(rows, i, a):
    rows[i, 0], rows[i, 1], rows[i, 2] = a


@kernel
def load4(rows, i):
    return rows[i, 0], rows[i, 1], rows[i, 2], rows[i, 3]


@kernel
def store4(rows, i, a):
    rows[i, 0], rows[i, 1], rows[i, 2], rows[i, 3] = a


@kernel
def load6(rows, i):
    return rows[i, 0], rows[i, 1], rows[i, 2], rows[i, 3], rows[i, 4], rows[i, 5]


@kernel
def store6(rows, i, a):
    rows[i, 0], rows[i, 1], rows[i, 2], rows[i, 3], rows[i, 4], rows[i, 5] = a


@kernel
def vector_at(numbers, place):
    """Return three numbers of a flat array, from index ``place`` on."""
    return numbers[place], numbers[place + 1], numbers[place + 2]


@kernel
def quaternion_at(numbers, place):
    """Return four numbers of a flat array, from index ``place`` on."""
    return numbers[place], numbers[place + 1], numbers[place + 2], numbers[place + 3]


@kernel
def store_twist(rows, i, linear, angular):
    """Write the six-vector (linear, angular) to row ``i``."""
    rows[i, 0], rows[i, 1], rows[i, 2] = linear
    rows[i, 3], rows[i, 4], rows[i, 5] = angular


@kernel
def load9(rows, i):
    return (
        rows[i, 0], rows[i, 1], rows[i, 2],
        rows[i, 3], rows[i, 4], rows[i, 5],
        rows[i, 6], rows[i, 7], rows[i, 8],
    )  # fmt: skip


@kernel
def store9(rows, i, a):
    rows[i, 0], rows[i, 1], rows[i, 2] = a[0], a[1], a[2]
    rows[i, 3], rows[i, 4], rows[i, 5] = a[3], a[4], a[5]
    rows[i, 6], rows[i, 7], rows[i, 8] = a[6], a[7], a[8]


@kernel
def copy1(source, target):
    """Copy an array of one dimension without a temporary array, which a slice assignment may need."""
    for i in range(source.shape[0]):
        target[i] = source[i]


@kernel
def add(a, b):
    return a[0] + b[0], a[1] + b[1], a[2] + b[2]


@kernel
def sub(a, b):
    return a[0] - b[0], a[1] - b[1], a[2] - b[2]


@kernel
def scale(c, a):
    return c * a[0], c * a[1], c * a[2]


@kernel
def dot(a, b):
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]


@kernel
def cross(a, b):
    return a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]


@kernel
def norm(a):
    return sqrt(dot(a, a))


@kernel
def dot6(a, b):
    return (a[0] * b[0] + a[1] * b[1] + a[2] * b[2]) + (a[3] * b[3] + a[4] * b[4] + a[5] * b[5])


@kernel
def add6(a, b):
    return a[0] + b[0], a[1] + b[1], a[2] + b[2], a[3] + b[3], a[4] + b[4], a[5] + b[5]


@kernel
def add_scaled6(a, c, b):
    """Return a + c b."""
    return (
        a[0] + c * b[0], a[1] + c * b[1], a[2] + c * b[2],
        a[3] + c * b[3], a[4] + c * b[4], a[5] + c * b[5],
    )  # fmt: skip


@kernel
def scale6(c, a):
    return c * a[0], c * a[1], c * a[2], c * a[3], c * a[4], c * a[5]


@kernel
def mat_vec(A, x):
    return (
        A[0] * x[0] + A[1] * x[1] + A[2] * x[2],
        A[3] * x[0] + A[4] * x[1] + A[5] * x[2],
        A[6] * x[0] + A[7] * x[1] + A[8] * x[2],
    )


@kernel
def mat_t_vec(A, x):
    """Return Aᵀ x."""
    return (
        A[0] * x[0] + A[3] * x[1] + A[6] * x[2],
        A[1] * x[0] + A[4] * x[1] + A[7] * x[2],
        A[2] * x[0] + A[5] * x[1] + A[8] * x[2],
    )


@kernel
def mat_mul(A, B):
    return (
        A[0] * B[0] + A[1] * B[3] + A[2] * B[6],
        A[0] * B[1] + A[1] * B[4] + A[2] * B[7],
        A[0] * B[2] + A[1] * B[5] + A[2] * B[8],
        A[3] * B[0] + A[4] * B[3] + A[5] * B[6],
        A[3] * B[1] + A[4] * B[4] + A[5] * B[7],
        A[3] * B[2] + A[4] * B[5] + A[5] * B[8],
        A[6] * B[0] + A[7] * B[3] + A[8] * B[6],
        A[6] * B[1] + A[7] * B[4] + A[8] * B[7],
        A[6] * B[2] + A[7] * B[5] + A[8] * B[8],
    )


@kernel
def mat_add(A, B):
    return (
        A[0] + B[0], A[1] + B[1], A[2] + B[2],
        A[3] + B[3], A[4] + B[4], A[5] + B[5],
        A[6] + B[6], A[7] + B[7], A[8] + B[8],
    )  # fmt: skip


@kernel
def mat_sub(A, B):
    return (
        A[0] - B[0], A[1] - B[1], A[2] - B[2],
        A[3] - B[3], A[4] - B[4], A[5] - B[5],
        A[6] - B[6], A[7] - B[7], A[8] - B[8],
    )  # fmt: skip


@kernel
def mat_scale(c, A):
    return c * A[0], c * A[1], c * A[2], c * A[3], c * A[4], c * A[5], c * A[6], c * A[7], c * A[8]


@kernel
def transposed(A):
    return A[0], A[3], A[6], A[1], A[4], A[7], A[2], A[5], A[8]


@kernel
def outer(a, b):
    """Return a bᵀ."""
    return scale(a[0], b) + scale(a[1], b) + scale(a[2], b)


@kernel
def hat(a):
    """Return the matrix â, with â x = a × x."""
    return 0.0, -a[2], a[1], a[2], 0.0, -a[0], -a[1], a[0], 0.0


@kernel
def hat_mat(a, M):
    """Return â M, where â x = a × x."""
    return (
        a[1] * M[6] - a[2] * M[3], a[1] * M[7] - a[2] * M[4], a[1] * M[8] - a[2] * M[5],
        a[2] * M[0] - a[0] * M[6], a[2] * M[1] - a[0] * M[7], a[2] * M[2] - a[0] * M[8],
        a[0] * M[3] - a[1] * M[0], a[0] * M[4] - a[1] * M[1], a[0] * M[5] - a[1] * M[2],
    )  # fmt: skip


@kernel
def mat_hat(M, a):
    """Return M â."""
    return cross((M[0], M[1], M[2]), a) + cross((M[3], M[4], M[5]), a) + cross((M[6], M[7], M[8]), a)


@kernel
def congruence(R, J):
    """Return R J Rᵀ for symmetric J: an inertia in other axes."""
    A = mat_mul(R, J)
    xx = A[0] * R[0] + A[1] * R[1] + A[2] * R[2]
    xy = A[0] * R[3] + A[1] * R[4] + A[2] * R[5]
    xz = A[0] * R[6] + A[1] * R[7] + A[2] * R[8]
    yy = A[3] * R[3] + A[4] * R[4] + A[5] * R[5]
    yz = A[3] * R[6] + A[4] * R[7] + A[5] * R[8]
    zz = A[6] * R[6] + A[7] * R[7] + A[8] * R[8]
    return xx, xy, xz, xy, yy, yz, xz, yz, zz


@kernel
def quat_mul(a, b):
    return (
        a[0] * b[0] - a[1] * b[1] - a[2] * b[2] - a[3] * b[3],
        a[0] * b[1] + b[0] * a[1] + a[2] * b[3] - a[3] * b[2],
        a[0] * b[2] + b[0] * a[2] + a[3] * b[1] - a[1] * b[3],
        a[0] * b[3] + b[0] * a[3] + a[1] * b[2] - a[2] * b[1],
    )


@kernel
def quat_conj(a):
    return a[0], -a[1], -a[2], -a[3]


@kernel
def quat_normalized(a):
    scale_ = 1.0 / sqrt(a[0] * a[0] + a[1] * a[1] + a[2] * a[2] + a[3] * a[3])
    return a[0] * scale_, a[1] * scale_, a[2] * scale_, a[3] * scale_


@kernel
def quat_matrix(q):
    """Return the rotation matrix of a unit quaternion (Wendlandt 1997, App. A.3)."""
    w, x, y, z = q
    xx, yy, zz = 2.0 * x * x, 2.0 * y * y, 2.0 * z * z
    xy, xz, yz = 2.0 * x * y, 2.0 * x * z, 2.0 * y * z
    wx, wy, wz = 2.0 * w * x, 2.0 * w * y, 2.0 * w * z
    return 1.0 - yy - zz, xy - wz, xz + wy, xy + wz, 1.0 - xx - zz, yz - wx, xz - wy, yz + wx, 1.0 - xx - yy


@kernel
def quat_about(axis, angle):
    """Return the quaternion of a turn by ``angle`` [rad] about the unit vector ``axis``."""
    s = sin(0.5 * angle)
    return cos(0.5 * angle), s * axis[0], s * axis[1], s * axis[2]


@kernel
def quat_exp(phi):
    """Return the quaternion of a rotation vector ``phi`` [rad]."""
    angle = norm(phi)
    if angle == 0.0:
        return 1.0, 0.0, 0.0, 0.0
    return quat_about(scale(1.0 / angle, phi), angle)


@kernel
def quat_turned(q, phi):
    """Return the unit quaternion ``q`` turned by a rotation vector ``phi`` [rad], correct to second order.

    The normalized (1, φ/2) replaces the exponential, since Newton's method and the first guess of a step
    need no higher order.
    """
    turn = (1.0, 0.5 * phi[0], 0.5 * phi[1], 0.5 * phi[2])
    return quat_normalized(quat_mul(turn, q))


@kernel
def quat_difference(b, a):
    """Return b ā with a non-negative scalar part: the turn in world axes from frame a to frame b."""
    w, x, y, z = quat_mul(b, quat_conj(a))
    if w.real < 0.0:
        return -w, -x, -y, -z
    return w, x, y, z


@kernel
def rotation_vector(q):
    """Return the rotation vector of a unit quaternion: axis times angle [rad], at most π."""
    w, x, y, z = q
    if w < 0.0:
        w, x, y, z = -w, -x, -y, -z
    s = math.sqrt(x * x + y * y + z * z)
    ratio = 2.0
    if s > 0.0:
        ratio = 2.0 * math.atan2(s, w) / s
    return ratio * x, ratio * y, ratio * z

"""Collision impulse of two bodies that touch at one point.

The model is Mirtich's (B. Mirtich, Impulse-based Dynamic Simulation of Rigid Body Systems, PhD thesis,
UC Berkeley 1996, chapter 3): the bodies do not move during the collision, Coulomb friction acts at every
instant, and the collision ends by Stronge's hypothesis: the normal force returns e² of the work of compression.

Conventions: the unit normal points from body 1 to body 2. u [m/s] is the velocity of body 2's contact point
relative to body 1's, so that u·normal < 0 during the approach. The impulse [N s] acts on body 2, the opposite
impulse on body 1. K [1/kg] is the sum of both bodies' inverse inertias at the point: Δu = K p.
In the contact frame z is the normal. The normal impulse p_z is the independent variable in place of time:
    du/dp_z = K ξ,   sliding in direction θ:  ξ = (-μ cos θ, -μ sin θ, 1)
The state is the impulse p; u is always computed as u₀ + K p, so that both are consistent.
"""

import math

import numpy as np

from contact import vectors as vec
from kernelcache import kernel, routine

# Phases of a collision; floats, because Numba compiles a kernel again for each literal integer argument.
COMPRESSION = 0.0
RESTITUTION = 1.0
OVER = 2.0

# Greatest estimated error [rad] of the sliding direction in an integration step; the estimate is pessimistic.
TOLERANCE = 1e-9
# Tangential velocities below this fraction of the approach velocity count as rest: a few hundred rounding errors.
REST = 1e-13
# The sliding direction tends to a ray in dozens of steps, or thousands if K has condition number 1e4.
MAX_STEPS = 100_000


@kernel
def inverse3(A):
    """Return the inverse of a 3 x 3 matrix, from its adjugate."""
    first, second, third = A[0:3], A[3:6], A[6:9]
    a, b, c = vec.cross(second, third), vec.cross(third, first), vec.cross(first, second)
    d = 1.0 / vec.dot(first, a)
    return d * a[0], d * b[0], d * c[0], d * a[1], d * b[1], d * c[1], d * a[2], d * b[2], d * c[2]


@kernel
def rigid_body_collision_matrix(mass, inertia, r):
    """Return K = I/m - r̂ J⁻¹ r̂ [1/kg] of a free body at lever arm r [m] from its centre of mass (Mirtich 1996, ch. 3).

    ``inertia`` [kg m²] is about the centre of mass; all are in the same axes.
    """
    w = 1.0 / mass
    x, y, z = r
    r_hat = (0.0, -z, y, z, 0.0, -x, -y, x, 0.0)  # r̂ᵀ = -r̂: a congruence, so that K is symmetric to the last bit
    return vec.mat_add((w, 0.0, 0.0, 0.0, w, 0.0, 0.0, 0.0, w), vec.congruence(r_hat, inverse3(inertia)))


@kernel
def contact_frame(normal):
    """Return the rotation, world to contact, with third row ``normal`` (Duff et al. 2017, JCGT 6(1), listing 3)."""
    x, y, z = normal
    sign = math.copysign(1.0, z)
    a = -1.0 / (sign + z)
    b = x * y * a
    return 1.0 + sign * x * x * a, sign * b, -sign * x, b, sign + y * y * a, -y, x, y, z


@routine
def collision_impulse(u, normal, K, restitution, friction):
    """Return the collision impulse (3,) [N s] on body 2, in the axes of u [m/s], normal and K [1/kg].

    ``restitution`` e in [0, 1] is Stronge's energetic coefficient, ``friction`` μ >= 0 Coulomb's coefficient. The
    impulse is zero if the bodies do not approach each other. It is NaN if sliding does not end within `MAX_STEPS`: K
    must be positive definite, and the equation is too stiff for condition numbers above about 1e5.
    """
    if vec.dot(u, normal) >= 0.0:
        return 0.0, 0.0, 0.0
    frame = contact_frame(normal)
    p = impulse_in_contact_frame(vec.mat_vec(frame, u), vec.congruence(frame, K), restitution, friction, TOLERANCE)
    return vec.mat_t_vec(frame, p)


@kernel
def impulse_in_contact_frame(u, K, restitution, friction, tolerance):
    """Return the collision impulse in the contact frame for u_z < 0: slide to rest, then stick or slide along a ray."""
    zero = (0.0, 0.0, 0.0)
    if friction == 0.0:
        return 0.0, 0.0, -(1.0 + restitution) * u[2] / K[8]
    state = _slide(u, K, restitution, friction, tolerance, (zero, 0.0, 0.0, COMPRESSION))
    if state[3] != OVER:
        xi = _direction_after_rest(K, friction)
        state = _follow(u, K, restitution, state, xi, np.inf)
    return state[0]


# The state of a collision is (p, work, goal, phase): the impulse until now, the work of its normal part in this
# phase, and the work -e² W_c at which restitution ends (Stronge's hypothesis; Mirtich 1996, ch. 3).


@kernel
def _slide(u0, K, restitution, friction, tolerance, state):
    """Integrate the state until the collision ends or sliding comes to rest."""
    rest = REST * vec.norm(u0)
    # Scale of the collision's normal impulse, as ξᵀ K ξ >= 1/(K⁻¹)_zz.
    longest = vec.norm(u0) * inverse3(K)[8]
    # dθ/dp_z is singular at rest, like 1/speed: steps are measured in dp_z/speed, in which θ is smooth.
    pace = 0.1 / (math.hypot(K[2], K[5]) + friction * (K[0] + K[4]))
    for _ in range(MAX_STEPS):
        u = vec.add(u0, vec.mat_vec(K, state[0]))
        speed = math.hypot(u[0], u[1])
        if speed <= rest:
            return state
        xi = _sliding_direction(u, friction)
        slope = vec.mat_vec(K, xi)
        radial = (u[0] * slope[0] + u[1] * slope[1]) / speed
        across = (u[0] * slope[1] - u[1] * slope[0]) / speed
        # The remaining turn cannot change u by more than `rest`: slide straight to rest.
        if radial < 0.0 and speed * abs(across) <= rest * -radial:
            return _follow(u0, K, restitution, state, xi, -speed / radial)
        length = speed / max(1.0 / pace, 2.0 * math.hypot(radial, across), speed / longest)
        p, scratch, turn_error = _runge_kutta(u0, K, friction, state[0], state[1], length)
        pace = length / speed * _step_factor(turn_error / tolerance)
        if turn_error <= tolerance:
            state = _accepted(u0, K, restitution, friction, state, length, p, scratch)
            if state[3] == OVER:
                return state
    return (np.nan, np.nan, np.nan), np.nan, np.nan, OVER


@kernel
def _step_factor(error):
    """Return the factor for the next step's length; the error estimate of `_runge_kutta` has order 4."""
    return min(4.0, max(0.2, 0.9 / math.sqrt(math.sqrt(error + 1e-12))))


@kernel
def _sliding_direction(u, friction):
    """Return ξ(θ), the impulse per normal impulse while the contact slides in the direction θ of u."""
    c = -friction / math.hypot(u[0], u[1])
    return c * u[0], c * u[1], 1.0


@kernel
def _direction_after_rest(K, friction):
    """Return ξ at tangential rest: that for sticking if it is in the friction cone, else that of the diverging ray."""
    a, b, d = K[0], K[1], K[4]
    det = a * d - b * b
    # du_t = 0 and ξ_z = 1: ξ is along K⁻¹ (0, 0, 1).
    stick = ((b * K[5] - d * K[2]) / det, (b * K[2] - a * K[5]) / det, 1.0)
    if math.hypot(stick[0], stick[1]) <= friction:
        return stick
    x, y = _diverging_ray(K, friction)
    return -friction * x, -friction * y, 1.0


@kernel
def _diverging_ray(K, friction):
    """Return the direction (x, y) in which sliding starts from rest if friction cannot prevent it.

    On a ray the tangential velocity keeps its direction e and grows, k - μ A e = λ e with A = K_tt,
    k = K_tz, λ > 0; hence |(μA + λ)⁻¹ k| = 1. The left side falls with λ and exceeds 1 at λ = 0 (no
    sticking): there is one such ray, as Mirtich (1996, ch. 3) proves. The equation is that of a trust
    region; from below, Newton's method on 1/|e| rises to it monotonically (Moré & Sorensen 1983, sec. 3).
    """
    rate = max(0.0, math.hypot(K[2], K[5]) - friction * (K[0] + K[4]))
    x, y = 0.0, 0.0
    for _ in range(100):
        a, b, d = friction * K[0] + rate, friction * K[1], friction * K[4] + rate
        det = a * d - b * b
        x, y = (d * K[2] - b * K[5]) / det, (a * K[5] - b * K[2]) / det
        size = math.hypot(x, y)
        curvature = (d * x * x - 2.0 * b * x * y + a * y * y) / det
        change = (size - 1.0) * size * size / curvature
        rate += change
        if abs(change) <= 1e-16 * rate:
            break
    size = math.hypot(x, y)
    return x / size, y / size


@kernel
def _entered_restitution(p, scratch, restitution):
    """Return the state at u_z = 0, at which restitution begins; with e = 0 the collision ends there."""
    phase = RESTITUTION if restitution > 0.0 else OVER
    return p, 0.0, -restitution * restitution * scratch, phase


@routine
def _follow(u0, K, restitution, state, xi, length):
    """Advance in closed form along a constant ξ by ``length`` [N s] of normal impulse, or to the collision's end."""
    p, scratch, goal, phase = state
    slope = vec.mat_vec(K, xi)[2]
    u_z = (vec.add(u0, vec.mat_vec(K, p)))[2]
    if phase == COMPRESSION:
        part = _length_to_speed(u_z, slope, length)
        p, scratch = vec.add(p, vec.scale(part, xi)), scratch + part * (u_z + 0.5 * part * slope)
        if part == length:
            return p, scratch, goal, phase
        p, scratch, goal, phase = _entered_restitution(p, scratch, restitution)
        u_z, length = 0.0, length - part
    if phase == RESTITUTION:
        part = _length_to_work(u_z, slope, goal - scratch, length)
        p, scratch = vec.add(p, vec.scale(part, xi)), scratch + part * (u_z + 0.5 * part * slope)
        phase = RESTITUTION if part == length else OVER
    return p, scratch, goal, phase


@kernel
def _length_to_speed(u_z, slope, limit):
    """Return the impulse q for which u_z + slope q = 0, at most ``limit``."""
    if slope <= 0.0:
        return limit
    return min(max(-u_z / slope, 0.0), limit)


@kernel
def _length_to_work(u_z, slope, scratch, limit):
    """Return the impulse q > 0 for which u_z q + slope q²/2 = ``scratch``, the remaining work, at most ``limit``."""
    square = u_z * u_z + 2.0 * slope * scratch
    if square < 0.0:
        return limit
    root = math.sqrt(square)
    if u_z > 0.0:
        return min(2.0 * scratch / (u_z + root), limit)
    if slope <= 0.0:
        return limit
    return min((root - u_z) / slope, limit)


@kernel
def _accepted(u0, K, restitution, friction, state, length, p, scratch):
    """Return the state after a step of ``length`` [N s] to (p, work), or at an event during the step."""
    _, _, goal, phase = state
    value, _ = _event(u0, K, friction, goal, phase, p, scratch)
    if value < 0.0:
        return p, scratch, goal, phase
    p, scratch = _at_event(u0, K, friction, state, length)
    if phase == COMPRESSION:
        return _entered_restitution(p, scratch, restitution)
    return p, scratch, goal, OVER


@kernel
def _event(u0, K, friction, goal, phase, p, scratch):
    """Return a value that is negative until the phase ends, and its derivative by p_z.

    Compression ends at u_z = 0, restitution at W = goal, where dW/dp_z = u_z.
    """
    u = vec.add(u0, vec.mat_vec(K, p))
    if phase == COMPRESSION:
        return u[2], vec.mat_vec(K, _sliding_direction(u, friction))[2]
    return scratch - goal, u[2]


@kernel
def _at_event(u0, K, friction, state, limit):
    """Return (p, work) at the event within a step of ``limit``, by Newton's method within a shrinking bracket."""
    p0, work0, goal, phase = state
    p, scratch = p0, work0
    low, high, length = 0.0, limit, 0.0
    for _ in range(100):
        value, derivative = _event(u0, K, friction, goal, phase, p, scratch)
        if value < 0.0:
            low = length
        else:
            high = length
        proposal = 0.5 * (low + high)
        if derivative > 0.0 and low <= length - value / derivative <= high:
            proposal = length - value / derivative
        change = abs(proposal - length)
        length = proposal
        p, scratch, _ = _runge_kutta(u0, K, friction, p0, work0, length)
        if change <= 1e-15 * limit:
            break
    return p, scratch


@routine
def _runge_kutta(u0, K, friction, p, scratch, h):
    """Take one step of Butcher's method of order 5 (Butcher 1964, J. Austral. Math. Soc. 4, p. 179).

    Return (p, work, error [rad] of the sliding direction). The weights, Boole's, are not negative: a
    step adds an average of ξ(θ), which lies within the friction cone. The error is the difference to
    Simpson's weights.
    """
    v = vec.add(u0, vec.mat_vec(K, p))
    k1, f1 = _rates(v, K, friction, (0.0, 0.0, 0.0))
    k2, _ = _rates(v, K, friction, vec.scale(0.25 * h, k1))
    k3, f3 = _rates(v, K, friction, vec.scale(0.125 * h, vec.add(k1, k2)))
    k4, f4 = _rates(v, K, friction, vec.add(vec.scale(-0.5 * h, k2), vec.scale(h, k3)))
    k5, f5 = _rates(v, K, friction, vec.scale(0.1875 * h, vec.add(k1, vec.scale(3.0, k4))))
    last = vec.add(vec.add(vec.scale(-3.0, k1), vec.scale(2.0, k2)), vec.scale(12.0, vec.sub(k3, k4)))
    k6, f6 = _rates(v, K, friction, vec.scale(h / 7.0, vec.add(last, vec.scale(8.0, k5))))
    outer, inner = vec.add(k1, k6), vec.add(k3, k5)
    average = vec.scale(
        1.0 / 90.0, vec.add(vec.scale(7.0, outer), vec.add(vec.scale(32.0, inner), vec.scale(12.0, k4)))
    )
    power = (7.0 * (f1 + f6) + 32.0 * (f3 + f5) + 12.0 * f4) / 90.0
    simpson = vec.scale(1.0 / 6.0, vec.add(outer, vec.scale(4.0, k4)))
    wrong = vec.mat_vec(K, vec.scale(h, vec.sub(average, simpson)))
    turn_error = math.hypot(wrong[0], wrong[1]) / math.hypot(v[0], v[1])
    return vec.add(p, vec.scale(h, average)), scratch + h * power, turn_error


@kernel
def _rates(v, K, friction, p):
    """Return ξ and dW/dp_z = u_z after the impulse ``p`` from velocity ``v``."""
    u = vec.add(v, vec.mat_vec(K, p))
    return _sliding_direction(u, friction), u[2]

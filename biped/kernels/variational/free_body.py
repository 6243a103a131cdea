"""A free rigid body in flight: a single discrete body of ``biped.kernels.variational.equations``.

State: (13,) position (3), orientation (4), linear momentum (3), angular momentum about the centre of mass (3),
all in world axes. Gravity acts on the linear momentum alone; the angular one is constant.
"""

from biped.kernels.variational.discrete_body import turn_derivative
from contact import vectors as v
from contact.collision import inverse3
from kernelcache import kernel, routine

STATE = 13
# A turn of a fraction of a radian converges in four iterations.
ITERATIONS = 12
# [rad²] Squared correction below which it is rounding.
SOLVED = 1e-30


@kernel
def body_pose(state):
    """Return (position, quaternion)."""
    return (state[0], state[1], state[2]), (state[3], state[4], state[5], state[6])


@kernel
def body_momenta(state):
    """Return (linear, angular) momentum."""
    return (state[7], state[8], state[9]), (state[10], state[11], state[12])


@kernel
def inertia_in_world(state, inertia):
    """Return R J Rᵀ."""
    _, q = body_pose(state)
    return v.congruence(v.quat_matrix(q), inertia)


@kernel
def body_velocities(state, mass, inertia):
    """Return (velocity of the centre of mass, angular velocity)."""
    linear, angular = body_momenta(state)
    return v.scale(1.0 / mass, linear), v.mat_vec(inverse3(inertia_in_world(state, inertia)), angular)


@kernel
def solve_turn(J, angular, h):
    """Return (solved, c, u): the turn over h with angular momentum c y + u × y, y = (2/h) J u (equation 2.51)."""
    inverse = inverse3(J)
    u = v.scale(0.5 * h, v.mat_vec(inverse, angular))
    solved = False
    for _ in range(ITERATIONS):
        c = max(0.0, 1.0 - v.dot(u, u)) ** 0.5
        y = v.scale(2.0 / h, v.mat_vec(J, u))
        error = v.sub(angular, v.add(v.scale(c, y), v.cross(u, y)))
        phi = v.mat_vec(inverse3(turn_derivative(J, c, u, h)), error)
        u = v.add(u, v.scale(0.5, v.sub(v.scale(c, phi), v.cross(u, phi))))
        solved = v.dot(phi, phi) <= SOLVED
        if solved:
            break
    return solved, max(0.0, 1.0 - v.dot(u, u)) ** 0.5, u


@routine
def fly(state, mass, inertia, gravity, h):
    """Advance the body by h; return False without a change if its turn is too large to solve for."""
    position, quaternion = body_pose(state)
    linear, angular = body_momenta(state)
    impulse = v.scale(h * mass, gravity)
    middle = v.add(linear, v.scale(0.5, impulse))
    position = v.add(position, v.scale(h / mass, middle))
    solved, c, u = solve_turn(inertia_in_world(state, inertia), angular, h)
    if not solved:
        return False
    turned = v.quat_normalized(v.quat_mul((c, u[0], u[1], u[2]), quaternion))
    linear = v.add(linear, impulse)
    state[0], state[1], state[2] = position
    state[3], state[4], state[5], state[6] = turned
    state[7], state[8], state[9] = linear
    state[10], state[11], state[12] = angular
    return True


@kernel
def strike_body(state, arm, impulse):
    """Apply an impulse at ``arm`` from the centre of mass."""
    moment = v.cross(arm, impulse)
    for axis in range(3):
        state[7 + axis] += impulse[axis]
        state[10 + axis] += moment[axis]

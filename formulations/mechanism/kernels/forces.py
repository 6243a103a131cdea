"""Forces without a potential: dampers, and torques and wrenches that are functions of time (section IV-E).

They are evaluated in the middle of a time step. A share of the impulse enters (45), the rest the momentum after the
step; in the paper the share is one half.
"""

from typing import NamedTuple

from biped.kernels.midpoint.elimination import subtract_arm_block, subtract_turned_block
from contact.arrays import Floats, Integers
from contact.vectors import add, add6, cross, load3, load6, load9, mat_mul, mat_vec, scale, store6
from formulations.mechanism.kernels.points import place_of
from kernelcache import kernel

# Kinds of wrenches: axes, and point of the force.
BODY = 0  # force at the frame's origin and moment, in the frame's axes
HYBRID = 1  # force at the frame's origin and moment, in world axes
SPATIAL = 2  # force at the world's origin and moment, in world axes


class Forces(NamedTuple):
    """Forces without a potential; ``input`` is the column of a function of time in the inputs (column 0: time)."""

    damping: Floats  # (n,) [N·m·s/rad or N·s/m] of each coordinate
    torque_coordinate: Integers  # (nt,) coordinate of each torque
    torque_input: Integers  # (nt,) column of each torque in the inputs
    wrench_kind: Integers  # (nf,) BODY, HYBRID or SPATIAL
    wrench_body: Integers  # (nf,)
    wrench_offset: Floats  # (nf, 3) [m] from the body's centre of mass to the frame's origin, home axes
    wrench_axes: Floats  # (nf, 9) the frame's axes in the home configuration
    wrench_input: Integers  # (nf,) the first of six columns: force, moment


@kernel
def add_force_impulses(forces, inputs, k, duration, buffers, load):
    """Add the impulses in ``duration`` to the bodies' impulses and the coordinates' load; ``k``: row of ``inputs``."""
    for j in range(forces.damping.shape[0]):
        load[j] -= duration * forces.damping[j] * buffers.rates[j]
    for t in range(forces.torque_coordinate.shape[0]):
        load[forces.torque_coordinate[t]] += duration * inputs[k, forces.torque_input[t]]
    for f in range(forces.wrench_kind.shape[0]):
        _, wrench = wrench_of(forces, inputs, k, buffers.poses, f)
        body = forces.wrench_body[f]
        store6(
            buffers.impulse,
            body,
            add6(load6(buffers.impulse, body), scale(duration, wrench[:3]) + scale(duration, wrench[3:])),
        )


@kernel
def wrench_of(forces, inputs, k, poses, f):
    """Return the frame's origin and the wrench about O, both in world axes."""
    first = forces.wrench_input[f]
    force = (inputs[k, first], inputs[k, first + 1], inputs[k, first + 2])
    moment = (inputs[k, first + 3], inputs[k, first + 4], inputs[k, first + 5])
    kind, body = forces.wrench_kind[f], forces.wrench_body[f]
    arm = place_of(poses, body, load3(forces.wrench_offset, f))
    if kind == BODY:
        axes = mat_mul(load9(poses.rotation, body), load9(forces.wrench_axes, f))
        force, moment = mat_vec(axes, force), mat_vec(axes, moment)
    if kind != SPATIAL:
        moment = add(moment, cross(arm, force))
    return arm, force + moment


@kernel
def add_force_blocks(forces, inputs, k, h, duration, buffers):
    """Add the derivatives of these forces to Newton's matrix."""
    for j in range(forces.damping.shape[0]):
        buffers.diagonal[j] += duration * forces.damping[j] / h
    for f in range(forces.wrench_kind.shape[0]):
        arm, wrench = wrench_of(forces, inputs, k, buffers.poses, f)
        force, moment = scale(duration, wrench[:3]), scale(duration, wrench[3:])
        if forces.wrench_kind[f] == BODY:
            subtract_turned_block(buffers.factors.by_pose, forces.wrench_body[f], force + moment)
        elif forces.wrench_kind[f] == HYBRID:
            subtract_arm_block(buffers.factors.by_pose, forces.wrench_body[f], arm, force)


@kernel
def force_work(forces, inputs, k, h, buffers):
    """Return the work [J] in a step, independent of the sums of impulses in ``buffers``."""
    work = 0.0
    for j in range(forces.damping.shape[0]):
        work -= forces.damping[j] * buffers.rates[j] * buffers.moved[j]
    for t in range(forces.torque_coordinate.shape[0]):
        work += inputs[k, forces.torque_input[t]] * buffers.moved[forces.torque_coordinate[t]]
    for f in range(forces.wrench_kind.shape[0]):
        _, wrench = wrench_of(forces, inputs, k, buffers.poses, f)
        velocity = load6(buffers.velocity, forces.wrench_body[f])
        for axis in range(6):
            work += h * wrench[axis] * velocity[axis]
    return work

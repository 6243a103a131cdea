"""Three angles for the turn of a floating or spherical joint: two charts, each regular where the other is singular.

The midpoint rule of Johnson and Murphey 2009 uses means and differences of coordinates, so that a turn needs three of
them: successive rotations, as in their tree (section II, R1). Any three such angles are singular somewhere. A step uses
one chart, selected by the orientation at its start; in both, the first angle turns about the vertical axis, about which
floor and gravity are symmetric.

    chart 0   R = Rz(a) Ry(b) Rx(c)    singular where the body's x axis is vertical
    chart 1   R = Rz(a) Rx(b) Ry(c)    singular where the body's y axis is vertical

Momenta are those about fixed axes, n for a turn, and those of the angles, p_j = u_j · n with the axis u_j of angle j:
a canonical change of coordinates at each end of a step.
"""

import math

from contact.vectors import add, cross, dot, quat_about, quat_matrix, quat_mul, scale
from kernelcache import kernel

#: Sine of the second angle beyond which the other chart is used: 60°.
FAR = math.sqrt(0.75)


@kernel
def choose_chart(quaternion):
    """Return the chart for a step that begins at this orientation: the first, up to 60°."""
    R = quat_matrix(quaternion)
    return 0 if abs(R[6]) <= FAR else 1


@kernel
def second_axis(chart):
    """Return the axis of the second angle, before the first turn."""
    return (0.0, 1.0, 0.0) if chart == 0 else (1.0, 0.0, 0.0)


@kernel
def third_axis(chart):
    return (1.0, 0.0, 0.0) if chart == 0 else (0.0, 1.0, 0.0)


@kernel
def angles_of(chart, quaternion):
    """Return (a, b, c) of an orientation, |b| ≤ 90°."""
    R = quat_matrix(quaternion)
    if chart == 0:
        return math.atan2(R[3], R[0]), math.atan2(-R[6], math.hypot(R[7], R[8])), math.atan2(R[7], R[8])
    return math.atan2(-R[1], R[4]), math.atan2(R[7], math.hypot(R[6], R[8])), math.atan2(-R[6], R[8])


@kernel
def quaternion_of(chart, angles):
    """Return the orientation of three angles, the inverse of ``angles_of``."""
    a, b, c = angles
    turned = quat_mul(quat_about((0.0, 0.0, 1.0), a), quat_about(second_axis(chart), b))
    return quat_mul(turned, quat_about(third_axis(chart), c))


@kernel
def within_half_turn(angle):
    """Return the angle plus whole turns between −π and π."""
    return angle - 2.0 * math.pi * math.floor(angle / (2.0 * math.pi) + 0.5)


@kernel
def turned_axes(chart, angles):
    """Return the axes of the second and the third angle; that of the first is (0, 0, 1)."""
    a, b, _ = angles
    ca, sa, cb, sb = math.cos(a), math.sin(a), math.cos(b), math.sin(b)
    if chart == 0:
        return (-sa, ca, 0.0), (ca * cb, sa * cb, -sb)
    return (ca, sa, 0.0), (-sa * cb, ca * cb, sb)


@kernel
def into_chart(chart, angles, momentum):
    """Return the momenta of the angles from that in fixed axes."""
    second, third = turned_axes(chart, angles)
    return momentum[2], dot(second, momentum), dot(third, momentum)


@kernel
def out_of_chart(chart, angles, momentum):
    """Return the momentum in fixed axes from those of the angles, the inverse of ``into_chart``."""
    second, third = turned_axes(chart, angles)
    first = (0.0, 0.0, 1.0)
    turn = cross(second, third)
    total = add(scale(momentum[0], turn), scale(momentum[1], cross(third, first)))
    return scale(1.0 / turn[2], add(total, scale(momentum[2], cross(first, second))))

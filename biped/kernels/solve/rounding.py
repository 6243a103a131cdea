"""What rounding leaves of a slack."""

from kernelcache import kernel

EPSILON = 2.0**-52
ROUNDINGS = 8.0


@kernel
def resolved(value, slack, size):
    """What a slack stands for, but the slack itself where both differ by rounding of terms of some size.

    A slack of 1e-13 m against an impulse of 1 N·s gives the contact a stiffness of 1e13 N·s/m, which would make an
    impulse of the last bit of a height.
    """
    return slack if abs(value - slack) <= ROUNDINGS * EPSILON * size else value

"""Rounding errors of slacks."""

from kernelcache import kernel

EPSILON = 2.0**-52
ROUNDINGS = 8.0


@kernel
def resolved(value, slack, size):
    """Return ``value``, or its slack if both differ by no more than rounding of terms of ``size``.

    A slack of 1e-13 m against an impulse of 1 N·s gives the contact a stiffness of 1e13 N·s/m, which would turn the
    last bit of a height into an impulse.
    """
    return slack if abs(value - slack) <= ROUNDINGS * EPSILON * size else value

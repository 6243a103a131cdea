"""Compiled parts around the functions of user-defined components."""

import types

from formulations.mechanism.kernels.custom import ENERGY, FORCES, VALUES
from kernelcache import kernel, part


def named_part(function, name):
    """Return a part with its own name, under which it is cached on disk."""
    own = types.FunctionType(
        function.__code__, function.__globals__, function.__name__, function.__defaults__, function.__closure__
    )
    own.__qualname__ = f"{function.__name__}_{name}"
    own.__module__ = function.__module__
    return part(own)


@kernel
def negate(array):
    for i in range(array.size):
        array.flat[i] = -array.flat[i]


def potential_part(name, energy, gradient, hessian):
    """Return the part of V, ∂V and ∂²V; forces and slopes are their negatives."""

    def potential(buffers, wanted, time):
        if wanted == ENERGY:
            buffers.energy[0] = energy(buffers.z, buffers.number)
        elif wanted == FORCES:
            gradient(buffers.z, buffers.number, buffers.force)
            negate(buffers.force)
        else:
            hessian(buffers.z, buffers.number, buffers.slope)
            negate(buffers.slope)
        return 0

    return named_part(potential, name)


def potential_without_hessian(name, energy, gradient):
    """Return the part of V and ∂V."""

    def rough_potential(buffers, wanted, time):
        if wanted == ENERGY:
            buffers.energy[0] = energy(buffers.z, buffers.number)
        else:
            gradient(buffers.z, buffers.number, buffers.force)
            negate(buffers.force)
        return 0

    return named_part(rough_potential, name)


def force_part(name, force):
    """Return the part of a force."""

    def of_force(buffers, wanted, time):
        force(buffers.z, buffers.rate, time, buffers.number, buffers.force)
        return 0

    return named_part(of_force, name)


def constraint_part(name, value, jacobian):
    """Return the part of h and Dh."""

    def constraint(buffers, wanted, time):
        if wanted == VALUES:
            value(buffers.z, buffers.number, buffers.value)
        else:
            for i in range(buffers.jacobian.shape[0]):
                for j in range(buffers.jacobian.shape[1]):
                    buffers.jacobian[i, j] = 0.0
            jacobian(buffers.z, buffers.number, buffers.jacobian)
        return 0

    return named_part(constraint, name)

"""Compiled parts around the functions of user-defined components."""

import types

from formulations.mechanism.kernels.custom import ENERGY, FORCES, VALUES
from kernelcache import kernel, part


def named_part(function, name):
    """Return a part from a copy of ``function`` with another name, under which it is cached on disk."""
    copied = types.FunctionType(
        function.__code__, function.__globals__, function.__name__, function.__defaults__, function.__closure__
    )
    copied.__qualname__ = f"{function.__name__}_{name}"
    copied.__module__ = function.__module__
    return part(copied)


@kernel
def negate(array):
    for i in range(array.size):
        array.flat[i] = -array.flat[i]


def potential_part(name, energy, gradient, hessian):
    """Return the part that computes V, the forces −∂V and their slopes −∂²V."""

    def potential(buffers, quantity, time):
        if quantity == ENERGY:
            buffers.energy[0] = energy(buffers.z, buffers.number)
        elif quantity == FORCES:
            gradient(buffers.z, buffers.number, buffers.force)
            negate(buffers.force)
        else:
            hessian(buffers.z, buffers.number, buffers.slope)
            negate(buffers.slope)
        return 0

    return named_part(potential, name)


def potential_without_hessian(name, energy, gradient):
    """Return the part that computes V and the forces −∂V."""

    def rough_potential(buffers, quantity, time):
        if quantity == ENERGY:
            buffers.energy[0] = energy(buffers.z, buffers.number)
        else:
            gradient(buffers.z, buffers.number, buffers.force)
            negate(buffers.force)
        return 0

    return named_part(rough_potential, name)


def force_part(name, force):
    """Return the part that computes the forces of a user-defined force."""

    def of_force(buffers, quantity, time):
        force(buffers.z, buffers.rate, time, buffers.number, buffers.force)
        return 0

    return named_part(of_force, name)


def constraint_part(name, value, jacobian):
    """Return the part that computes h and ∂h/∂z of a user-defined constraint."""

    def constraint(buffers, quantity, time):
        if quantity == VALUES:
            value(buffers.z, buffers.number, buffers.value)
        else:
            for i in range(buffers.jacobian.shape[0]):
                for j in range(buffers.jacobian.shape[1]):
                    buffers.jacobian[i, j] = 0.0
            jacobian(buffers.z, buffers.number, buffers.jacobian)
        return 0

    return named_part(constraint, name)

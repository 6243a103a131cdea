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

    def potential(room, wanted, time):
        if wanted == ENERGY:
            room.energy[0] = energy(room.z, room.number)
        elif wanted == FORCES:
            gradient(room.z, room.number, room.force)
            negate(room.force)
        else:
            hessian(room.z, room.number, room.slope)
            negate(room.slope)
        return 0

    return named_part(potential, name)


def potential_without_hessian(name, energy, gradient):
    """Return the part of V and ∂V."""

    def rough_potential(room, wanted, time):
        if wanted == ENERGY:
            room.energy[0] = energy(room.z, room.number)
        else:
            gradient(room.z, room.number, room.force)
            negate(room.force)
        return 0

    return named_part(rough_potential, name)


def force_part(name, force):
    """Return the part of a force."""

    def of_force(room, wanted, time):
        force(room.z, room.rate, time, room.number, room.force)
        return 0

    return named_part(of_force, name)


def constraint_part(name, value, jacobian):
    """Return the part of h and Dh."""

    def constraint(room, wanted, time):
        if wanted == VALUES:
            value(room.z, room.number, room.value)
        else:
            for i in range(room.jacobian.shape[0]):
                for j in range(room.jacobian.shape[1]):
                    room.jacobian[i, j] = 0.0
            jacobian(room.z, room.number, room.jacobian)
        return 0

    return named_part(constraint, name)

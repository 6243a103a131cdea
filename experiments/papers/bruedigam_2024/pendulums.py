"""Pendulums of cubes hung on arms without mass, in their equations, and by methods of Runge and Kutta's kind."""

import math
from collections.abc import Callable

import numpy as np

from biped.assembly import Assembly, Freedom, RigidBody, joint
from biped.model import box_inertia
from contact.arrays import Floats

LENGTH, MASS, EDGE, G = 1.0, 1.0, 0.1, 9.81
#: [kg m²] of a cube about its centre.
MOMENT = box_inertia(MASS, (EDGE, EDGE, EDGE))[0][0]

State = tuple[float, ...]
Rates = Callable[[State], State]


def cubes(count: int, damping: float = 0.0) -> Assembly:
    """Cubes, each hung below the one before; joints ``joint_1`` … turn about x."""
    above = (0.0, 0.0, LENGTH)
    names = [f"cube_{k}" for k in range(1, count + 1)]
    joints = tuple(
        joint("revolute", f"joint_{k}", names[k - 2] if k > 1 else None, names[k - 1], (1.0, 0.0, 0.0),
              outboard_point=above, freedoms=[Freedom(damping=damping)])
        for k in range(1, count + 1)
    )  # fmt: skip
    bodies = tuple(RigidBody(name, MASS, box_inertia(MASS, (EDGE, EDGE, EDGE))) for name in names)
    return Assembly(f"cubes_{count}", bodies, joints)


def double_rates(state: State) -> State:
    """Of both arms' angles to the vertical and their rates."""
    a, b, da, db = state
    c, s = math.cos(a - b), math.sin(a - b)
    moved = MASS * LENGTH * LENGTH
    first, second, mixed = 2.0 * moved + MOMENT, moved + MOMENT, moved * c
    one = -moved * s * db * db - 2.0 * MASS * G * LENGTH * math.sin(a)
    two = moved * s * da * da - MASS * G * LENGTH * math.sin(b)
    determinant = first * second - mixed * mixed
    return da, db, (second * one - mixed * two) / determinant, (first * two - mixed * one) / determinant


def double_energy(states: Floats) -> Floats:
    """[J] of rows of such states; zero with both cubes in the height of the first joint."""
    a, b, da, db = states.T
    moved = MASS * LENGTH * LENGTH
    kinetic = 0.5 * (2.0 * moved + MOMENT) * da**2 + 0.5 * (moved + MOMENT) * db**2 + moved * np.cos(a - b) * da * db
    return np.asarray(kinetic - MASS * G * LENGTH * (2.0 * np.cos(a) + np.cos(b)))


def single_rates(damping: float) -> Rates:
    """Of one arm's angle and its rate."""

    def rates(state: State) -> State:
        angle, rate = state
        return rate, -(damping * rate + MASS * G * LENGTH * math.sin(angle)) / (MASS * LENGTH * LENGTH + MOMENT)

    return rates


def single_energy(states: Floats) -> Floats:
    """[J]"""
    angle, rate = states.T
    return np.asarray(0.5 * (MASS * LENGTH**2 + MOMENT) * rate**2 - MASS * G * LENGTH * np.cos(angle))


def euler(rates: Rates, state: State, h: float) -> State:
    return tuple(x + h * dx for x, dx in zip(state, rates(state), strict=True))


def heun(rates: Rates, state: State, h: float) -> State:
    first = rates(state)
    second = rates(tuple(x + h * dx for x, dx in zip(state, first, strict=True)))
    return tuple(x + 0.5 * h * (one + two) for x, one, two in zip(state, first, second, strict=True))


def stepped(
    method: Callable[[Rates, State, float], State], rates: Rates, state: State, h: float, steps: int, every: int = 1
) -> Floats:
    """Rows of states, the first at the start; they end early where the motion is beyond all bounds."""
    rows = [state]
    for k in range(1, steps + 1):
        state = method(rates, state, h)
        if not all(abs(x) < 1e6 for x in state):
            break
        if k % every == 0:
            rows.append(state)
    return np.array(rows)

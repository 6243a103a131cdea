"""Inputs of parts, and calls of parts from Python, also in interpreted mode."""

import copy
import pickle
from typing import NamedTuple

import numpy as np
import pytest

from formulations.mechanism.engine import Engine, no_parts
from kernelcache import Entry, Packed, addresses, call, part, places_of

pytestmark = pytest.mark.jit_off

# Places in ``World.parts``.
DOUBLE, TWICE = 0, 1


class World(NamedTuple):
    number: np.ndarray
    parts: np.ndarray


def world(number=1.0):
    return World(np.array([number]), no_parts(2))


@part
def double_part(world, times):
    number = world.number
    for _ in range(times):
        number[0] *= 2.0
    return 7


@part
def twice_part(world):
    call(world.parts[DOUBLE], world, 1)
    return call(world.parts[DOUBLE], world, 1)


@part
def add_part(world, amount, other):
    world.number[0] += amount * other.number[0]
    return 0


FUNCTIONS = (double_part, 0), (twice_part,)


def test_an_entry_takes_the_numbers_that_it_was_not_made_with():
    one, other = Packed(world(1.0)), Packed(world(10.0))
    assert Entry(double_part, one, 0)(3) == 7
    Entry(add_part, one, 0.0, other)(0.5)
    assert one.value.number[0] == 13.0


def test_kinds_are_those_of_machine_code():
    assert Packed(world()).kind == Packed(world(2.0)).kind != Packed(World(np.zeros((1, 1)), no_parts(2))).kind
    one, other = addresses([(double_part, Packed(world()), 0), (double_part, Packed(world()), 5)])
    assert one == other >= 0


def test_an_engine_finds_what_a_part_calls_when_it_is_entered():
    engine = Engine(world(), FUNCTIONS, {TWICE: (DOUBLE,)})
    assert engine.enter(TWICE) == 7
    assert engine.world.number[0] == 4.0
    assert (engine.world.parts >= 0).all()
    assert engine.is_ready(TWICE)
    engine.take_in(number=np.array([5.0]))
    engine.enter(DOUBLE, 1)
    assert engine.world.number[0] == 10.0


def test_places_are_where_parts_find_each():
    several = [Packed(world(number)) for number in (1.0, 2.0)]
    for one, place in zip(several, places_of(several), strict=True):
        assert place is one.place or place == one.place


@pytest.mark.parametrize("copied", [copy.copy, copy.deepcopy, pickle.dumps])
def test_what_has_addresses_has_no_copies(copied):
    with pytest.raises(TypeError, match=r"cannot be copied or pickled: .* Session.save and Session.restore"):
        copied(Packed(world()))

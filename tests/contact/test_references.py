"""Named tuples by reference: compiled functions find in them what interpreted ones do, and calls of them are short."""

from collections import namedtuple
from typing import Any, NamedTuple

import numba
import numpy as np
import pytest

from kernelcache import Nothing, Packed, address_of, call, kernel, loaded, optional, part, routine, subroutine, unpacked


class Inner(NamedTuple):
    values: Any
    weight: float


class Outer(NamedTuple):
    left: Inner
    right: Inner
    count: int
    is_open: bool


class Pair(NamedTuple):
    a: Any
    b: Any


@kernel
def total(inner):
    return inner.weight * inner.values.sum()


@kernel
def made(values, weight):
    return Inner(values, weight)


@kernel
def swapped(outer):
    return Outer(outer.right, outer.left, outer.count + 1, not outer.is_open)


@routine
def loops(outer, times):
    """Variables that are assigned again while what they were is still in use."""
    before, now, seen = outer.left, outer.right, 0.0
    for k in range(times):
        kept = before
        before, now = now, Inner(now.values, 2.0 * now.weight + kept.weight)
        seen += total(kept) - 3.0 * total(now)
        if k % 2 == 0:
            now = kept
    return seen + total(before) + 10.0 * total(now)


@routine
def branches(outer, times):
    """What is assigned in branches, and a tuple that is taken from another one in a loop."""
    chosen = outer
    seen = 0.0
    for k in range(times):
        side = chosen.left if k % 3 == 0 else chosen.right
        seen = 0.5 * seen + total(side) + (1.0 if chosen.is_open else 0.25) * chosen.count
        chosen = swapped(chosen)
    return seen


@subroutine
def added(inner, values):
    """A subroutine writes where its tuple's array is, and sees it."""
    for k in range(values.shape[0]):
        values[k] += inner.weight * inner.values[k]
    return inner.values[0]


@routine
def called(outer, times):
    seen = 0.0
    for _ in range(times):
        seen += added(outer.left, outer.right.values) + added(outer.right, outer.left.values)
    return seen


@optional("inner", Inner, lambda *_: -1.0)
def of_optional(inner, other, weight):
    return total(inner) + weight * total(other)


@routine
def optionals(outer, times):
    return of_optional(outer.left, made(outer.right.values, 4.0), float(times)) + of_optional(
        Nothing(), outer.left, 1.0
    )


@routine
def uniform(outer, times):
    """A named tuple of one type, which Numba keeps as an array."""
    pair = Pair(outer.left.values, outer.right.values)
    for _ in range(times):
        pair = Pair(pair.b, pair.a)
    return pair.a[0] + 10.0 * pair.b[0] + total(Inner(pair.a, 0.5))


@subroutine
def weighed(inner, other, part_of_it):
    """The same tuple twice, and an array of it."""
    for k in range(part_of_it.shape[0]):
        part_of_it[k] += inner.weight * other.values[k]
    return Inner(other.values, inner.weight + part_of_it[0])


@routine
def the_same_twice(outer, times):
    seen = 0.0
    for _ in range(times):
        found = weighed(outer.left, outer.left, outer.left.values)
        seen += total(found)
    return seen


@numba.njit
def of_a_user(outer, times):
    """Somebody's own function, compiled by Numba alone."""
    inner = outer.left if times > 1 else outer.right
    for _ in range(times):
        outer = Outer(outer.right, inner, outer.count + 1, outer.is_open)
        inner = outer.left
    return outer.count * inner.weight + inner.values[1]


@routine
def with_a_users(outer, times):
    return of_a_user(outer, times) + total(outer.left)


def example():
    return Outer(Inner(np.array([1.0, 2.0]), 3.0), Inner(np.array([5.0, 7.0]), 0.5), 4, True)


@pytest.mark.jit_off
@pytest.mark.parametrize("times", [0, 1, 2, 5])
@pytest.mark.parametrize(
    "function",
    [loops, branches, called, optionals, uniform, the_same_twice, of_a_user, with_a_users],
    ids=lambda one: one.__name__,
)
def test_the_same_compiled_and_interpreted(function, times):
    ours, theirs = example(), example()
    interpreted = getattr(function, "py_func", function)
    assert function(ours, times) == interpreted(theirs, times)
    for one, other in ((ours.left, theirs.left), (ours.right, theirs.right)):
        np.testing.assert_array_equal(one.values, other.values)


class World(NamedTuple):
    inner: Inner
    nothing: tuple[()]
    numbers: Any


class Flagged(NamedTuple):
    inner: Inner
    is_open: bool


@part
def read_part(place, times):
    """The same value, looked at where it is and as a copy, while arrays are written to."""
    there, copy = unpacked(place), loaded(place)
    for k in range(times):
        there.numbers[k] = int(there.inner.values[k] + copy.inner.weight)
        copy.numbers[0] += there.numbers[k]
    return copy.numbers[0] + len(there.nothing)


@part
def flag_part(place, times):
    """With a truth value, which is a word where it is packed."""
    there, copy = unpacked(place), loaded(place)
    return times + 10 * int(there.is_open) + 100 * int(copy.is_open) + int(there.inner.weight)


@routine
def enter(address, place, times):
    return call(address, place, times)


@pytest.mark.jit_off
def test_parts_find_what_was_packed():
    def world():
        return World(Inner(np.array([1.0, 2.0]), 3.0), (), np.zeros(2, dtype=np.int64))

    packed = Packed(world())
    total_of = 4 + 4 + 5
    assert enter(address_of(read_part, packed.value, 2), packed.place, 2) == total_of
    np.testing.assert_array_equal(packed.value.numbers, [total_of, 5])
    for is_open in (False, True):
        flagged = Packed(Flagged(Inner(np.ones(1), 2.0), is_open))
        assert enter(address_of(flag_part, flagged.value, 1), flagged.place, 1) == 3 + 110 * is_open


Narrow = namedtuple("Narrow", [f"f{k}" for k in range(3)])
Wide = namedtuple("Wide", [f"f{k}" for k in range(60)])


@kernel
def first_of(wide):
    return wide.f0[0, 0]


@kernel
def handed_on(wide):
    kept = wide
    return first_of(wide) + first_of(kept)


def instructions(kind):
    """How many there are in a kernel that hands on a tuple with an array of two dimensions and rows."""
    arrays = kind(np.ones((1, 1)), *(np.ones(1) for _ in kind._fields[1:]))
    types = (numba.typeof(arrays),)
    handed_on.compile(types)
    text = str(handed_on.overloads[types].library.own_module())
    return sum(line.startswith("  ") for line in text.splitlines())


@pytest.mark.skipif(bool(numba.config.DISABLE_JIT), reason="nothing is compiled")
def test_a_call_is_as_long_whatever_the_tuple_is_wide():
    assert instructions(Wide) == instructions(Narrow) < 20 * len(Narrow._fields)

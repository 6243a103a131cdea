"""Named tuples by reference: compiled and interpreted code agree, and calls are short."""

import os
from collections import namedtuple
from typing import Any, NamedTuple

import numba
import numpy as np
import pytest
from numba.core.errors import TypingError

from kernelcache import Entry, Nothing, Packed, kernel, optional, part, routine
from kernelcache.target import PLAIN

from ..conftest import ROOT, run_python


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


@routine
def chosen(outer, times):
    """Return a sum over tuples that are chosen in a loop, from a tuple that is assigned again."""
    seen, before = 0.0, outer.left
    for k in range(times):
        side = outer.left if k % 3 == 0 else outer.right
        seen = 0.5 * seen + total(side) - 3.0 * total(before) + (1.0 if outer.is_open else 0.25) * outer.count
        before = side
    return seen


@routine
def added(inner, values):
    """Write where the tuple's array may be, and read it."""
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
    made = Inner(outer.right.values, 4.0)
    return of_optional(outer.left, made, float(times)) + of_optional(Nothing(), outer.left, 1.0)


@routine
def made_here(outer, times):
    """Exchange the fields of a tuple that compiled code makes, by value as Numba has it."""
    pair = Pair(outer.left.values, outer.right.values)
    for _ in range(times):
        pair = Pair(pair.b, pair.a)
    return pair.a[0] + 10.0 * pair.b[0] + total(Inner(pair.a, 0.5))


@numba.njit
def of_a_user(outer, times):
    """A function that Numba alone compiles."""
    inner = outer.left if times > 1 else outer.right
    return outer.count * inner.weight + inner.values[1]


@routine
def with_a_users(outer, times):
    return of_a_user(outer, times) + total(outer.left)


def example():
    return Outer(Inner(np.array([1.0, 2.0]), 3.0), Inner(np.array([5.0, 7.0]), 0.5), 4, True)


@pytest.mark.jit_off
@pytest.mark.parametrize("times", [0, 1, 2, 5])
@pytest.mark.parametrize(
    "function", [chosen, called, optionals, made_here, of_a_user, with_a_users], ids=lambda one: one.__name__
)
def test_the_same_compiled_and_interpreted(function, times):
    ours, theirs = example(), example()
    assert function(ours, times) == getattr(function, "py_func", function)(theirs, times)
    for one, other in ((ours.left, theirs.left), (ours.right, theirs.right)):
        np.testing.assert_array_equal(one.values, other.values)


class Mixed(NamedTuple):
    inner: Inner
    nothing: tuple[()]
    flags: tuple[bool, int]
    numbers: Any
    is_open: bool
    table: Any
    last: float


@part
def read_part(mixed, times):
    for k in range(times):
        mixed.numbers[k] = int(mixed.inner.values[k] + mixed.inner.weight)
    flags = int(mixed.is_open) + 2 * int(mixed.flags[0]) + 4 * mixed.flags[1]
    return 1000 * int(mixed.last) + 100 * int(mixed.table[1, 0]) + 10 * len(mixed.nothing) + flags


@pytest.mark.jit_off
@pytest.mark.parametrize("is_open", [False, True])
def test_parts_find_what_was_packed(is_open):
    table = np.arange(12.0).reshape(3, 4).T  # in Fortran order
    mixed = Mixed(Inner(np.array([1.0, 2.0]), 3.0), (), (not is_open, 1), np.zeros(2, int), is_open, table, 7.0)
    assert Entry(read_part, Packed(mixed), 2)(2) == 7000 + 100 + 4 + (1 if is_open else 2)
    np.testing.assert_array_equal(mixed.numbers, [4, 5])


def test_a_longer_tuple_is_seen_as_its_first_fields():
    class Longer(NamedTuple):
        left: Any
        right: Any
        more: Any

    packed = Packed(Longer(np.ones(1), 2.0, np.zeros(3)))
    seen = packed.seen_as(Pair)
    assert seen.place == packed.place
    assert seen.value == Pair(packed.value.left, 2.0)


Narrow = namedtuple("Narrow", [f"f{k}" for k in range(3)])
Wide = namedtuple("Wide", [f"f{k}" for k in range(60)])


@kernel
def first_of(wide):
    return wide.f0[0, 0]


@kernel
def handed_on(wide):
    kept = wide
    return first_of(wide) + first_of(kept)


@kernel
def with_a_typing_error(wide):
    return wide.f60


def instructions(kind):
    """Count the instructions of a kernel that hands on a tuple of an array of two dimensions and rows."""
    packed = Packed(kind(np.ones((1, 1)), *(np.ones(1) for _ in kind._fields[1:])))
    types = (numba.typeof(packed),)
    handed_on.compile(types)
    return sum(line.startswith("  ") for line in str(handed_on.overloads[types].library.kernel_module()).splitlines())


@pytest.mark.skipif(bool(numba.config.DISABLE_JIT) or PLAIN, reason="not compiled by us")
def test_a_call_is_as_long_whatever_the_tuple_is_wide():
    assert instructions(Wide) == instructions(Narrow) < 20 * len(Narrow._fields)


@pytest.mark.skipif(bool(numba.config.DISABLE_JIT), reason="nothing is compiled")
def test_a_field_that_is_not_there_is_refused():
    with pytest.raises(TypingError, match="Unknown attribute 'f60'"):
        routine(with_a_typing_error.py_func)(Wide(*np.ones((60, 1))))


#: What a user of Numba sees: settings, the garbage collector, and a function of a named tuple that Numba caches.
USERS_OWN = """
import gc, json, re, sys
from typing import NamedTuple
import numba
from numba.core import codegen
from numba.core.bytecode import FunctionIdentity
from numba.core.datamodel import default_manager

if sys.argv[1] == "with biped":
    from biped import human, simulate
    from controllers import WorkspaceController
    simulate(human(), WorkspaceController(), duration=0.01)


class Pair(NamedTuple):
    a: float
    b: float


from users_own import scaled  # its file has a cache
scaled(Pair(1.0, 2.0), 3.0)
(signature,) = scaled.signatures
key = scaled._cache._index_key(signature, scaled.targetctx.codegen())
(assembler,) = scaled.inspect_asm().values()
settings = {name: repr(value) for name, value in vars(numba.config).items() if name.isupper()}
settings |= {name: repr(getattr(numba.config, name)) for name in ("CPU_NAME", "CPU_FEATURES")}
pair = numba.typeof(Pair(1.0, 2.0))
print(json.dumps({
    "key": repr(key),
    "code": re.findall(r"(?m)^\\t[a-z].*", re.sub(r"B\\d+v\\d+|\\$\\d+", "", assembler)),
    "settings": settings,
    "collector": [gc.isenabled(), gc.get_threshold(), gc.get_freeze_count()],
    "model": repr(type(default_manager[pair])), "names": [codegen.CPUCodegen.magic_tuple.__module__,
    type(FunctionIdentity._unique_ids).__name__],
}))
"""
SCALED = "import numba\n\n\n@numba.njit(cache=True)\ndef scaled(pair, factor):\n    return factor * pair.a + pair.b\n"


def test_functions_of_others_are_compiled_and_kept_as_without_us(tmp_path):
    (tmp_path / "users_own.py").write_text(SCALED)
    target = {"NUMBA_CPU_NAME": "x86-64-v2", "NUMBA_CPU_FEATURES": "+sse3", "BIPED_PLAIN_NUMBA": ""}
    path = os.pathsep.join([str(ROOT), str(tmp_path)])
    more = {"PYTHONPATH": path, "NUMBA_CACHE_DIR": str(tmp_path / "cache"), **target}
    alone, together = (run_python(USERS_OWN, who, cwd=tmp_path, **more) for who in ("alone", "with biped"))
    assert (alone.stderr, together.stderr) == ("", "")
    assert together.stdout == alone.stdout

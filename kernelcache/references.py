"""Named tuples by reference: what Python packs, compiled code has the address of.

A tree or a workspace is a named tuple of dozens of arrays. Numba hands tuples over by value: each call takes one apart,
number by number, and the callee puts it together again. Here Python writes a tuple into memory once (``Packed``), and
its type in compiled code is a ``Reference``: an address, with the tuple's fields as attributes. Packed memory is never
written again while its owner lives, so that LLVM may read a field once and keep it.

Named tuples that compiled code makes itself, and those of all other packages, stay as Numba has them.
"""

import hashlib
import itertools
from collections.abc import Iterator
from functools import cached_property
from typing import Any, NoReturn

import numba
import numpy as np
from llvmlite import ir
from numba.extending import (
    NativeValue,
    infer_getattr,
    lower_getattr_generic,
    models,
    register_model,
    typeof_impl,
    unbox,
)

from kernelcache.private import AttributeTemplate

types: Any = numba.types

#: Flags of NumPy that are part of an array's type: C and Fortran order, aligned, writeable.
_FLAGS = 0x0001 | 0x0002 | 0x0100 | 0x0400
_WORD = ir.IntType(64)


class Reference(types.Type):  # type: ignore[misc]
    """The type of a packed named tuple.

    Attributes:
        instance_class: class of the tuple.
        kinds: types of its fields; a field that is a named tuple is a reference into the same memory.
    """

    def __init__(self, instance_class: type, kinds: tuple[Any, ...]) -> None:
        self.instance_class, self.kinds = instance_class, kinds
        digest = hashlib.sha256(repr([str(kind) for kind in kinds]).encode()).hexdigest()[:16]
        super().__init__(f"{instance_class.__module__}.{instance_class.__qualname__}@{digest}")

    @cached_property
    def words(self) -> int:
        """Size in memory, in words of 8 bytes."""
        return sum(map(_words_of, self.kinds))


def reference_to(kind: Any) -> Any:
    """Return the type of a packed value, given Numba's type of the value."""
    if isinstance(kind, types.BaseNamedTuple):
        return Reference(kind.instance_class, tuple(map(reference_to, kind)))
    return kind


def _words_of(kind: Any) -> int:
    if isinstance(kind, Reference):
        return int(kind.words)
    if isinstance(kind, types.BaseTuple):
        return sum(map(_words_of, kind))
    return 5 + 2 * int(kind.ndim) if isinstance(kind, types.Array) else 1


# --- in compiled code ---

register_model(Reference)(models.OpaqueModel)


@infer_getattr
class _Fields(AttributeTemplate):  # type: ignore[misc]
    """The fields of a reference are its attributes."""

    key = Reference

    def generic_resolve(self, kind: Reference, name: str) -> Any:
        fields = getattr(kind.instance_class, "_fields", ())
        return kind.kinds[fields.index(name)] if name in fields else None


@lower_getattr_generic(Reference)  # type: ignore[untyped-decorator]
def _field(context: Any, builder: Any, kind: Reference, value: Any, name: str) -> Any:
    number = kind.instance_class._fields.index(name)  # type: ignore[attr-defined]
    start = sum(map(_words_of, kind.kinds[:number]))
    return _read(context, builder, kind.kinds[number], value, itertools.count(start))


def _read(context: Any, builder: Any, kind: Any, base: Any, words: Iterator[int]) -> Any:
    """Read a field word by word: LLVM drops the words that are not used."""

    def at(word: int) -> Any:
        return builder.gep(base, [_WORD(8 * word)])

    def load(wanted: Any) -> Any:
        loaded = builder.load(builder.bitcast(at(next(words)), wanted.as_pointer()))
        loaded.set_metadata("invariant.load", builder.module.add_metadata([]))
        return loaded

    if isinstance(kind, Reference):
        return at(next(words))
    if isinstance(kind, types.BaseTuple):
        return context.make_tuple(builder, kind, [_read(context, builder, inner, base, words) for inner in kind])
    if isinstance(kind, types.Array):
        value = ir.Constant(context.get_value_type(kind), None)
        next(words), next(words)  # its owner: Python keeps it
        for place, element in list(enumerate(value.type.elements))[2:]:
            if isinstance(element, ir.ArrayType):
                for axis in range(element.count):
                    value = builder.insert_value(value, load(element.element), (place, axis))
            else:
                value = builder.insert_value(value, load(element), place)
        return value
    if kind == types.boolean:
        return builder.icmp_signed("!=", load(_WORD), _WORD(0))
    return load(context.get_value_type(kind))


# --- in Python ---


class Packed:
    """A named tuple of arrays and numbers in memory that compiled code reads.

    Attributes:
        value: the tuple.
        place: its address, valid as long as this object lives; the tuple itself where everything is interpreted.
    """

    def __init__(self, value: Any) -> None:
        self.value = value
        self._words = None if numba.config.DISABLE_JIT else np.array(_words(value), dtype=np.int64)
        self.place: Any = value if self._words is None else self._words.ctypes.data

    def seen_as(self, kind: type) -> "Packed":
        """Return this memory as another named tuple, whose fields are the first ones of this tuple."""
        seen = object.__new__(Packed)
        seen.value, seen._words, seen.place = kind(*self.value[: len(kind._fields)]), self._words, self.place  # type: ignore[attr-defined]
        return seen

    def __reduce__(self) -> NoReturn:
        """Refuse copies and pickles, which would have the addresses of this one's arrays.

        Raises:
            TypeError: always.
        """
        raise TypeError(
            "what compiled kernels have the addresses of cannot be copied or pickled: make a new object, or go back "
            "within a session by Session.save and Session.restore"
        )

    @cached_property
    def kind(self) -> int:
        """A number that is equal for all values that the same machine code works on."""
        return _kinds.setdefault(kind_of(self.value), len(_kinds))

    @property
    def _numba_type_(self) -> Any:
        if self.kind not in _types:  # Numba would find the type of each array anew
            _types[self.kind] = reference_to(numba.typeof(self.value))
        return _types[self.kind]


_kinds: dict[object, int] = {}
_types: dict[int, Any] = {}


def kind_of(value: Any) -> object:
    """Return what decides the type of a number, an array or a named tuple: a hundred times faster than ``typeof``."""
    if isinstance(value, tuple):
        return type(value), *map(kind_of, value)
    if isinstance(value, np.ndarray):
        return value.dtype, value.ndim, value.flags.num & _FLAGS
    return type(value)


def _words(items: Any) -> list[int]:
    words: list[int] = []
    for item in items:
        if isinstance(item, np.ndarray):
            words += (0, 0, item.size, item.itemsize, item.ctypes.data, *item.shape, *item.strides)
        elif isinstance(item, tuple):
            words += _words(item)
        elif isinstance(item, float):
            words.append(int(np.float64(item).view(np.int64)))
        elif isinstance(item, (bool, int, np.integer, np.bool_)):
            words.append(int(item))
        else:
            raise TypeError(f"{item!r}: compiled code takes arrays, numbers, and named tuples of them")
    return words


@typeof_impl.register(Packed)  # type: ignore[untyped-decorator]
def _type_of_packed(value: Packed, _: Any) -> Any:
    return value._numba_type_


@unbox(Reference)  # type: ignore[untyped-decorator]
def _unbox(_: Reference, packed: Any, context: Any) -> NativeValue:
    place = context.pyapi.object_getattr_string(packed, "place")
    address = context.pyapi.long_as_voidptr(place)
    context.pyapi.decref(place)
    return NativeValue(address)

"""Named tuples by reference: Python packs a tuple into memory, and compiled code gets the address.

A tree or a workspace is a named tuple of dozens of arrays. Numba passes tuples by value: each call takes a tuple apart
and reassembles it in the callee. Here Python writes a tuple into memory once (``Packed``). The type in compiled code is
``Reference``: an address, with the tuple's fields as attributes. Packed memory is not changed as long as its ``Packed``
object exists, so that LLVM may read a field only once.

Named tuples that are made in compiled code, and those of other packages, remain Numba's tuples.
"""

import hashlib
import itertools
from collections.abc import Iterator
from functools import cached_property
from typing import Any, NoReturn

import numba
import numpy as np
from llvmlite import ir
from numba import extending

from kernelcache.private import AttributeTemplate

types: Any = numba.types

#: NumPy flags that are part of an array's type: C order, Fortran order, aligned, writeable.
_FLAGS = 0x0001 | 0x0002 | 0x0100 | 0x0400
_WORD = ir.IntType(64)


class Reference(types.Type):  # type: ignore[misc]
    """Numba type of a packed named tuple.

    Attributes:
        instance_class: class of the named tuple.
        kinds: Numba types of the fields; a field that is a named tuple is a reference into the same memory.
    """

    def __init__(self, instance_class: type, kinds: tuple[Any, ...]) -> None:
        self.instance_class, self.kinds = instance_class, kinds
        digest = hashlib.sha256(repr([str(kind) for kind in kinds]).encode()).hexdigest()[:16]
        super().__init__(f"{instance_class.__module__}.{instance_class.__qualname__}@{digest}")

    @cached_property
    def words(self) -> int:
        """Size in memory [words of 8 bytes]."""
        return sum(map(_words_of, self.kinds))


def reference_to(kind: Any) -> Any:
    """Return the type of a packed value from Numba's type of the value: named tuples become references."""
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

extending.register_model(Reference)(extending.models.OpaqueModel)


@extending.infer_getattr
class _Fields(AttributeTemplate):  # type: ignore[misc]
    """Template that makes the fields of a reference its attributes."""

    key = Reference

    def generic_resolve(self, kind: Reference, name: str) -> Any:
        fields = getattr(kind.instance_class, "_fields", ())
        return kind.kinds[fields.index(name)] if name in fields else None


@extending.lower_getattr_generic(Reference)  # type: ignore[untyped-decorator]
def _field(context: Any, builder: Any, kind: Reference, value: Any, name: str) -> Any:
    number = kind.instance_class._fields.index(name)  # type: ignore[attr-defined]
    start = sum(map(_words_of, kind.kinds[:number]))
    return _read(context, builder, kind.kinds[number], value, itertools.count(start))


def _read(context: Any, builder: Any, kind: Any, base: Any, words: Iterator[int]) -> Any:
    """Return the code that reads a field, word by word; LLVM drops unused words."""

    def at(word: int) -> Any:
        return builder.gep(base, [_WORD(8 * word)])

    def load(word_type: Any) -> Any:
        loaded = builder.load(builder.bitcast(at(next(words)), word_type.as_pointer()))
        loaded.set_metadata("invariant.load", builder.module.add_metadata([]))
        return loaded

    if isinstance(kind, Reference):
        return at(next(words))
    if isinstance(kind, types.BaseTuple):
        return context.make_tuple(builder, kind, [_read(context, builder, inner, base, words) for inner in kind])
    if isinstance(kind, types.Array):
        value = ir.Constant(context.get_value_type(kind), None)
        next(words), next(words)  # the array's owner, which Python keeps alive
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
    """A named tuple of arrays and numbers, written into memory for compiled code.

    Attributes:
        value: the named tuple.
        place: memory address, valid as long as this object exists; the tuple itself if kernels are interpreted.
    """

    def __init__(self, value: Any) -> None:
        self.value = value
        self._words = None if numba.config.DISABLE_JIT else np.array(_words(value), dtype=np.int64)
        self.place: Any = value if self._words is None else self._words.ctypes.data

    def seen_as(self, kind: type) -> "Packed":
        """Return this memory as a named tuple of another class, whose fields are this tuple's first ones."""
        seen = object.__new__(Packed)
        seen.value, seen._words, seen.place = kind(*self.value[: len(kind._fields)]), self._words, self.place  # type: ignore[attr-defined]
        return seen

    def __reduce__(self) -> NoReturn:
        """Refuse copies and pickles, which would contain the addresses of this object's arrays.

        Raises:
            TypeError: always.
        """
        raise TypeError(
            "an object with memory addresses for compiled kernels cannot be copied or pickled: make a new object; to "
            "return to an earlier state of a session, use Session.save and Session.restore"
        )

    @cached_property
    def kind(self) -> int:
        """Number of the value's type; values with equal numbers use the same machine code."""
        return _kinds.setdefault(kind_of(self.value), len(_kinds))

    @cached_property
    def _numba_type_(self) -> Any:
        if self.kind not in _types:  # Numba would determine the type of each array again
            _types[self.kind] = reference_to(numba.typeof(self.value))
        return _types[self.kind]


_kinds: dict[object, int] = {}
_types: dict[int, Any] = {}


def kind_of(value: Any) -> object:
    """Return a key of a value's type (number, array or named tuple), a hundred times faster than ``numba.typeof``."""
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
            raise TypeError(f"{item!r}: it must be an array, a number, or a named tuple of these, for compiled code")
    return words


@extending.typeof_impl.register(Packed)  # type: ignore[untyped-decorator]
def _type_of_packed(value: Packed, _: Any) -> Any:
    return value._numba_type_


@extending.unbox(Reference)  # type: ignore[untyped-decorator]
def _unbox(_: Reference, packed: Any, context: Any) -> extending.NativeValue:
    place = context.pyapi.object_getattr_string(packed, "place")
    address = context.pyapi.long_as_voidptr(place)
    context.pyapi.decref(place)
    return extending.NativeValue(address)

"""Named tuples are handed to compiled functions by reference.

A tree or a workspace is a tuple of dozens of arrays. For a call Numba takes it apart, number by number, and what is
called puts it together again: of ten instructions that it wrote nine did that, each an object of Python, a line of
text, and work for LLVM, which took them away. Here a call hands over where the tuple is. Tuples never change; a
variable that is assigned once is therefore where its value was found: in an argument, or in another such variable.
"""

from collections import Counter
from typing import Any

import numba
from llvmlite import ir
from numba.core import codegen, lowering
from numba.core import ir as numba_ir
from numba.core.compiler_machinery import PassManager, register_pass
from numba.core.datamodel import models, register_default
from numba.core.typed_passes import NativeLowering

types: Any = numba.types

#: A part of all keys of compiled code, Numba's own too: code that takes named tuples otherwise is not to be linked.
CONVENTION = "named tuples by reference, 1"

_magic_tuple = codegen.CPUCodegen.magic_tuple
codegen.CPUCodegen.magic_tuple = lambda self: (*_magic_tuple(self), CONVENTION)


class _ByReference(models.DataModel):  # type: ignore[misc]
    """What differs from Numba's models of named tuples."""

    def get_argument_type(self) -> Any:
        return self.get_value_type().as_pointer()

    def as_argument(self, builder: Any, value: Any) -> Any:
        return _place_of(builder, value) or _put(builder, value)

    def from_argument(self, builder: Any, value: Any) -> Any:
        value.is_settled = True
        return builder.load(value)

    def as_data(self, builder: Any, value: Any) -> Any:
        return value if self._is_kept_so else super().as_data(builder, value)

    def from_data(self, builder: Any, value: Any) -> Any:
        return value if self._is_kept_so else super().from_data(builder, value)

    def as_return(self, builder: Any, value: Any) -> Any:
        return value if self._is_kept_so else super().as_return(builder, value)

    def from_return(self, builder: Any, value: Any) -> Any:
        return value if self._is_kept_so else super().from_return(builder, value)

    @property
    def _is_kept_so(self) -> bool:
        """Whether it is the same in memory: but for truth values, which are bytes there."""
        return bool(self.get_value_type() == self.get_data_type())


@register_default(types.NamedTuple)
class _NamedTuple(_ByReference, models.TupleModel):  # type: ignore[misc]
    """Of various types."""


@register_default(types.NamedUniTuple)
class _NamedUniTuple(_ByReference, models.UniTupleModel):  # type: ignore[misc]
    """Of one type."""


def settled(place: Any) -> Any:
    """Mark a pointer: until its value is computed anew, or the function has ended, nothing else is written there."""
    place.is_settled = True
    return place


def _is_settled(place: Any) -> bool:
    return getattr(place, "is_settled", False)


def _place_of(builder: Any, value: Any) -> Any:
    """Where a value is and will be, if it was taken from a tuple whose place is settled; or None."""
    source, way = _source(value)
    if not isinstance(source, ir.instructions.LoadInstr) or not _is_settled(source.operands[0]):
        return None
    place = source.operands[0]
    return settled(builder.gep(place, [ir.IntType(32)(k) for k in (0, *way)], inbounds=True)) if way else place


def _source(value: Any) -> tuple[Any, list[int]]:
    """What a value was taken from, and which part of that it is."""
    way: list[int] = []
    while True:
        if isinstance(value, ir.instructions.ExtractValue):
            way = [*value.indices, *way]
            value = value.aggregate
        elif isinstance(value, ir.instructions.InsertValue) and way:
            known = list(value.indices)
            if len(known) > len(way) and known[: len(way)] == way:  # it was put together itself
                return value, way
            inside = way[: len(known)] == known
            value, way = (value.value, way[len(known) :]) if inside else (value.aggregate, way)
        else:
            return value, way


def _put(builder: Any, value: Any) -> Any:
    """A place on the stack for a value; Numba's own way fills it with zeros first."""
    with builder.goto_entry_block():
        place = builder.alloca(value.type)
    builder.store(value, place)
    return place


class _Lower(lowering.Lower):  # type: ignore[misc]
    """Numba's, for functions whose variables are no objects."""

    def init(self) -> None:
        super().init()
        self._assigned: Counter[str] = Counter()  # in a generator, whose variables live on, none is a place

    def lower_normal_function(self, fndesc: Any) -> None:
        self._assigned = Counter(
            statement.target.name for block in self.blocks.values() for statement in block.find_insts(numba_ir.Assign)
        )
        super().lower_normal_function(fndesc)

    def storevar(self, value: Any, name: str, argidx: int | None = None) -> None:
        if not self._is_place(name):
            super().storevar(value, name, argidx)
            return
        self._singly_assigned_vars.discard(name)  # Numba's, whose values have no place
        self.varmap[name] = _place_of(self.builder, value) or settled(_put(self.builder, value))

    def _alloca_var(self, name: str, fetype: Any) -> None:
        if not self._is_place(name):
            super()._alloca_var(name, fetype)

    def _is_place(self, name: str) -> bool:
        """Whether a variable has no room of its own, but is where its value is."""
        return self._assigned[name] == 1 and isinstance(self.typeof(name), types.BaseNamedTuple)

    def delvar(self, name: str) -> None:
        """There is nothing to give back, without Numba's runtime."""


class _LowerCalled(_Lower):
    """For what is not inlined: it is told what LLVM would see in its callers."""

    def extract_function_arguments(self) -> Any:
        found = super().extract_function_arguments()
        self.function.attributes.add("noinline")
        for argument in filter(_is_settled, self.function.args):
            argument.add_attribute("noalias")
        return found


@register_pass(mutates_CFG=True, analysis_only=False)
class Lowering(NativeLowering):  # type: ignore[misc]
    """Numba's, by reference."""

    _name = "lowering_by_reference"
    lowering_class = _Lower


@register_pass(mutates_CFG=True, analysis_only=False)
class LoweringOfCalled(NativeLowering):  # type: ignore[misc]
    """The same, of what is not inlined."""

    _name = "lowering_of_called_by_reference"
    lowering_class = _LowerCalled


def lowered_by(kind: type[NativeLowering], pipelines: list[PassManager]) -> list[PassManager]:
    """Numba's pipelines with this in the place of its own lowering."""
    for pipeline in pipelines:
        pipeline.passes[:] = [(kind if known is NativeLowering else known, *more) for known, *more in pipeline.passes]
        pipeline.finalize()
    return pipelines

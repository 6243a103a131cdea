"""Named tuples are handed to compiled functions by reference.

A tree or a workspace is a tuple of dozens of arrays. Numba takes each apart for a call, number by number, and the
function that is called puts it together again: nine of ten instructions that it wrote were that, each an object of
Python, a line of text, and work for LLVM, which then took them away. Here a call hands over where the tuple is. Tuples
never change, so that a variable that is assigned once is where its value was found: an argument or a part of one.
"""

from typing import Any

import numba
from llvmlite import ir
from numba.core import lowering
from numba.core import ir as numba_ir
from numba.core.compiler_machinery import PassManager, register_pass
from numba.core.datamodel import models, register_default
from numba.core.typed_passes import NativeLowering

types: Any = numba.types


class _ByReference:
    """A model of named tuples, before one of Numba's."""

    def get_argument_type(self) -> Any:
        return self.get_value_type().as_pointer()

    def as_argument(self, builder: Any, value: Any) -> Any:
        return place_of(builder, value) or _put(builder, value)

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
        """Whether in memory it is as it is elsewhere: but for truth values, which are bits here and bytes there."""
        return self.get_value_type() == self.get_data_type()


@register_default(types.NamedTuple)
class _NamedTuple(_ByReference, models.TupleModel):
    """Of various types."""


@register_default(types.NamedUniTuple)
class _NamedUniTuple(_ByReference, models.UniTupleModel):
    """Of one type."""


def place_of(builder: Any, value: Any) -> Any:
    """Where a value is and will be, if it was taken from a tuple that is settled; or None."""
    value, way = _source(value)
    if not isinstance(value, ir.instructions.LoadInstr) or not getattr(value.operands[0], "is_settled", False):
        return None
    place = value.operands[0]
    if way:
        place = builder.gep(place, [ir.IntType(32)(k) for k in (0, *way)], inbounds=True)
        place.is_settled = True
    return place


def _source(value: Any) -> tuple[Any, list[int]]:
    """What a value was taken from, and which part of it it is."""
    way: list[int] = []
    while True:
        if isinstance(value, ir.instructions.ExtractValue):
            way = [*value.indices, *way]
        elif not isinstance(value, ir.instructions.InsertValue) or not way:
            return value, way
        elif way[: len(value.indices)] == list(value.indices):
            value, way = value.value, way[len(value.indices) :]
            continue
        elif list(value.indices)[: len(way)] == way:  # it was put together itself
            return value, way
        value = value.aggregate


def _put(builder: Any, value: Any) -> Any:
    place = _room(builder, value.type)
    builder.store(value, place)
    return place


def _room(builder: Any, kind: Any) -> Any:
    """On the stack; Numba's own way fills it with zeros."""
    with builder.goto_entry_block():
        return builder.alloca(kind)


class Lower(lowering.Lower):
    """Numba's, for kernels: without counts of references, and with variables that are where their values are."""

    def lower_normal_function(self, fndesc: Any) -> None:
        """Numba's, after it is counted how often variables are assigned."""
        targets = [
            statement.target.name
            for block in self.blocks.values()
            for statement in block.find_insts(numba_ir.Assign)
        ]
        self._once = {name for name in targets if targets.count(name) == 1}
        super().lower_normal_function(fndesc)

    def storevar(self, value: Any, name: str, argidx: int | None = None) -> None:
        """Numba's, but for named tuples that are assigned once."""
        if not isinstance(self.typeof(name), types.BaseNamedTuple) or name not in self._once:
            super().storevar(value, name, argidx)
            return
        self._singly_assigned_vars.discard(name)
        place = place_of(self.builder, value)
        if place is None:
            place = _put(self.builder, value)
            place.is_settled = True
        self.varmap[name] = place

    def delvar(self, name: str) -> None:
        """Nothing: there is nothing to give back."""


class _CalledLower(Lower):
    """For what is not inlined: what LLVM would see in a caller, it is told."""

    def extract_function_arguments(self) -> Any:
        """Numba's; nothing that is written is in one of the tuples."""
        found = super().extract_function_arguments()
        self.function.attributes.add("noinline")
        for argument in self.function.args:
            if getattr(argument, "is_settled", False):
                argument.add_attribute("noalias")
        return found


@register_pass(mutates_CFG=True, analysis_only=False)
class Lowering(NativeLowering):
    """Numba's, by reference."""

    _name = "lowering_by_reference"
    lowering_class = Lower


@register_pass(mutates_CFG=True, analysis_only=False)
class CalledLowering(NativeLowering):
    """Numba's, by reference, of what is called."""

    _name = "lowering_of_what_is_called"
    lowering_class = _CalledLower


def lowered_by(kind: type[NativeLowering], pipelines: list[PassManager]) -> list[PassManager]:
    """Pipelines of Numba's, with this in the place of its lowering."""
    for pipeline in pipelines:
        pipeline.passes[:] = [
            (kind if known is NativeLowering else known, *more) for known, *more in pipeline.passes
        ]
        pipeline.finalize()
    return pipelines

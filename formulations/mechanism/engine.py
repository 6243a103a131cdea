"""Compiled parts of a mechanism, each compiled or loaded when it is first entered."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from contact.arrays import Integers
from kernelcache import Packed, Use, addresses, are_ready, enter


def no_parts(count: int) -> Integers:
    """Return an array (count,) for the addresses of parts, filled with −1: not compiled yet."""
    return np.full(count, -1, dtype=np.int64)


class Engine:
    """Compiled mechanism; each of its parts (functions) is compiled, or loaded from disk, at its first call.

    Args:
        world: named tuple on which the parts work; ``world.parts`` has their addresses, −1 if not compiled yet.
        functions: parts in the order of ``world.parts``, each with examples of its further arguments.
        calls: for the number of a part, the numbers of the parts that it calls.
        kept: objects that must outlive ``world``, which holds their addresses.
    """

    def __init__(
        self, world: Any, functions: Sequence[Use], calls: Mapping[int, Sequence[int]], kept: Any = None
    ) -> None:
        self._packed, self._functions, self._calls, self._kept = Packed(world), functions, calls, kept

    @property
    def world(self) -> Any:
        """Value that the kernels work on."""
        return self._packed.value

    def take_in(self, **arrays: Any) -> None:
        """Replace arrays of ``world``, such as the inputs."""
        self._packed = Packed(self.world._replace(**arrays))

    def enter(self, number: int, *arguments: int) -> int:
        """Call a part by its number; return its result, such as a status."""
        self._need(number)
        packed = self._packed  # kept until the part is done, even if another thread replaces arrays
        return int(enter(packed.value.parts[number], (packed.place, *arguments)))

    def is_ready(self, number: int) -> bool:
        """Return whether a part can be entered without compilation."""
        return are_ready([self._use(number)]) and all(map(self.is_ready, self._calls.get(number, ())))

    def _use(self, number: int) -> Use:
        part, *arguments = self._functions[number]
        return part, self._packed, *arguments

    def _need(self, number: int) -> None:
        if self.world.parts[number] < 0:
            for other in self._calls.get(number, ()):
                self._need(other)
            self.world.parts[number] = addresses([self._use(number)])[0]

"""Parts that are ready to be entered from Python."""

from collections.abc import Mapping, Sequence
from typing import Any

import numba
import numpy as np
from numpy.typing import NDArray

from kernelcache.kernels import routine
from kernelcache.parts import Use, addresses, are_ready, call
from kernelcache.references import Packed


def places_of(packed: Sequence[Packed]) -> Any:
    """Return the addresses of packed tuples, (n,)."""
    places: Any = np.empty(len(packed), dtype=object if numba.config.DISABLE_JIT else np.int64)
    for k, one in enumerate(packed):
        places[k] = one.place
    return places


def no_parts(count: int) -> NDArray[np.int64]:
    """(count,) for addresses of parts that are not there yet, as an ``Engine`` finds them."""
    return np.full(count, -1, dtype=np.int64)


@routine
def enter(address: int, arguments: tuple[Any, ...]) -> int:
    """Call a part from Python."""
    return call(address, *arguments)


class Entry:
    """A part, ready to be entered: compiled, or loaded, once this is made.

    Args:
        part: which.
        arguments: what it is called with; those that are not ``Packed`` only tell what numbers are to come.
    """

    def __init__(self, part: Any, *arguments: Any) -> None:
        self._address = int(addresses([(part, *arguments)])[0])
        self._arguments = arguments

    def __call__(self, *numbers: Any) -> int:
        """What the part gives back, for these numbers in their places."""
        left = iter(numbers)
        given = tuple(one.place if isinstance(one, Packed) else next(left) for one in self._arguments)
        return int(enter(self._address, given))


class Engine:
    """A world ready to run: parts are compiled, or loaded, when they are first entered.

    Args:
        world: a named tuple with ``parts``, addresses of its parts, those that are not there yet below zero.
        functions: its parts, each with the numbers that it is called with, in the order of ``parts``.
        calls: by a part's number, those that it calls.
        kept: what the world has addresses of, which must not go away before it.
    """

    def __init__(
        self, world: Any, functions: Sequence[Use], calls: Mapping[int, Sequence[int]], kept: Any = None
    ) -> None:
        self._packed, self._functions, self._calls, self._kept = Packed(world), functions, calls, kept

    @property
    def world(self) -> Any:
        """What it works on."""
        return self._packed.value

    def take_in(self, **arrays: Any) -> None:
        """Other arrays in the place of the world's, such as the next inputs."""
        self._packed = Packed(self.world._replace(**arrays))

    def enter(self, number: int, *arguments: int) -> int:
        """Enter a part by its number."""
        self._need(number)
        packed = self._packed  # there until the part is done, whatever another thread takes in
        return int(enter(packed.value.parts[number], (packed.place, *arguments)))

    def is_ready(self, number: int) -> bool:
        """Whether entering a part compiles nothing."""
        return are_ready([self._use(number)]) and all(map(self.is_ready, self._calls.get(number, ())))

    def _use(self, number: int) -> Use:
        part, *arguments = self._functions[number]
        return part, self._packed, *arguments

    def _need(self, number: int) -> None:
        if self.world.parts[number] < 0:
            for other in self._calls.get(number, ()):
                self._need(other)
            self.world.parts[number] = addresses([self._use(number)])[0]

"""Named tuples where parts find them, and parts that are ready to be entered from Python."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from numba.core.config import DISABLE_JIT
from numpy.typing import NDArray

from kernelcache.beside import Call
from kernelcache.kernels import routine
from kernelcache.parts import address_of, call, compile_parts, is_part_compiled
from kernelcache.references import Packed

#: A part, and what it is called with: whole numbers, others, and what is ``Packed``.
Use = tuple[Any, ...]


#: By a part and the kinds of what it is called with: of thousands of trials all are alike.
_addresses: dict[object, int] = {}


def places_of(packed: Sequence[Packed]) -> Any:
    """(n,) where parts find each."""
    places: Any = np.empty(len(packed), dtype=object if DISABLE_JIT else np.int64)
    for k, one in enumerate(packed):
        places[k] = one.place
    return places


def addresses(uses: Sequence[Use], beside: Sequence[Call] = ()) -> NDArray[np.int64]:
    """(n,) those of parts; what is not there yet is compiled side by side, and ``beside`` with it."""
    keys = [(part, *(one.kind if isinstance(one, Packed) else type(one) for one in given)) for part, *given in uses]
    if not all(key in _addresses for key in keys):
        calls = list(map(_call_of, uses))
        compile_parts(calls, beside)
        _addresses.update((key, address_of(*one)) for key, one in zip(keys, calls, strict=True))
    return np.array([_addresses[key] for key in keys], dtype=np.int64)


def no_parts(count: int) -> NDArray[np.int64]:
    """(count,) for addresses of parts that are not there yet, as an ``Engine`` finds them."""
    return np.full(count, -1, dtype=np.int64)


def are_ready(uses: Sequence[Use]) -> bool:
    """Whether ``addresses`` compiles nothing."""
    return all(is_part_compiled(*_call_of(use)) for use in uses)


def _call_of(use: Use) -> Use:
    return tuple(one.value if isinstance(one, Packed) else one for one in use)


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

    def __init__(self, part: Callable[..., int], *arguments: Any) -> None:
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

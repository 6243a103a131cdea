"""Kernels of what there may be none of."""

from collections.abc import Callable
from typing import Any, NamedTuple

from kernelcache.generic import generic


class Nothing(NamedTuple):
    """Stands where there is none of something optional."""


def optional(argument: str, kind: type, otherwise: Any = None) -> Callable[[Callable[..., Any]], Any]:
    """A kernel of one of its arguments that may be ``Nothing``.

    Which it is, is known when a caller is compiled: of ``Nothing`` no code is left.

    Args:
        argument: its name.
        kind: the class of named tuples that the kernel is written for.
        otherwise: what it returns for ``Nothing``; or a function of the same arguments that returns it.
    """

    def absent(*_: Any) -> Any:
        return otherwise

    def decorate(function: Callable[..., Any]) -> Any:
        chosen = generic(argument)(function)
        chosen.register(kind)(function)
        chosen.register(Nothing)(otherwise if callable(otherwise) else absent)
        return chosen

    return decorate

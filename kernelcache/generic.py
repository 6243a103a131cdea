"""Kernels that are chosen by the class of an argument."""

import functools
import inspect
from collections.abc import Callable
from typing import Any, NamedTuple

from kernelcache.kernels import F, kernel, stands_for


class Generic:
    """Implementations of a function, by the class of one argument."""

    def __init__(self, argument: str, declared: Callable[..., Any]) -> None:
        self.argument, self.declared = argument, declared
        self.place = list(inspect.signature(declared).parameters).index(argument)
        self.implementations: dict[type, Callable[..., Any]] = {}

    def register(self, kind: type) -> Callable[[F], F]:
        """Return a decorator of the function that serves where the argument is a named tuple of this class."""

        def keep(function: F) -> F:
            self.implementations[kind] = function
            return kernel(function)

        return keep

    def of(self, kind: type) -> Callable[..., Any]:
        """Return the implementation for a class."""
        if kind not in self.implementations:
            raise TypeError(f"{self.declared.__name__}: nothing registered for {self.argument} of {kind}")
        return self.implementations[kind]

    def among(self, kinds: set[type]) -> list[Callable[..., Any]]:
        """Return the implementations for some classes."""
        return [self.implementations[kind] for kind in kinds if kind in self.implementations]


def generic(argument: str) -> Callable[[Callable[..., Any]], Any]:
    """Return a decorator of a kernel with an implementation for each class of one argument, a named tuple.

    The class is known when a caller is compiled, so that the choice costs nothing and the caller is cached
    with it: what a function handed over as an argument would prevent. Implementations are registered by
    ``@name.register(kind)``, in any module, with the same parameters; the decorated function itself only
    declares them.
    """

    def decorate(declared: Callable[..., Any]) -> Any:
        table = Generic(argument, declared)

        @functools.wraps(declared)
        def chosen(*args: Any) -> Any:
            return table.of(type(args[table.place]))(*args)

        def compiled(*types: Any) -> Callable[..., Any]:
            return table.of(types[table.place].instance_class)

        stands_for(chosen, compiled)
        chosen.register, chosen.table = table.register, table  # type: ignore[attr-defined]
        return chosen

    return decorate


class Nothing(NamedTuple):
    """Stands where there is none of something optional."""


def optional(argument: str, kind: type, otherwise: Any = None) -> Callable[[Callable[..., Any]], Any]:
    """Return a decorator of a kernel with one argument that may be ``Nothing``.

    A caller is compiled for one of the two: ``Nothing`` leaves no code.

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

"""Generic kernels, whose implementation is selected by the class of an argument."""

import functools
import inspect
from collections.abc import Callable
from typing import Any, NamedTuple

from kernelcache.kernels import F, kernel, stands_for


class Generic:
    """Table of a function's implementations by the class of one argument."""

    def __init__(self, argument: str, declared: Callable[..., Any]) -> None:
        self.argument, self.declared = argument, declared
        self.place = list(inspect.signature(declared).parameters).index(argument)
        self.implementations: dict[type, Callable[..., Any]] = {}

    def register(self, kind: type) -> Callable[[F], F]:
        """Return a decorator of the implementation for arguments of the class ``kind``, a named tuple."""

        def keep(function: F) -> F:
            self.implementations[kind] = function
            return kernel(function)

        return keep

    def of(self, kind: type) -> Callable[..., Any]:
        """Return the implementation for a class; raise TypeError if none is registered."""
        if kind not in self.implementations:
            raise TypeError(f"{self.declared.__name__}: no kernel for {self.argument} of class {kind.__name__}")
        return self.implementations[kind]

    def among(self, kinds: set[type]) -> list[Callable[..., Any]]:
        """Return the implementations that are registered for any of these classes."""
        return [self.implementations[kind] for kind in kinds if kind in self.implementations]


def generic(argument: str) -> Callable[[Callable[..., Any]], Any]:
    """Return a decorator for kernels that have an implementation for each class of ``argument``, a named tuple.

    The decorated function only declares the kernel's name and parameters. Implementations with these parameters are
    registered by ``@NAME.register(kind)`` in any module. The implementation is selected when a caller is compiled: the
    choice costs no run time, and the caller can be cached, which is impossible with functions as arguments.
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
    """Placeholder for an absent argument of an ``optional`` kernel."""


def optional(argument: str, kind: type, otherwise: Any = None) -> Callable[[Callable[..., Any]], Any]:
    """Return a decorator for kernels whose argument ``argument`` may be ``Nothing``.

    A caller that is compiled for ``Nothing`` does not contain the kernel's code.

    Args:
        argument: name of the argument that may be absent.
        kind: class of the argument when it is present, a named tuple.
        otherwise: value that the kernel returns for ``Nothing``, or a function of its arguments that returns it.
    """

    def absent(*_: Any) -> Any:
        return otherwise

    def decorate(function: Callable[..., Any]) -> Any:
        chosen = generic(argument)(function)
        chosen.register(kind)(function)
        chosen.register(Nothing)(otherwise if callable(otherwise) else absent)
        return chosen

    return decorate

"""Functions that kernels can evaluate for real and for complex numbers, so that a complex step differentiates them.

For an analytic f, f(x + iε) = f(x) + iε f'(x) + O(ε²): with ε = 1e-20 the imaginary part over ε is f'(x) to the last
digit (Squire and Trapp 1998), and the kernel for f is used unchanged. This works for kernels made of sums, products,
quotients, the functions below, and comparisons of ``x.real``. The machine code for real numbers is not affected.
"""

import cmath
import math
from collections.abc import Callable
from typing import Any

import numba

from kernelcache import stands_for

types: Any = numba.types


class Symbol:
    """Base class of numbers that record the operations of interpreted kernels (``biped.derivatives.tape``)."""

    __slots__ = ()

    def applied(self, function: str) -> Any:
        """Return a function of this number, given by its name in ``math``."""
        raise NotImplementedError

    def within(self, low: Any, high: Any) -> Any:
        """Return this number clipped to ``low`` and ``high``."""
        raise NotImplementedError


def _either(plain: Callable[[Any], Any], general: Callable[[Any], Any]) -> Any:
    def function(x: Any) -> Any:
        if isinstance(x, Symbol):
            return x.applied(plain.__name__)
        return general(x) if isinstance(x, complex) else plain(x)

    def compiled(x: Any) -> Any:
        if isinstance(x, types.Complex):
            return lambda x: general(x)
        return lambda x: plain(x)

    return stands_for(function, compiled)


sqrt = _either(math.sqrt, cmath.sqrt)
sin = _either(math.sin, cmath.sin)
cos = _either(math.cos, cmath.cos)


def bounded(x: Any, low: Any, high: Any) -> Any:
    """Return ``min(max(x, low), high)``; complex numbers are compared by their real parts."""
    if isinstance(x, Symbol):
        return x.within(low, high)
    if isinstance(x, complex):
        return complex(low) if x.real < low.real else complex(high) if x.real > high.real else x
    return min(max(x, low), high)


def _bounded(x: Any, low: Any, high: Any) -> Any:
    if isinstance(x, types.Complex):
        return lambda x, low, high: complex(low) if x.real < low.real else complex(high) if x.real > high.real else x
    return lambda x, low, high: min(max(x, low), high)


stands_for(bounded, _bounded)

"""Functions of numbers that are differentiated by a complex step, as they are for plain ones.

For an analytic f, f(x + iε) = f(x) + iε f'(x) + O(ε²): with ε = 1e-20 the imaginary part over ε is f'(x) to the last
digit, from the kernel that computes f itself (Squire and Trapp 1998). A kernel takes part that is made of sums,
products and quotients, the functions below, and comparisons of ``x.real``. Plain numbers go through the same machine
code as before.
"""

import cmath
import math
from collections.abc import Callable
from typing import Any

import numba

from kernelcache import stands_for

types: Any = numba.types


class Symbol:
    """A number that notes what kernels, interpreted, make of it (``biped.derivatives.tape``)."""

    __slots__ = ()

    def applied(self, function: str) -> Any:
        """A function of it, by its name in ``math``."""
        raise NotImplementedError

    def within(self, low: Any, high: Any) -> Any:
        """``bounded``."""
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
    """``min(max(x, low), high)``, of which one side counts where ``x`` is complex."""
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


def hypot(x: Any, y: Any) -> Any:
    """``math.hypot(x, y)``; of complex numbers with the root that continues it: it is not zero there."""
    if isinstance(x, complex) or isinstance(y, complex):
        return cmath.sqrt(x * x + y * y)
    return math.hypot(x, y)


def _hypot(x: Any, y: Any) -> Any:
    if isinstance(x, types.Complex) or isinstance(y, types.Complex):
        return lambda x, y: cmath.sqrt(x * x + y * y)
    return lambda x, y: math.hypot(x, y)


stands_for(hypot, _hypot)


def positive(x: Any) -> Any:
    """``max(0.0, x)``."""
    if isinstance(x, complex):
        return x if x.real > 0.0 else 0j
    return max(0.0, x)


def _positive(x: Any) -> Any:
    if isinstance(x, types.Complex):
        return lambda x: x if x.real > 0.0 else complex(0.0)
    return lambda x: max(0.0, x)


stands_for(positive, _positive)


def angle_of(y: Any, x: Any) -> Any:
    """``math.atan2(y, x)`` for x above zero."""
    if isinstance(y, complex):
        return cmath.atan(y / x)
    return math.atan2(y, x)


def _angle_of(y: Any, x: Any) -> Any:
    if isinstance(y, types.Complex):
        return lambda y, x: cmath.atan(y / x)
    return lambda y, x: math.atan2(y, x)


stands_for(angle_of, _angle_of)

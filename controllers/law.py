"""Compiled part of a custom controller: register its kernel with ``@control.register(NamedTuple)``."""

from biped.kernels.loop.closed_loop import control

__all__ = ["control"]

"""The compiled part of a controller of one's own: register its kernel by ``@control.register(NamedTuple)``."""

from biped.kernels.loop.closed_loop import control

__all__ = ["control"]

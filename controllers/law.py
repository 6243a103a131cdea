"""Interface for compiled custom controllers: register a kernel with ``@control.register(NamedTuple)``."""

from biped.kernels.loop.closed_loop import control

__all__ = ["control"]

"""Functions of time: how a platform moves, and how a force acts."""

from biped.signals.signal import Signal, compile_signals
from biped.signals.ternary import STAGES

__all__ = ["STAGES", "Signal", "compile_signals"]

"""Functions of time: how a platform moves, and how a force acts."""

from biped.signals.displacement import Displacement
from biped.signals.signal import Signal, compile_signals
from biped.signals.ternary import STAGES

__all__ = ["STAGES", "Displacement", "Signal", "compile_signals"]

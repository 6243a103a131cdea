"""Signals: functions of time for the motion of a platform and for forces."""

from biped.signals.displacement import Displacement
from biped.signals.signal import Signal, compile_signals
from biped.signals.ternary import STAGES

__all__ = ["STAGES", "Displacement", "Signal", "compile_signals"]

"""Balance as a Gymnasium environment: one model, or many on all cores.

Importing this package registers ``biped/Balance-v0``; it needs the extra ``gym``.
"""

from importlib import import_module
from typing import Any

from biped.inputs.extras import need

need("gymnasium")

import gymnasium  # noqa: E402

from biped.gym.environment import BalanceEnv  # noqa: E402
from biped.gym.randomization import Randomization  # noqa: E402
from biped.gym.task import BalanceTask, Sample  # noqa: E402
from biped.gym.vector import BalanceVectorEnv  # noqa: E402

__all__ = ["NAME", "BalanceEnv", "BalanceTask", "BalanceVectorEnv", "Randomization", "Sample"]

#: Name for ``gymnasium.make`` and ``make_vec``.
NAME = "biped/Balance-v0"

gymnasium.register(NAME, entry_point="biped.gym:BalanceEnv", vector_entry_point="biped.gym:BalanceVectorEnv")


def __getattr__(name: str) -> Any:
    if name != "StableBaselinesEnv":  # imported on first use, as it needs the extra ``sb3``
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return import_module("biped.gym.sb3").StableBaselinesEnv

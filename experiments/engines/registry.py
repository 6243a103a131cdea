"""Registry of engines by name; each is imported when it is first used."""

import importlib

from biped.errors import InputError
from biped.integrators import INTEGRATORS
from contact.errors import did_you_mean
from experiments.engines.engine import Engine

#: Module and class of each engine, by name.
ENGINES = {
    "pybullet": ("experiments.engines.pybullet.adapter", "Pybullet"),
    "mujoco": ("experiments.engines.mujoco.adapter", "Mujoco"),
}


def engine_named(name: str) -> Engine:
    """Return the engine of this name, with default settings that match biped's integrators where possible."""
    if name not in ENGINES:
        known = (*INTEGRATORS, *ENGINES)
        raise InputError(
            f"unknown engine {name!r}; {did_you_mean(name, known)}engines are {', '.join(ENGINES)}, and "
            f"biped's integrators {', '.join(INTEGRATORS)}"
        )
    module, kind = ENGINES[name]
    engine: Engine = getattr(importlib.import_module(module), kind)()
    return engine

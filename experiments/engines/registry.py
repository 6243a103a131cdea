"""Registry of engines by name; each is imported when it is first used."""

import importlib

from biped.errors import InputError
from biped.integrators import INTEGRATORS
from contact.errors import did_you_mean
from experiments.engines.engine import Engine

#: Each module has a class of this name.
ENGINES = {
    "pybullet": ("experiments.engines.pybullet.adapter", "Pybullet"),
    "mujoco": ("experiments.engines.mujoco.adapter", "Mujoco"),
}


def engine_named(name: str) -> Engine:
    """Return the engine of this name, with default settings that match ours where possible."""
    if name not in ENGINES:
        known = (*INTEGRATORS, *ENGINES)
        raise InputError(
            f"unknown engine {name!r}; {did_you_mean(name, known)}engines are {', '.join(ENGINES)}, and our own "
            f"integrators {', '.join(INTEGRATORS)}"
        )
    module, kind = ENGINES[name]
    engine: Engine = getattr(importlib.import_module(module), kind)()
    return engine

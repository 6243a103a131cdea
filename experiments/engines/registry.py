"""The engines by name; each is imported when it is first asked for."""

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
    """The engine of this name with its default settings, which are made to equal ours as far as that goes."""
    if name not in ENGINES:
        known = (*INTEGRATORS, *ENGINES)
        raise InputError(
            f"unknown engine {name!r}; {did_you_mean(name, known)}engines are {', '.join(ENGINES)}, and our own "
            f"integrators {', '.join(INTEGRATORS)}"
        )
    module, kind = ENGINES[name]
    engine: Engine = getattr(importlib.import_module(module), kind)()
    return engine

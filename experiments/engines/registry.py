"""Registry of engines by name; each is imported when it is first used."""

import importlib
from pathlib import Path

from biped.errors import InputError
from biped.integrators import INTEGRATORS
from contact.errors import did_you_mean
from experiments.engines.engine import Engine

#: Module and class of each engine, by name.
ENGINES = {
    "pybullet": ("experiments.engines.pybullet.adapter", "Pybullet"),
    "mujoco": ("experiments.engines.mujoco.adapter", "Mujoco"),
}
#: Ending of the name of a scene file of MuJoCo.
SCENE = ".xml"


def is_engine(name: str) -> bool:
    """Return True for the name of an engine, or of a scene file of MuJoCo."""
    return name in ENGINES or name.endswith(SCENE)


def engine_address(name: str) -> str:
    """Return the whole path of a scene file, which is valid in any process; other names unchanged.

    Raises:
        InputError: there is no such file.
    """
    if not name.endswith(SCENE):
        return name
    path = Path(name).expanduser().resolve()
    if not path.is_file():
        raise InputError(f"engine {name!r}: this file does not exist")
    return str(path)


def engine_named(name: str) -> Engine:
    """Return the engine of this name, with default settings that match biped's integrators where possible.

    The name of a file ``.xml`` is MuJoCo with this scene.
    """
    if name not in ENGINES and not name.endswith(SCENE):
        known = (*INTEGRATORS, *ENGINES)
        raise InputError(
            f"unknown engine {name!r}; {did_you_mean(name, known)}engines are {', '.join(ENGINES)}, and "
            f"biped's integrators {', '.join(INTEGRATORS)}"
        )
    module, kind = ENGINES.get(name, ("experiments.engines.mujoco.scene", "MujocoScene"))
    arguments = () if name in ENGINES else (name,)
    engine: Engine = getattr(importlib.import_module(module), kind)(*arguments)
    return engine

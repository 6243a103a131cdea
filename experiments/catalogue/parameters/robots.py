"""The robot of an experiment: the human, or any other by name."""

import hashlib
import logging
import warnings
from collections.abc import Mapping
from functools import lru_cache
from multiprocessing import parent_process
from pathlib import Path
from typing import Any

from biped.inputs.modules import may_import
from biped.inputs.robot_names import ENDINGS, ROBOT_NAMES, SUBJECT
from biped.model import Model, ModelError, human, load_robot
from biped.model.description import spelt_out
from biped.model.strength import NO_PRESET
from biped.model.subject import Subject
from biped.simulation.scene import floor_of
from experiments.catalogue.parameters.initial import OURS
from experiments.catalogue.parameters.parameter import Parameter

NAME = "robot.name"
HUMAN = "human"

_log = logging.getLogger("biped")


def address_of(name: str) -> str:
    """Return the name of a file as an absolute path, which is valid in any process; other names unchanged."""
    file, colon, function = name.rpartition(":")
    if file.endswith(".py"):
        return f"{Path(file).expanduser().resolve()}{colon}{function}"
    path = Path(name).expanduser()
    return str(path.resolve()) if path.suffix in ENDINGS else name


def robot_named(name: str) -> Model:
    """Return the human, or a robot by a name of ``biped.load_robot``; warnings name changed or ignored features.

    Raises:
        ModelError: there is no such robot; the message says what is allowed.
    """
    if name == HUMAN:
        return human()
    if name.startswith(SUBJECT):
        return _loaded(name)
    address = address_of(name)
    saved = _stand_ins.get(address)
    if saved is not None and ":" in address and Path(address).suffix not in ENDINGS and not may_import(address):
        return _saved_instead(address, saved)
    return _loaded(address)


def is_human(robot: str) -> bool:
    """Return True for the name of the human or of a person."""
    return robot == HUMAN or robot.startswith(SUBJECT)


def strength_of(robot: str) -> str:
    """Return the strength preset, by age and sex, of a robot with the name of a person; ``NO_PRESET`` for others.

    Raises:
        ModelError: there are no measurements for this age.
    """
    return Subject.named(robot).strength if robot.startswith(SUBJECT) else NO_PRESET


def stand_in(name: str, saved: Path) -> None:
    """Use a saved model as the robot of this name if its own files are missing.

    The model also stands in for code that the user has not named (`biped.inputs.modules.saved_names`).
    """
    if name != HUMAN and saved.is_file():
        _stand_ins[address_of(name)] = saved


_stand_ins: dict[str, Path] = {}


@lru_cache(maxsize=8)
def _saved_instead(name: str, saved: Path) -> Model:
    _log.warning("biped: %s is not run: the saved model is used instead (--trust runs the file)", name)
    return load_robot(saved)


@lru_cache(maxsize=8)
def _loaded(name: str) -> Model:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            model = load_robot(name)
        except ModelError:
            if name not in _stand_ins:
                raise
            model = load_robot(_stand_ins[name])
    for warning in caught if parent_process() is None else ():  # workers load what this process has reported
        _log.warning("biped: %s", warning.message)
    return model


def floor_text(values: Mapping[str, Any], model: Model) -> str:
    """Return a text about the floor's friction under these values, and its origin; empty without a floor."""
    if "floor.mu_s" not in values:
        return ""
    usual, whose = floor_of(model), "the default" if model.floor_friction is None else "of the robot's file"
    static, dynamic = values["floor.mu_s"], values["floor.mu_d"]
    mu = f"{static:g}" if static == dynamic else f"{static:g}, sliding {dynamic:g}"
    return f"floor: µ {mu} ({whose if (static, dynamic) == (usual.mu_s, usual.mu_d) else 'as set'})"


def digest_of_robot(name: str) -> dict[str, str]:
    """Return a digest, by name, of the model that a robot's files describe; none for the human and people."""
    if name == HUMAN or name.startswith(SUBJECT):
        return {}
    return {address_of(name): hashlib.sha256(spelt_out(robot_named(name)).encode()).hexdigest()[:16]}


class RobotName(Parameter):
    """Parameter that names a robot."""

    def _word(self, value: Any) -> str:
        name = address_of(super()._word(value))
        robot_named(name)
        return name


def robot_parameter(name: str) -> RobotName:
    return RobotName(NAME, address_of(name), "", f"Robot: {HUMAN}, {ROBOT_NAMES}", OURS)

"""Robots by name: a file that describes a robot, or a function that returns its model.

A robot's TOML file gives the robot's URDF or MJCF, and the keys of `biped.model.importing.options.Options`::

    urdf = "talos_reduced.urdf"             # or mjcf = "….xml"; relative to this file
    feet = ["left_sole_link", "right_sole_link"]
    contacts = "collision"                  # or points [m] by link
    locked = { "arm_*" = 0.0 }              # [rad or m]
    posture = { "leg_*_4_joint" = 0.5 }     # all other joints are at zero
"""

import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

from biped.inputs.modules import check_may_import, module_named, module_of_file
from biped.inputs.robot_names import ROBOT_NAMES, SUBJECT
from biped.model.archive import load_saved
from biped.model.errors import ModelError, unknown
from biped.model.importing.options import Options
from biped.model.mjcf import load_mjcf
from biped.model.model import Model
from biped.model.subject import Subject
from biped.model.urdf import load_urdf
from biped.model.urdf.document import not_expanded
from contact.errors import BipedError

Reader = Callable[..., Model]
#: Readers by the key of the file's name.
READERS: dict[str, Reader] = {"urdf": load_urdf, "mjcf": load_mjcf}
_BY_ENDING: dict[str, Reader] = {".urdf": load_urdf, ".xml": load_mjcf, ".mjcf": load_mjcf, ".json": load_saved}


def load_robot(source: str | Path) -> Model:
    """Load the model of a robot.

    Args:
        source: a description (``.toml``), a URDF (``.urdf``), an MJCF (``.xml``, ``.mjcf``), the model saved with a run
            or a study (``model.json``), a person (``subject:STATURE,MASS,SEX`` and optionally ``,AGE``), or
            ``FILE.py:function`` or ``module:function``, a function without arguments that returns a `Model`.

    Raises:
        ModelError: the file or function is missing, or describes no model; the message is one line with a remedy.

    Warns:
        ModelWarning: a part of the robot was changed, or is not simulated.
    """
    if str(source).startswith(SUBJECT):
        return Subject.named(str(source)).model
    path = Path(source).expanduser()
    if path.suffix == ".toml":
        return _described(path)
    if path.suffix in _BY_ENDING:
        return _BY_ENDING[path.suffix](path)
    if ":" in str(source):
        return _made_by(str(source))
    if path.suffix == ".xacro":
        raise not_expanded(str(source))
    raise ModelError(f"{str(source)!r} does not name a robot; give {ROBOT_NAMES}")


def _described(path: Path) -> Model:
    table = _read(path)
    files = [key for key in READERS if key in table]
    if len(files) != 1:
        raise ModelError(f"{path}: one key, {' or '.join(READERS)}, must name the robot's file; got {files or 'none'}")
    (key,) = files
    file = table.pop(key)
    if not isinstance(file, str):
        raise ModelError(f"{path}: {key} must be the name of a file, got {file!r}")
    for name in table:
        if name not in Options.__annotations__:
            raise ModelError(f"{path}: {unknown('key', name, [*READERS, *Options.__annotations__])}")
    if isinstance(table.get("packages"), list):
        table["packages"] = [str(path.parent / str(folder)) for folder in table["packages"]]
    try:
        return READERS[key](path.parent / Path(file).expanduser(), **table)
    except ModelError as error:
        raise ModelError(f"{path}: {error}") from None


def _read(path: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise ModelError(f"there is no file {str(path)!r}") from None
    except (OSError, UnicodeDecodeError) as error:
        raise ModelError(f"the file {str(path)!r} cannot be read: {error}") from None
    except ValueError as error:
        raise ModelError(f"{path}: not TOML: {error}") from None


def _made_by(name: str) -> Model:
    where, _, function_name = name.rpartition(":")
    try:
        check_may_import(name)
        module = module_of_file(Path(where).expanduser()) if where.endswith(".py") else module_named(where)
    except BipedError as error:
        raise ModelError(f"{name!r}: {error}") from None
    function = getattr(module, function_name, None)
    if not callable(function):
        functions = [key for key, value in vars(module).items() if callable(value) and not key.startswith("_")]
        raise ModelError(f"{name!r}: {unknown('function', function_name, functions)}")
    model = function()
    if not isinstance(model, Model):
        raise ModelError(f"{name!r} returned {model!r}; it must return a biped.Model")
    return model

"""Controller parameters as a TOML file with one table ``[controller]``, which ``--gains`` reads."""

import json
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from biped.errors import InputError
from controllers.gains import KEYS, TABLE, read_gains
from experiments.catalogue.parameters.controllers import GROUP
from experiments.catalogue.parameters.parameter import Value, from_json

if TYPE_CHECKING:
    from experiments.catalogue.experiment import Experiment


def has_gains(experiment: "Experiment") -> bool:
    """Return True if the controller has the gains of the workspace controller, for which there is a file format."""
    return {f"{GROUP}.{key}" for key in KEYS} <= set(experiment.values())


def read_controller(path: str | Path, experiment: "Experiment") -> dict[str, Value]:
    """Return the values of the parameters ``controller.…`` in a file.

    Raises:
        InputError: the file is not TOML, or has an unknown parameter of the controller; the message names it.
        OSError: the file cannot be read.
    """
    if has_gains(experiment):
        return {f"{GROUP}.{name}": value for name, value in read_gains(path).items()}
    try:
        document = tomllib.loads(Path(path).read_text(encoding="utf-8"))
    except ValueError as error:
        raise InputError(f"{path}: not TOML: {error}") from None
    table = document.get(TABLE)
    if list(document) != [TABLE] or not isinstance(table, dict):
        raise InputError(f"{path}: it must have only a table [{TABLE}], but has {', '.join(document) or 'nothing'}")
    try:
        return {name: from_json(experiment.parameter(name), value) for name, value in _named(table)}
    except InputError as error:
        raise InputError(f"{path}: {error}") from None


def controller_text(values: Mapping[str, Value]) -> str:
    """Return the text of a file from which ``read_controller`` reads these values, all ``controller.…``."""
    lines = [f"{json.dumps(name.partition('.')[2])} = {_toml(value)}" for name, value in values.items()]
    return "\n".join([f"[{TABLE}]", *lines, ""])


def _named(table: Mapping[str, object]) -> list[tuple[str, object]]:
    return [(f"{GROUP}.{key}", tuple(value) if isinstance(value, list) else value) for key, value in table.items()]


def _toml(value: Value) -> str:
    if isinstance(value, tuple):
        return f"[{', '.join(map(_toml, value))}]"
    return json.dumps(value, ensure_ascii=False) if isinstance(value, str) else repr(value)

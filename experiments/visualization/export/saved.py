"""A saved run with the model that it belongs to."""

import json
import math
from pathlib import Path
from typing import Any

from biped.errors import InputError
from biped.model import Model, human, load_urdf
from biped.runs.run import SUMMARY, Run


def load_run(folder: str | Path, urdf: str | None = None) -> Run:
    """The run that ``Run.save`` wrote, of the model of its experiment, of a URDF, or else of the human.

    Raises:
        InputError: there is no run there, or it is that of another model.
    """
    folder = Path(folder)
    return Run.load(folder, load_urdf(urdf) if urdf is not None else _model_of(folder))


def _model_of(folder: Path) -> Model:
    parameters = _parameters(folder)
    name = parameters.pop("experiment", None)
    if name is None:
        return human()
    from experiments.catalogue.registry import experiment_named

    experiment = experiment_named(str(name))
    defaults = {parameter.name: parameter.default for parameter in experiment.parameters}
    changes = {
        key: _value(value) for key, value in parameters.items() if key in defaults and _value(value) != defaults[key]
    }
    return experiment.build(changes).model


def _parameters(folder: Path) -> dict[str, Any]:
    path = folder / SUMMARY
    if not path.is_file():
        raise InputError(f"{folder}: no run there ({SUMMARY} missing)")
    try:
        return dict(json.loads(path.read_text(encoding="utf-8"))["parameters"])
    except (ValueError, KeyError, TypeError) as error:
        raise InputError(f"{path}: damaged, or not a run saved by Run.save ({error})") from error


def _value(value: Any) -> Any:
    """As ``Values.as_json`` had it before."""
    if isinstance(value, list):
        return tuple(value)
    return math.inf if value == "inf" else value

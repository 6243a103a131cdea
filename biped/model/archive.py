"""A model as JSON and back, to the last bit: what is saved beside a run, so that it can be opened anywhere."""

import json
import math
from collections.abc import Mapping
from dataclasses import asdict, fields
from pathlib import Path
from typing import Any

from biped.model.actuator import Actuator
from biped.model.body import Body
from biped.model.closing_joint import ClosingJoint
from biped.model.contact_point import ContactPoint
from biped.model.errors import ModelError
from biped.model.joint import PASSIVE, Joint
from biped.model.line import Line
from biped.model.model import Model
from biped.model.shape import Box, Capsule
from biped.model.visual import Visual

FORMAT = 1


def model_to_json(model: Model) -> str:
    """``model`` as text; `model_from_json` makes an equal one, all floats bit for bit."""
    return json.dumps({"format": FORMAT} | _finite(asdict(model)), indent=1, allow_nan=False)


def load_saved(path: Path) -> Model:
    """The model that was saved beside a run or a study.

    Raises:
        ModelError: the file is not there, or not that of a model.
    """
    try:
        return model_from_json(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise ModelError(f"there is no file {str(path)!r}") from None
    except (OSError, UnicodeDecodeError) as error:
        raise ModelError(f"{path}: it cannot be read: {error}") from None
    except ModelError as error:
        raise ModelError(f"{path}: {error}") from None


def model_from_json(text: str) -> Model:
    """The model that `model_to_json` wrote.

    Raises:
        ModelError: the text is not that of a model.
    """
    try:
        saved = json.loads(text)
        if saved.pop("format") != FORMAT:
            raise ModelError(f"a model saved by another version (here format {FORMAT}); make it again")
        return Model(
            **_known(Model, saved)
            | {
                "bodies": tuple(_body(body) for body in saved["bodies"]),
                **{key: tuple(ContactPoint(**one) for one in saved[key]) for key in ("contact_points", "body_points")},
                "shapes": tuple(Box(**box) for box in saved["shapes"]),
                "capsules": tuple(Capsule(**capsule) for capsule in saved["capsules"]),
                "touching": tuple((first, second) for first, second in saved["touching"]),
                "feet": tuple(saved["feet"]),
                "posture": tuple((joint, value) for joint, value in saved["posture"]),
                "ranges": tuple((joint, lower, upper) for joint, lower, upper in saved["ranges"]),
                "notes": tuple(saved["notes"]),
                "visuals": tuple(Visual(**visual) for visual in saved["visuals"]),
                "lines": tuple(Line(**line) for line in saved["lines"]),
                "closing_joints": tuple(ClosingJoint(**joint) for joint in saved["closing_joints"]),
                "actuators": tuple(Actuator(**one) for one in saved["actuators"]),
            }
        )
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        if isinstance(error, ModelError):
            raise
        raise ModelError(f"not a model that was saved: {error}") from None


def _body(saved: Mapping[str, Any]) -> Body:
    joint: dict[str, Any] = {k: PASSIVE[k] if value is None else value for k, value in saved["joint"].items()}
    return Body(**_known(Body, saved) | {"joint": Joint(**joint)})


def _known(kind: Any, saved: Mapping[str, Any]) -> dict[str, Any]:
    """Refuse what is missing or too much: a model's numbers are not to be guessed."""
    names = {item.name for item in fields(kind)}
    if names != set(saved):
        raise ValueError(f"{', '.join(sorted(names ^ set(saved)))}: missing, or not known")
    return dict(saved)


def _finite(value: Any) -> Any:
    """A number or nested numbers with None for an infinite limit, which JSON does not have."""
    if isinstance(value, dict):
        return {key: _finite(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_finite(item) for item in value]
    return None if isinstance(value, float) and math.isinf(value) else value

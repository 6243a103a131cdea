"""A model as JSON and back, to the last bit: what is saved beside a run, so that it can be opened anywhere."""

import json
from dataclasses import asdict
from pathlib import Path

from biped.inputs.saved import built, finite
from biped.model.errors import ModelError
from biped.model.model import Model

FORMAT = 1


def model_to_json(model: Model) -> str:
    """``model`` as text; `model_from_json` makes an equal one, all floats bit for bit."""
    return json.dumps({"format": FORMAT} | finite(asdict(model)), indent=1, allow_nan=False)


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
        found: Model = built(Model, saved)
        return found
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        if isinstance(error, ModelError):
            raise
        raise ModelError(f"not a model that was saved: {error}") from None

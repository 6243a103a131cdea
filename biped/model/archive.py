"""A model as JSON and back, to the last bit, for the folders of runs."""

import json
from dataclasses import asdict
from pathlib import Path

from biped.inputs.saved import built, finite
from biped.model.errors import ModelError
from biped.model.model import Model

FORMAT = 1


def model_to_json(model: Model) -> str:
    """Return ``model`` as JSON; `model_from_json` makes an equal model from it, all floats bit for bit."""
    return json.dumps({"format": FORMAT} | finite(asdict(model)), indent=1, allow_nan=False)


def load_saved(path: Path) -> Model:
    """Load a model saved with a run or a study.

    Raises:
        ModelError: the file is missing, or not a saved model.
    """
    try:
        return model_from_json(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise ModelError(f"there is no file {str(path)!r}") from None
    except (OSError, UnicodeDecodeError) as error:
        raise ModelError(f"{path} cannot be read: {error}") from None
    except ModelError as error:
        raise ModelError(f"{path}: {error}") from None


def model_from_json(text: str) -> Model:
    """Return the model saved as ``text`` by `model_to_json`.

    Raises:
        ModelError: the text is not a saved model.
    """
    try:
        saved = json.loads(text)
        if saved.pop("format") != FORMAT:
            raise ModelError(f"saved by another version of biped, not in format {FORMAT}: save the model again")
        model: Model = built(Model, saved)
        return model
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        if isinstance(error, ModelError):
            raise
        raise ModelError(f"not a model that biped saved as JSON: {error}") from None

"""Fields of controllers that are parameters of experiments."""

from dataclasses import field
from typing import Any


def parameter(default: Any, unit: str, title: str, *between: float, **more: Any) -> Any:
    """Return a field of a controller's dataclass that an experiment has as a parameter.

    Args:
        default: value.
        unit: empty if it has none.
        title: label.
        between: least and greatest value in tunings and on sliders, if it is tuned.
        more: metadata that ``experiments.catalogue.parameters.fields`` knows, such as ``source``.
    """
    return field(
        default=default, metadata={"unit": unit, "title": title, **({"range": between} if between else {}), **more}
    )

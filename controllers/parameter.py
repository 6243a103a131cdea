"""Dataclass fields of controllers that are parameters of experiments."""

from dataclasses import field
from typing import Any


def parameter(default: Any, unit: str, title: str, *between: float, **more: Any) -> Any:
    """Return a dataclass field of a controller that experiments offer as a parameter.

    Args:
        default: default value.
        unit: unit; empty: none.
        title: label that is clear without its context.
        between: smallest and greatest value in tunings and on sliders; without them it is not tuned.
        more: further metadata of ``experiments.catalogue.parameters.fields``, such as ``source``.
    """
    return field(
        default=default, metadata={"unit": unit, "title": title, **({"range": between} if between else {}), **more}
    )

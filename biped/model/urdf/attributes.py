"""Numbers and names in the attributes of XML elements."""

import math
import xml.etree.ElementTree as ET
from collections.abc import Iterable

from biped.model.errors import ModelError
from biped.model.geometry import Vector3


def words(values: Iterable[float]) -> str:
    """Return floats as text that reads back to equal values; a negative zero becomes positive."""
    return " ".join(repr(float(value) + 0.0) for value in values)


def text_attribute(element: ET.Element, attribute: str, where: str) -> str:
    """Return the name in an attribute.

    Raises:
        ModelError: the attribute is missing or empty; ``where`` begins the message.
    """
    value = element.get(attribute)
    if not value:
        raise ModelError(f"{where} needs the attribute {attribute!r}, which is missing or empty")
    return value


def scalar(element: ET.Element, attribute: str, where: str, default: float | None = None) -> float:
    """Return the finite number in an attribute, or ``default`` if it is missing.

    Raises:
        ModelError: the attribute is missing without a default, or not one finite number.
    """
    if default is not None and element.get(attribute) is None:
        return default
    return numbers(element, attribute, where, 1)[0]


def triple(element: ET.Element, attribute: str, where: str, default: Vector3 | None = None) -> Vector3:
    """Return the three finite numbers in an attribute, or ``default`` if it is missing.

    Raises:
        ModelError: the attribute is missing without a default, or not three finite numbers.
    """
    if default is not None and element.get(attribute) is None:
        return default
    x, y, z = numbers(element, attribute, where, 3)
    return x, y, z


def numbers(element: ET.Element, attribute: str, where: str, count: int) -> list[float]:
    """Return the ``count`` finite numbers in an attribute.

    Raises:
        ModelError: the attribute is missing or has other contents.
    """
    text = element.get(attribute)
    is_plain = text is None or (text.isascii() and "_" not in text and (count > 1 or text == text.strip()))
    try:
        values = [float(word) for word in (text or "").split()] if is_plain else []
    except ValueError:
        values = []
    if len(values) != count or not all(math.isfinite(value) for value in values):
        expected = "a finite number" if count == 1 else f"{count} finite numbers"
        plainly = "" if is_plain else "; write plain digits without spaces around them"  # otherwise parsers ignore it
        raise ModelError(f"{where}: <{element.tag}> attribute {attribute!r} must be {expected}, got {text!r}{plainly}")
    return values

"""Units as laboratories write them, and what they are in SI; degrees stay degrees."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass

from biped.errors import InputError

_PREFIXES = {"": 1.0, "k": 1e3, "d": 1e-1, "c": 1e-2, "m": 1e-3, "u": 1e-6, "µ": 1e-6, "μ": 1e-6, "M": 1e6}
#: Of SI, with prefixes; the gram stands for the kilogram.
_BASES = ("m", "s", "N", "V", "Pa", "W", "J", "Hz", "rad", "A")
_WITHOUT_PREFIX = {"deg": ("deg", 1.0), "°": ("deg", 1.0), "min": ("s", 60.0), "g": ("kg", 1e-3), "kg": ("kg", 1.0)}
#: What is written for a number without a unit.
_NONE = ("", "1", "-", "–", "none")
#: Products that are written without a dot between them.
_TOGETHER = {"Nm": "N·m", "Nmm": "N·mm", "Ncm": "N·cm", "kNm": "kN·m", "Ns": "N·s", "Nms": "N·m·s"}
_POWERS = {"²": 2, "³": 3, "^2": 2, "^3": 3, "2": 2, "3": 3}
_RADIANS = math.pi / 180.0

#: For messages.
SUCH_AS = "mm, cm, m, ms, s, N, N*m, kg, rad, deg, deg/s, m/s, m/s^2, V"


@dataclass(frozen=True)
class Unit:
    """A unit.

    Attributes:
        factor: how many of ``name`` are in one.
        name: in SI, or in degrees: m, N·m, m/s², deg/s; empty of what has none.
        powers: of each base unit, in order of names; rad and deg are both the angle.
        radians: what one of ``name`` has to be multiplied by for SI: (π/180)ⁿ, n the power of the degrees.
    """

    factor: float
    name: str
    powers: tuple[tuple[str, int], ...]
    radians: float


def unit_of(text: str) -> Unit:
    """The unit that a text stands for.

    Raises:
        InputError: there is no such unit.
    """
    text = text.strip().replace("**", "^")
    if text in _NONE:
        return Unit(1.0, "", (), 1.0)
    over, *under = _TOGETHER.get(text.partition("/")[0], text.partition("/")[0]), *text.split("/")[1:]
    factor, radians, powers = 1.0, 1.0, dict[str, int]()
    names = []
    for sign, part in ((1, over), *((-1, part) for part in under)):
        words = []
        for word in re.split(r"[·*⋅ ]|(?<=[A-Za-z])-(?=[A-Za-z])", part):
            base, size, power = _base(word, text)
            factor *= size ** (sign * power)
            radians *= _RADIANS ** (sign * power) if base == "deg" else 1.0
            kind = "angle" if base in ("deg", "rad") else base
            powers[kind] = powers.get(kind, 0) + sign * power
            words.append(base + {1: "", 2: "²", 3: "³"}[power])
        names.append("·".join(words))
    return Unit(factor, "/".join(names), tuple(sorted((k, n) for k, n in powers.items() if n)), radians)


def _base(word: str, text: str) -> tuple[str, float, int]:
    """The base unit of one factor, how many of it there are in one, and its power."""
    end = next((end for end in _POWERS if word.endswith(end)), "")
    word, power = word.removesuffix(end), _POWERS.get(end, 1)
    if word in _WITHOUT_PREFIX:
        return (*_WITHOUT_PREFIX[word], power)
    for base in _BASES:
        if word.endswith(base) and word.removesuffix(base) in _PREFIXES:
            return base, _PREFIXES[word.removesuffix(base)], power
    raise InputError(f"no unit {text!r}: write one such as {SUCH_AS}")


def is_unit(text: str) -> bool:
    """Whether there is such a unit."""
    try:
        unit_of(text)
    except InputError:
        return False
    return True


def factor_between(have: str, wanted: str) -> float:
    """What a number of one unit has to be multiplied by, to be of another one.

    Raises:
        InputError: the two measure different things, or one is no unit.
    """
    mine, other = unit_of(have), unit_of(wanted)
    if mine.powers != other.powers:
        raise InputError(f"it is in {have or 'no unit'}, and has to be in {wanted or 'none'}")
    return mine.factor * mine.radians / (other.factor * other.radians)

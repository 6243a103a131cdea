"""Units in the notations of laboratories, and their SI equivalents; degrees stay degrees."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass

from biped.errors import InputError

_PREFIXES = {"": 1.0, "k": 1e3, "d": 1e-1, "c": 1e-2, "m": 1e-3, "u": 1e-6, "µ": 1e-6, "μ": 1e-6, "n": 1e-9, "M": 1e6}
_BASES = ("m", "s", "N", "V", "Pa", "W", "J", "Hz", "rad", "A", "T")
#: Units without prefixes, and their SI equivalents; the gram stands for the kilogram. Imperial: NIST SP 811.
_WITHOUT_PREFIX = {
    "deg": ("deg", 1.0), "°": ("deg", 1.0), "%": ("%", 1.0), "min": ("s", 60.0), "h": ("s", 3600.0), "1": ("", 1.0),
    "g": ("kg", 1e-3), "kg": ("kg", 1.0), "lb": ("kg", 0.45359237), "lbs": ("kg", 0.45359237), "bpm": ("Hz", 1 / 60),
    "lbf": ("N", 4.4482216152605), "kgf": ("N", 9.80665), "in": ("m", 0.0254), "ft": ("m", 0.3048),
}  # fmt: skip
#: Units that are replaced by a factor and another unit; ``gn`` is standard gravity.
_SPECIAL = {"gn": (9.80665, "m/s^2"), "rpm": (math.pi / 30.0, "rad/s"), "none": (1.0, "1"), "–": (1.0, "1")}
_SPECIAL |= dict.fromkeys(("", "-"), (1.0, "1"))
#: Units written out in any case, singular or plural. ``Mm`` is never a megametre.
_WRITTEN_OUT = {
    "meter": "m", "metre": "m", "second": "s", "sec": "s", "minute": "min", "hour": "h", "newton": "N", "volt": "V",
    "pascal": "Pa", "watt": "W", "joule": "J", "hertz": "Hz", "radian": "rad", "degree": "deg", "deg": "deg",
    "gram": "g", "inche": "in", "inch": "in", "percent": "%", "mm": "mm", "cm": "cm", "kg": "kg",
}  # fmt: skip
_WORD = re.compile(rf"(?i:(milli|centi|kilo|micro|m|k|u|µ)?({'|'.join(_WRITTEN_OUT)})s?)")
_POWER = re.compile(r"(.*?)((?:\^|(?<=[^\W\d]))[-−]?[123]|⁻?[¹²³])?")
_DIGITS = str.maketrans("−⁻¹²³", "--123", "^")
#: Products written without a dot.
_TOGETHER = {"Nm": "N·m", "Nmm": "N·mm", "Ncm": "N·cm", "kNm": "kN·m", "Ns": "N·s", "Nms": "N·m·s"}
_RADIANS = math.pi / 180.0

#: Examples of units for messages.
SUCH_AS = "mm, cm, m, ms, s, N, N*m, kg, rad, deg, deg/s, m/s, m/s^2, V"


@dataclass(frozen=True)
class Unit:
    """A unit of measurement, with its factor to SI units or degrees."""

    factor: float  #: size of this unit in units of ``name``
    name: str  #: unit in SI or degrees: m, N·m, m/s², deg/s; empty if dimensionless
    powers: tuple[tuple[str, int], ...]  #: power of each base unit, sorted by name; rad and deg count as "angle"
    radians: float  #: factor from ``name`` to SI: (π/180)ⁿ, n the power of the degrees


def unit_of(text: str) -> Unit:
    """Return the unit that a text denotes.

    Raises:
        InputError: the unit is unknown.
    """
    text = text.strip().replace("**", "^")
    factor, written = _SPECIAL.get(text, (1.0, text))
    radians, powers = 1.0, dict[str, int]()
    names: tuple[list[str], list[str]] = ([], [])  # over and under the stroke
    for place, part in enumerate(written.split("/")):
        for word in re.split(r"[·*⋅. ]|(?<=[A-Za-z])-(?=[A-Za-z])", _TOGETHER.get(part, part)):
            base, size, power = _base(word, text)
            power = -power if place else power
            factor *= size**power
            radians *= _RADIANS**power if base == "deg" else 1.0
            kind = "angle" if base in ("deg", "rad") else base
            powers[kind] = powers.get(kind, 0) + power
            names[power < 0].append(base + {1: "", 2: "²", 3: "³"}[abs(power)])
    name = "/".join(["·".join(filter(None, names[0])) or "1", *names[1]])
    kinds = tuple(sorted((kind, n) for kind, n in powers.items() if kind and n))
    return Unit(factor, "" if name == "1" else name, kinds, radians)


def _base(word: str, text: str) -> tuple[str, float, int]:
    """Return the base unit of one factor of a unit, the factor's size in this base unit, and its power."""
    match = _POWER.fullmatch(word)
    assert match is not None
    power = int((match[2] or "1").translate(_DIGITS))
    written_out = _WORD.fullmatch(match[1])
    for symbol in filter(None, (match[1], written_out and _short(written_out))):
        if symbol in _WITHOUT_PREFIX:
            return (*_WITHOUT_PREFIX[symbol], power)
        for base in _BASES:
            if symbol.endswith(base) and symbol.removesuffix(base) in _PREFIXES and symbol not in ("Mm", "Ms"):
                return base, _PREFIXES[symbol.removesuffix(base)], power
    ambiguous = "G may be gauss or gravity (gn); " if word == "G" else ""
    raise InputError(f"unknown unit {text!r}: {ambiguous}use a unit such as {SUCH_AS}")


def _short(match: re.Match[str]) -> str:
    prefix, word = (match[1] or "").lower(), match[2]
    return ("u" if prefix == "micro" else prefix[:1]) + _WRITTEN_OUT[word.lower()]


def is_unit(text: str) -> bool:
    """Return True if a text denotes a known unit."""
    try:
        unit_of(text)
    except InputError:
        return False
    return True


def factor_between(have: str, target: str) -> float:
    """Return the factor that converts numbers from the unit ``have`` to the unit ``target``.

    Raises:
        InputError: the units measure different quantities, or a unit is unknown.
    """
    mine, other = unit_of(have), unit_of(target)
    if mine.powers != other.powers:
        raise InputError(f"its unit is {have or 'none'}: it must be {target or 'none'}")
    return mine.factor * mine.radians / (other.factor * other.radians)

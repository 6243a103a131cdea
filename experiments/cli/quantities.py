"""Quantities as text: few digits, and a suitable prefix."""

#: [m] lengths below it are numerical noise of a standing model.
SMALLEST_LENGTH = 1e-6


def unit_text(unit: str) -> str:
    """Return a unit as printed: ``N*m`` as N·m, ``m**2`` as m², ``deg`` as °; empty for dimensionless numbers."""
    return "" if unit == "1" else "°" if unit == "deg" else unit.replace("**2", "²").replace("*", "·")


def length(metres: float) -> str:
    return f"< {scaled(SMALLEST_LENGTH, 'm')}" if 0.0 < abs(metres) < SMALLEST_LENGTH else scaled(metres, "m")


def scaled(value: float, unit: str) -> str:
    """Return a number in SI units with a suitable prefix, down to nano."""
    for prefix, factor in (("", 1.0), ("m", 1e3), ("µ", 1e6)):
        if abs(value) * factor >= 1.0:
            return f"{value * factor:.3g} {prefix}{unit}"
    return f"{value * 1e9:.3g} n{unit}" if value else f"0 {unit}"

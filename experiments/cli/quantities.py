"""Quantities as a reader likes them: few digits, and the prefix that suits the size."""

#: [m] Lengths below it are noise of the steps to whoever stands on the floor.
SMALLEST_LENGTH = 1e-6


def unit_text(unit: str) -> str:
    """A unit as it is printed: ``N*m`` is N·m, ``m**2`` is m², ``deg`` is °; empty for a number without one."""
    return "" if unit == "1" else "°" if unit == "deg" else unit.replace("**2", "²").replace("*", "·")


def length(metres: float) -> str:
    return f"< {scaled(SMALLEST_LENGTH, 'm')}" if 0.0 < abs(metres) < SMALLEST_LENGTH else scaled(metres, "m")


def scaled(value: float, unit: str) -> str:
    """A number of SI units with the prefix that suits its size, down to nano."""
    for prefix, factor in (("", 1.0), ("m", 1e3), ("µ", 1e6)):
        if abs(value) * factor >= 1.0:
            return f"{value * factor:.3g} {prefix}{unit}"
    return f"{value * 1e9:.3g} n{unit}" if value else f"0 {unit}"

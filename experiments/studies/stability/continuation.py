"""Zero curves of a function f on the unit square: detected on a grid, then followed by continuation.

The method is pseudo-arclength continuation (Keller 1977). f may have kinks and be undefined in places, and its zero
curve may have several components.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import Protocol

import numpy as np
from scipy.optimize import brentq

from contact.arrays import Floats

#: Largest ``|f|`` of a point that counts as on the curve.
ON_CURVE = 1e-9
#: Number of halvings of a step before the curve counts as lost.
HALVINGS = 6
#: [rad] a turn of the curve by more than this within the shortest step is a corner.
CORNER = np.radians(25.0)
#: Distance from a known curve, as a fraction of a step, within which a root belongs to it.
NEAR = 0.25
#: Radius, as a fraction of a step, of the circle on which the curve is searched after a corner; number of directions.
AROUND = 0.25
DIRECTIONS = 24
#: Largest number of iterations of the corrector.
MOST_CORRECTIONS = 16


class Field(Protocol):
    """A function f on the unit square, which is zero on the curve."""

    def value(self, u: Floats) -> float:
        """Return f at a point (2,); NaN if f is undefined."""

    def slope(self, u: Floats) -> Floats:
        """Return the derivative (2,) of f at a point (2,)."""

    def reason(self, u: Floats) -> str:
        """Return the reason why f is undefined at a point (2,); empty if it is defined."""


@dataclass
class Branch:
    """A connected component of the curve."""

    places: list[Floats] = field(default_factory=list)  # (k, 2) points in the unit square
    slopes: list[Floats] = field(default_factory=list)  # (k, 2) derivatives of f at the points
    corners: list[int] = field(default_factory=list)  # indices of the points before a corner
    closed: bool = False  # True for a closed curve
    ends: tuple[str, str] = ("", "")  # reasons why the curve stops, at its beginning and its end

    def distance(self, u: Floats) -> float:
        """Return the distance of a point from the curve."""
        p = np.array(self.places + (self.places[:1] if self.closed else []))
        if len(p) == 1:
            return float(np.linalg.norm(p[0] - u))
        a, along = p[:-1], np.diff(p, axis=0)
        share = np.clip(((u - a) * along).sum(axis=1) / np.maximum((along**2).sum(axis=1), 1e-300), 0.0, 1.0)
        return float(np.linalg.norm(a + share[:, None] * along - u, axis=1).min())


def grid_places(count: int) -> Floats:
    """Return the nodes (count, count, 2) of a grid on the unit square; the first index runs along x."""
    ticks = np.linspace(0.0, 1.0, count)
    return np.stack(np.meshgrid(ticks, ticks, indexing="ij"), axis=-1)


def seeds(f: Field, places: Floats, values: Floats) -> list[Floats]:
    """Return a point of the curve on each grid edge along which f changes sign."""
    roots = []
    for di, dj in ((1, 0), (0, 1)):
        for i in range(places.shape[0] - di):
            for j in range(places.shape[1] - dj):
                a, b = values[i, j], values[i + di, j + dj]
                if np.isfinite(a) and np.isfinite(b) and (a < 0.0) != (b < 0.0):
                    root = _between(f, places[i, j], places[i + di, j + dj])
                    if root is not None:
                        roots.append(root)
    return roots


def _between(f: Field, a: Floats, b: Floats) -> Floats | None:
    """Return a root on a segment at whose ends f differs in sign; None if f is undefined, or jumps, in between."""
    t = _root(lambda t: f.value(a + t * (b - a)), 0.0, 1.0)
    if t is None:
        return None
    place: Floats = a + t * (b - a)
    return place if abs(f.value(place)) <= 1e3 * ON_CURVE else None  # otherwise f jumps at this place


class _NoValueError(Exception):
    """f is undefined at a point."""


def _root(value: Callable[[float], float], low: float, high: float) -> float | None:
    """Return a root between two arguments at which the values differ in sign; None if a value is undefined."""

    def finite(t: float) -> float:
        v = value(t)
        if not np.isfinite(v):
            raise _NoValueError
        return v

    try:
        return float(brentq(finite, low, high, xtol=1e-14, rtol=1e-14))
    except _NoValueError:
        return None


def components(
    f: Field, starts: list[Floats], size: float, most: int, progress: Callable[[int], None] = lambda _: None
) -> list[Branch]:
    """Return the components of the curve through some points; ``size`` is the step in the unit square.

    ``most`` is the largest number of points on each side of a start; ``progress`` is called with the number of points.
    """
    branches: list[Branch] = []
    for start in starts:
        if all(branch.distance(start) > NEAR * size for branch in branches):
            before = sum(len(branch.places) for branch in branches)
            branches.append(branch_through(f, start, size, most, partial(_add_to, progress, before)))
    return branches


def _add_to(progress: Callable[[int], None], before: int, count: int) -> None:
    progress(before + count)


def branch_through(
    f: Field, start: Floats, size: float, most: int, progress: Callable[[int], None] = lambda _: None
) -> Branch:
    """Return the component of the curve through one of its points."""
    ahead = _follow(f, start, 1.0, size, most, progress)
    if ahead.closed:
        return ahead
    back = _follow(f, start, -1.0, size, most, progress)
    count = len(back.places) - 1
    return Branch(
        back.places[:0:-1] + ahead.places,
        back.slopes[:0:-1] + ahead.slopes,
        sorted([count - 1 - k for k in back.corners] + [count + k for k in ahead.corners]),
        closed=False,
        ends=(back.ends[1], ahead.ends[1]),
    )


def _follow(f: Field, start: Floats, side: float, size: float, most: int, progress: Callable[[int], None]) -> Branch:
    """Return the curve that begins at a point, with greater f on its left, or on its right if ``side`` is −1."""
    branch = Branch([start], [f.slope(start)])
    step = size
    while len(branch.places) < most:
        at, slope = branch.places[-1], branch.slopes[-1]
        tangent = side * _turned(slope)
        if not np.isfinite(tangent).all():
            branch.ends = ("", "the derivative does not exist here")
            return branch
        to_border = _to_border(at, tangent)
        if to_border < 1e-9:
            branch.ends = ("", "leaves the range")
            return branch
        leaves = to_border <= step
        length = min(step, to_border)
        guess = at + length * tangent
        direction = _border_direction(guess) if leaves else slope / np.linalg.norm(slope)
        place = _corrected(f, np.clip(guess, 0.0, 1.0), direction, slope, length)
        new = None if place is None else f.slope(place)
        turn = np.inf if new is None else float(np.arccos(np.clip(side * _turned(new) @ tangent, -1.0, 1.0)))
        if place is None or not np.isfinite(turn) or (turn > CORNER and step > size / 2**HALVINGS):
            step /= 2.0
            if step >= size / 2**HALVINGS:
                continue
            place = _round_corner(f, at, tangent, side, size * AROUND)
            if place is None:
                branch.ends = ("", f.reason(np.clip(guess, 0.0, 1.0)) or "the curve was lost: the function jumps here")
                return branch
            new, turn, leaves, step = f.slope(place), np.inf, False, size * AROUND
        assert new is not None
        if turn > CORNER:
            branch.corners.append(len(branch.places) - 1)
        branch.places.append(place)
        branch.slopes.append(new)
        progress(len(branch.places))
        if leaves:
            branch.ends = ("", "leaves the range")
            return branch
        if len(branch.places) > 4 and np.linalg.norm(place - start) < 0.75 * size:
            branch.closed = True
            return branch
        step = min(size, 2.0 * step) if turn < CORNER / 3.0 else step
    branch.ends = ("", f"the curve continues after {most} points, the largest number")
    return branch


def _round_corner(f: Field, at: Floats, tangent: Floats, side: float, radius: float) -> Floats | None:
    """Return the next point of the curve after a corner, on a circle about the present point; None: no such point.

    Along the circle, f increases through zero where the curve leaves it, and decreases where the curve enters.
    """
    first = float(np.arctan2(tangent[1], tangent[0]))
    turns = np.linspace(-np.pi, np.pi, DIRECTIONS + 1)

    def on_circle(turn: float) -> Floats:
        angle = first + side * turn
        return at + radius * np.array([np.cos(angle), np.sin(angle)])

    def value(turn: float) -> float:
        place = on_circle(turn)
        return f.value(place) if place.min() >= 0.0 and place.max() <= 1.0 else np.nan

    values = np.array([value(float(turn)) for turn in turns])
    rises = [k for k in range(DIRECTIONS) if values[k] < 0.0 <= values[k + 1]]
    for k in sorted(rises, key=lambda k: abs(turns[k] + turns[k + 1])):
        root = _root(value, float(turns[k]), float(turns[k + 1]))
        if root is not None and abs(value(root)) <= ON_CURVE:
            return on_circle(root)
    return None


def _turned(slope: Floats) -> Floats:
    """Return the unit tangent with greater f on its left."""
    size = np.linalg.norm(slope)
    return np.array([slope[1], -slope[0]]) / size if size > 0.0 else np.full(2, np.nan)


def _to_border(at: Floats, tangent: Floats) -> float:
    """Return the distance along a direction to the border of the square."""
    lengths = [((1.0 if t > 0.0 else 0.0) - x) / t for x, t in zip(at, tangent, strict=True) if t != 0.0]
    return max(0.0, min(lengths))


def _border_direction(u: Floats) -> Floats:
    """Return the unit direction (2,) of the square's border at a point on it."""
    off = np.minimum(np.abs(u), np.abs(1.0 - u))
    return np.array([0.0, 1.0]) if off[0] < off[1] else np.array([1.0, 0.0])


def _corrected(f: Field, guess: Floats, direction: Floats, slope: Floats, reach: float) -> Floats | None:
    """Return the root on a line through a guess, within ``reach``, by bracketed secant steps; None: not found."""
    low: tuple[float, float] | None = None
    high: tuple[float, float] | None = None
    t, before, rate = 0.0, None, float(slope @ direction)
    for _ in range(MOST_CORRECTIONS):
        place = guess + t * direction
        if place.min() < 0.0 or place.max() > 1.0:
            return None
        value = f.value(place)
        if not np.isfinite(value):
            return None
        if abs(value) <= ON_CURVE:
            return place
        if value < 0.0:
            low = (t, value)
        else:
            high = (t, value)
        if before is not None and t != before[0] and value != before[1]:
            rate = (value - before[1]) / (t - before[0])
        before = (t, value)
        t = t - value / rate if rate != 0.0 else np.inf
        if low is not None and high is not None:
            ends = sorted((low[0], high[0]))
            if not ends[0] < t < ends[1]:
                t = 0.5 * (ends[0] + ends[1])
        if abs(t) > reach:
            return None
    return None

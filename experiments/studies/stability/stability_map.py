"""Stability map: the boundary of local stability over two parameters, compared with simulations on a grid."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pandas as pd

from biped.errors import InputError
from contact.arrays import Floats
from experiments.catalogue.parameters.parameter import Value, value_under
from experiments.studies.stability.continuation import Branch, components, grid_places, seeds
from experiments.studies.stability.loop import GROWN, NO_EQUILIBRIUM, RECOVERED, Range, StabilityField

#: Where ``|1 − |λ||`` is below this, a simulation of some seconds cannot show whether deviations grow.
TOO_CLOSE = 1e-3


@dataclass(frozen=True, eq=False)
class StabilityMap:
    """Boundary of local stability over two parameters, with simulations on a grid."""

    field: StabilityField  # the two parameters and their ranges
    grid: pd.DataFrame  # a row for each node: values, ``|λ|``, verdict of the simulation, reason for no equilibrium
    branches: list[Branch]  # components of the boundary
    boundary: pd.DataFrame  # a row for each point of the boundary
    home: tuple[float, float] | None  # the parameters' values in the experiment; None if outside the ranges

    @property
    def disagreements(self) -> pd.DataFrame:
        """Comparable nodes at which simulation and ``|λ|`` disagree."""
        clear = self._clear
        return clear[(clear["size"] < 1.0) != (clear["simulated"] == RECOVERED)]

    @property
    def compared(self) -> int:
        """Number of nodes at which simulation and ``|λ|`` can be compared."""
        return len(self._clear)

    @property
    def _clear(self) -> pd.DataFrame:
        simulated = self.grid[self.grid["simulated"].isin([RECOVERED, GROWN])]
        return simulated[np.abs(simulated["size"] - 1.0) >= TOO_CLOSE]

    @property
    def without_equilibrium(self) -> pd.DataFrame:
        """Nodes without an equilibrium."""
        return self.grid[self.grid["size"].isna()]

    @property
    def corners(self) -> int:
        """Number of points of the boundary at which two modes are critical."""
        return sum(len(branch.corners) for branch in self.branches)


def stability_map(
    field: StabilityField,
    *,
    grid: int = 9,
    size: float = 0.04,
    most: int = 200,
    seconds: float = 3.0,
    seed: int = 0,
    simulate: bool = True,
    progress: Callable[[str, int, int], None] = lambda *_: None,
) -> StabilityMap:
    """Compute the boundary of local stability over two parameters, and compare it with simulations on a grid.

    Args:
        field: the two parameters, and the stability at their values.
        grid: number of grid nodes along each parameter; closed boundary curves smaller than a grid cell may be missed.
        size: step size along the boundary, as a fraction of the ranges, above 0 and at most 0.5.
        most: largest number of points on a boundary curve, in each direction from its first point.
        seconds: [s] length of each simulated run from a perturbed equilibrium.
        seed: seed of the random perturbations.
        simulate: False to skip the simulations.
        progress: called with the activity (``"grid"`` or ``"boundary"``), the number done, and the total (0: unknown).

    Raises:
        InputError: an argument is out of range, or no grid node has an equilibrium; the message gives a reason.
    """
    if grid < 2 or not 0.0 < size <= 0.5 or most < 2 or not seconds > 0.0:
        given = f"grid = {grid}, size = {size:g}, most = {most}, seconds = {seconds:g}"
        raise InputError(f"{given}: grid and most must be 2 or above, size above 0 and at most 0.5, seconds above 0")
    places = grid_places(grid)
    nodes = [(i, j) for i in range(grid) for j in range(grid)]
    rows = []
    for k, (i, j) in enumerate(nodes):
        rows.append(_node(field, places[i, j], seconds if simulate else 0.0, seed + k))
        progress("grid", k + 1, len(nodes))
    table = pd.DataFrame(rows)
    if table["size"].isna().all():
        raise InputError(f"no grid node has an equilibrium; reason at the first node: {table['reason'].iloc[0]}")
    starts = seeds(field, places, table["size"].to_numpy().reshape(grid, grid) - 1.0)
    branches = components(field, starts, size, most, lambda n: progress("boundary", n, 0))
    return StabilityMap(field, table, branches, _boundary(field, branches), _home(field))


def _node(field: StabilityField, u: Floats, seconds: float, seed: int) -> dict[str, object]:
    here = field.at(u)
    x, y = field.values(u)
    mode = None if here.linearization is None else here.linearization.slowest
    return {
        field.x.name: x,
        field.y.name: y,
        "size": 1.0 + here.excess,
        "frequency_hz": np.nan if mode is None else mode.frequency,
        "simulated": field.simulated(u, seconds, seed) if seconds else ("" if here.linearization else NO_EQUILIBRIUM),
        "what": "" if mode is None else mode.words,
        "reason": here.reason,
    }


def _boundary(field: StabilityField, branches: list[Branch]) -> pd.DataFrame:
    """Return a row for each point of the boundary, with derivatives of ``|λ|`` with respect to the parameters."""
    rows: list[dict[str, object]] = []
    for number, branch in enumerate(branches):
        for k, (u, slope) in enumerate(zip(branch.places, branch.slopes, strict=True)):
            linearization = field.at(u).linearization
            assert linearization is not None
            mode = linearization.slowest
            assert mode is not None
            x, y = field.values(u)
            ends = branch.ends if not branch.closed else ("", "")
            note = ends[0] if k == 0 else ends[1] if k == len(branch.places) - 1 else ""
            rows.append({
                "component": number,
                field.x.name: x,
                field.y.name: y,
                "excess": -linearization.margin,
                "period": linearization.period,
                f"slope by {field.x.name}": slope[0] * _per_value(field.x, float(u[0])),
                f"slope by {field.y.name}": slope[1] * _per_value(field.y, float(u[1])),
                "frequency_hz": mode.frequency,
                "what": mode.words,
                "corner": k in branch.corners or k - 1 in branch.corners,
                "note": note,
            })  # fmt: skip
    columns = ["component", field.x.name, field.y.name, "excess"]
    return pd.DataFrame(rows) if rows else pd.DataFrame(columns=columns)


def _per_value(axis: Range, part: float, reach: float = 1e-6) -> float:
    """Return the derivative of the fraction of a range with respect to the value, at a fraction."""
    low, high = max(part - reach, 0.0), min(part + reach, 1.0)
    return (high - low) / (axis.at(high) - axis.at(low))


def _home(field: StabilityField) -> tuple[float, float] | None:
    """Return the parameters' values in the experiment; None if they are outside the ranges."""
    parameters = field.experiment.under(field.changes).parameters
    values = [_one_number(value_under(axis.name, field.changes, parameters)) for axis in (field.x, field.y)]
    x, y = values
    inside = field.x.low <= x <= field.x.high and field.y.low <= y <= field.y.high
    return (x, y) if inside else None


def _one_number(value: Value) -> float:
    """Return a parameter's value as a number; NaN for text, or for several numbers that differ."""
    numbers = value if isinstance(value, tuple) else (value,)
    return float(numbers[0]) if len(set(numbers)) == 1 and not isinstance(numbers[0], str) else np.nan

"""Paths of CoM, XCoM and CoP, and the base of support, for files and pages."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.transform import Rotation

from biped.metrics import series
from biped.metrics.kernels.polygon import convex_hull
from biped.runs.row_layout import POSE
from contact.arrays import Floats
from contact.modes import NONE
from experiments.visualization.figures import quantities as q
from experiments.visualization.figures.labels import contact_groups
from experiments.visualization.figures.subject import Subject
from experiments.visualization.look import style
from experiments.visualization.panels.panel import Panel

#: [m] greatest distance from the base of support that is shown; falls go much farther.
AROUND = 0.25
#: Part of the shown width that is left free on both sides.
MARGIN = 0.06
COM, XCOM, COP = "CoM", "XCoM", "CoP"
#: Colours of paths; later ones are drawn on top.
COLORS = {COP: style.ORANGE, XCOM: style.RED, COM: style.BLUE}


@dataclass(frozen=True)
class Support:
    """Paths and support [m] of a run of a floating model with contact points.

    Attributes:
        subject: run.
        carried: whether coordinates are relative to a moving floor, its yaw included, so that standing feet stay in
            place; otherwise they are in world axes. Both are equal if the floor is at rest.
    """

    subject: Subject
    carried: bool = False

    @cached_property
    def places(self) -> Floats:
        """Positions (rows, points, 2) of the contact points."""
        names = self.subject.model.contact_names
        return np.stack([self._seen(_pair(self.subject, f"contact_{name}")) for name in names], axis=1)

    @cached_property
    def touching(self) -> NDArray[np.bool_]:
        """Contact (rows, points) of each point with the floor."""
        modes = [f"{name}_mode" for name in self.subject.model.contact_names]
        return np.column_stack(q.columns(self.subject, "contact_", modes)) != NONE

    @cached_property
    def paths(self) -> dict[str, Floats]:
        """Paths (rows, 2) by name; the CoP is NaN without load."""
        table = series(self.subject.run)
        return {
            COM: self._seen(_pair(self.subject, "com")),
            XCOM: self._seen(table[["xcom_x", "xcom_y"]].to_numpy()),
            COP: self._seen(_floor_to_world(self.subject, table[["cop_x", "cop_y"]].to_numpy())),
        }

    @cached_property
    def soles(self) -> dict[str, Floats]:
        """Outlines (corners, 2) of the feet by label: closed rings around the contact points in the first row."""
        names = self.subject.model.contact_names
        groups = contact_groups(self.subject.model)
        return {label: hull(self.places[0, [names.index(point) for point in points]]) for label, points in groups}

    def _seen(self, points: Floats) -> Floats:
        """Convert points (rows, 2) [m] from world axes to the axes of this ``Support``."""
        if not (self.carried and self.subject.has("platform_x")):
            return points
        ahead = _floor_turn(self.subject).apply([1.0, 0.0, 0.0])[:, :2]
        cosine, sine = (ahead / np.linalg.norm(ahead, axis=1, keepdims=True)).T
        x, y = (points - _pair(self.subject, "platform")).T
        return np.column_stack([cosine * x + sine * y, cosine * y - sine * x])

    def base(self, row: int) -> Floats:
        """Return the base of support (corners, 2) in a row: a closed ring, empty without contact."""
        return hull(self.places[row, self.touching[row]])

    def reach(self, axis: int) -> tuple[Floats, Floats]:
        """Return the ends (rows,) of the base of support along x (0) or y (1); NaN without contact."""
        along = self.places[:, :, axis]
        inside, outside = (np.where(self.touching, along, beyond) for beyond in (np.inf, -np.inf))
        ends = inside.min(axis=1), outside.max(axis=1)
        low, high = (np.where(np.isfinite(end), end, np.nan) for end in ends)
        return low, high

    def limits(self, axis: int, scale: float = 1.0) -> tuple[float, float]:
        """Return the range to show along x (0) or y (1) [m/``scale``]: soles, base of support, paths near them."""
        ends = np.concatenate([*(ring[:, axis] for ring in self.soles.values()), *self.reach(axis)])
        low, high = float(np.nanmin(ends)), float(np.nanmax(ends))
        paths = np.concatenate([path[:, axis] for path in self.paths.values()])
        paths = np.clip(paths[np.isfinite(paths)], low - AROUND, high + AROUND)
        low, high = min(low, float(paths.min())), max(high, float(paths.max()))
        margin = MARGIN * (high - low)
        return scale * (low - margin), scale * (high + margin)


def margin_of_stability(subject: Subject) -> Panel:
    """Return the distance [mm] of the extrapolated centre of mass from the edge of the base of support."""
    margin = 1e3 * series(subject.run)["margin_of_stability"].to_numpy()
    curve = q.curve("margin of stability", margin, style.RED)
    return q.over_time(
        "Margin of stability (Hof 2005); positive inside", "margin [mm]", (curve,), ((0.0, style.BLACK),), legend=False
    )


def hull(points: Floats) -> Floats:
    """Return the convex hull of points (n, 2) as a closed ring; empty without points."""
    scratch = np.empty((2 * len(points) + 2, 2))
    corners = convex_hull(np.array(points, dtype=float), len(points), scratch)
    return np.concatenate([scratch[:corners], scratch[: min(corners, 1)]])


def _pair(subject: Subject, name: str) -> Floats:
    return np.column_stack(q.columns(subject, f"{name}_", "xy"))


def _floor_to_world(subject: Subject, points: Floats) -> Floats:
    """Convert points (rows, 2) [m] from the floor's frame to world axes, in top view."""
    if not subject.has("platform_x"):
        return points
    flat = np.column_stack([points, np.zeros(len(points))])
    return _pair(subject, "platform") + _floor_turn(subject).apply(flat)[:, :2]


def _floor_turn(subject: Subject) -> Rotation:
    """Return the rotation of a moving floor in each row."""
    return Rotation.from_quat(np.column_stack(q.columns(subject, "platform_", POSE[3:])), scalar_first=True)

"""Marks of a snapshot: arrows of forces, contact points, CoM and CoP, base of support."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from trimesh import Trimesh, creation

from contact.arrays import Floats, Integers
from experiments.visualization.viewer import colors
from experiments.visualization.viewer.colors import Color
from experiments.visualization.viewer.mesh import AROUND, ball, linear
from experiments.visualization.viewer.snapshot import Snapshot, turned

#: [m/N] length of an arrow.
FORCE_SCALE = 0.002
#: [m] longest arrow; the arrow of an impact would leave the picture.
MOST_LENGTH = 1.6
#: [N] least force with an arrow.
LEAST_FORCE = 2.0
#: [m] least motion that is sent to the browser.
LEAST_MOVE = 2e-5
#: [m] distance from the line of a push within which a body's surface counts as on this line.
ASIDE = 0.05
#: [m] height of flat marks above the floor, for visibility.
AREA_LIFT, EDGE_LIFT, DISC_LIFT = 0.002, 0.003, 0.005
_NO_ARROWS = np.zeros((0, 2, 3))


class _Spot(NamedTuple):
    """Marked position; ``name`` is the snapshot's field."""

    name: str
    layer: str
    color: Color
    lift: float
    surface: Trimesh


def _disc(radius: float) -> Trimesh:
    return creation.cylinder(radius, segment=((0.0, 0.0, 0.0), (0.0, 0.0, 0.002)), sections=AROUND)


_SPOTS = (
    _Spot("com", "centre of mass", colors.COM, 0.0, ball(0.022)),
    _Spot("com_on_floor", "centre of mass", colors.COM, DISC_LIFT, _disc(0.020)),
    _Spot("xcom", "extrapolated centre of mass", colors.XCOM, DISC_LIFT + 0.001, _disc(0.026)),
    _Spot("foothold", "planned foothold", colors.FOOTHOLD, DISC_LIFT, _disc(0.040)),
    _Spot("cop", "centre of pressure", colors.COP, DISC_LIFT + 0.002, _disc(0.026)),
)


def contact_arrows(snapshot: Snapshot, scale: float = FORCE_SCALE) -> tuple[Floats, NDArray[np.uint8]]:
    """Return contact forces as arrows: ends (arrows, 2, 3) [m], and colours (arrows, 3) of the contact states.

    An arrow begins at its contact point; its length is ``scale`` [m/N] times the force, at most ``MOST_LENGTH``.
    """
    shown = (np.linalg.norm(snapshot.contact_force, axis=1) >= LEAST_FORCE) & _are_somewhere(snapshot)
    begin = snapshot.contact_place[shown]
    ends = np.stack([begin, begin + _length(scale * snapshot.contact_force[shown])], axis=1)
    return ends, _mode_colors(snapshot)[shown]


def _length(arrows: Floats) -> Floats:
    """Return arrows (arrows, 3) [m], shortened to ``MOST_LENGTH``."""
    sizes = np.linalg.norm(arrows, axis=-1, keepdims=True)
    limited: Floats = arrows * np.minimum(1.0, MOST_LENGTH / np.maximum(sizes, 1e-9))
    return limited


def reaction_arrows(snapshot: Snapshot, points: Sequence[Integers], scale: float = FORCE_SCALE) -> Floats:
    """Return the ends (arrows, 2, 3) [m] of the net ground reaction force's arrow on each group of contact points.

    An arrow begins at the group's centre of pressure: the mean of the points, weighted with the normal forces.
    """
    up = np.array([0.0, 0.0, 1.0])
    normal = up if snapshot.platform is None else turned(snapshot.platform[3:], up)
    arrows = []
    for group in points:
        forces, places = snapshot.contact_force[group], snapshot.contact_place[group]
        pressed = np.maximum(forces @ normal, 0.0) * np.isfinite(places).all(axis=1)
        if pressed.sum() >= LEAST_FORCE:
            begin = pressed @ np.nan_to_num(places) / pressed.sum()
            arrows.append((begin, begin + _length(scale * forces.sum(axis=0))))
    return np.array(arrows).reshape(-1, 2, 3)


def _are_somewhere(snapshot: Snapshot) -> NDArray[np.bool_]:
    return np.asarray(np.isfinite(snapshot.contact_place).all(axis=1))


def _mode_colors(snapshot: Snapshot) -> NDArray[np.uint8]:
    return np.array(colors.MODES, dtype=np.uint8)[snapshot.contact_mode - 1]


def push_arrows(snapshot: Snapshot, scale: float = FORCE_SCALE, surfaces: Mapping[int, Floats] | None = None) -> Floats:
    """Return the ends (arrows, 2, 3) [m] of the active pushes' arrows.

    An arrow ends at the pushed point or, for visibility, where its line leaves the body's surface. ``surfaces`` are by
    number of the body: (V, 3) [m] from its centre of mass in home axes.
    """
    shown = np.flatnonzero(np.linalg.norm(snapshot.push_force, axis=1) >= LEAST_FORCE)
    ends = np.empty((len(shown), 2, 3))
    for k, push in enumerate(shown):
        force, end = snapshot.push_force[push], snapshot.push_place[push]
        body = int(snapshot.push_body[push])
        back = force / np.linalg.norm(force)
        if surfaces is not None and body in surfaces:
            into_body = snapshot.quaternion[body] * np.array([1.0, -1.0, -1.0, -1.0])
            place = turned(into_body, end - snapshot.position[body])
            end = end - _depth(surfaces[body], place, turned(into_body, back)) * back
        ends[k] = end - _length(scale * force), end
    return ends


def _depth(surface: Floats, place: Floats, direction: Floats) -> float:
    """Return the depth [m] of a point inside a surface, against a direction; 0 outside."""
    away = surface - place
    along = away @ direction
    aside = np.einsum("vi,vi->v", away, away) - along**2
    near = along[aside < ASIDE**2]
    return max(-float(near.min()), 0.0) if len(near) else 0.0


def raised(places: Floats, height: float) -> Floats:
    higher: Floats = places + np.array([0.0, 0.0, height])
    return higher


def polygon_edges(corners: Floats) -> Floats:
    """Return the edges (corners, 2, 3) [m] of a polygon (corners, 3)."""
    return np.stack([corners, np.roll(corners, -1, axis=0)], axis=1)


class Marks:
    """Marks of one model, whose feet have these contact points.

    ``color`` is a ghost's colour for its ball and areas; forces have the same colours in all models.
    """

    def __init__(self, scene: Any, path: str, color: Color | None, feet: Sequence[Integers]) -> None:
        self._scene, self._path, self._color, self._feet = scene, path, color, feet
        self._sent: dict[str, tuple[Floats, Any]] = {}
        self._handles: dict[str, Any] = {}
        flat = {"cast_shadow": False, "receive_shadow": False, "visible": False}
        for spot in _SPOTS:
            self._handles[spot.name] = scene.add_mesh_simple(
                f"{path}/{spot.name}", spot.surface.vertices, spot.surface.faces, color=color or spot.color, **flat
            )

    def show(self, snapshot: Snapshot, layers: dict[str, bool], scale: float, surfaces: Mapping[int, Floats]) -> None:
        for spot in _SPOTS:
            place = getattr(snapshot, spot.name)
            on = layers[spot.layer] and bool(np.isfinite(place[0]))
            self._put(spot.name, on, position=raised(place, spot.lift))
        self._reactions(snapshot, scale, layers["ground reaction force"])
        forces, tints = contact_arrows(snapshot, scale)
        self._arrows("contact_forces", forces if layers["contact forces"] else _NO_ARROWS, tints)
        pushes = push_arrows(snapshot, scale, surfaces) if layers["pushes"] else _NO_ARROWS
        self._arrows("pushes", pushes, np.tile(colors.PUSH, (len(pushes), 1)), thick=1.7)
        if self._color is None:
            shown = _are_somewhere(snapshot) & layers["contact points"]
            self._points(snapshot.contact_place[shown], _mode_colors(snapshot)[shown])
        for name, corners, layer, color in (
            ("polygon", snapshot.support, "base of support", colors.BASE),
            ("capture", snapshot.capture, "capture region", colors.CAPTURE),
        ):
            self._polygon(name, corners if layers[layer] else np.zeros((0, 3)), self._color or color)

    def _reactions(self, snapshot: Snapshot, scale: float, shown: bool) -> None:
        """Show the net force on each foot and on the whole body at its centre of pressure."""
        everywhere = [np.arange(len(snapshot.contact_force))]
        for name, points, color, thick in (
            ("reaction_of_feet", self._feet, colors.FOOT_REACTION, 1.0),
            ("reaction", everywhere, colors.REACTION, 1.7),
        ):
            arrows = reaction_arrows(snapshot, points, scale) if shown else _NO_ARROWS
            self._arrows(name, arrows, np.tile(color, (len(arrows), 1)), thick)

    def _put(self, name: str, on: bool, make: Callable[[], Any] | None = None, **values: Any) -> None:
        """Show an object with these values, or hide it; it is created when it is first shown."""
        handle = self._handles.get(name)
        if handle is None:
            if on and make is not None:
                self._handles[name] = make()
            return
        if handle.visible != on:
            handle.visible = on
        for key, value in values.items() if on else ():
            setattr(handle, key, value)

    def _arrows(self, name: str, ends: Floats, arrow_colors: Any, thick: float = 1.0) -> None:
        tints = linear(arrow_colors)
        if not self._has_changed(name, ends, tints):
            return
        radii = {"shaft_radius": 0.006 * thick, "head_radius": 0.015 * thick, "head_length": 0.036 * thick}
        self._put(
            name, bool(len(ends)), lambda: self._scene.add_arrows(f"{self._path}/{name}", ends, tints, **radii),
            points=ends.astype(np.float32), colors=tints,
        )  # fmt: skip

    def _points(self, places: Floats, tints: NDArray[np.uint8]) -> None:
        if not self._has_changed("points", places, tints):
            return
        points, look = places.astype(np.float32), {"point_size": 0.018, "point_shape": "circle"}
        self._put(
            "points", bool(len(points)),
            lambda: self._scene.add_point_cloud(f"{self._path}/points", points, tints, **look),
            points=points, colors=tints,
        )  # fmt: skip

    def _polygon(self, name: str, corners: Floats, color: Color) -> None:
        """Show edges, and the area as triangles; both are created again if the number of corners changes."""
        if not self._has_changed(name, corners, None):
            return
        inside, count = f"{name}_area", len(corners)
        edges = polygon_edges(raised(corners, EDGE_LIFT)).astype(np.float32)
        area, k = raised(corners, AREA_LIFT).astype(np.float32), np.arange(1, count - 1)
        look = {"opacity": 0.16, "side": "double", "cast_shadow": False, "receive_shadow": False}
        if count > 1 and name in self._handles and len(self._handles[name].points) != count:
            del self._handles[name]
        if count > 2 and inside in self._handles and len(self._handles[inside].vertices) != count:
            del self._handles[inside]
        self._put(
            name, count > 1,
            lambda: self._scene.add_line_segments(
                f"{self._path}/{name}", edges, np.array(color, dtype=np.uint8), thickness=2.5, thickness_units="screen"
            ),
            points=edges,
        )  # fmt: skip
        self._put(
            inside, count > 2,
            lambda: self._scene.add_mesh_simple(
                f"{self._path}/{inside}", area, np.stack([np.zeros_like(k), k, k + 1], axis=1), color=color, **look
            ),
            vertices=area,
        )  # fmt: skip

    def _has_changed(self, name: str, places: Floats, color: Any) -> bool:
        """Return whether an object visibly differs from the one last sent, and remember it if so."""
        last = self._sent.get(name)
        if last is not None and last[0].shape == places.shape:
            still = not places.size or float(np.abs(places - last[0]).max()) < LEAST_MOVE
            if still and (color is None or np.array_equal(last[1], color)):
                return False
        self._sent[name] = (places.copy(), color)
        return True

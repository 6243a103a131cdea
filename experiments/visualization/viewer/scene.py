"""The stage in the browser: figures of models, forces and marks on a viser server.

It reads no files and knows no runs: it shows snapshots. One frame of several figures goes out as one batch,
``with stage.frame(): ...``, in which only what has changed is sent.
"""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import numpy as np
from numpy.typing import NDArray

from biped.model import Model
from contact.arrays import Floats
from experiments.visualization.viewer import colors
from experiments.visualization.viewer.glb import glb, linear
from experiments.visualization.viewer.mesh import Loop, Mesh, ball, joined, skin
from experiments.visualization.viewer.mesh import box as box_mesh
from experiments.visualization.viewer.scenery import Scenery
from experiments.visualization.viewer.shapes import Color, Shape, shapes_of
from experiments.visualization.viewer.snapshot import Snapshot, turned

#: What can be switched on and off, and whether it is on at first.
LAYERS = {
    "contact forces": True,
    "contact points": True,
    "pushes": True,
    "centre of mass": True,
    "extrapolated centre of mass": True,
    "centre of pressure": True,
    "support polygon": True,
}
#: [m/N] length of an arrow.
FORCE_SCALE = 0.002
#: [N] a smaller force has no arrow.
LEAST_FORCE = 2.0
#: [m] what moves by less since it was last sent is not sent again.
LEAST_MOVE = 2e-5
#: [m] how far from the line of a push a body's surface counts as before it.
ASIDE = 0.05
#: [m] edge of the plate that shows a floor that moves.
PLATE = 3.0
#: How much is seen through a ghost.
GHOST_OPACITY = 0.35
#: How a body is shown.
BODIES = ("solid", "see-through", "none")
#: A body that is seen through.
CLEAR, CLEAR_OPACITY = (120, 140, 165), 0.3
#: [m] how far above the floor flat marks lie, so that they are seen: polygon, its edge, discs.
LIFTS = (0.002, 0.003, 0.005)

Pair = tuple[Floats, Floats]


def contact_arrows(snapshot: Snapshot, scale: float = FORCE_SCALE) -> tuple[Floats, NDArray[np.uint8]]:
    """The floor's forces as arrows: (arrows, 2, 3) [m] begin and end, (arrows, 3) the colours of the modes.

    An arrow begins at its contact point and is ``scale`` [m/N] times the force long.
    """
    shown = np.linalg.norm(snapshot.contact_force, axis=1) >= LEAST_FORCE
    begin = snapshot.contact_place[shown]
    ends = np.stack([begin, begin + scale * snapshot.contact_force[shown]], axis=1)
    return ends, np.array(colors.MODES, dtype=np.uint8)[snapshot.contact_mode[shown] - 1]


def push_arrows(snapshot: Snapshot, scale: float = FORCE_SCALE, skins: Mapping[int, Floats] | None = None) -> Floats:
    """(arrows, 2, 3) [m] begin and end of the pushes in action.

    An arrow ends where it pushes, or, so that it is seen, where it comes out of the body's skin on the way back.

    Args:
        snapshot: the instant.
        scale: [m/N] length of an arrow.
        skins: by number of the body: (V, 3) [m] its surface, from its centre of mass in home axes.
    """
    shown = np.flatnonzero(np.linalg.norm(snapshot.push_force, axis=1) >= LEAST_FORCE)
    ends = np.empty((len(shown), 2, 3))
    for k, push in enumerate(shown):
        force, end = snapshot.push_force[push], snapshot.push_place[push]
        body = int(snapshot.push_body[push])
        back = force / np.linalg.norm(force)
        if skins is not None and body in skins:
            into_body = snapshot.quaternion[body] * np.array([1.0, -1.0, -1.0, -1.0])
            place = turned(into_body, end - snapshot.position[body])
            end = end - _depth(skins[body], place, turned(into_body, back)) * back
        ends[k] = end - scale * force, end
    return ends


def _depth(skin_points: Floats, place: Floats, direction: Floats) -> float:
    """[m] how far a place is inside of a surface, against a direction; 0 where it is outside."""
    away = skin_points - place
    along = away @ direction
    aside = np.einsum("vi,vi->v", away, away) - along**2
    near = along[aside < ASIDE**2]
    return max(-float(near.min()), 0.0) if len(near) else 0.0


def tint(color: Any) -> NDArray[np.uint8]:
    """Colours (…, 3) of arrows and points as the browser takes them: linear in the amount of light."""
    return np.rint(255.0 * linear(color)).astype(np.uint8)


def raised(places: Floats, height: float) -> Floats:
    """Places (…, 3), higher by so much [m]."""
    higher: Floats = places + np.array([0.0, 0.0, height])
    return higher


def polygon_edges(base: Floats) -> Floats:
    """(corners, 2, 3) [m] the edges of a polygon (corners, 3)."""
    return np.stack([base, np.roll(base, -1, axis=0)], axis=1)


class Stage:
    """A floor, lights, and figures on it.

    Attributes:
        server: the viser server.
        root: name of the frame that everything stands in.
        figures: in the order in which they were added.
        force_scale: [m/N] of arrows that are drawn from now on.
        layers: which of ``LAYERS`` are on.
        body: how bodies are shown, one of ``BODIES``.
    """

    def __init__(self, server: Any, *, shadows: bool = True) -> None:
        self.server = server
        self.root = "/world"
        self.figures: list[Figure] = []
        self.force_scale = FORCE_SCALE
        self.layers = dict(LAYERS)
        self.body = "solid"
        self._world = server.scene.add_frame(self.root, show_axes=False)
        self._light(shadows)
        self._floor: Any = None

    def _light(self, shadows: bool) -> None:
        """Sky, sun and a weak light from the other side; no environment map, which would cost as much as all else."""
        scene = self.server.scene
        scene.configure_environment_map(None)
        scene.configure_default_lights(enabled=False)
        scene.add_light_hemisphere("/light/sky", sky_color=(255, 255, 255), ground_color=(176, 168, 160), intensity=1.9)
        scene.add_light_directional("/light/fill", intensity=0.5, position=(3.0, 2.0, 2.0))
        self._sun = scene.add_light_directional(
            "/light/sun", intensity=2.1, cast_shadow=shadows, position=(-2.5, -3.0, 5.0)
        )

    def cast_shadows(self, on: bool) -> None:
        """Shadows on the floor, or none: without a graphics card they cost half of the pictures."""
        self._sun.cast_shadow = on

    def add(
        self,
        model: Model,
        name: str,
        ghost: bool = False,
        *,
        color: Color | None = None,
        scenery: Scenery | None = None,
        offset: tuple[float, float, float] = (0.0, 0.0, 0.0),
        plate: float = PLATE,
    ) -> "Figure":
        """A figure of a model; it is seen once it has been shown a snapshot.

        Args:
            model: of it.
            name: unique on this stage.
            ghost: seen through, in one colour.
            color: of all of it; without one in the colours of its parts, for a ghost in one of ``colors.GHOSTS``.
            scenery: what else there is; a floor at rest if not given.
            offset: [m] what it is displaced by, to stand beside the others.
            plate: [m] how broad (along y) the plate of a floor that moves is: less than the way to the next figure.
        """
        if any(figure.name == name for figure in self.figures):
            raise ValueError(f"there is a figure {name!r} on the stage already")
        if ghost and color is None:
            color = colors.ghost_color(sum(figure.is_ghost for figure in self.figures))
        scenery = Scenery() if scenery is None else scenery
        if self._floor is None and not scenery.moving_floor:
            self._floor = _add_floor(self.server.scene, f"{self.root}/floor")
        figure = Figure(self, model, name, ghost, color, scenery, offset, plate)
        self.figures.append(figure)
        return figure

    @contextmanager
    def frame(self) -> Iterator[None]:
        """What is shown within goes to the browsers at once, as one batch."""
        with self.server.atomic():
            yield
        self.server.flush()

    def switch(self, layer: str, on: bool) -> None:
        """Show a layer of ``LAYERS``, or not."""
        self.layers[layer] = on
        self.refresh()

    def show_bodies(self, how: str) -> None:
        """As one of ``BODIES``."""
        self.body = how
        for figure in self.figures:
            figure.show_body(how)

    def refresh(self) -> None:
        """Show the last instants again, as things are to be shown now."""
        for figure in self.figures:
            figure.refresh()

    def carry(self, place: tuple[float, float] | None) -> None:
        """Move everything so that this place [m] (x, y) of the scene is where its origin was; None: back again.

        That is how the camera follows a figure: it stays where the person has put it.
        """
        x, y = (0.0, 0.0) if place is None else place
        self._world.position = (-x, -y, 0.0)


class Figure:
    """A model on the stage, with its marks.

    Attributes:
        name: of it.
        is_ghost: whether it is seen through.
        color: of all of it, or None.
    """

    def __init__(
        self,
        stage: Stage,
        model: Model,
        name: str,
        ghost: bool,
        color: Color | None,
        scenery: Scenery,
        offset: tuple[float, float, float],
        plate: float,
    ) -> None:
        self.stage, self.model, self.name, self.is_ghost, self.color = stage, model, name, ghost, color
        self.scenery = scenery
        self.last: Snapshot | None = None
        self._scene = stage.server.scene
        self._path = f"{stage.root}/{name}"
        self._top = self._scene.add_frame(self._path, show_axes=False, position=offset, visible=False)
        self._opacity = GHOST_OPACITY if ghost else None
        self._plate = self._add_plate(plate)
        self._skins: list[tuple[Any, Any]] = []
        self._surfaces: dict[int, Floats] = {}
        self._bodies = self._add_bodies()
        self._thrown = self._add_thrown()
        self._marks = _Marks(self._scene, self._path, color if ghost else None)
        self._add_patches()

    def show(self, snapshot: Snapshot) -> None:
        first, self.last = self.last is None, snapshot
        for body, handle in self._bodies:
            _move(handle, snapshot.position[body], snapshot.quaternion[body])
        if self._thrown is not None:
            if self._thrown.visible != (snapshot.thrown is not None):
                self._thrown.visible = snapshot.thrown is not None
            if snapshot.thrown is not None:
                _move(self._thrown, snapshot.thrown[:3], snapshot.thrown[3:])
        if self._plate is not None and snapshot.platform is not None:
            _move(self._plate, snapshot.platform[:3], snapshot.platform[3:])
        self._marks.show(snapshot, self.stage.layers, self.stage.force_scale, self._surfaces)
        if first:
            self._top.visible = True

    def refresh(self) -> None:
        """Show the last instant again, as things are to be shown now."""
        if self.last is not None:
            self.show(self.last)

    def show_body(self, how: str) -> None:
        """As one of ``BODIES``; a ghost is seen through either way."""
        for solid, clear in self._skins:
            solid.visible = how == "solid" or (clear is None and how == "see-through")
            if clear is not None:
                clear.visible = how == "see-through"

    def set_visible(self, on: bool) -> None:
        self._top.visible = on and self.last is not None

    # --- what it is made of ---

    def _mesh(self, path: str, mesh: Mesh, color: Color, **others: Any) -> Any:
        color = color if self.color is None else self.color
        options = {"opacity": self._opacity, "cast_shadow": not self.is_ghost, "receive_shadow": False} | others
        return self._scene.add_mesh_simple(path, mesh.vertices, mesh.faces, color=color, **options)

    def _add_bodies(self) -> list[tuple[int, Any]]:
        """A frame for each body that has a surface, and its surfaces: as few things to draw as can be.

        In its own colours it is one mesh with a colour for each vertex; in one colour, and so that it can be seen
        through, another. Only one of them is visible.
        """
        shapes = list(shapes_of(self.model))
        for k, load in enumerate(self.scenery.loads):
            mesh = box_mesh(load.size, load.center)
            shapes.append(Shape(load.body, f"load_{k}", mesh.vertices, mesh.faces, colors.LOAD))
        found = []
        for body in sorted({shape.body for shape in shapes}):
            path = f"{self._path}/{self.model.body_names[body]}"
            found.append((body, self._scene.add_frame(path, show_axes=False)))
            parts = [shape for shape in shapes if shape.body == body]
            whole = joined([Mesh(part.vertices, part.faces) for part in parts])
            self._surfaces[body] = whole.vertices
            if self.color is None:
                tints = np.concatenate([np.tile(part.color, (len(part.vertices), 1)) for part in parts])
                solid = self._scene.add_glb(f"{path}/solid", glb(whole, tints), cast_shadow=True, receive_shadow=False)
                self._skins.append((solid, None))
            else:
                self._skins.append((self._mesh(f"{path}/solid", whole, self.color), None))
            if not self.is_ghost:
                clear = self._mesh(f"{path}/clear", whole, self.color or CLEAR, opacity=CLEAR_OPACITY, visible=False)
                self._skins[-1] = (self._skins[-1][0], clear)
        return found

    def _add_thrown(self) -> Any:
        if self.scenery.thrown_size is None:
            return None
        mesh = box_mesh(self.scenery.thrown_size)
        return self._mesh(f"{self._path}/thrown", mesh, colors.THROWN, flat_shading=True)

    def _add_plate(self, breadth: float) -> Any:
        """The frame of a floor that moves, with a plate that shows it."""
        if not self.scenery.moving_floor:
            return None
        path = f"{self._path}/platform"
        plate = self._scene.add_frame(path, show_axes=False)
        if not self.is_ghost:
            _add_floor(self._scene, f"{path}/floor", size=(PLATE, breadth))
            under = box_mesh((PLATE, breadth, 0.06), (0.0, 0.0, -0.036))
            self._scene.add_mesh_simple(f"{path}/plate", under.vertices, under.faces, color=(188, 194, 202))
        return plate

    def _add_patches(self) -> None:
        parent = self._path if self._plate is None else f"{self._path}/platform"
        for k, patch in enumerate(self.scenery.patches if not self.is_ghost else ()):
            size = (patch.x[1] - patch.x[0], patch.y[1] - patch.y[0], 0.001)
            center = (sum(patch.x) / 2.0, sum(patch.y) / 2.0, 0.001 + 0.0002 * k)
            mesh = box_mesh(size, center)
            share = min(patch.mu / 0.6, 1.0)
            color = tuple(
                int((1.0 - share) * a + share * b) for a, b in zip((120, 190, 235), (225, 220, 205), strict=True)
            )
            self._scene.add_mesh_simple(
                f"{parent}/patch_{k}", mesh.vertices, mesh.faces, color=color, opacity=0.6, cast_shadow=False
            )


class _Marks:
    """Arrows, points and flat marks of one figure."""

    def __init__(self, scene: Any, path: str, color: Color | None) -> None:
        self._scene, self._path, self._color = scene, path, color
        self._shown: dict[str, Any] = {}
        self._handles: dict[str, Any] = {}
        self._com = self._ball("com", 0.034, colors.COM)
        self._below = self._disc("com_on_floor", 0.020, colors.COM)
        self._xcom = self._disc("xcom", 0.026, colors.XCOM)
        self._cop = self._disc("cop", 0.026, colors.COP)

    def show(self, snapshot: Snapshot, layers: dict[str, bool], scale: float, skins: Mapping[int, Floats]) -> None:
        self._spot(self._com, snapshot.com, 0.0, layers["centre of mass"])
        self._spot(self._below, snapshot.com_on_floor, LIFTS[2], layers["centre of mass"])
        self._spot(self._xcom, snapshot.xcom, LIFTS[2] + 0.001, layers["extrapolated centre of mass"])
        self._spot(self._cop, snapshot.cop, LIFTS[2] + 0.002, layers["centre of pressure"])
        nothing = np.zeros((0, 2, 3))
        ends, tints = contact_arrows(snapshot, scale) if layers["contact forces"] else (nothing, np.zeros((0, 3)))
        self._arrows("contact_forces", ends, tints if self._color is None else self._color)
        pushes = push_arrows(snapshot, scale, skins) if layers["pushes"] else nothing
        self._arrows("pushes", pushes, colors.PUSH if self._color is None else self._color, thick=1.7)
        self._points(snapshot, layers["contact points"])
        self._polygon(snapshot.base if layers["support polygon"] else np.zeros((0, 3)))

    def _own(self, color: Color) -> Color:
        return color if self._color is None else self._color

    def _ball(self, name: str, radius: float, color: Color) -> Any:
        mesh = ball(radius)
        return self._scene.add_mesh_simple(
            f"{self._path}/{name}",
            mesh.vertices,
            mesh.faces,
            color=self._own(color),
            cast_shadow=False,
            receive_shadow=False,
            visible=False,
        )

    def _disc(self, name: str, radius: float, color: Color) -> Any:
        mesh = skin([Loop((0.0, 0.0, z), (radius, radius)) for z in (0.0, 0.002)], 2, fine=1)
        return self._scene.add_mesh_simple(
            f"{self._path}/{name}", mesh.vertices, mesh.faces, color=self._own(color), cast_shadow=False,
            receive_shadow=False, visible=False,
        )  # fmt: skip

    def _spot(self, handle: Any, place: Floats, lift: float, on: bool) -> None:
        on = on and bool(np.isfinite(place[0]))
        if handle.visible != on:
            handle.visible = on
        if on:
            _move(handle, raised(place, lift))

    def _arrows(self, name: str, ends: Floats, color: Any, thick: float = 1.0) -> None:
        if not self._has_changed(name, ends, color):
            return
        handle = self._handles.get(name)
        if handle is None:
            if len(ends):
                self._handles[name] = self._scene.add_arrows(
                    f"{self._path}/{name}", ends, tint(color), shaft_radius=0.006 * thick,
                    head_radius=0.015 * thick, head_length=0.036 * thick,
                )  # fmt: skip
            return
        if handle.visible != bool(len(ends)):
            handle.visible = bool(len(ends))
        if len(ends):
            handle.points = ends.astype(np.float32)
            handle.colors = tint(color)

    def _points(self, snapshot: Snapshot, on: bool) -> None:
        places = snapshot.contact_place if on else np.zeros((0, 3))
        tints = np.array(colors.MODES, dtype=np.uint8)[snapshot.contact_mode - 1][: len(places)]
        if self._color is not None or not self._has_changed("points", places, tints):
            return
        handle = self._handles.get("points")
        if handle is None:
            if len(places):
                self._handles["points"] = self._scene.add_point_cloud(
                    f"{self._path}/points", places.astype(np.float32), tints, point_size=0.018, point_shape="circle"
                )
            return
        if handle.visible != bool(len(places)):
            handle.visible = bool(len(places))
        if len(places):
            handle.points = places.astype(np.float32)
            handle.colors = tints

    def _polygon(self, base: Floats) -> None:
        if not self._has_changed("polygon", base, None):
            return
        old, shown = self._handles.get("polygon"), len(base) > 1
        if old is not None and len(old.points) == len(base) and shown:
            old.points = (polygon_edges(raised(base, LIFTS[1]))).astype(np.float32)
            old.visible = True
        elif shown:
            self._handles["polygon"] = self._scene.add_line_segments(
                f"{self._path}/polygon", polygon_edges(raised(base, LIFTS[1])),
                np.array(self._own(colors.BASE), dtype=np.uint8), thickness=2.5, thickness_units="screen",
            )  # fmt: skip
        elif old is not None:
            old.visible = False
        self._fill(base)

    def _fill(self, base: Floats) -> None:
        """The polygon's area: a fan of triangles."""
        old, shown = self._handles.get("area"), len(base) > 2
        if not shown:
            if old is not None:
                old.visible = False
            return
        vertices = raised(base, LIFTS[0]).astype(np.float32)
        if old is not None and len(old.vertices) == len(base):
            old.vertices, old.visible = vertices, True
            return
        k = np.arange(1, len(base) - 1)
        faces = np.stack([np.zeros_like(k), k, k + 1], axis=1)
        self._handles["area"] = self._scene.add_mesh_simple(
            f"{self._path}/area", vertices, faces, color=self._own(colors.BASE), opacity=0.16, side="double",
            cast_shadow=False, receive_shadow=False,
        )  # fmt: skip

    def _has_changed(self, name: str, places: Floats, color: Any) -> bool:
        """Whether it differs from what was sent last by enough to be seen; remembers it if so."""
        last = self._shown.get(name)
        if last is not None and last[0].shape == places.shape:
            still = not places.size or float(np.abs(places - last[0]).max()) < LEAST_MOVE
            if still and (color is None or np.array_equal(last[1], color)):
                return False
        self._shown[name] = (places.copy(), None if color is None else np.array(color))
        return True


def _add_floor(scene: Any, path: str, size: tuple[float, float] | None = None) -> Any:
    """A grid of 0.1 m and 1 m; without end, or as large as told [m] along x and y."""
    width, height = size or (40.0, 40.0)
    return scene.add_grid(
        path, width=width, height=height, cell_size=0.1, section_size=1.0, infinite_grid=size is None,
        cell_color=(226, 229, 233), section_color=(176, 184, 194), cell_thickness=0.8, section_thickness=1.1,
        plane_color=(243, 245, 247), plane_opacity=1.0, shadow_opacity=0.28, fade_distance=26.0,
    )  # fmt: skip


def _move(handle: Any, place: Floats, quaternion: Floats | None = None) -> None:
    handle.position = place
    if quaternion is not None:
        handle.wxyz = quaternion

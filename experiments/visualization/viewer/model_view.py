"""A model in the scene: bodies, loads, thrown box, and marks."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from biped.model import Model
from biped.model.geometry import Vector3
from biped.runs.world import Bodies
from contact.arrays import Floats, Integers
from experiments.visualization.viewer import colors
from experiments.visualization.viewer.colors import Color
from experiments.visualization.viewer.marks import Marks
from experiments.visualization.viewer.mesh import as_glb, box, joined, linear
from experiments.visualization.viewer.scenery import Scenery
from experiments.visualization.viewer.shapes import Shape, shapes_of
from experiments.visualization.viewer.snapshot import Snapshot

if TYPE_CHECKING:
    from experiments.visualization.viewer.scene import ViewerScene

#: Opacity of a ghost.
GHOST_OPACITY = 0.35
#: Colour and opacity of a transparent body.
CLEAR, CLEAR_OPACITY = (120, 140, 165), 0.3
#: [m] edge of the plate that shows a moving floor.
PLATE = 3.0


class ModelView:
    """Model in a scene; in a single colour, if given, and transparent for a ghost."""

    def __init__(
        self,
        scene: "ViewerScene",
        model: Model | Bodies,
        name: str,
        ghost: bool,
        color: Color | None,
        scenery: Scenery,
        offset: tuple[float, float, float],
        plate: float,
    ) -> None:
        self.scene, self.model, self.name, self.is_ghost, self.color = scene, model, name, ghost, color
        self.scenery = scenery
        self.last: Snapshot | None = None
        self._server_scene = scene.server.scene
        self._path = f"{scene.root}/{name}"
        self._top = self._server_scene.add_frame(self._path, show_axes=False, position=offset, visible=False)
        self._plate = self._add_plate(plate)
        self._skins: list[tuple[Any, Any]] = []
        self._surfaces: dict[int, Floats] = {}
        self._bodies = self._add_bodies()
        self._lines = self._add_lines()
        self._projectile = self._add_projectile()
        self._marks = Marks(self._server_scene, self._path, color if ghost else None, _points_of_feet(model))
        self._add_patches()

    def show(self, snapshot: Snapshot) -> None:
        first, self.last = self.last is None, snapshot
        for body, handle in self._bodies:
            handle.position, handle.wxyz = snapshot.position[body], snapshot.quaternion[body]
        if self._lines is not None:
            self._lines.points = line_ends(self.model, snapshot).astype(np.float32)
        if self._projectile is not None and self._projectile.visible != (snapshot.projectile is not None):
            self._projectile.visible = snapshot.projectile is not None
        for moved, pose in ((self._projectile, snapshot.projectile), (self._plate, snapshot.platform)):
            if moved is not None and pose is not None:
                moved.position, moved.wxyz = pose[:3], pose[3:]
        self._marks.show(snapshot, self.scene.layers, self.scene.force_scale, self._surfaces)
        if first:
            self._top.visible = True

    def refresh(self) -> None:
        if self.last is not None:
            self.show(self.last)

    def remove(self) -> None:
        self._top.remove()

    def on_drag(self, react: Callable[[int, Any], None], modifier: str) -> None:
        """Call ``react`` with a body's number and viser's event when a person drags it while holding a key."""
        for (body, _), skins in zip(self._bodies, self._skins, strict=True):
            for skin in skins:
                if skin is not None:
                    skin.on_drag("left", modifier=modifier)(_reacting(react, body))

    def show_bodies(self, how: str) -> None:
        """Show the bodies in a style of ``scene.BODIES``; a ghost is transparent in all of them."""
        for solid, clear in self._skins:
            solid.visible = how == "solid" or (clear is None and how == "see-through")
            if clear is not None:
                clear.visible = how == "see-through"

    def set_visible(self, on: bool) -> None:
        self._top.visible = on and self.last is not None

    def _mesh(self, path: str, mesh: Any, color: Color, **more: Any) -> Any:
        opacity = GHOST_OPACITY if self.is_ghost else None
        options = {"opacity": opacity, "cast_shadow": not self.is_ghost, "receive_shadow": False} | more
        return self._server_scene.add_mesh_simple(
            path, mesh.vertices, mesh.faces, color=color if self.color is None else self.color, **options
        )

    def _add_bodies(self) -> list[tuple[int, Any]]:
        """Add a frame and meshes for each body with a surface.

        One mesh has a colour for each vertex, the other is in a single colour or transparent. Only one is visible.
        """
        shapes = list(shapes_of(self.model))
        for k, load in enumerate(self.scenery.loads):
            shapes.append(Shape(load.body, f"load_{k}", box(load.size, load.center), colors.LOAD))
        frames = []
        for body in sorted({shape.body for shape in shapes}):
            path = f"{self._path}/{self.model.body_names[body]}"
            frames.append((body, self._server_scene.add_frame(path, show_axes=False)))
            parts = [shape for shape in shapes if shape.body == body]
            mesh = joined([part.mesh for part in parts])
            self._surfaces[body] = np.asarray(mesh.vertices)
            if self.color is None:
                tints = np.concatenate([np.tile(part.color, (len(part.mesh.vertices), 1)) for part in parts])
                glb = as_glb(mesh, tints)
                solid = self._server_scene.add_glb(f"{path}/solid", glb, cast_shadow=True, receive_shadow=False)
            else:
                solid = self._mesh(f"{path}/solid", mesh, self.color)
            clear = None
            if not self.is_ghost:
                clear = self._mesh(f"{path}/clear", mesh, CLEAR, opacity=CLEAR_OPACITY, visible=False)
            self._skins.append((solid, clear))
        return frames

    def _add_lines(self) -> Any:
        """Add the lines between bodies; snapshots determine their ends."""
        if not self.model.lines:
            return None
        tints = np.array([line.color for line in self.model.lines]) * 255.0
        tints = tints if self.color is None else np.broadcast_to(self.color, tints.shape)
        both = np.repeat(linear(tints)[:, np.newaxis], 2, axis=1)
        places = np.zeros((len(tints), 2, 3), dtype=np.float32)
        return self._server_scene.add_line_segments(
            f"{self._path}/lines", places, both, thickness=3.0, thickness_units="screen"
        )

    def _add_projectile(self) -> Any:
        if self.scenery.projectile_size is None:
            return None
        mesh = box(self.scenery.projectile_size)
        return self._mesh(f"{self._path}/projectile", mesh, colors.PROJECTILE, flat_shading=True)

    def _add_plate(self, breadth: float) -> Any:
        """Add the frame of a moving floor, with a plate that shows it."""
        if not self.scenery.moving_floor:
            return None
        path = f"{self._path}/platform"
        plate = self._server_scene.add_frame(path, show_axes=False)
        if not self.is_ghost:
            add_floor(self._server_scene, f"{path}/floor", size=(PLATE, breadth))
            under = box((PLATE, breadth, 0.06), (0.0, 0.0, -0.036))
            self._server_scene.add_mesh_simple(f"{path}/plate", under.vertices, under.faces, color=colors.PLATE)
        return plate

    def _add_patches(self) -> None:
        parent = self._path if self._plate is None else f"{self._path}/platform"
        for k, patch in enumerate(self.scenery.patches if not self.is_ghost else ()):
            size = (patch.x[1] - patch.x[0], patch.y[1] - patch.y[0], 0.001)
            mesh = box(size, (sum(patch.x) / 2.0, sum(patch.y) / 2.0, 0.001 + 0.0002 * k))
            self._server_scene.add_mesh_simple(
                f"{parent}/patch_{k}", mesh.vertices, mesh.faces, color=colors.friction_color(patch.mu), opacity=0.6,
                cast_shadow=False,
            )  # fmt: skip


def line_ends(model: Model | Bodies, snapshot: Snapshot) -> Floats:
    """Return the ends (lines, 2, 3) [m] of a model's lines."""
    if isinstance(model, Bodies):  # without lines
        return np.zeros((0, 2, 3))
    ends = [((line.first, line.begin), (line.second, line.end)) for line in model.lines]
    return np.array([[_place_of(model, snapshot, *end) for end in pair] for pair in ends]).reshape(-1, 2, 3)


def _place_of(model: Model, snapshot: Snapshot, body: str | None, place: Vector3) -> Floats:
    """Return the position (3,) [m] of a point of a body's link frame, or of the ground."""
    if body is None:
        return np.array(place)
    i = model.body_index(body)
    return snapshot.point_of(i, np.subtract(place, model.bodies[i].com))


def _points_of_feet(model: Model | Bodies) -> list[Integers]:
    """Return the numbers of the contact points on each body, if several bodies have any."""
    bodies = [point.body for point in model.contact_points]
    groups = [np.flatnonzero([body == foot for body in bodies]) for foot in dict.fromkeys(bodies)]
    return groups if len(groups) > 1 else []


def _reacting(react: Callable[[int, Any], None], body: int) -> Callable[[Any], Any]:
    async def dragged(event: Any) -> None:  # viser keeps the order of coroutines only
        react(body, event)

    return dragged


def add_floor(server_scene: Any, path: str, size: tuple[float, float] | None = None) -> Any:
    """Add a grid of 0.1 m and 1 m, infinite or with a size [m] along x and y."""
    width, height = size or (40.0, 40.0)
    return server_scene.add_grid(
        path, width=width, height=height, cell_size=0.1, section_size=1.0, infinite_grid=size is None,
        cell_color=(226, 229, 233), section_color=(176, 184, 194), cell_thickness=0.8, section_thickness=1.1,
        plane_color=(243, 245, 247), plane_opacity=1.0, shadow_opacity=0.28, fade_distance=26.0,
    )  # fmt: skip

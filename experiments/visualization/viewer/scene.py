"""The scene in the browser: models, forces and marks on a viser server.

It reads no files and knows no runs: it shows snapshots. One frame of several models goes out as one batch,
``with scene.frame(): ...``, in which only what has changed is sent.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from biped.model import Model
from biped.runs.world import Bodies
from experiments.visualization.viewer.colors import Color
from experiments.visualization.viewer.marks import FORCE_SCALE
from experiments.visualization.viewer.model_view import PLATE, ModelView, add_floor
from experiments.visualization.viewer.scenery import Scenery

#: What can be switched on and off, and whether it is on at first.
LAYERS = dict.fromkeys(
    (
        "floor reaction force", "contact points", "pushes", "centre of mass", "extrapolated centre of mass",
        "planned foothold", "capture region", "centre of pressure", "support polygon",
    ),
    True,
) | {"contact forces": False}  # fmt: skip
#: How a body is shown.
BODIES = ("solid", "see-through", "none")


class ViewerScene:
    """A floor, lights, and models, on a viser server."""

    def __init__(self, server: Any) -> None:
        self.server = server
        self.root = "/world"  # the frame that everything stands in
        self.models: list[ModelView] = []
        self.force_scale = FORCE_SCALE  # [m/N] of arrows that are drawn from now on
        self.layers = dict(LAYERS)
        self._world = server.scene.add_frame(self.root, show_axes=False)
        self._light()
        self._floor: Any = None

    def _light(self) -> None:
        """Sky, sun and a weak light from the other side; no environment map, which would cost as much as all else."""
        scene = self.server.scene
        scene.configure_environment_map(None)
        scene.configure_default_lights(enabled=False)
        scene.add_light_hemisphere("/light/sky", sky_color=(255, 255, 255), ground_color=(176, 168, 160), intensity=1.9)
        scene.add_light_directional("/light/fill", intensity=0.5, position=(3.0, 2.0, 2.0))
        self._sun = scene.add_light_directional(
            "/light/sun", intensity=2.1, cast_shadow=True, position=(-2.5, -3.0, 5.0)
        )

    def cast_shadows(self, on: bool) -> None:
        """Shadows on the floor, or none: without a graphics card they cost half of the pictures."""
        self._sun.cast_shadow = on

    def add(
        self,
        model: Model | Bodies,
        name: str,  # unique in this scene
        ghost: bool = False,  # seen through, in one colour
        *,
        color: Color | None = None,  # of all of it, which a ghost must have; else its parts have theirs
        scenery: Scenery | None = None,  # a floor at rest if not given
        offset: tuple[float, float, float] = (0.0, 0.0, 0.0),  # [m] what it is displaced by, to stand beside others
        plate: float = PLATE,  # [m] breadth (along y) of the plate of a floor that moves: less than to the next model
    ) -> ModelView:
        """Add a model; it is seen once it has been shown a snapshot."""
        scenery = Scenery() if scenery is None else scenery
        if self._floor is None and scenery.floor and not scenery.moving_floor:
            self._floor = add_floor(self.server.scene, f"{self.root}/floor")
        view = ModelView(self, model, name, ghost, color, scenery, offset, plate)
        self.models.append(view)
        return view

    def remove(self, view: ModelView) -> None:
        view.remove()
        self.models.remove(view)

    @contextmanager
    def frame(self) -> Iterator[None]:
        """Send all that is shown within this context to the browsers at once, as one batch."""
        with self.server.atomic():
            yield
        self.server.flush()

    def switch(self, layer: str, on: bool) -> None:
        self.layers[layer] = on
        self.refresh()

    def show_bodies(self, how: str) -> None:
        for view in self.models:
            view.show_bodies(how)

    def refresh(self) -> None:
        for view in self.models:
            view.refresh()

    def carry(self, place: tuple[float, float] | None) -> None:
        """Move everything so that this place [m] (x, y) of the scene is where its origin was; None: back again.

        That is how the camera follows a model: it stays where the person has put it.
        """
        x, y = (0.0, 0.0) if place is None else place
        self._world.position = (-x, -y, 0.0)

"""Scene in the browser: models, forces and marks on a viser server.

It shows snapshots and reads no files. Changes within ``with scene.frame(): ...`` are sent as one batch.
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

#: Layers that can be switched, and whether they are on at first.
LAYERS = dict.fromkeys(
    (
        "ground reaction force", "contact points", "pushes", "centre of mass", "extrapolated centre of mass",
        "planned foothold", "capture region", "centre of pressure", "base of support",
    ),
    True,
) | {"contact forces": False}  # fmt: skip
#: Styles of bodies.
BODIES = ("solid", "see-through", "none")


class ViewerScene:
    """Floor, lights and models on a viser server."""

    def __init__(self, server: Any) -> None:
        self.server = server
        self.root = "/world"  # frame of all objects
        self.models: list[ModelView] = []
        self.force_scale = FORCE_SCALE  # [m/N] scale of arrows drawn from now on
        self.layers = dict(LAYERS)
        self._world = server.scene.add_frame(self.root, show_axes=False)
        self._light()
        self._floor: Any = None

    def _light(self) -> None:
        """Add sky, sun and a weak opposite light; an environment map would cost as much as all else."""
        scene = self.server.scene
        scene.configure_environment_map(None)
        scene.configure_default_lights(enabled=False)
        scene.add_light_hemisphere("/light/sky", sky_color=(255, 255, 255), ground_color=(176, 168, 160), intensity=1.9)
        scene.add_light_directional("/light/fill", intensity=0.5, position=(3.0, 2.0, 2.0))
        self._sun = scene.add_light_directional(
            "/light/sun", intensity=2.1, cast_shadow=True, position=(-2.5, -3.0, 5.0)
        )

    def cast_shadows(self, on: bool) -> None:
        """Switch shadows on the floor; without a graphics card they halve the frame rate."""
        self._sun.cast_shadow = on

    def add(
        self,
        model: Model | Bodies,
        name: str,  # unique in this scene
        ghost: bool = False,  # transparent, in a single colour
        *,
        color: Color | None = None,  # single colour, required for a ghost; None: each part has its colour
        scenery: Scenery | None = None,  # a floor at rest if None
        offset: tuple[float, float, float] = (0.0, 0.0, 0.0),  # [m] displacement, to stand beside others
        plate: float = PLATE,  # [m] width (along y) of a moving floor's plate, less than the distance to the next model
    ) -> ModelView:
        """Add a model, which becomes visible with its first snapshot."""
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
        """Send all changes within this context to the browsers as one batch."""
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
        """Move the scene so that this position [m] (x, y) is at the origin; None: move the scene back.

        The camera thus follows a model although its position does not change.
        """
        x, y = (0.0, 0.0) if place is None else place
        self._world.position = (-x, -y, 0.0)

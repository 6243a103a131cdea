"""Pictures of states, one at a time."""

import itertools
from collections.abc import Generator, Sequence
from types import SimpleNamespace
from typing import Any

import numpy as np

from biped.disturbances import Disturbance
from biped.inputs.extras import need
from biped.runs.state import State
from contact.arrays import Floats
from experiments.visualization.video.pictures import Picture, pictures
from experiments.visualization.video.view import PACKAGES
from experiments.visualization.video.write import Caption
from experiments.visualization.viewer.camera import camera_at
from experiments.visualization.viewer.chromium import find_browser
from experiments.visualization.viewer.loaded_runs import extent_at
from experiments.visualization.viewer.scenery import scenery_of
from experiments.visualization.viewer.trajectory import snapshot_of

#: [pixels] width and height of a picture.
SIZE = (480, 360)


class StatePictures:
    """Pictures of states, drawn by a browser that stays open until ``close``; the camera follows the root."""

    def __init__(self) -> None:
        need(*PACKAGES, "PIL")
        self._drawn: Generator[Picture, None, None] | None = None

    def draw(self, state: State, disturbances: Sequence[Disturbance] = ()) -> Picture:
        """Return a picture (height, width, 3) of a state, with arrows of pushes and the time."""
        model, self._seen = state.model, snapshot_of(state, disturbances)
        if self._drawn is None:
            motion = SimpleNamespace(model=model, scenery=scenery_of(model, disturbances), at=lambda _: self._seen)
            shown: Any = SimpleNamespace(trajectory=motion)
            camera = camera_at("three-quarter", *extent_at(model, self._seen), SIZE, facing=model.facing)
            start = self._root()
            self._drawn = pictures(
                [shown], itertools.repeat(0.0), camera, SIZE, find_browser(), lambda: self._root() - start
            )
        try:
            return np.array(Caption([model.name], SIZE).on(next(self._drawn), state.time), dtype=np.uint8)
        except BaseException:  # the generator has ended: the next picture begins anew
            self.close()
            raise

    def _root(self) -> Floats:
        """Return the position of the root on the floor [m], with zero height."""
        return self._seen.point_of(0, np.zeros((1, 3)))[0] * (1.0, 1.0, 0.0)

    def close(self) -> None:
        """End the browser."""
        if self._drawn is not None:
            self._drawn.close()
        self._drawn = None

    def __reduce__(self) -> tuple[Any, ...]:
        """Copy and pickle without the browser."""
        return StatePictures, ()

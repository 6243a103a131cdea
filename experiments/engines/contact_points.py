"""Assignment of an engine's contacts to contact points of the model."""

from collections.abc import Callable

import numpy as np

from biped.model import Body, Model
from contact.arrays import Floats


class ContactPoints:
    """Positions [m] of each body's contact points, from its centre of mass in the engine's axes of the body.

    If soles are boxes, an engine has contacts anywhere on them: on a flat floor at the corners, which are the model's
    contact points. A force at another position counts for the nearest contact point. ``axes`` returns the rotation
    (3, 3) from the engine's axes of a body to ours.
    """

    def __init__(self, model: Model, axes: Callable[[Body], Floats] = lambda _: np.eye(3)) -> None:
        self._points: dict[int, tuple[list[int], Floats]] = {}
        for index, body in enumerate(model.bodies):
            mine = [k for k, point in enumerate(model.contact_points) if point.body == body.name]
            if mine:
                places = np.array([model.contact_points[k].position for k in mine])
                self._points[index] = mine, (places - np.asarray(body.com)) @ axes(body)

    @property
    def bodies(self) -> tuple[int, ...]:
        return tuple(self._points)

    def nearest(self, body: int, place: Floats) -> int:
        """Return the index of the contact point of a body that is nearest to a position in its axes."""
        mine, places = self._points[body]
        return mine[int(np.argmin(np.sum((places - place) ** 2, axis=1)))]

"""Assignment of an engine's contacts to contact points of the model."""

from collections.abc import Callable, Collection, Mapping

import numpy as np

from biped.model import Body, Model
from contact.arrays import Floats


class ContactPoints:
    """Contact points of bodies: for each body their numbers in the model, and their positions (n, 3) [m] on it.

    If soles are boxes, an engine has contacts anywhere on them: on a flat floor at the corners, which are the model's
    contact points. A force at another position counts for the nearest contact point.
    """

    def __init__(self, points: Mapping[int, tuple[list[int], Floats]]) -> None:
        self._points = points

    @property
    def bodies(self) -> Collection[int]:
        """Numbers of the bodies that have contact points."""
        return self._points.keys()

    def nearest(self, body: int, place: Floats) -> int:
        """Return the index of the contact point of a body that is nearest to a position in its axes."""
        mine, places = self._points[body]
        return mine[int(np.argmin(np.sum((places - place) ** 2, axis=1)))]


def contact_points_of(model: Model, axes: Callable[[Body], Floats] = lambda _: np.eye(3)) -> ContactPoints:
    """Return the contact points of a model, from the centre of mass of each body, in the engine's axes of the body.

    ``axes`` returns the rotation (3, 3) from the engine's axes of a body to ours.
    """
    points = {}
    for index, body in enumerate(model.bodies):
        mine = [k for k, point in enumerate(model.contact_points) if point.body == body.name]
        if mine:
            places = np.array([model.contact_points[k].position for k in mine])
            points[index] = mine, (places - np.asarray(body.com)) @ axes(body)
    return ContactPoints(points)

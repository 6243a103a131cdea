"""Which of our contact points a contact of an engine belongs to."""

import numpy as np

from biped.model import Model
from contact.arrays import Floats


class Soles:
    """The contact points of each body.

    An engine whose soles are boxes finds contacts anywhere on them; on a flat floor they are the corners, which are our
    contact points. A force elsewhere counts for the nearest of them.
    """

    def __init__(self, model: Model) -> None:
        self._points: dict[int, tuple[list[int], Floats]] = {}
        for index, body in enumerate(model.bodies):
            mine = [k for k, point in enumerate(model.contact_points) if point.body == body.name]
            places = np.array([model.contact_points[k].position for k in mine]).reshape(-1, 3)
            self._points[index] = mine, places - np.asarray(body.com)

    def point(self, body: int, place: Floats) -> int:
        """The index of the contact point of a body that is nearest to a place, from its centre of mass in its axes."""
        mine, places = self._points[body]
        return mine[int(np.argmin(np.sum((places - place) ** 2, axis=1)))]

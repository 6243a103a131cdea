"""Contact points of a model on an engine's bodies.

If soles are boxes, an engine has contacts anywhere on them: on a flat floor at the corners, which are the model's
contact points. A force at another position counts for the nearest contact point (``kernels.contacts.nearest``).
"""

from collections.abc import Callable

import numpy as np

from biped.model import Body, Model
from contact.arrays import Floats, Integers


def contact_points_of(model: Model, axes: Callable[[Body], Floats] = lambda _: np.eye(3)) -> tuple[Integers, Floats]:
    """Return the body (nc,) of each contact point, and its position (nc, 3) [m] from the body's centre of mass.

    Positions are in the engine's axes of the body; ``axes`` returns the rotation (3, 3) from these to ours.
    """
    bodies = [model.bodies[model.body_index(point.body)] for point in model.contact_points]
    places = [
        np.subtract(point.position, body.com) @ axes(body)
        for point, body in zip(model.contact_points, bodies, strict=True)
    ]
    return np.array([model.body_index(body.name) for body in bodies], dtype=np.int64), np.reshape(places, (-1, 3))

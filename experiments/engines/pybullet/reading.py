"""From PyBullet's quaternions and contacts to ours."""

from typing import Any

import numpy as np

from biped.model import Model
from contact.arrays import Floats
from contact.vectors import quat_mul
from experiments.engines.pybullet.urdf import principal_axes

#: Contact points of a body: their indices in the model, and their places in the world [m].
Places = tuple[list[int], list[list[float]]]


class Feet:
    """The contact points of each body that has any.

    Args:
        model: whose they are.
        links: PyBullet's number of each of its bodies.
    """

    def __init__(self, model: Model, links: tuple[int, ...]) -> None:
        self._found: list[tuple[int, list[int], Floats]] = []
        for body, link in zip(model.bodies, links, strict=True):
            mine = [k for k, point in enumerate(model.contact_points) if point.body == body.name]
            if mine:  # in the frame that PyBullet tells of: the centre of mass and the principal axes
                places = np.array([model.contact_points[k].position for k in mine]) - np.asarray(body.com)
                self._found.append((link, mine, places @ principal_axes(body)[1]))

    def places(self, engine: Any, client: int, robot: int) -> dict[int, Places]:
        """Where the points are now, by PyBullet's number of their body."""
        return {link: (mine, self._now(engine, client, robot, link, local)) for link, mine, local in self._found}

    @staticmethod
    def _now(engine: Any, client: int, robot: int, link: int, local: Floats) -> list[list[float]]:
        if link < 0:
            place, turn = engine.getBasePositionAndOrientation(robot, physicsClientId=client)
        else:
            place, turn = engine.getLinkState(robot, link, physicsClientId=client)[:2]
        R = np.reshape(engine.getMatrixFromQuaternion(turn), (3, 3))
        now: list[list[float]] = (local @ R.T + place).tolist()
        return now


def nearest(places: Places, place: tuple[float, float, float]) -> int:
    """The contact point of a body that is nearest to a place; soles that are boxes touch anywhere."""
    x, y, z = place
    far = [(p[0] - x) ** 2 + (p[1] - y) ** 2 + (p[2] - z) ** 2 for p in places[1]]
    return places[0][far.index(min(far))]


def as_bullet(quaternion: Floats) -> list[float]:
    """Our quaternion, scalar first, as PyBullet's, scalar last."""
    return [float(quaternion[k]) for k in (1, 2, 3, 0)]


def as_ours(quaternion: tuple[float, float, float, float]) -> Floats:
    """PyBullet's quaternion as ours."""
    x, y, z, w = quaternion
    return np.array((w, x, y, z))


def product(a: Floats, b: Floats) -> Floats:
    """Of two quaternions, scalar first."""
    return np.array(quat_mul(a.tolist(), b.tolist()))

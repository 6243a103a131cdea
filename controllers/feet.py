"""The contact points that a law stands on."""

import numpy as np

from biped.model import Model
from contact.arrays import Integers


def points_of_feet(model: Model) -> tuple[Integers, Integers]:
    """(m,) the feet's contact points, as the tree numbers them, and (m,) of which of ``model.feet`` each is."""
    feet = [model.body_index(foot) for foot in model.feet]
    found = [(point, feet.index(int(body))) for point, body in enumerate(model.tree.contact_body) if int(body) in feet]
    points, owners = np.array(found, dtype=np.int64).reshape(-1, 2).T.copy()
    return points, owners

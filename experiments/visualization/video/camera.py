"""Where the camera stands, and how it looks from there."""

import math
from dataclasses import dataclass

import numpy as np

from biped.errors import InputError
from contact.arrays import Floats
from experiments.visualization.viewer.page import CAMERAS, FIELD_OF_VIEW, ROOM

#: More room around the figure than in the browser, where one can step back.
MARGIN = 1.1
#: Width over height of a picture that is seen from the distances of the presets; from farther away, if it is narrower.
ASPECT = 4.0 / 3.0


@dataclass(frozen=True)
class Camera:
    """A camera at rest."""

    position: Floats  # (3,) [m]
    look_at: Floats  # (3,) [m]
    fov: float = FIELD_OF_VIEW  # [rad] vertical field of view

    @property
    def wxyz(self) -> Floats:
        """(4,) unit quaternion, scalar first, from the camera's axes (x right, y down, z forward) to the world's."""
        ahead = self.look_at - self.position
        ahead = ahead / np.linalg.norm(ahead)
        right = np.cross(ahead, (0.0, 0.0, 1.0))
        right = right / np.linalg.norm(right)
        down = np.cross(ahead, right)
        return _quaternion(np.column_stack([right, down, ahead]))


def camera_at(preset: str, middle: Floats, reach: float, size: tuple[int, int], room: float = 1.0) -> Camera:
    """A camera that sees all of something.

    Args:
        preset: the name of one of ``experiments.visualization.viewer.page.CAMERAS``, or ``X,Y,Z`` [m] from what is
            looked at.
        middle: (3,) [m] of it.
        reach: [m] half of its diagonal.
        size: width and height of the picture.
        room: how much farther away it stands.

    Raises:
        InputError: it is neither.
    """
    away = check_camera(preset)
    narrow = max(1.0, ASPECT * size[1] / size[0])
    return Camera(middle + MARGIN * reach / ROOM * room * narrow * np.array(away), middle)


def check_camera(text: str) -> tuple[float, ...]:
    """[m] where a camera stands, from what is looked at, by its name or by ``X,Y,Z``.

    Raises:
        InputError: it is neither.
    """
    if text in CAMERAS:
        return CAMERAS[text]
    try:
        away = tuple(float(part) for part in text.split(","))
    except ValueError:
        away = ()
    if len(away) != 3 or not all(math.isfinite(part) for part in away) or away[0] == away[1] == 0.0:
        raise InputError(
            f"--camera {text}: it must be {', '.join(CAMERAS)}, or X,Y,Z in metres from what is looked at, "
            "not straight above it"
        )
    return away


def _quaternion(R: Floats) -> Floats:
    """(4,) of a rotation matrix, by the largest of its parts (Shepperd 1978)."""
    trace = np.array([np.trace(R), R[0, 0], R[1, 1], R[2, 2]])
    k = int(np.argmax(trace))
    if k == 0:
        q = np.array([1.0 + trace[0], R[2, 1] - R[1, 2], R[0, 2] - R[2, 0], R[1, 0] - R[0, 1]])
    else:
        i, j, m = k - 1, k % 3, (k + 1) % 3
        q = np.zeros(4)
        q[0], q[1 + i] = R[m, j] - R[j, m], 1.0 + R[i, i] - R[j, j] - R[m, m]
        q[1 + j], q[1 + m] = R[j, i] + R[i, j], R[m, i] + R[i, m]
    unit: Floats = q / math.sqrt(float(q @ q))
    return unit

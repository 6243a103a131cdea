"""Camera positions and orientations."""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.spatial.transform import Rotation

from biped.errors import InputError
from biped.model.geometry import Vector3
from contact.arrays import Floats

#: Camera positions from the middle of the scene [m], by name, for a model that faces −x, as the human does.
CAMERAS: dict[str, tuple[float, float, float]] = {
    "three-quarter": (-2.6, -2.1, 0.75),
    "front": (-3.4, 0.0, 0.15),
    "side": (0.0, -3.4, 0.15),
    "back": (3.4, 0.0, 0.15),
    "top": (-0.02, 0.0, 4.0),
}
#: [m] half diagonal of the scene for which these positions are chosen, a standing human.
FILL = 0.95
#: [rad] vertical field of view.
FIELD_OF_VIEW = 0.6
#: Factor of the distance for pictures, in which one cannot zoom out.
MARGIN = 1.1
#: Width / height of a picture at the presets' distances; the camera is farther away for a narrower one.
ASPECT = 4.0 / 3.0


@dataclass(frozen=True)
class Camera:
    """Position and orientation of a camera."""

    position: Floats  # (3,) [m] world axes
    look_at: Floats  # (3,) [m] point in the middle of the picture, world axes
    fov: float = FIELD_OF_VIEW  # [rad] vertical field of view

    @property
    def wxyz(self) -> Floats:
        """Unit quaternion (4,), scalar first, from the camera's axes (x right, y down, z forward) to the world's."""
        ahead = self.look_at - self.position
        ahead = ahead / np.linalg.norm(ahead)
        right = np.cross(ahead, (0.0, 0.0, 1.0))
        right = right / np.linalg.norm(right)
        turn = Rotation.from_matrix(np.column_stack([right, np.cross(ahead, right), ahead]))
        return np.asarray(turn.as_quat(scalar_first=True))

    def displaced(self, by: Floats | float) -> "Camera":
        """Return the camera displaced by a vector (3,) [m]."""
        return Camera(self.position + by, self.look_at + by, self.fov)

    def start(self, server: Any) -> None:
        camera = server.initial_camera
        camera.position, camera.look_at = tuple(self.position), tuple(self.look_at)
        camera.up, camera.fov = (0.0, 0.0, 1.0), self.fov


def camera_at(
    preset: str,
    middle: Floats,
    reach: float,
    size: tuple[int, int] | None = None,
    distance: float = 1.0,
    facing: Vector3 = (-1.0, 0.0, 0.0),
) -> Camera:
    """Return a camera that sees the whole scene, given its middle (3,) [m] and half of its diagonal [m].

    The view fits a picture of ``size`` [pixels] or a window, ``distance`` times as far away as needed. Presets are
    relative to ``facing``; three numbers are along world axes.
    """
    wider = 1.0 if size is None else MARGIN * max(1.0, ASPECT * size[1] / size[0])
    x, y, z = check_camera(preset)
    if preset in CAMERAS:
        x, y = -x * facing[0] + y * facing[1], -x * facing[1] - y * facing[0]
    return Camera(middle + reach / FILL * distance * wider * np.array((x, y, z)), middle)


def check_camera(text: str) -> tuple[float, ...]:
    """Return the camera's position [m] relative to the scene's middle, for a preset's name or ``X,Y,Z``."""
    if text in CAMERAS:
        return CAMERAS[text]
    try:
        away = tuple(float(part) for part in text.split(","))
    except ValueError:
        away = ()
    if len(away) != 3 or not all(math.isfinite(part) for part in away) or away[0] == away[1] == 0.0:
        raise InputError(
            f"--camera {text}: it must be {', '.join(CAMERAS)}, or a position X,Y,Z in metres relative to the "
            "middle of the scene, not straight above or below it"
        )
    return away

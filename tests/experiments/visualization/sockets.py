"""Actions of a page's scripts on a server: open a socket, and report the camera."""

import msgspec
import viser
from websockets.sync.client import connect

from experiments.visualization.viewer.serve import url_of

#: A client that has not sent one does not count.
CAMERA = msgspec.msgpack.encode(
    {
        "type": "ViewerCameraMessage",
        "wxyz": [1, 0, 0, 0],
        **{key: [0, 0, 1] for key in ("position", "look_at", "up_direction")},
        "fov": 1,
        "near": 0.1,
        "far": 10,
        "image_height": 100,
        "image_width": 100,
    }
)


def opened(server, origin=None, path=None):
    """Open a socket at a server's address, or at another path."""
    own, (_, rest) = [f"viser-v{viser.__version__}"], url_of(server).split("//")
    place, _, token = rest.partition("/")
    address = f"ws://{place}/{token if path is None else path}"
    return connect(address, origin=origin, subprotocols=own, proxy=None, max_size=None)

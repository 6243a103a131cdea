"""Pictures of runs at exact times, drawn by a headless Chromium."""

import threading
from collections.abc import Callable, Generator, Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from biped.errors import InputError
from contact.arrays import Floats
from experiments.visualization.viewer.camera import Camera
from experiments.visualization.viewer.chromium import Chromium, chromium
from experiments.visualization.viewer.loaded_runs import Shown, add_runs
from experiments.visualization.viewer.scene import ViewerScene
from experiments.visualization.viewer.serve import serving, url_of

Picture = NDArray[np.uint8]

#: JavaScript: wait for two frames.
_FRAMES = "new Promise(done => requestAnimationFrame(() => requestAnimationFrame(() => done(true))))"
#: JavaScript: whether all glTF surfaces are in the scene.
_LOADED = """(() => {
  const all = window.__viserSceneTree ? Object.values(window.__viserSceneTree.getState()) : [];
  const surfaces = all.filter(node => node && node.message && node.message.type === "GlbMessage");
  return all.some(node => node && node.message && node.message.name.startsWith("/world/run_0/")) &&
    surfaces.every(node => {
      let found = false;
      const there = window.__viserMutable.nodeRefFromName[node.message.name];
      if (there) there.traverse(part => { found = found || part.isMesh; });
      return found;
    });
})()"""

#: Width and height of the browser's window, kept small because drawing in it costs time. In a smaller window the
#: page has no space for its canvas, and draws once a second.
WINDOW = (240, 180)
#: [s] time limits for the browser's start and for a picture; the first one takes longest.
PATIENCE = 120.0
#: Width and height of a picture that is not used.
SMALL = (16, 12)
#: Equal successive pictures of the first instant after which it counts as settled; most pictures to try.
SAME, TRIALS = 2, 60


def pictures(
    runs: Sequence[Shown], times: Iterable[float], camera: Camera, size: tuple[int, int], program: str,
    displacement: Callable[[], Floats | float] = lambda: 0.0,
) -> Generator[Picture, None, None]:  # fmt: skip
    """Yield a picture (height, width, 4) of each time [s]: red, green, blue, opacity, 0 … 255; transparent if empty.

    The first run is solid, the others are ghosts. A picture depends on its time only, not on the speed of this machine.
    ``displacement`` returns that of the camera (3,) [m] for the next picture; by default zero.
    """
    with serving(port=0) as server:
        connected = threading.Event()
        clients: list[Any] = []

        def welcome(client: Any) -> None:
            clients.append(client)
            connected.set()

        server.on_client_connect(welcome)
        camera.start(server)  # the browser's camera determines the resolution of shadows
        # One device pixel each: by default the page draws more coarsely if drawing is slow.
        url = f"{url_of(server)}?fixedDpr=1"
        with chromium(url, *WINDOW, program) as browser:
            if not connected.wait(PATIENCE):
                raise InputError(f"the browser did not open the page of the scene within {PATIENCE:g} s")
            # On the client's own scene, messages and the request to draw arrive in order.
            scene = ViewerScene(clients[0])
            set_lights(scene)
            models = add_runs(scene, runs)
            for k, moment in enumerate(times):
                with scene.frame():
                    for model, loaded in zip(models, runs, strict=True):
                        model.show(loaded.trajectory.at(moment))
                if k == 0:
                    _settle(clients[0], browser, camera, size)
                yield _next(clients[0], browser, camera.displaced(displacement()), size)


def set_lights(scene: ViewerScene) -> None:
    """Set lights without an environment map, which a browser loads late: earlier pictures would be darker."""
    server_scene = scene.server.scene
    server_scene.configure_environment_map(None)
    server_scene.add_light_hemisphere(
        "/light/sky", sky_color=(255, 255, 255), ground_color=(205, 196, 188), intensity=3.4
    )


def _settle(client: Any, browser: Chromium, camera: Camera, size: tuple[int, int]) -> None:
    """Wait until pictures of the first instant no longer change.

    The browser unpacks surfaces after it has received them, and sets its lights after one or two pictures.
    """
    try:
        browser.wait_for(_LOADED, PATIENCE)
    except (TimeoutError, RuntimeError) as error:
        raise InputError(f"the browser does not show the scene: {error}") from error
    last, same = _drawn(client, camera, size), 0
    for _ in range(TRIALS):
        now = _drawn(client, camera, size)
        same = same + 1 if np.array_equal(now, last) else 0
        if same == SAME:
            return
        last = now
    raise InputError(f"pictures of the first instant still differ after {TRIALS} attempts: try another --browser")


def _next(client: Any, browser: Chromium, camera: Camera, size: tuple[int, int]) -> Picture:
    """Return a picture of the scene as sent.

    A small picture comes first: once it is there, all messages have arrived. New objects, such as an arrow, are drawn
    after one or two more frames.
    """
    _drawn(client, camera, SMALL)
    try:
        browser.evaluate(_FRAMES)
    except (TimeoutError, RuntimeError) as error:
        raise InputError(f"the browser does not draw: {error}") from error
    return _drawn(client, camera, size)


def _drawn(client: Any, camera: Camera, size: tuple[int, int]) -> Picture:
    width, height = size
    try:
        drawn = client.get_render(
            height, width, wxyz=camera.wxyz, position=camera.position, fov=camera.fov, transport_format="png",
            timeout=PATIENCE,
        )  # fmt: skip
    except (RuntimeError, TimeoutError) as error:
        raise InputError(f"the browser does not draw: {error}") from error
    picture: Picture = np.asarray(drawn, dtype=np.uint8)
    return picture

"""Pictures of runs, drawn by a headless Chromium: as many as one wants, each of an exact time."""

import threading
from collections.abc import Generator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from biped.errors import InputError
from experiments.visualization.viewer.camera import Camera
from experiments.visualization.viewer.chromium import Chromium, chromium
from experiments.visualization.viewer.loaded_runs import Shown, add_runs
from experiments.visualization.viewer.scene import ViewerScene
from experiments.visualization.viewer.serve import serving, url_of

Picture = NDArray[np.uint8]

#: In the page: wait for two frames.
_FRAMES = "new Promise(done => requestAnimationFrame(() => requestAnimationFrame(() => done(true))))"
#: In the page: whether all surfaces that come as glTF are in the scene.
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

#: Width and height of the browser's own window: what it draws for itself is not looked at, and costs time. In a window
#: that is smaller than this the page has no room for its canvas, and draws once a second.
WINDOW = (240, 180)
#: [s] for the browser to start, and to draw a picture; the first one takes longest.
PATIENCE = 120.0
#: Width and height of a picture that nobody looks at.
SMALL = (16, 12)
#: So many pictures of the first instant must be the same, one after the other, before it counts; of so many.
SAME, TRIALS = 2, 60


def pictures(
    runs: Sequence[Shown], times: Sequence[float], camera: Camera, size: tuple[int, int], program: str
) -> Generator[Picture, None, None]:
    """(height, width, 4) red, green, blue and opacity, 0 … 255, of each time [s]; where nothing is, it is transparent.

    The first run is solid, the others are laid over it as ghosts. What a picture shows depends on its time only, not
    on how fast this machine draws.
    """
    with serving(port=0) as server:
        connected = threading.Event()
        clients: list[Any] = []

        def welcome(client: Any) -> None:
            clients.append(client)
            connected.set()

        server.on_client_connect(welcome)
        camera.start(server)  # the browser's own camera decides how finely shadows are drawn
        # One pixel for each: by itself the page draws more coarsely where drawing takes long.
        url = f"{url_of(server)}?fixedDpr=1"
        with chromium(url, *WINDOW, program) as browser:
            if not connected.wait(PATIENCE):
                raise InputError(f"the browser did not open its page within {PATIENCE:g} s")
            # On the client's own scene: what is shown and the order to draw it go the same way, one after the other.
            scene = ViewerScene(clients[0])
            light_plainly(scene)
            models = add_runs(scene, runs)
            for k, moment in enumerate(times):
                with scene.frame():
                    for model, loaded in zip(models, runs, strict=True):
                        model.show(loaded.trajectory.at(moment))
                if k == 0:
                    _settle(clients[0], browser, camera, size)
                yield _next(clients[0], browser, camera, size)


def light_plainly(scene: ViewerScene) -> None:
    """Light without a picture of a studio: a browser loads that some time, and what it draws before is darker."""
    server_scene = scene.server.scene
    server_scene.configure_environment_map(None)
    server_scene.add_light_hemisphere(
        "/light/sky", sky_color=(255, 255, 255), ground_color=(205, 196, 188), intensity=3.4
    )


def _settle(client: Any, browser: Chromium, camera: Camera, size: tuple[int, int]) -> None:
    """Wait until the first instant looks as it stays.

    The browser takes surfaces apart some time after it has got them, and finds its light after a picture or two.
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
    raise InputError(f"the browser does not come to rest: {TRIALS} pictures of one instant differ")


def _next(client: Any, browser: Chromium, camera: Camera, size: tuple[int, int]) -> Picture:
    """A picture of what has been sent.

    A small one first: when it is there, all that was sent has arrived. What is new in the scene, such as an arrow that
    was not there before, is drawn after another frame or two of the browser's.
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

"""Runs to show, a page with one of them, and a browser that opens it."""

import threading
from types import SimpleNamespace

import numpy as np
import pytest

from biped import Force, Load, Platform, Push, Signal, Throw
from biped.disturbances import Patch
from contact import Floor
from experiments.catalogue.registry import experiment_named
from experiments.visualization.viewer.chromium import HOW_TO_GET_IT, chromium, chromium_path
from experiments.visualization.viewer.loaded_runs import LoadedRun
from experiments.visualization.viewer.page import Page
from experiments.visualization.viewer.playback import Playback
from experiments.visualization.viewer.serve import serving, url_of
from experiments.visualization.viewer.trajectory import trajectory_of

PUSH = Push("trunk", (-1.0, 0.5, 0.0), 6.0, start=0.1, duration=0.08, waveform="half-sine", point=(0.0, 0.05, 0.1))
WIND = Force("left_thigh", (0.0, 1.0, 0.0), Signal.rectangle(12.0, 0.05, 0.2))
BLOCK = Throw.at((0.0, 0.05, 1.15), 4.5, (-1, 0, 0), mass=1.8, size=(0.12, 0.10, 0.08), flight=0.2)
PACK = Load("trunk", mass=3.0, position=(0.2, 0.0, 0.1), size=(0.1, 0.3, 0.4))
PURSE = Load("trunk", mass=1.0, position=(0.0, 0.3, -0.2))
TILT = Platform(pitch=Signal.sine(0.03, frequency=1.0, start=0.05, duration=2.0, fade=0.2))
ICE = Patch(x=(-0.5, 0.5), y=(-1.0, 0.0), floor=Floor(mu_s=0.1, mu_d=0.1))


@pytest.fixture(scope="session")
def acting():
    """Return the disturbances of the runs below, by name."""
    return SimpleNamespace(push=PUSH, wind=WIND, block=BLOCK, pack=PACK, purse=PURSE)


@pytest.fixture(scope="session")
def standing():
    """Return ``standing(*disturbances)``: a short run of the standing human."""
    from dataclasses import replace

    setup = experiment_named("balance").build()

    def run(*disturbances, duration=0.3):
        return replace(setup, disturbances=disturbances, duration=duration, step=2e-3).run()

    return run


@pytest.fixture(scope="session")
def pushed(standing):
    return standing(PUSH, WIND, BLOCK)


@pytest.fixture(scope="session")
def tilted(standing):
    return standing(TILT, PACK, PURSE, ICE)


@pytest.fixture(scope="session")
def tumbled():
    return experiment_named("tumble").run({"run.duration": 0.6})


class Watched:
    """Page that is played in a browser."""

    def __init__(self, page, browser):
        self.page, self.browser = page, browser

    @property
    def client(self):
        return next(iter(self.page.server.get_clients().values()))

    def pose(self, body="trunk"):
        """Return position and quaternion of a body in the browser."""
        key = f"window.__viserMutable.nodePoseData['/world/run_0/{body}']"
        found = self.browser.evaluate(f"({{position: {key}.position, wxyz: {key}.wxyz}})")
        return np.array(found["position"]), np.array(found["wxyz"])

    def wait_until_drawn(self, time):
        """Wait until the browser has drawn the time of a run."""
        wanted = self.page.runs[0].trajectory.at(time).position[0].tolist()
        key = "window.__viserMutable.nodePoseData['/world/run_0/trunk'].position"
        self.browser.wait_for(f"{wanted}.every((x, k) => Math.abs(x - {key}[k]) < 1e-4)")
        frame = "window.__viserTestpoints.rendererInfo.render.frame"
        drawn = self.browser.evaluate(frame)
        self.browser.wait_for(f"window.__viserMutable.requestRender?.(), {frame} > {drawn + 1}")


@pytest.fixture(scope="module")
def watched(tumbled):
    if chromium_path() is None:
        pytest.skip(f"there is no Chromium here: {HOW_TO_GET_IT}")
    trajectory = trajectory_of(tumbled)
    playback = Playback(trajectory.begins, trajectory.ends, playing=False)
    with serving("127.0.0.1", 0) as server:
        page = Page(server, [LoadedRun("tumble", tumbled, trajectory)], playback)
        page.scene.cast_shadows(False)  # slow without a graphics card
        done = threading.Event()
        runner = threading.Thread(target=page.run, args=(60.0, done.is_set))
        runner.start()
        try:
            with chromium(url_of(server), 960, 480) as browser:
                drawn = "window.__viserTestpoints && window.__viserTestpoints.rendererInfo.render.frame > 2"
                browser.wait_for(drawn)
                browser.wait_for("window.__viserMutable.nodePoseData['/world/run_0/trunk'] !== undefined")
                yield Watched(page, browser)
        finally:
            done.set()
            runner.join()

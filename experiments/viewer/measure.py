"""How many pictures a second get from a run to the eye: what the server sends, and what a browser draws."""

import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass

from experiments.viewer.chromium import Chromium, chromium, find_browser
from experiments.viewer.page import Page
from experiments.viewer.serve import url_of

__all__ = ["Rates", "find_browser", "measure", "measure_rates", "server_rate"]

#: Sizes of the window [pixels] that the browser is measured at.
SIZES = ((320, 240), (640, 480), (1280, 800))
#: [s] to come to rest, and to count.
SETTLE, COUNT = 2.0, 5.0

#: Counts, in the page: animation frames, pictures drawn, and pictures with a new pose of the first body.
_COUNT = """new Promise(resolve => {
  const info = window.__viserTestpoints.rendererInfo, begin = performance.now(), first = info.render.frame;
  const poses = window.__viserMutable.nodePoseData, key = %s;
  let frames = 0, changes = 0, last = "";
  const look = () => {
    const now = performance.now();
    frames += 1;
    const pose = poses[key], seen = pose ? JSON.stringify([pose.position, pose.wxyz]) : "";
    if (seen !== last) { changes += 1; last = seen; }
    if (now - begin < %f) requestAnimationFrame(look);
    else { const s = (now - begin) / 1000;
      resolve([frames / s, (info.render.frame - first) / s, changes / s]); }
  };
  requestAnimationFrame(look);
})"""


@dataclass(frozen=True)
class Rates:
    """Per second, at one size of the window.

    Attributes:
        width: [pixels].
        height: [pixels].
        sent: pictures that the server has sent.
        cost: [s] a picture costs the server.
        animated: animation frames of the browser.
        drawn: pictures that it has drawn.
    """

    width: int
    height: int
    sent: float
    cost: float
    animated: float
    drawn: float


def server_rate(page: Page, pictures: int = 600) -> float:
    """[s] that a picture costs the server: the mean over that many, one after the other as fast as they go."""
    transport = page.transport
    transport.play()
    now, before, cost = 0.0, page.frames, page.cost
    for _ in range(pictures):
        page.frame(now)
        now += 1.0 / 60.0
    return (page.cost - cost) / max(page.frames - before, 1)


def measure_rates(page: Page, rate: float = 60.0, sizes: tuple[tuple[int, int], ...] = SIZES) -> Iterator[Rates]:
    """Play the page in a headless Chromium, at some sizes of its window.

    Raises:
        InputError: there is no Chromium.
    """
    done = threading.Event()
    with chromium(url_of(page.server), *sizes[0]) as browser:
        runner = threading.Thread(target=page.run, args=(rate, done.is_set), daemon=True)
        runner.start()
        try:
            browser.wait_for("window.__viserTestpoints && window.__viserTestpoints.rendererInfo.render.frame > 2")
            for width, height in sizes:
                yield _at_size(page, browser, width, height)
        finally:
            done.set()
            runner.join()


def _at_size(page: Page, browser: Chromium, width: int, height: int) -> Rates:
    browser.resize(width, height)
    page.transport.play()
    time.sleep(SETTLE)
    frames, cost, began = page.frames, page.cost, time.perf_counter()
    animated, drawn, _ = browser.evaluate(_COUNT % ('"/world/run_0/trunk"', 1e3 * COUNT))
    seconds = time.perf_counter() - began
    sent = page.frames - frames
    return Rates(width, height, sent / seconds, (page.cost - cost) / max(sent, 1), animated, drawn)


def measure(page: Page, rate: float = 60.0) -> Iterator[str]:
    """The same as lines for a person; first the server alone."""
    cost = server_rate(page)
    yield f"server alone: {1e3 * cost:.2f} ms a picture, {1.0 / cost:.0f} pictures a second"
    for found in measure_rates(page, rate):
        yield (
            f"window {found.width} x {found.height}: sent {found.sent:.0f}, drawn {found.drawn:.0f}, animation frames "
            f"{found.animated:.0f} a second; {1e3 * found.cost:.2f} ms a picture"
        )

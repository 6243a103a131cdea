"""How many pictures a second get from a run to the eye: what the server sends, and what a browser draws."""

import threading
import time
from collections.abc import Iterator, Sequence
from typing import Any

from experiments.visualization.viewer.chromium import Chromium, chromium, find_browser
from experiments.visualization.viewer.page import Page
from experiments.visualization.viewer.serve import url_of

__all__ = ["find_browser", "measure"]

#: Sizes of the window [pixels] that the browser is measured at.
SIZES = ((320, 240), (640, 480), (1280, 800))
#: [s] to come to rest, and to count.
SETTLE, COUNT = 3.0, 5.0

#: Counts the pictures that the page draws, per second.
_COUNT = """new Promise(resolve => {
  const info = window.__viserTestpoints.rendererInfo, begin = performance.now(), first = info.render.frame;
  const look = () => {
    const passed = performance.now() - begin;
    if (passed < %f) requestAnimationFrame(look);
    else resolve(1000 * (info.render.frame - first) / passed);
  };
  requestAnimationFrame(look);
})"""
#: The name of what draws.
_GRAPHICS = """(() => { const gl = document.createElement("canvas").getContext("webgl2");
  const more = gl.getExtension("WEBGL_debug_renderer_info");
  return gl.getParameter(more ? more.UNMASKED_RENDERER_WEBGL : gl.RENDERER); })()"""


def measure(page: Page, rate: float = 60.0, sizes: Sequence[tuple[int, int]] = SIZES) -> Iterator[str]:
    """Lines for a person: of the server alone, then of the page that plays in a headless Chromium.

    That at some sizes of its window, with shadows and without.
    """
    cost = _server_cost(page)
    yield f"server alone: {1e3 * cost:.2f} ms of the processor a picture, {1.0 / cost:.0f} pictures a second"
    done = threading.Event()
    with chromium(url_of(page.server), *sizes[0], hardware=True) as browser:
        runner = threading.Thread(target=page.run, args=(rate, done.is_set), daemon=True)
        runner.start()
        try:
            browser.wait_for("window.__viserTestpoints && window.__viserTestpoints.rendererInfo.render.frame > 2")
            browser.command("Profiler.enable")
            yield f"the browser draws by {browser.evaluate(_GRAPHICS)}"
            for shadows in (True, False):
                page.scene.cast_shadows(shadows)
                for width, height in sizes:
                    found = _at_size(page, browser, width, height)
                    yield f"{width} x {height}, {'with' if shadows else 'without'} shadows: {found}"
        finally:
            done.set()
            runner.join()


def _server_cost(page: Page, pictures: int = 600) -> float:
    """[s] of the processor that a picture takes on the server: the mean over that many, at 60 a second of the run."""
    page.playback.play()
    frames, cost = page.frames, page.cost
    for k in range(pictures):
        page.frame(k / 60.0)
    return (page.cost - cost) / max(page.frames - frames, 1)


def _at_size(page: Page, browser: Chromium, width: int, height: int) -> str:
    browser.resize(width, height)
    page.playback.play()
    time.sleep(SETTLE)
    browser.command("Profiler.start")
    frames, cost, began = page.frames, page.cost, time.perf_counter()
    drawn = browser.evaluate(_COUNT % (1e3 * COUNT))
    seconds, sent = time.perf_counter() - began, page.frames - frames
    scripts = _time_of_scripts(browser.command("Profiler.stop")["profile"]) / max(drawn * COUNT, 1.0)
    return (
        f"{sent / seconds:.0f} pictures a second sent, {drawn:.0f} drawn; a picture costs the server "
        f"{1e3 * (page.cost - cost) / max(sent, 1):.2f} ms, and the page's scripts {1e3 * scripts:.1f} ms"
    )


def _time_of_scripts(profile: dict[str, Any]) -> float:
    """[s] in the page's own functions: without idling, and without built-in ones, which wait for the graphics."""
    own = {node["id"] for node in profile["nodes"] if node["callFrame"]["lineNumber"] >= 0}
    pairs = zip(profile["samples"], profile["timeDeltas"], strict=True)
    return 1e-6 * sum(float(passed) for number, passed in pairs if number in own)

"""The page in a browser: it moves by itself, and a key pushes."""

import threading
import time

import numpy as np

from biped.disturbances import Push, Throw
from experiments.catalogue.registry import experiment_named
from experiments.visualization.live.loop import Loop
from experiments.visualization.live.page import Page
from experiments.visualization.live.runner import Runner
from experiments.visualization.viewer.chromium import chromium
from experiments.visualization.viewer.serve import serving, url_of

from ..hands import BROWSER, press

pytestmark = BROWSER
POSE = "window.__viserMutable && window.__viserMutable.nodePoseData['/world/figure/trunk']"
FAR = 5e-5  # [m] displacement of the trunk by a push after a second and a half


def click(browser, label):
    browser.wait_for(f"[...document.querySelectorAll('button')].some(b => b.innerText === '{label}')")
    browser.evaluate(f"[...document.querySelectorAll('button')].find(b => b.innerText === '{label}').click()")


def wait_until(true, patience=20.0):
    until = time.monotonic() + patience
    while not true():
        assert time.monotonic() < until
        time.sleep(0.02)


def keys(browser, page, loop):
    """Keys Space, R, P, T; a held P pushes once."""
    page.runner.pause(False)
    browser.evaluate("document.activeElement.blur()")
    press(browser, " ", "Space")
    wait_until(lambda: page.runner.paused)
    press(browser, "p", "KeyP", repeats=3)
    wait_until(lambda: any(isinstance(d, Push) and d is page._push for d in loop.disturbances))
    press(browser, "t", "KeyT")
    wait_until(lambda: any(isinstance(d, Throw) for d in loop.disturbances))
    assert len(loop.disturbances) == len(loop.setup.disturbances) + 2
    press(browser, "r", "KeyR")
    wait_until(lambda: loop.disturbances == loop.setup.disturbances)
    press(browser, " ", "Space")
    wait_until(lambda: not page.runner.paused)


def test_it_is_seen_and_pushed():
    loop = Loop(experiment_named("balance").build())
    with serving(port=0) as server:
        page = Page(server, loop, "balance: a title")
        page.runner = Runner(loop, page.show, page.complain)
        thread = threading.Thread(target=page.runner.run, daemon=True)
        thread.start()
        try:
            with chromium(url_of(server), 900, 600) as browser:  # wide enough for an open panel
                rest = browser.wait_for(f"{POSE} && {POSE}.position")
                at_rest = loop.state.q[0]
                click(browser, "Push")
                # Held where the push has taken it, for as long as the browser takes to show it.
                wait_until(lambda: abs(loop.state.q[0] - at_rest) > FAR)
                page.runner.pause(True)
                browser.wait_for(f"Math.abs({POSE}.position[0] - ({rest[0]!r})) > {FAR}")
                page.runner.pause(False)
                browser.wait_for("document.body.innerText.includes('real time')")
                click(browser, "Pause")
                browser.wait_for("document.body.innerText.includes('Paused')")
                assert page.runner.paused
                still = loop.time
                click(browser, "Restart")
                browser.wait_for("document.body.innerText.includes('0.0 s simulated')")
                assert loop.time == 0.0 < still
                keys(browser, page, loop)
                assert browser.console == []
        finally:
            page.runner.stop()
            thread.join(5.0)
    assert np.isfinite(loop.state.q).all()
    assert not thread.is_alive()

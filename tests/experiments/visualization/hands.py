"""Actions of a person on a page, and screenshots, through Chromium."""

import base64

import pytest

from experiments.visualization.viewer.chromium import HOW_TO_GET_IT, chromium_path

#: Markers of tests that need a browser.
BROWSER = [
    pytest.mark.browser, pytest.mark.skipif(chromium_path() is None, reason=f"no Chromium here: {HOW_TO_GET_IT}"),
]  # fmt: skip


def picture(browser):
    """Return the page as a PNG."""
    return base64.b64decode(browser.command("Page.captureScreenshot", format="png")["data"])


def click(browser, x, y):
    """Click at a place of the page [pixels]."""
    for kind in ("mousePressed", "mouseReleased"):
        browser.command("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left", clickCount=1)


def press(browser, key, code, repeats=0):
    """Press and release a key, such as ``p`` with the code ``KeyP``; a held key repeats."""
    for number in range(repeats + 1):
        browser.command("Input.dispatchKeyEvent", type="keyDown", key=key, code=code, text=key, autoRepeat=number > 0)
    browser.command("Input.dispatchKeyEvent", type="keyUp", key=key, code=code)

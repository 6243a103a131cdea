"""Control of the browser: without a proxy, and with a message when it ends."""

import pytest

from biped.errors import InputError
from experiments.visualization.viewer.chromium import chromium

from ..hands import BROWSER

pytestmark = BROWSER


def test_a_proxy_is_not_asked_and_an_end_is_told_in_one_sentence(monkeypatch):
    for name in ("http_proxy", "https_proxy", "all_proxy", "HTTP_PROXY", "HTTPS_PROXY"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    for name in ("no_proxy", "NO_PROXY"):
        monkeypatch.delenv(name, raising=False)
    with chromium("about:blank", 100, 100) as browser:
        assert browser.evaluate("6 * 7") == 42
        browser._session = None  # the browser itself, not its page
        with pytest.raises(InputError, match="Chromium ended unexpectedly"):
            browser.command("Browser.crash")

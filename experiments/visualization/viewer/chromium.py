"""Headless Chromium, controlled through its debugging protocol, with one page at a time.

https://chromedevtools.github.io/devtools-protocol/
"""

import contextlib
import json
import os
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from biped.errors import InputError
from biped.inputs.extras import need

#: Names of the program, in the order of the search.
NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")
HOW_TO_GET_IT = "install Chromium (on Debian: apt-get install chromium) or Google Chrome"
#: No window, no network requests of its own, no history, and WebGL on the CPU: the same result on every machine.
OPTIONS = (
    "--headless=new", "--no-sandbox", "--no-first-run", "--hide-scrollbars", "--disable-quic", "--disable-sync",
    "--disable-background-networking", "--disable-component-update", "--disable-default-apps", "--disable-extensions",
    "--mute-audio", "--remote-debugging-port=0", "--force-device-scale-factor=1",
    "--disable-dev-shm-usage", "--enable-unsafe-swiftshader", "--use-angle=swiftshader", "--no-proxy-server",
)  # fmt: skip
#: [s] time limit for the start and for an answer.
PATIENCE = 60.0


def chromium_path() -> str | None:
    return next(filter(None, map(shutil.which, NAMES)), None)


def find_browser(chosen: str | None = None) -> str:
    """Return the browser's path; ``chosen`` is a path or name given by the user."""
    path = chromium_path() if chosen is None else shutil.which(chosen)
    if path is None and chosen is not None:
        raise InputError(f"{chosen}: there is no such program; {HOW_TO_GET_IT}")
    if path is None:
        raise InputError(f"there is no Chromium or Chrome on the path: {HOW_TO_GET_IT}")
    return path


class Chromium:
    """One page in a headless browser; use ``with chromium(url) as browser: ...``."""

    def __init__(self, connection: Any) -> None:
        self._connection, self._number = connection, 0
        self._session: str | None = None
        self.console: list[str] = []

    def command(self, method: str, **arguments: Any) -> dict[str, Any]:
        self._number += 1
        message = {"id": self._number, "method": method, "params": arguments}
        answer = self._answer(message if self._session is None else message | {"sessionId": self._session})
        if "error" in answer:
            raise RuntimeError(f"{method}: {answer['error']['message']}")
        result: dict[str, Any] = answer["result"]
        return result

    def _answer(self, message: dict[str, Any]) -> dict[str, Any]:
        from websockets.exceptions import WebSocketException

        try:
            self._connection.send(json.dumps(message))
            while True:
                answer: dict[str, Any] = json.loads(self._connection.recv(timeout=PATIENCE))
                if answer.get("id") == message["id"]:
                    return answer
                self._note(answer)
        except WebSocketException as error:
            raise InputError(f"Chromium ended unexpectedly ({error}); is there too little memory?") from error

    def _note(self, event: dict[str, Any]) -> None:
        if event.get("method") == "Runtime.exceptionThrown":
            self.console.append(event["params"]["exceptionDetails"].get("text", "exception"))
        elif event.get("method") == "Runtime.consoleAPICalled" and event["params"]["type"] == "error":
            self.console.append(" ".join(str(part.get("value", "")) for part in event["params"]["args"]))

    def open(self, url: str, width: int, height: int) -> None:
        target = self.command("Target.createTarget", url="about:blank")["targetId"]
        self._session = self.command("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        self.command("Runtime.enable")
        self.resize(width, height)
        self.command("Page.navigate", url=url)

    def resize(self, width: int, height: int) -> None:
        self.command(
            "Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False
        )

    def evaluate(self, expression: str) -> Any:
        """Return the value of a JavaScript expression, or the result of a promise."""
        result = self.command("Runtime.evaluate", expression=expression, awaitPromise=True, returnByValue=True)
        if "exceptionDetails" in result:
            raise RuntimeError(f"{expression}: {result['exceptionDetails'].get('exception', {}).get('description')}")
        return result["result"].get("value")

    def wait_for(self, expression: str, patience: float = PATIENCE) -> Any:
        """Wait until an expression is true; return its value."""
        until = time.monotonic() + patience
        while time.monotonic() < until:
            value = self.evaluate(expression)
            if value:
                return value
            time.sleep(0.05)
        raise TimeoutError(f"the page did not become ready: {expression} is false after {patience:g} s")


@contextlib.contextmanager
def chromium(url: str, width: int = 1200, height: int = 800, program: str | None = None) -> Iterator[Chromium]:
    """Open a page of this size [pixels] in a headless browser; the browser and its profile are removed afterwards."""
    need("websockets")
    program = find_browser(program)
    from websockets.exceptions import WebSocketException
    from websockets.sync.client import connect

    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        # In its own session, so that Ctrl-C does not reach it, and its helper processes can be ended with it. Its
        # temporary files are removed with its profile.
        process = subprocess.Popen(
            [program, *OPTIONS, f"--user-data-dir={folder}", f"--window-size={width},{height}",
             "about:blank"],
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True,
            env=os.environ | {"TMPDIR": folder},
        )  # fmt: skip
        try:
            address = _address(process, Path(folder) / "DevToolsActivePort")
            try:
                connection = connect(address, max_size=None, open_timeout=PATIENCE, proxy=None)
            except (WebSocketException, OSError) as error:
                raise InputError(f"cannot connect to Chromium at {address}: {error}") from error
            with connection:
                browser = Chromium(connection)
                browser.open(url, width, height)
                yield browser
        finally:
            _end(process)


def _end(process: "subprocess.Popen[bytes]") -> None:
    """End the browser and all its helper processes, and wait for it."""
    for sign in (signal.SIGTERM, signal.SIGKILL):
        with contextlib.suppress(ProcessLookupError, PermissionError):  # ended already
            os.killpg(process.pid, sign)
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(10.0)


def _address(process: "subprocess.Popen[bytes]", file: Path) -> str:
    """Return the address of the debugging socket: Chromium writes port and path into a file of its profile."""
    until = time.monotonic() + PATIENCE
    while time.monotonic() < until and process.poll() is None:
        lines = file.read_text(encoding="utf-8").split() if file.is_file() else []
        if len(lines) == 2:
            return f"ws://127.0.0.1:{lines[0]}{lines[1]}"
        time.sleep(0.05)
    raise InputError(f"Chromium does not start; try `chromium --headless --dump-dom about:blank`, or {HOW_TO_GET_IT}")

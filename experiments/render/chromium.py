"""A headless Chromium that shows one page of ours, and goes when it is no longer needed."""

import os
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from biped.errors import InputError

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")
MAC = "/Applications/{0}.app/Contents/MacOS/{0}"
#: Nothing of the browser's own, no network but this machine, drawing without a graphics card (so that every machine
#: draws the same), and no saving of power in a window that nobody sees. It needs no sandbox for a page of ours.
OPTIONS = (
    "--headless", "--no-sandbox", "--no-first-run", "--no-default-browser-check", "--hide-scrollbars", "--mute-audio",
    "--disable-background-networking", "--disable-component-update", "--disable-sync", "--disable-extensions",
    "--disable-default-apps", "--disable-dev-shm-usage", "--disable-quic", "--password-store=basic",
    "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE localhost, EXCLUDE 127.0.0.1",
    "--use-angle=swiftshader", "--enable-unsafe-swiftshader", "--force-device-scale-factor=1",
    "--force-color-profile=srgb", "--disable-background-timer-throttling", "--disable-renderer-backgrounding",
    "--disable-backgrounding-occluded-windows",
)  # fmt: skip
#: [s] for it to go by itself, before it is made to.
PATIENCE = 5.0


def find_chromium(chosen: str | None = None) -> str:
    """The browser's program.

    Args:
        chosen: its path or name, if the user gives one.

    Raises:
        InputError: there is none; the message says how to get one.
    """
    if chosen is not None:
        found = shutil.which(chosen)
        if found is None:
            raise InputError(f"--browser {chosen}: there is no such program")
        return found
    names = [*NAMES, *(MAC.format(name) for name in ("Google Chrome", "Chromium"))]
    found = next(filter(None, map(shutil.which, names)), None)
    if found is None:
        raise InputError(
            "videos are drawn by Chromium, which is not here: install it (Debian, Ubuntu: apt-get install chromium), "
            "or say where a Chromium or Chrome is by --browser PATH; pages (-o FILE.html) need none"
        )
    return found


class Window:
    """The running browser."""

    def __init__(self, process: subprocess.Popen[bytes], said: Path) -> None:
        self._process, self._said = process, said

    def check(self) -> None:
        """Whether it is still there.

        Raises:
            InputError: it ended; the message has the last that it said.
        """
        status = self._process.poll()
        if status is not None:
            lines = self._said.read_text(encoding="utf-8", errors="replace").split("\n")
            last = next((line.strip() for line in reversed(lines) if line.strip()), "it said nothing")
            raise InputError(f"the browser ended with status {status}: {last}")


@contextmanager
def chromium(program: str, url: str, size: tuple[int, int], *options: str) -> Iterator[Window]:
    """Show a page in a window of ``size`` (width, height) pixels for as long as the context lasts.

    The browser, its helpers and its profile are gone afterwards, however the context ends.
    """
    profile = Path(tempfile.mkdtemp(prefix="biped-chromium-"))
    said = profile / "said.txt"
    command = [program, *OPTIONS, f"--user-data-dir={profile}", "--window-size={},{}".format(*size), *options, url]
    process: subprocess.Popen[bytes] | None = None
    try:
        with said.open("wb") as out:
            # A session of its own: Ctrl-C is ours to hear, and all its helpers can be ended together.
            process = subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=out,
                start_new_session=True,
                env=_environment(profile),
            )
        yield Window(process, said)
    finally:
        if process is not None:
            _end(process)
        shutil.rmtree(profile, ignore_errors=True)


def _environment(profile: Path) -> dict[str, str]:
    """Nothing of the browser goes into the user's folders."""
    own = {"XDG_CONFIG_HOME": str(profile), "XDG_CACHE_HOME": str(profile)} if sys.platform == "linux" else {}
    return os.environ | own


def _end(process: subprocess.Popen[bytes]) -> None:
    """End the browser and its helpers, and wait until they are gone."""
    for sign in (signal.SIGTERM, signal.SIGKILL):
        try:
            os.killpg(process.pid, sign)
        except ProcessLookupError:
            break
        try:
            process.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            continue
    process.wait()

"""Options of the commands that show a page in the browser, the same in all of them, and the browser."""

import webbrowser
from argparse import ArgumentParser, Namespace

from experiments.cli.main import announce


def add_serving_options(parser: ArgumentParser) -> None:
    parser.add_argument("--port", metavar="N", type=int, help="port to listen at (8080, or the next one that is free)")
    parser.add_argument("--host", default="127.0.0.1", help="address to listen at (127.0.0.1: this machine only)")
    parser.add_argument("--no-open", action="store_true", help="do not open a browser")


def open_browser(url: str, options: Namespace) -> None:
    """Say where the page is, and show it, unless that is not wanted."""
    announce(f"at {url} until Ctrl-C")
    if not options.no_open and not webbrowser.open(url):
        announce("no browser could be opened: open that address in one")

"""Recompute items of a paper one after the other; each is cached, and the page written, as soon as it is done."""

import time
import traceback
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from experiments.cli.failures import describe
from experiments.cli.progress import ProgressBar
from experiments.papers.cached import Cached, store
from experiments.papers.item import Item, Paper


@dataclass(frozen=True)
class Failure:
    """The reason why an item failed: one line, and where in the program."""

    message: str
    trace: str


@dataclass
class Session:
    """Which items were asked for, and how far it got."""

    paper: Paper  # whose items
    items: Sequence[Item]  # those asked for, in order
    folder: Path  # with a folder for each item in it
    quick: bool  # whether the short version was asked for
    draw: bool  # whether figures are written
    stamp: Mapping[str, Any]  # machine, versions, commit and day
    done: dict[str, Cached] = field(default_factory=dict)  # what was computed, by item
    failures: dict[str, Failure] = field(default_factory=dict)  # what was not, by item
    interrupted: bool = False  # whether the user stopped it

    def run(self, after: Callable[[Item], None]) -> None:
        """Recompute all items, each followed by ``after``; Ctrl-C ends it, an item that fails does not."""
        for number, item in enumerate(self.items, start=1):
            try:
                self._attempt(number, item)
            except KeyboardInterrupt:
                self.interrupted = True
                return
            after(item)

    def _attempt(self, number: int, item: Item) -> None:
        what = f"{item.name} ({number} of {len(self.items)})"
        begin = time.perf_counter()
        try:
            with ProgressBar(1.0, what, "") as bar:
                outcome = item.produce(self.quick, bar)
            seconds, folder = time.perf_counter() - begin, self.folder / item.name
            self.done[item.name] = store(
                outcome, folder, quick=self.quick, seconds=seconds, stamp=self.stamp, draw=self.draw
            )
        except OSError:  # the disk is full, or the folder gone: the next item would not fare better
            raise
        except Exception as error:  # any defect of one item: the others do not depend on it
            message = describe(error) or f"{type(error).__name__}: {error}"
            self.failures[item.name] = Failure(" ".join(message.split()), traceback.format_exc())

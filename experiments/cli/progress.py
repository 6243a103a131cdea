"""A progress bar on the standard error for long work."""

import math
import time
from types import TracebackType
from typing import TYPE_CHECKING

from experiments.cli.reply import Form, form

if TYPE_CHECKING:
    from rich.progress import Progress, ProgressColumn, Task, TaskID

#: [s] delay before the bar appears.
PATIENCE = 2.0
#: [s] window of the rate of counted items. Other work may take minutes for one part.
LATELY = 30.0


class ProgressBar:
    """Progress bar, called with the finished amount; it shows nothing for short work, or without a terminal."""

    def __init__(
        self,
        total: float,
        what: str = "simulating",
        unit: str = "s",
        patience: float = PATIENCE,
        *,
        begun: float = 0.0,  # amount that was finished earlier and does not count for the rate
        counts: bool = False,  # True to show whole numbers, and the number per second
    ) -> None:
        self._total = total
        self._begun = begun
        self._counts = counts
        self._what = what
        self._unit = unit
        self._patience = patience
        self._began = time.monotonic()
        self._bar: Progress | None = None
        self._task: TaskID | None = None

    def __enter__(self) -> "ProgressBar":
        return self

    def __call__(self, done: float) -> None:
        if self._bar is None and time.monotonic() - self._began >= self._patience:
            self._open()
        if self._bar is not None and self._task is not None:
            self._bar.update(self._task, completed=min(done, self._total))

    def say(self, what: str) -> None:
        self._what = what
        if self._bar is not None and self._task is not None:
            self._bar.update(self._task, description=what)

    def _open(self) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

        digits = ".0f" if self._counts else ".2f"
        columns = (
            TextColumn("{task.description}"),
            BarColumn(),
            TextColumn(f"{{task.completed:{digits}}} of {{task.total:{digits}}} {self._unit}"),
            *((_rate(self._unit),) if self._counts else ()),
            TimeRemainingColumn(),
        )
        console = Console(stderr=True)
        self._bar = Progress(
            *columns, console=console, transient=True, disable=not console.is_terminal or form() is Form.NOTHING,
            speed_estimate_period=LATELY if self._counts else math.inf,
        )  # fmt: skip
        self._task = self._bar.add_task(self._what, total=self._total)
        self._bar.update(self._task, completed=self._begun)
        self._bar.start()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._bar is not None:
            self._bar.stop()


def _rate(unit: str) -> "ProgressColumn":
    """Return a column that shows the recent number per second."""
    from rich.progress import ProgressColumn
    from rich.text import Text

    class Rate(ProgressColumn):
        def render(self, task: "Task") -> Text:
            return Text("" if task.speed is None else f"{task.speed:.3g} {unit}/s", style="cyan")

    return Rate()

"""A progress bar on the standard error, for runs that take long enough to wonder."""

import time
from types import TracebackType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.progress import Progress, TaskID

#: [s] of waiting before the bar appears.
PATIENCE = 2.0


class ProgressBar:
    """Called with how much is done of a total; shows nothing for short work, and nothing off a terminal."""

    def __init__(self, total: float, what: str = "simulating", unit: str = "s", patience: float = PATIENCE) -> None:
        self._total = total
        self._what = what
        self._unit = unit
        self._patience = patience
        self._began = time.monotonic()
        self._bar: Progress | None = None
        self._task: TaskID | None = None

    def __enter__(self) -> "ProgressBar":
        return self

    def __call__(self, done: float) -> None:
        """Show how far the work is."""
        if self._bar is None and time.monotonic() - self._began >= self._patience:
            self._open()
        if self._bar is not None and self._task is not None:
            self._bar.update(self._task, completed=min(done, self._total))

    def say(self, what: str) -> None:
        """Change the words before the bar."""
        self._what = what
        if self._bar is not None and self._task is not None:
            self._bar.update(self._task, description=what)

    def _open(self) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

        columns = (
            TextColumn("{task.description}"),
            BarColumn(),
            TextColumn(f"{{task.completed:.2f}} of {{task.total:.2f}} {self._unit}"),
            TimeRemainingColumn(),
        )
        console = Console(stderr=True)
        self._bar = Progress(*columns, console=console, transient=True, disable=not console.is_terminal)
        self._task = self._bar.add_task(self._what, total=self._total)
        self._bar.start()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._bar is not None:
            self._bar.stop()

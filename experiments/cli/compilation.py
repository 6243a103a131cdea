"""Progress of kernel compilation on a terminal; the number of kernels to come is unknown."""

import time
from functools import cache

from numba.core.event import Event, Listener, register
from rich.console import Console
from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

from experiments.cli.reply import Form, form

#: [s] of compilation before the line appears.
PATIENCE = 1.0


class CompilationLine(Listener):  # type: ignore[misc]
    """Line that shows progress while Numba compiles a kernel and the kernels that it calls."""

    def __init__(self) -> None:
        self._depth = 0
        self._count = 0
        self._began = 0.0
        self._line: Progress | None = None

    def on_start(self, event: Event) -> None:
        if self._depth == 0:
            self._began = time.monotonic()
        self._depth += 1

    def on_end(self, event: Event) -> None:
        self._depth -= 1
        self._count += 1
        if self._depth == 0:
            self._close()
        elif self._line is not None:
            self._line.update(self._line.task_ids[0], completed=self._count)
        elif time.monotonic() - self._began >= PATIENCE:
            self._open()

    def _open(self) -> None:
        columns = SpinnerColumn(), TextColumn("compiling: {task.completed:.0f} kernels"), TimeElapsedColumn()
        console = Console(stderr=True)
        self._line = Progress(
            *columns, console=console, transient=True, disable=not console.is_terminal or form() is Form.NOTHING
        )
        self._line.add_task("", total=None, completed=self._count)
        self._line.start()

    def _close(self) -> None:
        if self._line is not None:
            self._line.stop()
            self._line = None


@cache
def show_compilation() -> None:
    """Show the progress of compilation from now on."""
    register("numba:compile", CompilationLine())

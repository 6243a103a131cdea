"""What can go wrong with a simulation, each with a message that says what would be right."""

from typing import TYPE_CHECKING

from biped.model.errors import ModelError

if TYPE_CHECKING:
    from biped.run import Run

__all__ = ["InputError", "IntegrationError", "ModelError", "RunInterrupted"]


class InputError(ValueError):
    """An argument that no simulation can use."""


class IntegrationError(RuntimeError):
    """A step whose equations could not be solved, even in the smallest parts allowed.

    Attributes:
        run: all that was computed before, or None. Its state is where it got stuck, somewhere within a step.
    """

    def __init__(self, message: str, run: "Run | None" = None) -> None:
        super().__init__(message)
        self.run = run


class RunInterrupted(KeyboardInterrupt):
    """The user stopped the run.

    Attributes:
        run: all that was computed before.
    """

    def __init__(self, run: "Run") -> None:
        super().__init__("interrupted")
        self.run = run

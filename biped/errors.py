"""Errors of simulations, each with a message that says what would be right."""

from typing import Any

from contact.errors import BipedError

__all__ = [
    "BipedError", "InputError", "IntegrationError", "MissingExtraError", "RunInterrupted", "UnknownNameError",
    "UnsettledError",
]  # fmt: skip


class InputError(BipedError, ValueError):
    """An argument that no simulation can use."""


class UnknownNameError(InputError, KeyError):
    """Something is looked up by a name that is not there; whoever expects a ``KeyError`` of a table has one."""

    __str__ = Exception.__str__  # a KeyError shows its message in quotes


class MissingExtraError(InputError, ModuleNotFoundError):
    """An optional package is not installed; the message has the command that installs it.

    Attributes:
        name: by which it is imported.
    """

    def __init__(self, message: str, name: str | None = None) -> None:
        super().__init__(message)
        self.name = name


class UnsettledError(InputError):
    """A scene is to begin where its law comes to rest, and the law falls before, or never rests."""


class IntegrationError(BipedError, RuntimeError):
    """A step whose equations could not be solved, even in the smallest parts allowed.

    Attributes:
        run: the ``biped.Run`` of all that was computed before, or None. Its state is where it
            got stuck, somewhere within a step.
    """

    def __init__(self, message: str, run: Any = None) -> None:
        super().__init__(message)
        self.run = run


class RunInterrupted(KeyboardInterrupt):
    """The user stopped the run.

    Attributes:
        run: the ``biped.Run`` of all that was computed before.
    """

    def __init__(self, run: Any) -> None:
        super().__init__("interrupted")
        self.run = run

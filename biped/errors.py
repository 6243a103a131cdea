"""Errors of simulations; each message gives the allowed values or a remedy."""

from typing import Any

from contact.errors import BipedError

__all__ = [
    "BipedError", "InputError", "IntegrationError", "MissingExtraError", "RunInterrupted", "UnknownNameError",
    "UnsettledError",
]  # fmt: skip


class InputError(BipedError, ValueError):
    """An invalid argument."""


class UnknownNameError(InputError, KeyError):
    """A name is unknown; the error is also a ``KeyError``."""

    __str__ = Exception.__str__  # a KeyError shows its message in quotes


class MissingExtraError(InputError, ModuleNotFoundError):
    """An optional package is not installed; the message gives the command that installs it.

    Attributes:
        name: name by which the missing package is imported.
    """

    def __init__(self, message: str, name: str | None = None) -> None:
        super().__init__(message)
        self.name = name


class UnsettledError(InputError):
    """The controller of a scene that is to start at rest falls while it settles, or never comes to rest."""


class IntegrationError(BipedError, RuntimeError):
    """The equations of a time step could not be solved, even in the smallest allowed parts.

    Attributes:
        run: ``biped.Run`` with the motion until then, or None. Its final state is within the failed step.
    """

    def __init__(self, message: str, run: Any = None) -> None:
        super().__init__(message)
        self.run = run


class RunInterrupted(KeyboardInterrupt):
    """The user stopped the run.

    Attributes:
        run: ``biped.Run`` with the motion until then.
    """

    def __init__(self, run: Any) -> None:
        super().__init__("interrupted")
        self.run = run

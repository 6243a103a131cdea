"""Errors of mechanisms."""

from biped.errors import InputError, IntegrationError


class MechanismError(InputError):
    """A mechanism is impossible, or a name is unknown; the message says what is allowed."""


class SingularStepError(IntegrationError):
    """A step's equations are singular, so that it has no derivative; the message names the matrix."""

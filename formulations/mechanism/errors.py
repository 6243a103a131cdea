"""Errors of mechanisms."""

from biped.errors import InputError, IntegrationError


class MechanismError(InputError):
    """Error: a mechanism is impossible, or a name is unknown; the message says what is allowed."""


class SingularStepError(IntegrationError):
    """Error: the equations of a time step are singular, so that it has no derivative; the message names the matrix."""

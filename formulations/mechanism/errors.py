"""Errors of mechanisms."""

from biped.errors import InputError, IntegrationError


class MechanismError(InputError):
    """Error: a mechanism is impossible, or a name is unknown; the message says what is allowed."""


class SingularStepError(IntegrationError):
    """Error: a time step has no derivative, as its equations are singular; the message names the singular matrix."""

"""Errors of mechanisms."""

from biped.errors import InputError, IntegrationError


class MechanismError(InputError):
    """A mechanism that cannot be, or a name it does not have; the message says what would be right."""


class SingularStepError(IntegrationError):
    """A step whose equations are singular, so that it has no derivative; the message says which matrix is."""

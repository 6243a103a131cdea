"""Errors of assemblies."""

from biped.errors import InputError


class AssemblyError(InputError):
    """Error: an assembly or an argument is invalid, or a name is unknown; the message says what is allowed."""

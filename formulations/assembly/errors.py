"""Errors of assemblies."""

from biped.errors import InputError


class AssemblyError(InputError):
    """An assembly or an argument is invalid, or a name is unknown; the message gives what is allowed."""

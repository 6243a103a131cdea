"""Errors of assemblies."""

from biped.errors import InputError


class AssemblyError(InputError):
    """An assembly is impossible, or a name is unknown; the message says what is allowed."""

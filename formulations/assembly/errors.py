"""Errors of assemblies."""

from biped.errors import InputError


class AssemblyError(InputError):
    """An assembly that cannot be, or a name it does not have; the message says what would be right."""

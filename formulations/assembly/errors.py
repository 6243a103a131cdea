"""What can be wrong with an assembly, told in one sentence."""

from biped.errors import InputError


class AssemblyError(InputError):
    """An assembly that cannot be, or a name it does not have; the message says what would be right."""

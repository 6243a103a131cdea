"""What can be wrong with a mechanism, told in one sentence."""

from biped.errors import InputError


class MechanismError(InputError):
    """A mechanism that cannot be, or a name it does not have; the message says what would be right."""

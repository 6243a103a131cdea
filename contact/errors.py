"""The base of all errors of the framework: it stands in the lowest layer because all the others use it."""


class BipedError(Exception):
    """Something that whoever called can mend: the message is one line of what is wrong and what would be right."""

"""Tables of inputs that must be refused, each with a part of the message."""

from collections.abc import Callable
from functools import wraps
from inspect import Parameter, signature

import pytest

from biped.errors import InputError


def refuses(*rows: tuple, error: type[Exception] = InputError, ids: object = None) -> Callable:
    """Run the test for each row; it must raise ``error`` with one line that the row's last entry, a pattern, matches.

    The entries before the pattern are the values of the test's last parameters; the others are fixtures.
    """

    def decorate(test: Callable) -> Callable:
        parameters = signature(test).parameters
        given = list(parameters)[len(parameters) + 1 - len(rows[0]) :]

        @wraps(test)
        def refused(told: str, **arguments: object) -> None:
            with pytest.raises(error, match=told) as caught:
                test(**arguments)
            assert "\n" not in str(caught.value)

        told = Parameter("told", Parameter.KEYWORD_ONLY)
        refused.__signature__ = signature(test).replace(parameters=[*parameters.values(), told])  # type: ignore[attr-defined]
        return pytest.mark.parametrize((*given, "told"), rows, ids=ids)(refused)

    return decorate

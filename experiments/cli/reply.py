"""Replies of commands on the standard output: text for a reader, JSON for a program, or nothing."""

import json
from argparse import Namespace
from contextvars import ContextVar
from enum import Enum
from typing import Any


class Form(Enum):
    """The form of a reply."""

    TEXT = "text"
    JSON = "json"
    NOTHING = "nothing"


_form = ContextVar("form", default=Form.TEXT)


def choose_form(options: Namespace) -> None:
    """Set the form of replies that the options name, until the end of the command."""
    named = {Form.JSON: getattr(options, "json", False), Form.NOTHING: getattr(options, "quiet", False)}
    _form.set(next((form for form, is_named in named.items() if is_named), Form.TEXT))


def form() -> Form:
    return _form.get()


def reply(data: Any) -> None:
    """Print data, or what a function returns, as JSON if the form is JSON; a command calls it once.

    Tables become arrays of rows; numbers that are not finite become null.
    """
    if form() is Form.JSON:
        print(json.dumps(_plain(data() if callable(data) else data), indent=2, allow_nan=False))


def _plain(data: Any) -> Any:
    if hasattr(data, "to_dict"):  # a table of pandas
        data = data.to_dict("records")
    if isinstance(data, dict):
        return {str(key): _plain(value) for key, value in data.items()}
    if isinstance(data, (list, tuple)):
        return [_plain(value) for value in data]
    if hasattr(data, "tolist"):  # a number or an array of NumPy
        return _plain(data.tolist())
    if isinstance(data, float) and data - data != 0.0:  # infinite, or no number
        return None
    return data if data is None or isinstance(data, (bool, int, float, str)) else str(data)

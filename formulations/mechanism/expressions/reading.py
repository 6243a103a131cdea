"""Reader of S-expressions (as in LISP): text to words and forms, each with its position.

A form is a list in parentheses. A word is a number, a text in double quotes, or a symbol. A comment extends from a
semicolon to the end of the line.
"""

import re
from dataclasses import dataclass
from typing import NamedTuple

from formulations.mechanism.errors import MechanismError


class Place(NamedTuple):
    """Position in a text; lines and columns count from 1."""

    line: int
    column: int
    source: str  # start of error messages, such as a file's name; may be empty

    def __str__(self) -> str:
        before = f"{self.source}, " if self.source else ""
        return f"{before}line {self.line}, column {self.column}"


class ExpressionError(MechanismError):
    """Error in the S-expression of a mechanism; the message begins with its position, line and column.

    Attributes:
        line: line of the error, counted from 1.
        column: column of the error, counted from 1.
    """

    def __init__(self, place: Place, what: str) -> None:
        super().__init__(f"{place}: {what}")
        self.line, self.column = place.line, place.column


class Symbol(str):
    """Word that is neither a number nor in quotes, in lower case: symbols are not case-sensitive."""

    __slots__ = ()


@dataclass(frozen=True)
class Word:
    """Number, text or symbol, with its position."""

    value: float | str | Symbol
    place: Place


@dataclass(frozen=True, eq=False, repr=False)  # forms are deep: no recursion
class Form:
    """List of words and forms in parentheses."""

    items: tuple["Word | Form", ...]
    place: Place

    @property
    def head(self) -> Symbol | None:
        """First item, if it is a symbol."""
        first = self.items[0] if self.items else None
        return first.value if isinstance(first, Word) and isinstance(first.value, Symbol) else None


_TOKEN = re.compile(
    r"""(?P<space>\s+|;[^\n]*)|(?P<open>\()|(?P<close>\))|(?P<text>"(?:[^"\\]|\\.)*")|(?P<quote>")"""
    r"""|(?P<word>[^\s()";]+)""",
    re.DOTALL,
)
_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?", re.IGNORECASE)
_ESCAPED = re.compile(r"\\(.)", re.DOTALL)


def read_form(text: str, source: str = "") -> Form:
    """Return the S-expression that a text contains; comments are ignored.

    Raises:
        ExpressionError: parentheses or quotes are not balanced, or the text has no or several S-expressions.
    """
    expression: Form | None = None
    stack: list[_Open] = []
    for kind, token, place in _tokens(text, source):
        if expression is not None:
            what, begin = "a ')' too many" if kind == "close" else "text after the end", expression.place.line
            raise ExpressionError(place, f"{what}: the expression that began at line {begin} ends before it")
        if kind == "open":
            stack.append(_Open(place, []))
        elif kind == "close":
            if not stack:
                raise ExpressionError(place, "a ')' too many: no parenthesis is open here")
            done = stack.pop()
            form = Form(tuple(done.items), done.place)
            if stack:
                stack[-1].items.append(form)
            else:
                expression = form
        elif not stack:
            raise ExpressionError(place, f"an expression begins with '('; got {token!r}")
        else:
            stack[-1].items.append(_word(kind, token, place))
    if stack:
        raise ExpressionError(stack[-1].place, f"this parenthesis is never closed; {len(stack)} ')' are missing")
    if expression is None:
        raise ExpressionError(Place(1, 1, source), 'there is no expression, such as (system (ry "q" (tz -1 (mass 1))))')
    return expression


class _Open(NamedTuple):
    place: Place
    items: list[Word | Form]


def _tokens(text: str, source: str):  # type: ignore[no-untyped-def] # an iterator of (kind, token, place)
    line, begin = 1, 0
    for match in _TOKEN.finditer(text):
        kind, token = str(match.lastgroup), match.group()
        place = Place(line, match.start() - begin + 1, source)
        if kind == "quote":
            raise ExpressionError(place, "these quotes are never closed")
        if kind != "space":
            yield kind, token, place
        if "\n" in token:
            line += token.count("\n")
            begin = match.start() + token.rindex("\n") + 1


def _word(kind: str, token: str, place: Place) -> Word:
    if kind == "text":
        return Word(_ESCAPED.sub(r"\1", token[1:-1]), place)
    return Word(float(token) if _NUMBER.fullmatch(token) else Symbol(token.lower()), place)

"""A lint of texts and names: private words, titles that do not stand alone, long lines, long pages.

``python docs/words.py`` prints each violation and returns 1 if there is any. It cannot judge whether a text is clear.
"""

import ast
import re
import sys
from collections.abc import Iterator

from budget import PACKAGES, TOP

#: Names that say nothing about what they name: use a noun of the field.
NAMES = {
    "able", "acting", "anyway", "beside", "besides", "door", "felt", "found", "its", "nobody", "one", "others", "own",
    "room", "said", "told", "wanted", "whoever", "whole",
}  # fmt: skip
#: Words that make any name private of which they are a part.
PARTS = NAMES - {"able", "door", "its", "one", "others", "whole"}
#: Beginnings of docstrings and titles that leave out the noun.
NO_NOUN = re.compile(r"(What|Of|The same|Those|That of|Whether|Same as|As above)\b")
NO_LABEL = re.compile(
    r"(of|in|by|with|below|above|after|before|from|for|when|where|what|which|its|their|if|on|to|at|as)\b"
)
#: Sentences of the old kind.
VAGUE = re.compile(r"\b(is|are|was|were) (told|said)\b|\bwho(ever)? (lacks|has|is|knows)\b|\bwhoever\b", re.IGNORECASE)

LONGEST_LINE, LONGEST_PAGE = 130, 200
README_LINES, README_WORDS = 130, 1200


def names(tree: ast.AST) -> Iterator[tuple[int, str]]:
    """Yield the names that a module gives: functions, classes, parameters, variables, fields."""
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            yield node.lineno, node.name
        elif isinstance(node, ast.arg):
            yield node.lineno, node.arg
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.lineno, node.id


def is_private(name: str) -> bool:
    """Return True if a name is a private word, or has one as a part."""
    words = re.sub(r"(?<=[a-z])(?=[A-Z])", "_", name).lower().strip("_").split("_")
    return not PARTS.isdisjoint(words) or (len(words) == 1 and words[0] in NAMES)


def texts(tree: ast.AST) -> Iterator[tuple[int, str, re.Pattern[str]]]:
    """Yield first lines of docstrings and titles of parameters, with the beginning that they must not have."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Module | ast.FunctionDef | ast.ClassDef) and (text := ast.get_docstring(node)):
            yield getattr(node, "lineno", 1), text.partition("\n")[0], NO_NOUN
        elif isinstance(node, ast.Dict):
            for key, value in zip(node.keys, node.values, strict=True):
                if isinstance(key, ast.Constant) and key.value == "title" and isinstance(value, ast.Constant):
                    yield value.lineno, str(value.value), NO_LABEL


def in_code() -> Iterator[str]:
    """Yield the violations in the packages."""
    for path in sorted(path for package in PACKAGES for path in (TOP / package).rglob("*.py")):
        file, tree = path.relative_to(TOP), ast.parse(path.read_text(encoding="utf-8"))
        if is_private(path.stem):
            yield f"{file}: a private word names the module"
        yield from (f"{file}:{line}: private name {name}" for line, name in names(tree) if is_private(name))
        for line, text, beginning in texts(tree):
            if beginning.match(text) or VAGUE.search(text):
                yield f"{file}:{line}: the noun is missing: {text}"


def in_pages() -> Iterator[str]:
    """Yield the violations in the README and the pages."""
    readme = TOP / "README.md"
    for path in (readme, *sorted((TOP / "docs").glob("*.md")), *sorted((TOP / "docs" / "tutorials").glob("*.md"))):
        file, lines, is_code = path.relative_to(TOP), path.read_text(encoding="utf-8").splitlines(), False
        most = README_LINES if path == readme else LONGEST_PAGE
        if len(lines) > most:
            yield f"{file}: {len(lines)} lines; at most {most}"
        for number, line in enumerate(lines, 1):
            is_code ^= line.startswith("```")
            if is_code or line.startswith(("|", "![", "<", "$$")):
                continue
            if len(line) > LONGEST_LINE:
                yield f"{file}:{number}: {len(line)} characters; at most {LONGEST_LINE}"
            if VAGUE.search(line):
                yield f"{file}:{number}: {line}"
    if (words := len(readme.read_text(encoding="utf-8").split())) > README_WORDS:
        yield f"README.md: {words} words; at most {README_WORDS}"


def main() -> int:
    """Print all violations."""
    violations = [*in_code(), *in_pages()]
    for violation in violations:
        print(violation)
    return int(bool(violations))


if __name__ == "__main__":
    sys.exit(main())

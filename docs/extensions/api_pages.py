"""The API reference: pages with the docstrings of all names that the public packages export.

The pages are written to ``docs/api/`` whenever the site is built, and are not tracked by git.
"""

import ast
import inspect
import re
from dataclasses import fields, is_dataclass
from importlib import import_module
from pathlib import Path
from types import GenericAlias
from typing import Any, NamedTuple

from modules import PUBLIC
from navigation import toctree
from numpy.typing import ArrayLike
from sphinx.application import Sphinx
from sphinx.domains.python import PyObject
from sphinx.ext.napoleon import GoogleDocstring
from sphinx.pycode import ModuleAnalyzer
from sphinx.util.typing import stringify_annotation

from biped.disturbances import Disturbance
from contact.arrays import Floats

#: Sphinx evaluates annotations; these are their names in the code.
ALIASES = {"ArrayLike": ArrayLike, "Floats": Floats, "Disturbance": Disturbance}
SHORT = {stringify_annotation(alias, "smart"): name for name, alias in ALIASES.items()}
#: Default value without a source text, such as ``<object>``.
OBJECT = re.compile("<[^<>]*>")
#: Package with too many names for one page: it has a page for each of its subpackages.
DIVIDED = "biped"


class Page(NamedTuple):
    """A page: title (also the name of its file), package to import from, and the module of each name."""

    title: str
    package: str
    modules: dict[str, str]


def pages() -> list[Page]:
    return [page for package in PUBLIC for page in pages_of(package)]


def pages_of(package: str) -> list[Page]:
    modules = exported_by(package)
    if package != DIVIDED:
        return [Page(package, package, modules)]
    parts: dict[str, dict[str, str]] = {}
    for name, module in modules.items():
        parts.setdefault(".".join(module.split(".")[:2]), {})[name] = module
    return [Page(part, package, parts[part]) for part in sorted(parts)]


def exported_by(package: str) -> dict[str, str]:
    """Return the module of every name that a package exports."""
    modules = imported_by(package)
    names = getattr(import_module(package), "__all__", None) or defined_by(package)
    return {name: modules.get(name, package) for name in sorted(names, key=str.lower)}


def defined_by(module: str) -> list[str]:
    """Return the public functions and classes of a module that has no ``__all__``."""
    tree = ast.parse(Path(import_module(module).__file__ or "").read_text(encoding="utf-8"))
    nodes = (node for node in tree.body if isinstance(node, (ast.FunctionDef, ast.ClassDef)))
    return [node.name for node in nodes if not node.name.startswith("_")]


def imported_by(package: str) -> dict[str, str]:
    """Return the module of every name that a package imports, read from its stub, or from its source without a stub."""
    source = Path(import_module(package).__file__ or "")
    stub = source.with_suffix(".pyi")
    modules = {}
    for node in ast.walk(ast.parse((stub if stub.is_file() else source).read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom):
            home = f"{package}.{node.module}" if node.level else str(node.module)
            modules.update({alias.name: home for alias in node.names})
    return modules


def text_of(page: Page) -> str:
    """Return the purpose of a package, a table of its names, and their documentation."""
    about = inspect.getdoc(import_module(page.title)) or ""
    lines = [page.title, "=" * len(page.title), "", *about.splitlines(), ""]
    lines += [f"Import from ``{page.package}``.", "", f".. currentmodule:: {page.package}", ""]
    lines += [".. autosummary::", "", *(f"   {name}" for name in page.modules if not is_data(page, name)), ""]
    for name in page.modules:
        lines += [name, "-" * len(name), "", *entry(page, name), ""]
    return "\n".join(lines)


def is_data(page: Page, name: str) -> bool:
    value = getattr(import_module(page.package), name)
    return isinstance(value, GenericAlias) or not callable(value)


def entry(page: Page, name: str) -> list[str]:
    """Return the directive that documents a name."""
    if is_data(page, name):
        return [f".. data:: {name}", "", *(f"   {line}" for line in comment_on(name, page.modules[name]))]
    if inspect.isclass(getattr(import_module(page.package), name)):
        return [f".. autoclass:: {name}", "   :members:"]
    return [f".. autofunction:: {name}"]


def comment_on(name: str, module: str) -> list[str]:
    """Return the comment above a variable, in the module that assigns it."""
    comments = ModuleAnalyzer.for_module(module).find_attr_docs()
    return comments.get(("", name)) or comment_on(name, imported_by(module)[name])


def write_pages(app: Sphinx) -> None:
    folder = Path(app.srcdir) / "api"
    folder.mkdir(exist_ok=True)
    texts = {folder / f"{page.title}.rst": text_of(page) for page in pages()}
    for stale in {*folder.iterdir()} - {*texts}:
        stale.unlink()
    for path, text in texts.items():
        if not path.is_file() or path.read_text(encoding="utf-8") != text:  # unchanged pages are not read again
            path.write_text(text, encoding="utf-8")


def add_toctree(_app: Sphinx, page: str, source: list[str]) -> None:
    if page == "api":
        source[0] += toctree([f"api/{page.title}" for page in pages()])


def shorten(
    _app: Sphinx, _what: str, _name: str, _value: Any, _options: Any, signature: str | None, returned: str | None
) -> tuple[str | None, str | None]:
    """Return a signature with short names of types, and an ellipsis for default values without source text."""
    return shortened(signature), shortened(returned)


def shortened(text: str | None) -> str | None:
    if text is None:
        return None
    for long, short in SHORT.items():
        text = text.replace(long, short)
    return OBJECT.sub("...", text)


def add_fields(_app: Sphinx, what: str, _name: str, value: Any, _options: Any, lines: list[str]) -> None:
    """Add the titles of a dataclass's fields to its docstring, except for fields that the docstring describes."""
    if what == "class" and is_dataclass(value):
        documented = "\n".join(lines)
        new = [f for f in fields(value) if f.metadata.get("title") and f"    {f.name}:" not in documented]
        if new:
            units = {field.name: f"[{field.metadata['unit']}] " if field.metadata.get("unit") else "" for field in new}
            lines += [
                "",
                "Attributes:",
                *(f"    {field.name}: {units[field.name]}{field.metadata['title']}." for field in new),
                "",
            ]


def entire(docstring: GoogleDocstring) -> list[str]:
    """Return the whole docstring of a property: text before its first colon is not a type here."""
    return docstring._consume_to_end()


def setup(app: Sphinx) -> dict[str, bool]:
    GoogleDocstring._parse_attribute_docstring = entire
    for field in PyObject.doc_field_types:
        if field.name == "variable":
            field.label = "Attributes"
    app.connect("builder-inited", write_pages)
    app.connect("source-read", add_toctree)
    app.connect("autodoc-process-signature", shorten)
    app.connect("autodoc-process-docstring", add_fields, priority=400)  # before napoleon reads the sections
    return {"parallel_read_safe": True}

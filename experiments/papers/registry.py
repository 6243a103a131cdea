"""Registry of recomputed papers: each is a package next to this module that defines ``PAPER``.

Names are listed without importing the packages, so that ``--help`` is fast.
"""

import importlib
import pkgutil
from collections.abc import Sequence
from typing import TYPE_CHECKING

from biped.errors import InputError
from experiments.cli.names import matching, nearest

if TYPE_CHECKING:
    from experiments.papers.item import Item, Paper


def paper_names() -> tuple[str, ...]:
    import experiments.papers as here

    packages = (module.name for module in pkgutil.iter_modules(here.__path__) if module.ispkg)
    return tuple(sorted((name.replace("_", "-") for name in packages), key=lambda name: name.rpartition("-")[2]))


def load(name: str) -> "Paper":
    paper: Paper = importlib.import_module(f"experiments.papers.{name.replace('-', '_')}").PAPER
    return paper


def paper_named(name: str) -> "Paper":
    """Return the paper of this name; InputError for an unknown name suggests a similar one, or this item's paper."""
    names = paper_names()
    if name in names:
        return load(name)
    owners = [paper for paper in names if any(item.name == name for item in load(paper).items)]
    hint = f"it is an item of {owners[0]}: biped reproduce {owners[0]} {name}" if owners else nearest(name, names)
    raise InputError(f"unknown paper {name!r}; {hint}")


def items_named(paper: "Paper", names: Sequence[str]) -> "tuple[Item, ...]":
    """Return the items whose names match ``names``, also patterns (``figure-4.*``); empty ``names``: all items."""
    selected = matching(names, [item.name for item in paper.items], f"{paper.name} has no item")
    return tuple(item for item in paper.items if item.name in selected)

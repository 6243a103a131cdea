"""Kinds of studies: each one is declared in the ``__init__.py`` of a folder that is listed in ``FOLDERS``."""

import importlib
from collections.abc import Mapping
from functools import cache
from typing import Any, NamedTuple

from biped.errors import InputError

#: The package of each kind of study, in the order of ``biped --help``.
FOLDERS = (
    "experiments.studies.sweep",
    "experiments.studies.threshold",
    "experiments.studies.tuning",
    "experiments.studies.sensitivity",
    "experiments.studies.fitting",
    "experiments.studies.identification",
)


class Kind(NamedTuple):
    """Declaration of a kind of study: an entry of the dictionary ``KINDS`` in the ``__init__.py`` of the kind's folder.

    Its key NAME in ``KINDS`` also names the command ``biped NAME`` and the folder ``results/NAME``. Functions and
    classes are given as ``MODULE:NAME`` and imported when they are first used, so that help is quick.

    Attributes:
        study: class of the study, a ``StudyKind``.
        findings: module that shows the findings, as ``experiments.visualization.studies.kinds`` describes.
        plan: function that makes the study from a ``Config``, or from the options if the command reads no file.
        title: one-line description of the command in ``biped --help``; empty: the kind has no command.
        description: text at the top of the command's help.
        examples: command lines at the end of the command's help.
        page: name of the documentation page in ``docs/``.
        table: TOML table by which a file is known to be of this kind; empty: the command reads no file.
        options: function that takes the command's parser and name, and adds options to the parser.
        compared_with: function that takes the study and the options, and reads studies to compare with before trials
            run; it returns keyword arguments for the function ``document`` of the module ``findings``.
        heading: title of the study's report; empty: the kind's name.
        command: name of the command that runs a study's file; empty: NAME.
        key: key of the recorded configuration that holds the content of the study's file; empty: all of it.
        caption: file name above the file's folded text in the report; empty: the study's name, and no folding.
    """

    study: str
    findings: str
    plan: str = ""
    title: str = ""
    description: str = ""
    examples: str = ""
    page: str = ""
    table: str = ""
    options: str = ""
    compared_with: str = ""
    heading: str = ""
    command: str = ""
    key: str = ""
    caption: str = ""


@cache
def kinds() -> Mapping[str, Kind]:
    """Return all kinds of studies by name."""
    return {name: kind for folder in FOLDERS for name, kind in importlib.import_module(folder).KINDS.items()}


def kind_named(name: str) -> Kind:
    """Return the kind of study with this name; raises InputError if no kind has it."""
    if name not in kinds():
        raise InputError(f"unknown kind of study {name!r}; kinds are {', '.join(kinds())}")
    return kinds()[name]


def imported(place: str) -> Any:
    """Import and return the object at ``MODULE:NAME``."""
    module, _, name = place.partition(":")
    return getattr(importlib.import_module(module), name)

"""Kinds of studies: each is a folder, whose ``__init__.py`` declares it, and a line of ``FOLDERS``."""

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
    """Declaration of a kind of study; its folder has it in a dictionary ``KINDS`` by name.

    The command ``biped NAME`` and the folder ``results/NAME`` have its name. Functions and classes are given as
    ``MODULE:NAME``, which is imported when it is first used: help stays quick.

    Attributes:
        study: class of the study, a ``StudyKind``.
        findings: module that shows findings, as ``experiments.visualization.studies.kinds`` describes.
        plan: function that returns the study: of a ``Config``, or of the options if the command reads no file.
        title: the command's line in ``biped --help``; a kind without a title has no command of its own.
        description: what the command does, at the top of its help.
        examples: command lines, at the end of its help.
        page: documentation page in ``docs/``.
        table: table that only files of this kind have; empty if the command reads no file.
        options: function that adds options to the command's parser; called with the parser and the command's name.
        compared_with: function of study and options that reads studies to compare with, before trials run; it returns
            further arguments of ``document`` of the module ``findings``.
        heading: title of the page; the name if empty.
        command: command that reads the file of a study; the name if empty.
        key: key of the file's data in the study's configuration; the configuration itself if empty.
        caption: name of the file, behind which it is folded on the page.
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
    """Return the kind of this name; raise InputError if there is none."""
    if name not in kinds():
        raise InputError(f"unknown kind of study {name!r}; kinds are {', '.join(kinds())}")
    return kinds()[name]


def imported(place: str) -> Any:
    """Import and return the object at ``MODULE:NAME``."""
    module, _, name = place.partition(":")
    return getattr(importlib.import_module(module), name)

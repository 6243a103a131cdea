"""How findings of the kinds of studies are shown: on the terminal, in files, as JSON, and on the page of a study.

Each kind names a module in its declaration (``experiments.studies.registry``), which has

- ``show(plan, findings, folder, draw) -> list[Path]``: prints, and writes into the study's folder; the files,
- ``as_json(plan, findings)``: the numbers that are printed, in dictionaries, lists, tables and numbers,
- ``page_sections(study) -> list[Section]``: the findings on its page, and
- ``page_rerun(study) -> list[Block]``: how to run it again; and it may have
- ``page_lead(study) -> list[Block]``: the findings in a few sentences; stands first on the page.

What is for the page gets a study that is open to be read, perhaps while it is running: what it needs may not be there
yet, which it says by an ``InputError``; the page then says so in its place. A study of an unknown kind gets the general
page.
"""

import importlib
from collections.abc import Callable
from typing import Any

from biped.errors import InputError
from experiments.studies.registry import kind_named, kinds
from experiments.studies.run import plan_of
from experiments.studies.store.folder import Study
from experiments.visualization.pages import Block, Prose, Section


def module_of(kind: str) -> Any:
    """Return the module that shows the findings of a kind of study."""
    return importlib.import_module(kind_named(kind).findings)


def page_sections(study: Study) -> list[Section] | None:
    """The sections of the kind; None for an unknown kind."""
    return _asked(study, "page_sections", lambda reason: [Section("findings", "Findings", blocks=(reason,))])


def page_lead(study: Study) -> list[Block]:
    return _asked(study, "page_lead", lambda reason: [reason]) or []


def page_rerun(study: Study) -> list[Block]:
    return _asked(study, "page_rerun", lambda reason: [reason]) or []


def planned_trials(study: Study) -> int | None:
    """How many trials there are when the study is done, where that is known."""
    if study.header.kind not in kinds():
        return None
    try:
        planned: int | None = plan_of(study).planned_trials(study)
    except InputError:
        return None
    return planned


def _asked(study: Study, name: str, instead: Callable[[Prose], Any]) -> Any:
    function = getattr(module_of(study.header.kind), name, None) if study.header.kind in kinds() else None
    if function is None:
        return None
    try:
        return function(study)
    except InputError as error:
        return instead(Prose(f"Not known yet: {error}.", "muted"))

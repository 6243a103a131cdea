"""Findings of a study as a document, by the kind of the study.

A kind names a module in its declaration (``experiments.studies.registry``), with the function
``document(plan, findings, folder) -> Document``. Optional functions are ``so_far(study)``, which returns plan and
findings of a study that is still running (default: ``recall``), ``page_sections(trials)``, sections for a page only,
and ``finish(plan, folder)``, which writes further files once the study is done. All may raise ``InputError`` while
results are missing; the page then shows the message. The page of a study of an unknown kind has no findings.
"""

import importlib
from dataclasses import replace
from typing import Any

from biped.errors import InputError
from experiments.studies.registry import kind_named, kinds
from experiments.studies.run import plan_of, recall
from experiments.studies.store.folder import Study
from experiments.visualization.document import Document
from experiments.visualization.pages import Block, Code, Prose
from experiments.visualization.studies.toml import as_toml
from experiments.visualization.studies.trials import Trials


def module_of(kind: str) -> Any:
    """Return the module with the findings of a kind of study."""
    return importlib.import_module(kind_named(kind).findings)


def title_of(kind: str) -> str:
    declared = kinds()[kind].heading if kind in kinds() else ""
    return declared or kind.replace("-", " ").capitalize()


def document_of(trials: Trials) -> Document:
    """Return the findings of a stored study for its page, or a sentence about missing results."""
    study = trials.study
    if study.header.kind not in kinds():
        return Document()
    module = module_of(study.header.kind)
    try:
        document: Document = module.document(*getattr(module, "so_far", recall)(study), study.folder)
        more = module.page_sections(trials) if hasattr(module, "page_sections") else ()
    except InputError as error:
        return Document([Prose(f"No findings yet: {error}.", "muted")])
    return replace(document, sections=(*document.sections, *more))


def page_rerun(study: Study) -> list[Block]:
    """Return the file of a study and the command that repeats it."""
    name = study.header.kind
    if name not in kinds():
        return []
    kind = kinds()[name]
    command = kind.command or name
    data = study.configuration[kind.key] if kind.key else study.configuration
    file = kind.caption or f"{study.configuration.get('name', command)}.toml"
    introduction = Prose(f"To repeat the study, save this file as {file}, and run the command below it:")
    return [introduction, Code(as_toml(data), kind.caption), Code(f"biped {command} {file}")]


def planned_trials(study: Study) -> int | None:
    """Return the number of trials of the finished study; None if unknown."""
    if study.header.kind not in kinds():
        return None
    try:
        planned: int | None = plan_of(study).planned_trials(study)
    except InputError:
        return None
    return planned

"""Registry of how the findings of each kind of study are shown.

The module of a kind has ``document(plan, findings, folder) -> Document``. It may have ``so_far(study)``, which returns
plan and findings of a study that is still running; ``recall`` is the default. It may have ``page_sections(trials)``:
sections that only a page has. All may raise ``InputError`` while results are missing; the page then says so.
A kind that is not in the table has a general page.
"""

import importlib
from dataclasses import dataclass, replace
from typing import Any

from biped.errors import InputError
from experiments.studies.registry import KINDS
from experiments.studies.run import plan_of, recall
from experiments.studies.store.folder import Study
from experiments.visualization.document import Document
from experiments.visualization.pages import Block, Prose
from experiments.visualization.report.responses import response_sections
from experiments.visualization.report.toml import file_and_command
from experiments.visualization.report.trials import Trials


@dataclass(frozen=True)
class Shown:
    """How a kind of study is shown."""

    module: str  # in this package
    title: str  # of its page
    command: str  # that reads its file
    key: str = ""  # of its file in the configuration of the study; the configuration itself without one
    caption: str = ""  # behind which the file is folded on the page


_PLAN = "threshold", "plan", "plan.toml"
SHOWN = {
    "sweep": Shown("sweep", "Sweep", "sweep"),
    "tune": Shown("tuning", "Tuning", "tune", "tuning"),
    "push-map": Shown("threshold", "Push map", *_PLAN),
    "threshold": Shown("threshold", "Threshold", *_PLAN),
    "block-speed": Shown("threshold", "Block speed", *_PLAN),
    "sensitivity": Shown("sensitivity", "Sensitivity", "sensitivity", "sensitivity"),
    "identify": Shown("identification", "Identification", "identify"),
    "identify-groups": Shown("groups", "Group identification", "identify"),
    "fit": Shown("fit", "Fit", "fit", "fit"),
}


def module_of(kind: str) -> Any:
    """Return the module that shows the findings of a kind of study."""
    return importlib.import_module(f"experiments.visualization.studies.{SHOWN[kind].module}")


def title_of(kind: str) -> str:
    return SHOWN[kind].title if kind in SHOWN else kind.replace("-", " ").capitalize()


def document_of(trials: Trials) -> Document:
    """Return the findings of a stored study for its page; a sentence on what is missing if there are none yet."""
    study = trials.study
    if study.header.kind not in SHOWN:
        return Document(sections=response_sections(trials, trials.axes))
    module = module_of(study.header.kind)
    try:
        document: Document = module.document(*getattr(module, "so_far", recall)(study), study.folder)
        more = module.page_sections(trials) if hasattr(module, "page_sections") else ()
    except InputError as error:
        return Document([Prose(f"Not known yet: {error}.", "muted")])
    return replace(document, sections=(*document.sections, *more))


def page_rerun(study: Study) -> list[Block]:
    """Return the file of a study and the command that runs it again."""
    shown = SHOWN.get(study.header.kind)
    if shown is None:
        return []
    data = study.configuration[shown.key] if shown.key else study.configuration
    file = f"{study.configuration.get('name', shown.command)}.toml" if not shown.caption else shown.caption
    return file_and_command("The study", data, file, f"biped {shown.command} {file}", shown.caption)


def planned_trials(study: Study) -> int | None:
    """Return how many trials there are when the study is done, where that is known."""
    if study.header.kind not in KINDS:
        return None
    try:
        planned: int | None = plan_of(study).planned_trials(study)
    except InputError:
        return None
    return planned

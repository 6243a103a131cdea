"""The pages of kinds of studies: each kind may have a module of its own for what its page says.

Such a module has a function ``page_sections(study) -> list[Section]``, and may have

- ``page_lead(study) -> list[Block]``: what the study found, in a few sentences; stands first on the page,
- ``page_rerun(study) -> list[Block]``: how to run it again.

All of them get a study that is open to be read, perhaps while it is running: what they need may not be there yet, which
they say by an ``InputError``; the page then says so in their place. A kind without a module gets the general page.
"""

import importlib
from collections.abc import Callable
from typing import Any

from biped.errors import InputError
from experiments.studies.registry import KINDS
from experiments.studies.run import plan_of
from experiments.studies.store.folder import Study
from experiments.visualization.pages import Block, Prose, Section

#: By kind of study.
PAGES = {
    "sweep": "experiments.visualization.studies.sweep_page",
    "tune": "experiments.visualization.studies.tuning_page",
    "push-map": "experiments.visualization.studies.push_map_page",
    "threshold": "experiments.visualization.studies.threshold_page",
    "block-speed": "experiments.visualization.studies.threshold_page",
    "sensitivity": "experiments.visualization.studies.sensitivity_page",
}


def page_sections(study: Study) -> list[Section] | None:
    """None where the kind has no module."""
    return _asked(study, "page_sections", lambda reason: [Section("findings", "Findings", blocks=(reason,))])


def page_lead(study: Study) -> list[Block]:
    return _asked(study, "page_lead", lambda reason: [reason]) or []


def page_rerun(study: Study) -> list[Block]:
    return _asked(study, "page_rerun", lambda reason: [reason]) or []


def planned_trials(study: Study) -> int | None:
    """How many trials there are when the study is done, where that is known."""
    if study.header.kind not in KINDS:
        return None
    try:
        planned: int | None = plan_of(study).planned_trials(study)
    except InputError:
        return None
    return planned


def _asked(study: Study, name: str, instead: Callable[[Prose], Any]) -> Any:
    module = PAGES.get(study.header.kind)
    function = None if module is None else getattr(importlib.import_module(module), name, None)
    if function is None:
        return None
    try:
        return function(study)
    except InputError as error:
        return instead(Prose(f"Not to be told yet: {error}.", "muted"))

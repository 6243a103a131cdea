"""The pages of kinds of studies: each kind may have a module of its own for what its page says.

Such a module has a function ``page_sections(study) -> list[Section]``, and may have

- ``page_lead(study) -> list[Block]``: what the study found, in a few sentences; stands first on the page,
- ``page_rerun(study) -> list[Block]``: how to run it again,
- ``planned_trials(study) -> int``: how many trials there are when it is done.

All of them get a study that is open to be read, perhaps while it is running: what they need may not be there yet, which
they say by an ``InputError``; the page then says so in their place. A kind without a module gets the general page.
"""

import importlib
from collections.abc import Callable
from typing import Any

from biped.errors import InputError
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
    """The sections that the study's kind has for it; None where there is no module."""
    return _call(study, "page_sections", lambda reason: [Section("findings", "Findings", blocks=(_not_yet(reason),))])


def page_blocks(study: Study, name: str) -> list[Block]:
    """What the function of this name, ``page_lead`` or ``page_rerun``, has to say."""
    return _call(study, name, lambda reason: [_not_yet(reason)]) or []


def planned_trials(study: Study) -> int | None:
    """How many trials there are when the study is done, where that is known."""
    return _call(study, "planned_trials", lambda _: None)


def _call(study: Study, name: str, instead: Callable[[str], Any]) -> Any:
    module = PAGES.get(study.header.kind)
    function = None if module is None else getattr(importlib.import_module(module), name, None)
    try:
        return None if function is None else function(study)
    except InputError as error:
        return instead(str(error))


def _not_yet(reason: str) -> Prose:
    return Prose(f"Not to be told yet: {reason}.", "muted")

"""The pages of kinds of studies: each kind may have a module of its own for what its page says.

Such a module has a function ``page_sections(study) -> list[Section]``, and may have

- ``page_lead(study) -> list[Block]``: what the study found, in a few sentences; stands first on the page,
- ``page_again(study) -> list[Block]``: how to run it again,
- ``planned_trials(study) -> int``: how many trials there are when it is done.

All of them get a study that is open to be read, perhaps while it is running: what they need may not be there yet, which
they say by an ``InputError``; the page then says so in their place. A kind without a module gets the general page.
"""

import importlib
import importlib.util
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
    return _asked(study, "page_sections", lambda reason: [Section("findings", "Findings", blocks=(_not_yet(reason),))])


def page_lead(study: Study) -> list[Block]:
    """What the study found."""
    return _asked(study, "page_lead", lambda reason: [_not_yet(reason)]) or []


def page_again(study: Study) -> list[Block]:
    """How to run it again."""
    return _asked(study, "page_again", lambda reason: [_not_yet(reason)]) or []


def planned_trials(study: Study) -> int | None:
    """How many trials there are when the study is done, where that is known."""
    return _asked(study, "planned_trials", lambda _: None)


def _asked(study: Study, name: str, instead: Callable[[str], Any]) -> Any:
    module = PAGES.get(study.header.kind)
    if module is None or importlib.util.find_spec(module) is None:
        return None
    function = getattr(importlib.import_module(module), name, None)
    if function is None:
        return None
    try:
        return function(study)
    except InputError as error:
        return instead(str(error))


def _not_yet(reason: str) -> Prose:
    return Prose(f"Not to be told yet: {reason}.", "muted")

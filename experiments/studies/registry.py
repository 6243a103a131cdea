"""Kinds of studies by name; each is imported when it is first asked for."""

import importlib
from typing import TYPE_CHECKING

from biped.errors import InputError

if TYPE_CHECKING:
    from experiments.studies.study_kind import StudyKind

#: The class of each kind, a ``StudyKind``; presets of thresholds are kinds of their own.
KINDS = {
    "sweep": "experiments.studies.sweep.sweep:Sweep",
    "threshold": "experiments.studies.threshold.threshold:Threshold",
    "push-map": "experiments.studies.threshold.threshold:Threshold",
    "block-speed": "experiments.studies.threshold.threshold:Threshold",
    "tune": "experiments.studies.tuning.tuning:Tuning",
    "sensitivity": "experiments.studies.sensitivity.sensitivity:Sensitivity",
    "identify": "experiments.studies.identification.identification:Identification",
    "identify-groups": "experiments.studies.identification.groups:GroupIdentification",
    "fit": "experiments.studies.fitting.fit:Fit",
}


def kind_named(name: str) -> "type[StudyKind]":
    if name not in KINDS:
        raise InputError(f"unknown kind of study {name!r}; kinds are {', '.join(KINDS)}")
    module, _, attribute = KINDS[name].partition(":")
    found: type[StudyKind] = getattr(importlib.import_module(module), attribute)
    return found

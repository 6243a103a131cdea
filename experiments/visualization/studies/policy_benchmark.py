"""Findings of the push benchmark of a learned policy: those of push maps, and one JSON file to publish."""

import math
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from biped.inputs.modules import digest_of
from biped.model import Model
from biped.runs.run import MODEL, versions
from experiments.catalogue.parameters.controllers import controller_from
from experiments.catalogue.parameters.robots import NAME as ROBOT
from experiments.catalogue.parameters.robots import robot_named
from experiments.studies.threshold.findings import Finding, Findings
from experiments.studies.threshold.policy_benchmark import PROTOCOL
from experiments.studies.threshold.search import Query
from experiments.studies.threshold.threshold import Threshold
from experiments.visualization.document import Document
from experiments.visualization.studies import threshold
from experiments.visualization.studies.threshold import so_far

__all__ = ["document", "so_far"]

FILE = "benchmark.json"


def document(plan: Threshold, findings: Findings, folder: Path, maps: Mapping[str, Findings] = {}) -> Document:
    """Return the document of a push map, with ``benchmark.json`` among its files."""
    page = threshold.document(plan, findings, folder, maps)
    return replace(page, files={**page.files, FILE: _published(plan, findings, folder)})


def _published(plan: Threshold, findings: Findings, folder: Path) -> dict[str, Any]:
    """Return the data to publish: protocol, digests, versions, and the threshold of each condition."""
    values = plan.experiment.values(plan.changes)
    model, law = robot_named(values.word(ROBOT)), controller_from(plan.experiment.values({}))
    return {
        "protocol": {
            "version": PROTOCOL, "replicas": plan.replicas, "seed": plan.seed, "confidence": plan.confidence,
            "lost": list(plan.losses),
            "grid [N·s]": [plan.grid.start, plan.grid.stop, plan.grid.by], "tolerance [N·s]": plan.grid.tolerance,
            "settings": dict(plan.changes),
        },
        "policy": {Path(file).name: digest_of(Path(file)) for file in law.files},
        "robot": {"name": model.name, "mass [kg]": model.total_mass, "model": digest_of(folder / MODEL) or "built in"},
        "friction of the floor": {name: values.number(f"floor.{name}") for name in ("mu_s", "mu_d")},
        "versions": versions("mujoco", "onnxruntime", "torch"),
        "thresholds": [_entry(finding, k, plan, model) for k, finding in enumerate(findings.conditions)],
    }  # fmt: skip


def _entry(finding: Finding, number: int, plan: Threshold, model: Model) -> dict[str, Any]:
    estimate, share = finding.estimate, finding.share
    median = estimate.median
    return {
        **finding.condition.labels,
        "median [N·s]": _number(median.value),
        "interval [N·s]": [_number(median.low), _number(median.high)],
        "median [m/s]": _number(median.value / model.total_mass),
        "share of the limit": None if share is None else _number(share),
        "replicas [N·s]": [_number(bracket.low) for bracket in finding.brackets],
        "starts of the push [s]": [
            plan.trial(Query(number, replica, 0, 0.0)).changes["push.start"] for replica in range(plan.replicas)
        ],
        "replicas that are not monotonic": estimate.non_monotone,
        "limited by": finding.limited_by,
    }


def _number(value: float) -> float | str | None:
    """Return a number, a word for an infinite one, and None for an unknown one."""
    if math.isnan(value):
        return None
    return round(value, 6) if math.isfinite(value) else "above all tried" if value > 0.0 else "below all tried"

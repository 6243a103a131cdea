"""Findings of the push benchmark of a learned policy: those of push maps, and one JSON file to publish."""

import math
import os
from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from biped.inputs.modules import digest_of
from biped.model import Model
from biped.runs.run import MODEL, versions
from controllers.policy import Policy
from experiments.catalogue.parameters.controllers import controller_from
from experiments.catalogue.parameters.robots import NAME as ROBOT
from experiments.catalogue.parameters.robots import robot_named
from experiments.engines.registry import engine_named, is_engine
from experiments.studies.threshold.findings import Finding, Findings
from experiments.studies.threshold.policy_benchmark import PROTOCOL
from experiments.studies.threshold.presets import ENGINE
from experiments.studies.threshold.search import Query
from experiments.studies.threshold.threshold import Threshold
from experiments.visualization.document import Document
from experiments.visualization.look import style
from experiments.visualization.look.writing import styled, write_figure
from experiments.visualization.panels.panel import Axis, Panel, Points
from experiments.visualization.panels.with_matplotlib import figure_of
from experiments.visualization.studies import threshold
from experiments.visualization.studies.threshold import so_far

__all__ = ["document", "so_far"]

FILE, PHASES = "benchmark.json", "benchmark-policy-phases.png"


def document(plan: Threshold, findings: Findings, folder: Path, maps: Mapping[str, Findings] = {}) -> Document:
    """Return the document of a push map, with ``benchmark.json`` among its files and a figure over the gait's phase."""
    page = threshold.document(plan, findings, folder, maps)
    panels = phase_panels(plan, findings)
    drawings = {PHASES: partial(_draw, panels) if panels else None}
    files = {**page.files, FILE: _published(plan, findings, folder)}
    return replace(page, files=files, drawings={**page.drawings, **drawings})


def phase_panels(plan: Threshold, findings: Findings) -> list[Panel]:
    """Return the threshold of each replica of the policy over the phase of the gait when the push begins.

    There is a panel for each quarter of the directions; none if the policy's clock does not run.
    """
    law = _policy(plan)
    gait = law.description(_model(plan)).gait
    if gait is None or gait.stands(law.command):
        return []
    mine = [finding for finding in findings.conditions if not finding.condition.is_reference]
    top = 1.1 * max([b.low for finding in mine for b in finding.brackets if math.isfinite(b.low)], default=1.0)
    panels = []
    for quarter, title in enumerate(("Forward", "Left", "Backward", "Right")):
        items = []
        for span, color in zip(dict.fromkeys(_ring(finding) for finding in mine), style.LINES, strict=False):
            ring = [f for f in mine if _ring(f) == span and _quarter(f) == quarter]
            starts = [start for f in ring for start in _starts(plan, findings.conditions.index(f))]
            values = np.clip([bracket.low for f in ring for bracket in f.brackets], 0.0, top).tolist()
            items.append(Points(np.array(starts) / gait.period % 1.0, values, span, color, "circle", 3.5))
        x = Axis("phase of the gait at the push" if quarter > 1 else "", 0.0, 1.0, form=".0%")
        y = Axis("" if quarter % 2 else "threshold [N·s]", 0.0, top)
        panels.append(Panel(tuple(items), x, y, title, legend="" if quarter else "best"))
    return panels


def _draw(panels: list[Panel], path: Path) -> list[Path]:
    with styled():
        return write_figure(figure_of(panels, (9.0, 5.6), columns=2), path)


def _ring(finding: Finding) -> str:
    labels = finding.condition.labels
    return f"{labels['duration']}, {labels['floor']}"


def _quarter(finding: Finding) -> int:
    """Return the nearest of the directions forward, left, backward and right: 0 to 3."""
    return math.floor(float(finding.condition.labels["direction"]) / 90.0 + 0.5) % 4


def _starts(plan: Threshold, condition: int) -> list[float]:
    """Return the start of the push [s] in each replica of a condition."""
    trials = [plan.trial(Query(condition, replica, 0, 0.0)) for replica in range(plan.replicas)]
    return [plan.experiment.values(trial.changes).number("push.start") for trial in trials]


def _model(plan: Threshold) -> Model:
    return robot_named(plan.experiment.values(plan.changes).word(ROBOT))


def _policy(plan: Threshold) -> Policy:
    law = controller_from(plan.experiment.values(plan.conditions[0].changes))
    assert isinstance(law, Policy)
    return law


def _published(plan: Threshold, findings: Findings, folder: Path) -> dict[str, Any]:
    """Return the data to publish: protocol, digests, versions, and the threshold of each condition."""
    values = plan.experiment.values(plan.changes)
    model, law = _model(plan), _policy(plan)
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
        "engine": _engine(values.word(ENGINE)),
        "versions": versions("mujoco", "onnxruntime", "torch"),
        "thresholds": [_entry(finding, k, plan, model) for k, finding in enumerate(findings.conditions)],
    }  # fmt: skip


def _engine(name: str) -> dict[str, Any]:
    """Return the name of an engine or integrator, and the digests of its files."""
    files = engine_named(name).files if is_engine(name) else ()
    return {
        "name": Path(name).name,
        "files": {os.path.relpath(file, Path(name).parent): digest_of(file) for file in files},
    }


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
        "starts of the push [s]": _starts(plan, number),
        "replicas that are not monotonic": estimate.non_monotone,
        "limited by": finding.limited_by,
    }


def _number(value: float) -> float | str | None:
    """Return a number, a word for an infinite one, and None for an unknown one."""
    if math.isnan(value):
        return None
    return round(value, 6) if math.isfinite(value) else "above all tried" if value > 0.0 else "below all tried"

"""What a tuning leaves in its folder besides its trials: the winner's gains, a table of candidates, a summary."""

import csv
import json
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from importlib.metadata import version
from pathlib import Path
from typing import Any

from controllers.gains import KEYS, save_gains
from controllers.workspace import WorkspaceGains
from experiments.catalogue.parameters.parameter import Value, assembled, shown
from experiments.studies.tuning.config import Tuning
from experiments.studies.tuning.confirm import Comparison
from experiments.studies.tuning.session import Outcome
from experiments.studies.tuning.tuner import Confirmation, Tried

BEST, UNCONFIRMED, CANDIDATES, SUMMARY, FRONT = (
    "best.toml",
    "best-unconfirmed.toml",
    "candidates.csv",
    "summary.json",
    "front",
)
_PACKAGES = ("biped-balance", "optuna", "cma", "cmaes", "numpy", "scipy", "numba")


def write_results(tuning: Tuning, outcome: Outcome, folder: Path) -> list[Path]:
    """Write all of them; those of an earlier time are removed.

    Raises:
        OSError: a file cannot be written.
    """
    for name in (BEST, UNCONFIRMED):
        (folder / name).unlink(missing_ok=True)
    shutil.rmtree(folder / FRONT, ignore_errors=True)
    files = [_write_candidates(tuning, outcome, folder / CANDIDATES)]
    if outcome.winner is not None:
        files.append(_write_gains(tuning, outcome, folder / (BEST if outcome.is_confirmed else UNCONFIRMED)))
    if tuning.is_front:
        files += _write_front(tuning, outcome, folder / FRONT)
    files.append(folder / SUMMARY)
    text = json.dumps(summary(tuning, outcome), indent=2, ensure_ascii=False, allow_nan=False)
    files[-1].write_text(text + "\n", encoding="utf-8")
    return files


def _write_candidates(tuning: Tuning, outcome: Outcome, path: Path) -> Path:
    """One row a candidate, 0 the baseline: values of knobs, objectives and limits."""
    tuned = outcome.tuned
    knobs = [knob.name for knob in tuning.plan.knobs]
    objectives = [objective.name for objective in tuning.judge.objectives]
    limits = [limit.name for limit in tuning.judge.limits]
    heading = ["candidate", *knobs, *objectives, *(f"limited {name}" for name in limits), "keeps limits", "cost"]
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(heading)
        for one in (tuned.baseline, *tuned.tried):
            point = [one.candidate.point.get(name, "") for name in knobs]
            values = [one.score.values[name] for name in objectives] + [one.score.limits[name] for name in limits]
            writer.writerow([one.number, *point, *values, int(one.score.keeps_limits), *one.score.costs])
    return path


def _write_gains(tuning: Tuning, outcome: Outcome, path: Path) -> Path:
    assert outcome.winner is not None
    lines = [f"Tuned by `biped tune`, study {tuning.name!r}, candidate {outcome.winner.number} of {tuning.candidates}."]
    if outcome.confirmation is not None:
        lines += _confirmation_lines(outcome.confirmation)
    return write_gains(tuning, outcome.winner, lines, path)


def _confirmation_lines(found: Confirmation) -> list[str]:
    verdict = "Confirmed by fresh replicas."
    if not found.holds:
        verdict = f"NOT CONFIRMED by fresh replicas: {'; '.join(found.reasons)}."
    return [verdict, *(_line(comparison) for comparison in (*found.objectives, *found.limits))]


def _line(c: Comparison) -> str:
    return (
        f"{c.name}: {c.winner:.6g} ± {c.winner_spread:.2g} against {c.baseline:.6g} ± {c.baseline_spread:.2g} "
        f"(mean ± standard deviation of {c.replicas} replicas); "
        f"difference {c.difference:+.4g}, 95 % interval {c.low:+.4g} … {c.high:+.4g}, p = {c.chance:.2g}"
    )


def write_gains(tuning: Tuning, tried: Tried, lines: Sequence[str], path: Path) -> Path:
    """Write a candidate's gains as ``biped run --gains`` takes them; what are no gains is in a comment.

    Raises:
        OSError: the file cannot be written.
    """
    base = dict(tuning.plan.base)
    changed = assembled(tried.candidate.changes, base)
    values = base | changed
    known = {f"controller.{key}" for key in KEYS}
    text = ""
    if known <= set(values):
        save_gains(WorkspaceGains(**{key: _triple(values[f"controller.{key}"]) for key in KEYS}), path)
        text = path.read_text(encoding="utf-8")
    others = {name: value for name, value in changed.items() if name not in known}
    notes = [*lines, *(f"{name}: {value:.6g} in the tuning" for name, value in tried.score.values.items())]
    if others:
        notes.append("These were varied too, and are no gains: " + " ".join(_assignments(others)))
    notes.append(", ".join(f"{package} {version(package)}" for package in _PACKAGES))
    path.write_text("".join(f"# {line}\n" for line in notes) + text, encoding="utf-8")
    return path


def _triple(value: Value) -> tuple[float, float, float]:
    assert isinstance(value, tuple)
    x, y, z = value
    return x, y, z


def _assignments(values: Mapping[str, Value]) -> list[str]:
    return [f"--set {name}={shown(value)}" for name, value in values.items()]


def _write_front(tuning: Tuning, outcome: Outcome, folder: Path) -> list[Path]:
    """The gains of each member, in the order of the first objective."""
    folder.mkdir()
    files = []
    for place, tried in enumerate(outcome.tuned.front, start=1):
        lines = [f"Member {place} of the front of study {tuning.name!r}, candidate {tried.number}; not confirmed."]
        files.append(write_gains(tuning, tried, lines, folder / f"{place:02d}.toml"))
    return files


def summary(tuning: Tuning, outcome: Outcome) -> dict[str, Any]:
    """What a tuning came to, as JSON can hold it."""
    tuned = outcome.tuned
    found = outcome.confirmation
    return {
        "name": tuning.name,
        "experiment": tuning.plan.experiment.name,
        "optimizer": tuning.optimizer,
        "candidates": len(tuned.tried),
        "trials_per_candidate": tuning.plan.size,
        "baseline": _as_json(tuned.baseline),
        "bounds": dict(tuned.bounds),
        "winner": None if outcome.winner is None else _as_json(outcome.winner),
        "front": [_as_json(tried) for tried in tuned.front] if tuning.is_front else [],
        "confirmed": outcome.is_confirmed,
        "confirmation": None
        if found is None
        else {
            "reasons": found.reasons,
            "bounds": dict(found.bounds),
            "comparisons": {c.name: _comparison(c) for c in (*found.objectives, *found.limits)},
        },
    }


def _comparison(comparison: Comparison) -> dict[str, Any]:
    return asdict(comparison) | {"difference": comparison.difference}


def _as_json(tried: Tried) -> dict[str, Any]:
    return {
        "candidate": tried.number,
        "point": dict(tried.candidate.point),
        "values": dict(tried.score.values),
        "limits": dict(tried.score.limits),
    }

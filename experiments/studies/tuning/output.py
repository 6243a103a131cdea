"""Files of a tuning's results: gains of the winner, table of candidates, summary."""

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
from experiments.catalogue.parameters.controller_file import controller_text, has_gains
from experiments.catalogue.parameters.parameter import Value, assembled, shown
from experiments.studies.tuning.confirm import Comparison
from experiments.studies.tuning.tuner import Confirmation, Evaluation
from experiments.studies.tuning.tuning import Outcome, Tuning

BEST, UNCONFIRMED = "best.toml", "best-unconfirmed.toml"
CANDIDATES, SUMMARY, FRONT = "candidates.csv", "summary.json", "front"
_PACKAGES = ("biped-balance", "optuna", "cma", "cmaes", "numpy", "scipy", "numba")


def write_results(tuning: Tuning, outcome: Outcome, folder: Path) -> list[Path]:
    """Write all files of the results, and return their paths; files of older results are removed."""
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
    """Write a row for each candidate (0: the baseline): variables, objectives, limits, and counts of verdicts."""
    history = outcome.history
    variables = [variable.name for variable in tuning.space.variables]
    objectives = [objective.name for objective in tuning.scorer.objectives]
    limits = [limit.name for limit in tuning.scorer.limits]
    costs = [f"cost {name}" for name in objectives] if tuning.is_front else ["cost"]
    heading = ["candidate", *variables, *objectives, *(f"limited {name}" for name in limits), "keeps limits", *costs,
               *history.baseline.score.verdicts]  # fmt: skip
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(heading)
        for evaluation in (history.baseline, *history.evaluations):
            score, point = evaluation.score, [evaluation.candidate.point.get(name, "") for name in variables]
            values = [score.values[name] for name in objectives] + [score.limits[name] for name in limits]
            writer.writerow([evaluation.number, *point, *values, int(score.keeps_limits), *score.costs,
                             *score.verdicts.values()])  # fmt: skip
    return path


def _write_gains(tuning: Tuning, outcome: Outcome, path: Path) -> Path:
    assert outcome.winner is not None
    lines = [f"Tuned by `biped tune`, study {tuning.name!r}, candidate {outcome.winner.number} of {tuning.tried}."]
    if outcome.confirmation is not None:
        lines += _confirmation_lines(outcome.confirmation)
    return write_gains(tuning, outcome.winner, lines, path)


def _confirmation_lines(confirmation: Confirmation) -> list[str]:
    verdict = "Confirmed by fresh replicas."
    if not confirmation.holds:
        verdict = f"NOT CONFIRMED by fresh replicas: {'; '.join(confirmation.reasons)}."
    return [verdict, *(_line(comparison) for comparison in (*confirmation.objectives, *confirmation.limits))]


def _line(c: Comparison) -> str:
    return (
        f"{c.name}: {c.winner:.6g} ± {c.winner_spread:.2g} against {c.baseline:.6g} ± {c.baseline_spread:.2g} "
        f"(mean ± standard deviation of {c.replicas} replicas); "
        f"difference {c.difference:+.4g}, 95 % interval {c.low:+.4g} … {c.high:+.4g}, p = {c.chance:.2g}"
    )


def write_gains(tuning: Tuning, evaluation: Evaluation, lines: Sequence[str], path: Path) -> Path:
    """Write a candidate's gains for ``biped run --gains``; its other varied parameters become a comment."""
    changed = assembled(evaluation.candidate.changes, dict(tuning.space.base))
    gains = _of_controller(tuning, changed)
    rest = {name: value for name, value in changed.items() if name not in gains}
    notes = [*lines, *(f"{name}: {value:.6g} in the tuning" for name, value in evaluation.score.values.items())]
    if rest:
        assignments = " ".join(f"--set {name}={shown(value)}" for name, value in rest.items())
        notes.append(f"Varied parameters other than gains: {assignments}")
    if tuning.experiment.is_driven_by_another:
        notes.append(f"For --controller {tuning.experiment.controller}")
    notes.append(", ".join(f"{package} {version(package)}" for package in _PACKAGES))
    text = ""
    if has_gains(tuning.experiment):
        save_gains(WorkspaceGains(**{name.partition(".")[2]: _gain(value) for name, value in gains.items()}), path)
        text = path.read_text(encoding="utf-8")
    elif gains:
        text = controller_text(gains)
    path.write_text("".join(f"# {line}\n" for line in notes) + text, encoding="utf-8")
    return path


def _of_controller(tuning: Tuning, changed: Mapping[str, Value]) -> dict[str, Value]:
    """Return all gains of the workspace controller, or the varied parameters of another controller."""
    if has_gains(tuning.experiment):
        values = dict(tuning.space.base) | dict(changed)
        return {f"controller.{key}": values[f"controller.{key}"] for key in KEYS}
    return {name: value for name, value in changed.items() if name.startswith("controller.")}


def _gain(value: Value) -> tuple[float, ...]:
    assert isinstance(value, tuple)
    return value


def _write_front(tuning: Tuning, outcome: Outcome, folder: Path) -> list[Path]:
    folder.mkdir()
    files = []
    for place, member in enumerate(outcome.history.front, start=1):
        lines = [f"Member {place} of the front of study {tuning.name!r}, candidate {member.number}; not confirmed."]
        files.append(write_gains(tuning, member, lines, folder / f"{place:02d}.toml"))
    return files


def summary(tuning: Tuning, outcome: Outcome) -> dict[str, Any]:
    history, checked, confirmation = outcome.history, outcome.confirmation, None
    if checked is not None:
        compared = (*checked.objectives, *checked.limits)
        comparisons = {c.name: asdict(c) | {"difference": c.difference} for c in compared}
        confirmation = {"reasons": checked.reasons, "bounds": dict(checked.bounds), "comparisons": comparisons}
    return {
        "name": tuning.name, "experiment": tuning.space.experiment.name, "optimizer": tuning.settings.optimizer,
        "candidates": len(history.evaluations), "trials_per_candidate": tuning.space.size,
        "baseline": _as_json(history.baseline), "bounds": dict(history.bounds),
        "winner": None if outcome.winner is None else _as_json(outcome.winner),
        "front": [_as_json(member) for member in history.front] if tuning.is_front else [],
        "confirmed": outcome.is_confirmed, "confirmation": confirmation,
    }  # fmt: skip


def _as_json(evaluation: Evaluation) -> dict[str, Any]:
    return {
        "candidate": evaluation.number,
        "point": dict(evaluation.candidate.point),
        "values": dict(evaluation.score.values),
        "limits": dict(evaluation.score.limits),
        "verdicts": dict(evaluation.score.verdicts),
    }

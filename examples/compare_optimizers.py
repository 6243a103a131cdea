"""Compare optimizers on one tuning with equal budget and several seeds: a figure of the best cost, and a table.

    python examples/compare_optimizers.py examples/tune-gradient.toml --seeds 5

The seed determines the starts of all trials and the random numbers of the optimizer. A candidate with derivatives
counts as ``1 + gradient_cost`` candidates. Trials run in this process; only the table and the figure are stored.
"""

import argparse
import copy
import csv
import statistics
import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np

from experiments.studies import Config, Result, Threads, Trial, Tuner, run_trial, tuning_from

OPTIMIZERS = ("lbfgs", "cma", "optuna-tpe", "sobol")


def costs_of(data: Mapping[str, Any], optimizer: str, seed: int, workers: int) -> tuple[list[float], list[int]]:
    """Return the least cost within all limits after each candidate, and the part of the budget used by then."""
    own = copy.deepcopy(dict(data)) | {"seed": seed}
    own["tune"] = {**own["tune"], "optimizer": optimizer}
    if optimizer == "cma":
        own["tune"]["batch"] = max(8, own["tune"]["batch"])
    tuning = tuning_from(Config(own))

    def evaluate(trials: Sequence[Trial]) -> Mapping[int, Result]:
        done = Threads(workers).run(lambda trial: run_trial(tuning.experiment, trial), trials)
        return {trial.number: result for trial, result in done}

    tuner = Tuner(tuning.space, tuning.scorer, evaluate)
    history = tuner.run(tuning.optimizer, tuning.tried, tuning.settings.batch)
    price = tuning.price
    best, found, spent = history.baseline.score.costs[0], [], []
    found.append(best)
    spent.append(0)
    for number, one in enumerate(history.evaluations, 1):
        if one.score.keeps_limits:
            best = min(best, one.score.costs[0])
        found.append(best)
        spent.append(round(number * price))
    return found, spent


def main() -> None:
    """Run all optimizers, print the table, and write table and figure."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file", type=Path, help="file of a tuning with one objective")
    parser.add_argument("--seeds", type=int, default=5, help="number of seeds (default: 5)")
    parser.add_argument("--candidates", type=int, help="budget (default: that of the file)")
    parser.add_argument("--optimizers", nargs="+", default=list(OPTIMIZERS), help="optimizers (default: all four)")
    parser.add_argument("--workers", type=int, default=2, help="trials in parallel (default: 2)")
    parser.add_argument("--out", type=Path, default=Path("results/compare-optimizers"), help="folder")
    options = parser.parse_args()
    data = tomllib.loads(options.file.read_text(encoding="utf-8"))
    budget = options.candidates or int(data["tune"]["candidates"])
    data["tune"]["candidates"] = budget
    marks = [budget // 16, budget // 4, budget]
    options.out.mkdir(parents=True, exist_ok=True)
    curves: dict[str, np.ndarray] = {}
    for optimizer in options.optimizers:
        rows = []
        for seed in range(1, options.seeds + 1):
            costs, spent = costs_of(data, optimizer, seed, options.workers)
            rows.append(_held(spent, costs, budget))
            print(f"{optimizer}, seed {seed}: {costs[0]:.4f} to {costs[-1]:.4f}", flush=True)
        curves[optimizer] = np.array(rows)
    _write_table(curves, marks, options.out / "comparison.csv")
    _draw(curves, options.out / "comparison.png")


def _held(spent: Sequence[int], costs: Sequence[float], budget: int) -> np.ndarray:
    """Return the least cost so far after each candidate of the budget."""
    places = np.searchsorted(spent, np.arange(budget + 1), side="right") - 1
    return np.asarray(costs)[places]


def _write_table(curves: Mapping[str, np.ndarray], marks: Sequence[int], path: Path) -> None:
    """Write median, least and greatest cost over the seeds at parts of the budget."""
    heading = ["optimizer", *(f"after {mark}" for mark in marks), "least", "greatest"]
    print(" | ".join(heading))
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(heading)
        for name, rows in curves.items():
            cells = [statistics.median(rows[:, mark].tolist()) for mark in marks]
            cells += [float(rows[:, -1].min()), float(rows[:, -1].max())]
            writer.writerow([name, *cells])
            print(" | ".join([name, *(f"{cell:.4f}" for cell in cells)]))


def _draw(curves: Mapping[str, np.ndarray], path: Path) -> None:
    mpl.use("Agg")
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(figsize=(5.6, 3.4), layout="constrained")
    for name, rows in curves.items():
        (line,) = axes.plot(np.median(rows, axis=0), label=name)
        axes.fill_between(
            np.arange(rows.shape[1]), rows.min(axis=0), rows.max(axis=0), color=line.get_color(), alpha=0.15
        )
    axes.set(xlabel="candidates of the budget, derivatives included", ylabel="best cost: median, least and greatest")
    axes.legend()
    figure.savefig(path, dpi=110)


if __name__ == "__main__":
    main()

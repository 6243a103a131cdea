"""``biped statistics``: comparison of groups or conditions in a table of trials, over subjects."""

from argparse import Namespace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from biped.errors import InputError
from experiments.cli.main import Parser
from experiments.cli.reply import reply

if TYPE_CHECKING:
    import pandas as pd

_DESCRIPTION = """\
Compare a metric between groups of subjects, or between conditions of each subject: means with intervals, differences
with bootstrap intervals and permutation tests over subjects, and a mixed-effects model of all trials."""

_EXAMPLES = """\
examples:
  biped statistics results/sweep/ages --metric cop_range_ap --between actuators.strength --subject robot.name
  biped statistics results/sweep/pushes --metric cop_range_ap,fell --within push.impulse --subject replica
  biped statistics trials.csv --metric sway --within eyes --subject who --reference open
"""

#: Headings of the tables, by column.
_MEANS = {"metric": "metric", "subjects": "subjects", "trials": "trials", "left_out": "left out", "mean": "mean"}
_MEANS |= {"sd": "sd", "low": "low", "high": "high"}
_DIFFERENCES = {
    "metric": "metric",
    "level": "level",
    "against": "minus",
    "subjects": "subjects",
    "difference": "difference",
}
_DIFFERENCES |= {"low": "low", "high": "high", "chance": "p", "effect_size": "g"}
_DIFFERENCES |= {"mixed_low": "mixed low", "mixed_high": "high", "mixed_chance": "p"}


def parser() -> Parser:
    command = Parser("biped statistics", _DESCRIPTION, _EXAMPLES, page="statistics")
    command.add_argument(
        "table", metavar="STUDY|FILE", help="folder of a study, or a table of trials: .csv, .tsv, .txt or .parquet"
    )
    command.option("--metric", "LIST", "columns or verdicts to compare, separated by commas", required=True)
    either = command.add_mutually_exclusive_group(required=True)
    either.add_argument("--between", metavar="COLUMN", help="column of groups: each subject is in one")
    either.add_argument("--within", metavar="COLUMN", help="column of conditions: each subject is in several")
    command.option("--subject", "COLUMN", "column that names the subject of a trial", required=True)
    command.option("--reference", "LEVEL", "group or condition with which the others are compared (default: the first)")
    command.switch("--no-mixed", "fit no mixed-effects model")
    command.option("--seed", "N", "seed of the bootstrap and permutation resamples", 0)
    command.add_forms()
    return command


def main(options: Namespace) -> int:
    import pandas as pd

    from experiments.cli.terminal import say
    from experiments.statistics import compare, summarise
    from experiments.visualization.document import print_block
    from experiments.visualization.pages import Table

    metrics = options.metric.split(",")
    trials = _with_shares(_table(Path(options.table)), metrics)
    factor = options.between or options.within
    means = summarise(trials, metrics, factor, options.subject, options.seed)
    differences = pd.concat(
        compare(
            trials, name, between=options.between, within=options.within, subject=options.subject,
            reference=_level(trials, factor, options.reference), mixed=not options.no_mixed, seed=options.seed,
        ).assign(metric=name)
        for name in metrics
    )  # fmt: skip
    reply({"means": means, "differences": differences})
    for table, headings in ((means, {factor: factor, **_MEANS}), (differences, _DIFFERENCES)):
        shown = {name: heading for name, heading in headings.items() if name in table}
        print_block(Table.of("", table[list(shown)].rename(columns=shown)))
        say("")
    for row in differences.to_dict("records"):
        if not options.no_mixed and row["mixed"] != "converged":
            say(f"mixed model of {row['metric']}, {row['level']} minus {row['against']}: {row['mixed']}", "yellow")
    return 0


def _table(path: Path) -> "pd.DataFrame":
    from experiments.statistics.table import FORMATS, read_table
    from experiments.studies.store.folder import Study

    if path.is_dir():
        return Study.read(path).frame()
    if not path.is_file():
        raise InputError(f"{path}: it must be the folder of a study, or a file with a table ({', '.join(FORMATS)})")
    return read_table(path)


def _with_shares(trials: "pd.DataFrame", metrics: list[str]) -> "pd.DataFrame":
    """Return the table with a boolean column for each of the metrics that is a verdict."""
    from biped.runs.verdict import VERDICTS

    words = [name for name in metrics if name in VERDICTS and name not in trials and "verdict" in trials]
    return trials.assign(**{word: trials["verdict"] == word for word in words})


def _level(trials: "pd.DataFrame", factor: str, text: str | None) -> Any:
    """Return the level of the factor that has this text; the text itself if no level has it."""
    if text is None or factor not in trials:
        return text
    return next((level for level in trials[factor].unique().tolist() if str(level) == text), text)

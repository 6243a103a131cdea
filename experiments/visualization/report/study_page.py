"""Page of a study: outcomes of its trials, varied parameters, findings of its kind, trials and failures."""

import json
import shlex

import pandas as pd
import plotly.graph_objects as go

from biped.inputs.modules import saved_names
from biped.runs.verdict import FAILED, FELL, RECOVERED
from experiments.catalogue.parameters.parameter import shown as as_option
from experiments.cli.machine import stamp
from experiments.studies.failures import TRACEBACK
from experiments.studies.store.folder import Study, is_being_written
from experiments.visualization.document import Document
from experiments.visualization.look.words import words_of
from experiments.visualization.pages import Block, Code, Page, Prose, Section, Table
from experiments.visualization.pages.blocks import Mood, shown
from experiments.visualization.report.run_source import saved_option
from experiments.visualization.studies import kinds
from experiments.visualization.studies.trials import Trials

#: Most trials and most failures in tables.
MOST_TRIALS, MOST_FAILURES = 200, 100
#: Most trials that are listed with a traceback.
MOST_NAMED = 10
#: Most metrics in the table of trials.
MOST_COLUMNS = 8
_MOODS: dict[str, Mood] = {RECOVERED: "good", FELL: "bad", FAILED: "bad"}


@saved_names()
def study_page(study: Study, command: str) -> Page:
    """Return the page of a study that is open for reading; ``command``: command line that made it."""
    trials = Trials(study)
    planned = kinds.planned_trials(study)
    is_of_records = planned == 0
    document = kinds.document_of(trials) if len(trials) or is_of_records else Document()
    lead, sections = document.lead, document.sections
    if not is_of_records:
        sections = (_what(trials), *sections, _trials(trials, verdicts=bool(lead)), *_failures(trials))
    of = "records" if is_of_records else study.header.experiment
    return Page(
        title=f"{kinds.title_of(study.header.kind)} of {of}",
        subtitle="" if is_of_records else _what_was_done(trials),
        lead=(*lead, *_progress(trials, planned), *(() if lead or not len(trials) else _ended(trials))),
        sections=(*sections, _rerun(trials, command)),
        made={name: value for name, value in stamp().items() if value is not None},
    )


def _what_was_done(trials: Trials) -> str:
    """Return the experiment in words, and the varied parameters."""
    done = "" if trials.experiment is None else trials.experiment.title_over(trials.study.header.varied)
    varied = ", ".join(map(words_of, trials.study.header.varied))
    return "; varied: ".join(filter(None, (done, varied)))


def study_figures(study: Study) -> dict[str, go.Figure]:
    """Return the interactive figures of a study's page by name."""
    return {chart.name: chart.figure for chart in study_page(study, "").charts}


def _ended(trials: Trials) -> tuple[Block, ...]:
    count = int((trials.frame["verdict"] == RECOVERED).sum())
    mood: Mood = "good" if count == len(trials) else "bad" if count == 0 else ""
    return Prose(f"{count} of {len(trials)} trials recovered.", mood), _verdicts(trials)


def _verdicts(trials: Trials) -> Table:
    rows = tuple((name, str(s.count), f"{s.value:.1%}", s.interval) for name, s in trials.verdicts.items())
    moods = tuple(_MOODS.get(name, "") for name in trials.verdicts)
    headings = ("verdict", "trials", "proportion", "95 % interval (Wilson 1927)")
    return Table("Verdicts of the trials", headings, rows, moods, fold=False)


def _progress(trials: Trials, planned: int | None) -> tuple[Block, ...]:
    """Return a note that the study is incomplete; nothing for a complete one."""
    study, done = trials.study, len(trials)
    of = f"{done} of {planned} trials are" if planned is not None else f"{done} trials are"
    if is_being_written(study.folder):
        return (Prose(f"The study is still running: {of} finished, and this page shows these.", "bad"),)
    if done and planned is not None and done < planned:
        return (Prose(f"The study was stopped: {of} finished. Run its command again to continue it.", "bad"),)
    return () if done or planned == 0 else (Prose("No trial is finished.", "bad"),)


def _what(trials: Trials) -> Section:
    study = trials.study
    blocks: list[Block] = []
    if trials.varied and len(trials):
        headings = ("parameter", "values", "unit", "meaning", "default")
        blocks.append(Table("Varied", headings, tuple(_varied(trials, name) for name in trials.varied), fold=False))
    common = {name: value for name, value in trials.common.items() if name not in trials.varied}
    if common:
        rows = tuple(_row(trials, name, saved_option(value)) for name, value in common.items())
        blocks.append(Table("Equal in all trials", ("parameter", "value", "unit", "meaning", "default"), rows))
    if trials.experiment is None:
        blocks.append(Prose("The study uses code that was not run for this page; add --trust to run it."))
    else:
        parameters = trials.experiment.parameters
        every = tuple((p.name, as_option(p.default), p.unit, p.meaning, p.source) for p in parameters)
        headings = ("parameter", "default", "unit", "meaning", "source of the default")
        blocks.append(Table(f"All parameters of {study.header.experiment}", headings, every, fold=True))
    seed = "" if study.header.seed is None else f"; its seed is {study.header.seed}"
    return Section("what", "Study", f"{study.header.experiment}{seed}", blocks=tuple(blocks))


def _varied(trials: Trials, name: str) -> tuple[str, ...]:
    values = trials.frame[name].dropna().unique().tolist()
    if pd.api.types.is_numeric_dtype(trials.frame[name]):
        values = sorted(values)
    if len(values) <= 8:
        text = "; ".join(f"{value:.6g}" if isinstance(value, float) else str(value) for value in values)
    elif pd.api.types.is_float_dtype(trials.frame[name]):
        text = f"{len(values)} from {values[0]:.5g} to {values[-1]:.5g}"
    else:
        text = f"{len(values)} different values"
    return _row(trials, name, text)


def _row(trials: Trials, name: str, text: str) -> tuple[str, ...]:
    parameter = trials.parameter(name)
    if parameter is None:
        return name, text, trials.unit(name), "", ""
    return name, text, parameter.unit, parameter.meaning, as_option(parameter.default)


def _trials(trials: Trials, *, verdicts: bool) -> Section:
    """Return the first trials; the table on disk has all of them."""
    names = ["trial", "verdict", *trials.labels, *trials.varied, *trials.shown_metrics[:MOST_COLUMNS]]
    part = trials.frame[names].head(MOST_TRIALS)
    part = part.rename(columns={name: trials.heading(name) for name in names})
    more = "" if len(part) == len(trials) else f", the first {len(part)}"
    blocks: list[Block] = [_verdicts(trials)] if verdicts else []
    blocks.append(Table.of(f"Trials{more}", part, fold=True))
    blocks.append(Prose(f"All {len(trials)} trials with all columns are in trials.parquet.", "muted"))
    return Section("trials", "Trials", blocks=tuple(blocks))


def _failures(trials: Trials) -> list[Section]:
    """Return the failed trials: the number of each kind, and the command that runs each again."""
    failed = trials.frame[trials.frame["verdict"] == FAILED]
    if failed.empty:
        return []
    counts = failed["failure"].value_counts()
    kinds_of = Table("", ("failure", "trials"), tuple((str(n), str(c)) for n, c in counts.items()), fold=False)
    rows = tuple(
        (
            str(row["trial"]),
            row["failure"],
            row["message"],
            ", ".join(f"{name} = {shown(row[name])}" for name in trials.varied),
            f"biped rerun {shlex.quote(str(trials.study.folder))} {row['trial']}",
        )
        for row in failed.head(MOST_FAILURES).to_dict(orient="records")
    )
    more = "" if len(rows) == len(failed) else f", the first {len(rows)}"
    table = Table(f"Failed trials{more}", ("trial", "failure", "message", "varied", "command to repeat it"), rows)
    blocks: tuple[Block, ...] = (kinds_of, table, *_tracebacks(failed))
    return [Section("failures", "Failures", verdict=f"{len(failed)} failed", mood="bad", blocks=blocks)]


def _tracebacks(failed: pd.DataFrame) -> list[Block]:
    """Return each traceback in user code once, with the trials that it ended."""
    if TRACEBACK not in failed:
        return []
    blocks: list[Block] = []
    for trace, trials in failed.groupby(TRACEBACK, sort=False)["trial"]:
        many = ", …" if len(trials) > MOST_NAMED else ""
        blocks += [Prose(f"Trials {', '.join(map(str, trials[:MOST_NAMED]))}{many}:"), Code(str(trace))]
    return blocks


def _rerun(trials: Trials, command: str) -> Section:
    study = trials.study
    steps = kinds.page_rerun(study)
    configuration = json.dumps(study.configuration, indent=2, ensure_ascii=False)
    blocks: list[Block] = [*steps]
    blocks.append(Code(configuration, "The study's configuration"))
    if len(trials):
        blocks.append(Prose("To repeat one trial, by its number, with all rows recorded:"))
        blocks.append(Code(f"biped rerun {shlex.quote(str(study.folder))} TRIAL"))
    blocks += [Prose("To make this page again:"), Code(command)]
    names = list(dict.fromkeys(name for session in study.header.sessions for name in session))
    rows = tuple(
        (name.replace("_", " "), *(shown(session.get(name)) for session in study.header.sessions)) for name in names
    )
    if rows:
        numbers = tuple(f"session {k + 1}" for k in range(len(study.header.sessions)))
        blocks.append(Table("Software and machines", ("", *numbers), rows, fold=False))
    return Section("rerun", "To reproduce the study", blocks=tuple(blocks))

"""Reports as files: the page of a run or a study, and a notebook with the same figures."""

import os
import time
from dataclasses import replace
from pathlib import Path

from biped.errors import InputError
from biped.inputs.extras import need
from biped.inputs.files import replace_file
from biped.runs.run import Run, versions
from experiments.studies.store.folder import Study, is_being_written
from experiments.visualization.pages import Page, Prose, write_page
from experiments.visualization.report.record_comparison import RecordComparison
from experiments.visualization.report.run_page import run_page
from experiments.visualization.report.run_source import RunSource, is_run, run_source
from experiments.visualization.report.study_page import study_page
from experiments.visualization.studies.trials import is_study

_LOAD_RUN = """\
from experiments.visualization.report import load_run, run_figures

run = load_run({folder!r})
figures = run_figures(run)
run.summary"""

_LOAD_STUDY = """\
from experiments.visualization.report import study_figures
from experiments.studies.store.folder import Study

study = Study.read({folder!r})
trials = study.frame()
figures = study_figures(study)
trials"""
_ROWS = ("run.events", "run.frame")


def write_notebook(path: Path, page: Page, folder: Path, *, is_study: bool) -> Path:
    """Write the notebook of a page; the file is never incomplete.

    The notebook loads the run or study by a path relative to its own folder: execute it there.
    """
    import nbformat
    from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

    near = Path(os.path.relpath(folder.resolve(), path.resolve().parent)).as_posix()
    sentences = "\n\n".join(block.text for block in page.lead if isinstance(block, Prose))
    load = (_LOAD_STUDY if is_study else _LOAD_RUN).format(folder=near)
    cells = [new_markdown_cell(f"# {page.title}\n\n{sentences}"), new_code_cell(load)]
    for chart in page.charts:
        cells += [new_markdown_cell(chart.caption), new_code_cell(f"figures[{chart.name!r}]")]
    if not is_study:
        cells += [new_markdown_cell("The events, and the recorded rows."), *map(new_code_cell, _ROWS)]
    for number, cell in enumerate(cells):  # equal pages give equal files
        cell["id"] = f"cell-{number}"
    made = new_notebook(cells=cells)
    made.metadata["kernelspec"] = {"name": "python3", "display_name": "Python 3", "language": "python"}
    made.metadata["language_info"] = {"name": "python"}
    replace_file(path, f"{nbformat.writes(made)}\n".encode())
    return path


NOTEBOOK = ".ipynb"
#: [s] interval between pages of a watched study.
REFRESH = 5


def write_report(
    folder: str | Path, page: str | Path, command: str, *, notebook: bool = False, record: str | Path | None = None
) -> list[Path]:
    """Write an HTML page about a run or a study, and optionally a notebook.

    Args:
        folder: folder of the run or the study.
        page: file to write; its folder is created if necessary.
        command: command line that is shown on the page.
        notebook: whether to write a notebook into the page's folder.
        record: measured record, or TOML file of ``biped fit``, to compare with the run; adds a figure and a table.

    Returns:
        Paths of the files.

    Raises:
        InputError: the folder holds no run and no study, or is damaged, or ``page`` or ``record`` cannot be used.
        OSError: a file cannot be written; the error names it.
    """
    need("plotly", "jinja2", *(["nbformat"] if notebook else []))
    folder, file = Path(folder), _page_file(page)
    if notebook and file.suffix == NOTEBOOK:
        raise InputError(f"{file}: with a notebook, the name of the page must end in .html")
    comparison = None
    if record is None:
        made = page_of(folder, command)
    else:
        source = run_source(folder)
        comparison = RecordComparison.of(source.run, record)
        made = run_page(source, command, comparison)
    file.parent.mkdir(parents=True, exist_ok=True)
    files = [write_page(made, file), *(() if comparison is None else comparison.write(file))]
    if notebook:
        files.append(write_notebook(file.with_suffix(NOTEBOOK), made, folder, is_study=not is_run(folder)))
    return files


def watch_study(folder: str | Path, page: str | Path, command: str) -> Path:
    """Write the page of a study every few seconds while the study runs; browsers reload it.

    The last page remains when the study ends or the user interrupts.

    Returns:
        Path of the page.

    Raises:
        InputError: the folder holds no study, or ``page`` is a folder.
        OSError: a file cannot be written; the error names it.
        KeyboardInterrupt: the page is complete, and shows the progress of the study.
    """
    need("plotly", "jinja2")
    folder, file = Path(folder), _page_file(page)
    if not is_study(folder):
        raise InputError(f"{folder}: this folder holds no study to watch")
    file.parent.mkdir(parents=True, exist_ok=True)
    try:
        while is_being_written(folder):
            write_page(replace(study_page(Study.read(folder), command), refresh=REFRESH), file)
            _wait(folder)
    finally:
        write_page(study_page(Study.read(folder), command), file)
    return file


def _wait(folder: Path) -> None:
    """Wait until the next page is due, or the study has ended."""
    until = time.monotonic() + REFRESH
    while time.monotonic() < until and is_being_written(folder):
        time.sleep(0.2)


def _page_file(page: str | Path) -> Path:
    file = Path(page)
    if file.is_dir():
        raise InputError(f"{file} is a folder: give the name of a file, such as {file / 'report.html'}")
    return file


def page_of(folder: Path, command: str) -> Page:
    if is_run(folder):
        return run_page(run_source(folder), command)
    if is_study(folder):
        return study_page(Study.read(folder), command)
    raise InputError(f"{folder}: {'the folder has neither a run nor a study' if folder.is_dir() else 'no such folder'}")


def write_run_page(run: Run, page: str | Path) -> Path:
    """Write the HTML page of a run of any model, saved or not; return its path.

    Raises:
        MissingExtraError: a package for pages is not installed.
        OSError: the file cannot be written.
    """
    need("plotly", "jinja2")
    file = Path(page)
    source = RunSource(file.parent, run, None, run.parameters, {}, versions())
    return write_page(run_page(source, "experiments.visualization.report.write_run_page(run, ...)"), file)

"""A notebook that loads a run or a study and draws the figures of its page."""

import os
from pathlib import Path
from typing import TYPE_CHECKING

from biped.extras import need
from biped.files import replace_file
from experiments.visualization.pages import Page, Prose

if TYPE_CHECKING:
    from nbformat import NotebookNode

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
    """Write the notebook of a page; under another name first, so that a reader never finds half of one.

    It finds the run or the study by its path from the notebook's folder, and is to be run there.
    """
    need("nbformat")
    import nbformat

    near = os.path.relpath(folder.resolve(), path.resolve().parent)
    text = nbformat.writes(notebook(page, Path(near).as_posix(), is_study=is_study))
    replace_file(path, f"{text}\n".encode())
    return path


def notebook(page: Page, folder: str, *, is_study: bool) -> "NotebookNode":
    need("nbformat")
    from nbformat import validate
    from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

    sentences = "\n\n".join(block.text for block in page.lead if isinstance(block, Prose))
    load = (_LOAD_STUDY if is_study else _LOAD_RUN).format(folder=folder)
    cells = [new_markdown_cell(f"# {page.title}\n\n{sentences}"), new_code_cell(load)]
    for chart in page.charts:
        cells += [new_markdown_cell(chart.caption), new_code_cell(f"figures[{chart.name!r}]")]
    if not is_study:
        cells += [new_markdown_cell("The events, and the recorded rows."), *map(new_code_cell, _ROWS)]
    for number, cell in enumerate(cells):  # the same page gives the same file
        cell["id"] = f"cell-{number}"
    made = new_notebook(cells=cells)
    made.metadata["kernelspec"] = {"name": "python3", "display_name": "Python 3", "language": "python"}
    made.metadata["language_info"] = {"name": "python"}
    validate(made)
    return made

"""A notebook that loads a run or a study and draws the figures of its page."""

import os
from pathlib import Path
from typing import TYPE_CHECKING

from biped.extras import need
from experiments.cli.files import replace_file
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


def write_notebook(path: Path, page: Page, folder: Path, *, is_study: bool) -> Path:
    """Write the notebook of a page; under another name first, so that a reader never finds half of one.

    It finds the run or the study by its path from the notebook's folder, and is to be run there.

    Raises:
        OSError: the file cannot be written; the error names it.
    """
    need("nbformat")
    import nbformat

    near = os.path.relpath(folder.resolve(), path.resolve().parent)
    text = nbformat.writes(notebook(page, Path(near).as_posix(), is_study=is_study))
    replace_file(path, f"{text}\n".encode())
    return path


def notebook(page: Page, folder: str, *, is_study: bool) -> "NotebookNode":
    """The notebook of a page of what is in ``folder``."""
    need("nbformat")
    import nbformat

    load = (_LOAD_STUDY if is_study else _LOAD_RUN).format(folder=folder)
    cells = [_text(f"# {page.title}\n\n{_sentences(page)}"), _code(load)]
    for chart in page.charts:
        cells += [_text(chart.caption), _code(f"figures[{chart.name!r}]")]
    if not is_study:
        cells += [_text("The events, and the recorded rows."), _code("run.events"), _code("run.frame")]
    for number, cell in enumerate(cells):  # the same page gives the same file
        cell["id"] = f"cell-{number}"
    made = nbformat.v4.new_notebook(cells=cells)
    made.metadata["kernelspec"] = {"name": "python3", "display_name": "Python 3", "language": "python"}
    made.metadata["language_info"] = {"name": "python"}
    nbformat.validate(made)
    return made


def _sentences(page: Page) -> str:
    return "\n\n".join(block.text for block in page.lead if isinstance(block, Prose))


def _text(text: str) -> "NotebookNode":
    import nbformat

    return nbformat.v4.new_markdown_cell(text)


def _code(text: str) -> "NotebookNode":
    import nbformat

    return nbformat.v4.new_code_cell(text)

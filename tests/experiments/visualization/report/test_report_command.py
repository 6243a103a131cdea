"""``biped report``: files and messages, also with a full disk or when killed."""

import nbformat
import pytest

from experiments.cli import main


@pytest.fixture
def run_folder(saved, tmp_path):
    folder = tmp_path / "run"
    folder.mkdir()
    for file in saved["tumble"].iterdir():
        if file.suffix not in (".html", ".ipynb"):
            (folder / file.name).write_bytes(file.read_bytes())
    return folder


def names(folder):
    return sorted(path.name for path in folder.iterdir())


def test_the_page_goes_into_the_folder(run_folder, capsys):
    assert main(["report", str(run_folder)]) == 0
    assert capsys.readouterr().out == f"{run_folder / 'report.html'}\n"
    assert names(run_folder) == ["model.json", "report.html", "run.parquet", "state.npz", "summary.json"]
    assert "<title>tumble: " in (run_folder / "report.html").read_text(encoding="utf-8")


def test_the_notebook_is_valid_and_runs(run_folder, tmp_path, monkeypatch):
    assert main(["report", str(run_folder), "--notebook"]) == 0
    notebook = nbformat.read(run_folder / "report.ipynb", as_version=4)
    nbformat.validate(notebook)
    monkeypatch.chdir(run_folder)
    here = {}
    for cell in notebook.cells:
        if cell.cell_type == "code":
            exec(cell.source, here)
    drawn = [cell.source for cell in notebook.cells if cell.source.startswith("figures[")]
    assert len(drawn) == len(here["figures"]) >= 4
    for source in drawn:
        assert eval(source, here).data
    assert main(["report", ".", "--out", str(tmp_path / "else" / "r.html"), "--notebook"]) == 0
    moved = nbformat.read(tmp_path / "else" / "r.ipynb", as_version=4)
    assert 'load_run("../run")' in moved.cells[1].source.replace("'", '"')


BAD = [
    (["nowhere"], "nowhere: no such folder"),
    (["empty"], "empty: the folder has neither a run nor a study"),
    ([], "the following arguments are required: RUN|STUDY"),
    (["run", "--out", "run"], "run is a folder: give the name of a file"),
    (["run", "--out", "page.ipynb", "--notebook"], "the name of the page must end in .html"),
    (["run", "--out", "run/summary.json/page.html"], "run/summary.json: File exists"),
]


@pytest.mark.parametrize(("arguments", "message"), BAD, ids=[" ".join(arguments) for arguments, _ in BAD])
def test_bad_input_is_one_line_and_exit_status_2(run_folder, refusal, monkeypatch, arguments, message):
    monkeypatch.chdir(run_folder.parent)
    (run_folder.parent / "empty").mkdir()
    line = refusal("report", *arguments)
    assert line.startswith("biped: error: ")
    assert message in line


@pytest.mark.parametrize("file", ["summary.json", "state.npz", "run.parquet"])
def test_a_damaged_run_is_one_line(run_folder, refusal, file):
    (run_folder / file).write_bytes(b"{}")
    assert str(run_folder) in refusal("report", run_folder)
    assert "report.html" not in names(run_folder)

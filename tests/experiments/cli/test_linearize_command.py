"""``biped linearize``: files, page, words; and what it refuses."""

import json
import sys

import numpy as np
import pandas as pd
import pytest

from experiments.cli.main import main


def test_it_writes_what_it_says(tmp_path, capsys):
    asked = ["linearize", "balance", "--at", "0.6", "--animate", "1", "--out", str(tmp_path / "a"), "--json"]
    assert main(asked) == 0
    told = json.loads(capsys.readouterr().out)
    assert {path.name for path in (tmp_path / "a").iterdir()} == set(told["files"])
    saved, modes = np.load(tmp_path / "a" / "linearization.npz"), pd.read_csv(tmp_path / "a" / "modes.csv")
    sizes = np.abs(np.linalg.eigvals(saved["A"]))
    assert np.isclose(told["margin"], 1.0 - sizes.max(), rtol=0.0, atol=1e-12)
    assert np.isclose(modes["size"].max(), sizes.max(), rtol=1e-12)
    assert len(saved["states"]) == len(saved["A"]) == 36
    assert "linearization.png" in told["files"]
    assert "dies away" in (tmp_path / "a" / "mode-1.html").read_text(encoding="utf-8")
    assert "trunk_turn_y" in (tmp_path / "a" / "linearization.html").read_text(encoding="utf-8")


def test_without_what_pages_need_the_rest_is_there(tmp_path, capsys, monkeypatch):
    """The page is left out, which is said; the modes are printed, and saved."""
    monkeypatch.setitem(sys.modules, "jinja2", None)
    assert main(["linearize", "balance", "--at", "0.6", "--out", str(tmp_path)]) == 0
    out, err = capsys.readouterr()
    assert "decay [1/s]" in out
    assert "left out: linearization.html: pages need jinja2: pip install" in err
    assert {path.suffix for path in tmp_path.iterdir()} == {".npz", ".mat", ".json", ".csv", ".png"}


@pytest.mark.parametrize(
    ("words", "told"),
    [(["--controller", "whole-body"], "no exact derivative"), (["--animate", "-1"], "number of modes")],
)
@pytest.mark.usefixtures("in_tmp")
def test_what_it_refuses(capsys, words, told):
    assert main(["linearize", "balance", "--at", "0.1", *words]) == 2
    assert told in capsys.readouterr().err

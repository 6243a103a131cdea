"""Representations of runs, states and models in Python and in notebooks."""

import sys
import webbrowser
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from biped import InputError, Run, human, simulate
from experiments.visualization.video.view import in_notebook


@pytest.fixture(scope="module")
def run(runs):
    return runs["thrown-block"]


def test_a_run_plots_itself(run):
    titles = {axes.get_title("left") for axes in run.plot().axes}
    assert {"Margin of stability (Hof 2005); positive inside", "Contact states"} <= titles
    assert run.plot("joint-torques").axes
    with pytest.raises(InputError, match="did you mean 'joint-torques'"):
        run.plot("joint-torque")
    with pytest.raises(InputError, match="no figure .momentum."):
        simulate(human(), duration=1e-3).plot("momentum")


def test_a_view_is_opened_in_the_browser_and_shown_inline_in_a_notebook(monkeypatch, tmp_path):
    opened = []
    monkeypatch.setattr(webbrowser, "open", lambda url: opened.append(url) or True)
    view = human().view()
    (url,) = opened
    assert url.startswith("file://")
    assert url.endswith(".html")
    saved = view.save(tmp_path / "human.html").read_text(encoding="utf-8")
    assert saved == view.page
    assert "<title>human</title>" in saved
    shown = view._repr_html_()
    assert shown.startswith('<iframe srcdoc="')
    assert shown.count('"') == 4  # nothing in the page ends the attribute
    notebook = SimpleNamespace(get_ipython=lambda: SimpleNamespace(kernel=object()))
    monkeypatch.setitem(sys.modules, "IPython", notebook)
    assert in_notebook()
    short = simulate(human(), duration=0.05).view(speed=0.5)
    assert len(opened) == 1
    assert "0 … 0.05 s, × 0.5" in short.page
    with pytest.raises(InputError, match="speed"):
        simulate(human(), duration=0.01).view(speed=0.0)


def test_units_stay_with_the_table(run, tmp_path):
    assert run.frame.attrs["units"]["com_x"] == "m"
    run.save(tmp_path)
    assert pd.read_parquet(tmp_path / "run.parquet").attrs["units"] == run.units
    again = Run.load(tmp_path)
    assert again.frame.attrs["units"] == run.units
    assert np.array_equal(again.frame["time"], run.frame["time"])

"""A tiny paper, whose items agree, differ, fail or are interrupted as a test wants it."""

from types import SimpleNamespace

import matplotlib
import numpy as np
import pandas as pd
import pytest
from matplotlib.figure import Figure

from experiments.papers import registry
from experiments.papers.item import Finding, Item, Outcome, Paper


@pytest.fixture(scope="module")
def outcomes(request):
    """The short versions of all items of a module's ``PAPER`` by name, but for those that it names in ``APART``."""
    matplotlib.use("Agg")
    items, apart = request.module.PAPER.items, getattr(request.module, "APART", ())
    return {item.name: item.produce(True, lambda _: None) for item in items if item.name not in apart}


def finding(outcome, begin):
    return next(found for found in outcome.findings if found.quantity.startswith(begin))


def check_items(outcomes, lists=(), without_figure=()):
    """All have tables; those that are not lists alone have statements, what is assumed, and figures."""
    for name, outcome in outcomes.items():
        assert outcome.tables
        if name not in lists:
            assert outcome.findings
            assert outcome.assumptions
        assert bool(outcome.figures) == (name not in (*lists, *without_figure))


def check_statements(outcomes, may_differ, of_times=()):
    """Those that differ are expected to, by how they begin, and say why; times may differ, and say nothing."""
    for name, outcome in outcomes.items():
        expected = may_differ.get(name, ())
        for found in outcome.findings:
            assert found.agrees or found.quantity.startswith((*of_times, *expected)), found.quantity
            assert found.agrees or found.note or found.quantity.startswith(of_times), found.quantity
        for begin in expected:
            assert not finding(outcome, begin).agrees


def check_kinds(outcomes):
    for outcome in outcomes.values():
        for found in outcome.findings:
            absent = isinstance(found.published, str) and found.published.startswith("not in the")
            assert not absent or found.kind == "ours", found.quantity


def outcome(agrees=True, note="", figures=True):
    figure = Figure(figsize=(2.0, 1.0))
    figure.subplots().plot([0.0, 1.0], [0.0, 1.0])
    findings = (
        Finding("period [s]", 1.0, np.float64(1.25), "within 30%", np.bool_(True)),
        Finding("<b>peak</b> [N]", "192", 152.0, "within 5%", agrees, note),
    )
    table = pd.DataFrame({"h [s]": [0.1, 0.01], "error [m]": [2.5e-3, 2.5e-5], "method": ["DVP", "EM"]})
    return Outcome(findings, ("the size is not printed",), {"Errors": table}, {"curve": figure} if figures else {})


def item(name, produce, title="a title", source="Nobody 1900, section 1"):
    return Item(name, title, source, produce)


def failing(*_):
    raise ZeroDivisionError("nothing to divide by")


def interrupted(*_):
    raise KeyboardInterrupt


@pytest.fixture
def fake():
    return SimpleNamespace(outcome=outcome, item=item, failing=failing, interrupted=interrupted)


@pytest.fixture
def paper(monkeypatch):
    """Makes a paper of items the only one that there is: ``paper(item, …)``."""
    matplotlib.use("Agg")

    def install(*items):
        made = Paper("nobody-1900", "N. Nobody, On nothing, 1900", items)
        monkeypatch.setattr(registry, "paper_names", lambda: ("nobody-1900",))
        monkeypatch.setattr(registry, "load", lambda _: made)
        return made

    return install


@pytest.fixture
def good():
    return item("table-1", lambda *_: outcome())


@pytest.fixture
def differing():
    return item("figure-2.1", lambda *_: outcome(False, "another floor"))


@pytest.fixture
def both(paper, good, differing):
    return paper(good, differing)

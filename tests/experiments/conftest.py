"""The published experiments, run once for all tests."""

import pytest

from experiments.catalogue.registry import MODULES, experiment_named
from experiments.cli import main


@pytest.fixture(scope="session")
def runs():
    return {name: experiment_named(name).run() for name in MODULES}


@pytest.fixture(scope="session")
def balance():
    return experiment_named("balance")


@pytest.fixture
def in_tmp(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def refusal(capsys):
    """``refusal(*words)``: the one line in which ``biped`` refuses; it prints nothing else and ends with 2."""

    def refuse(*words):
        capsys.readouterr()
        assert main(list(map(str, words))) == 2
        printed = capsys.readouterr()
        assert printed.out == ""
        assert printed.err.startswith("biped: ")
        assert printed.err.count("\n") == 1
        return printed.err

    return refuse

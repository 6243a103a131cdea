"""The published experiments, run once for all tests."""

import pytest

from experiments.catalogue.registry import MODULES, experiment_named


@pytest.fixture(scope="session")
def runs():
    return {name: experiment_named(name).run() for name in MODULES}


@pytest.fixture
def in_tmp(tmp_path, monkeypatch):
    """The working folder is an empty one."""
    monkeypatch.chdir(tmp_path)
    return tmp_path

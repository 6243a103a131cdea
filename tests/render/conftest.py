"""A saved run to make films of, and what is in a film."""

import pytest

from experiments.registry import experiment_named


@pytest.fixture(scope="session")
def folder(tmp_path_factory):
    """A run of 0.4 s in which a block hits the human."""
    run = experiment_named("thrown-block").run({"run.duration": 0.4})
    return run.save(tmp_path_factory.mktemp("films") / "thrown-block")


@pytest.fixture(scope="session")
def faster(tmp_path_factory):
    """The same with another block."""
    run = experiment_named("thrown-block").run({"run.duration": 0.4, "block.velocity": (-6.0, 0.0, 0.2)})
    return run.save(tmp_path_factory.mktemp("films") / "faster")

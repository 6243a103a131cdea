"""Damaged runs are refused in a sentence."""

import pytest

from biped import InputError, Run
from experiments.catalogue.registry import experiment_named

EXPERIMENT, CHANGES = "thrown-block", {"run.duration": 0.02}


@pytest.fixture
def run(tmp_path):
    experiment_named(EXPERIMENT).run(CHANGES).save(tmp_path / "run")
    return tmp_path / "run"


def test_a_state_in_a_foreign_archive_is_refused(run):
    """The method of compression of the first array is one that nobody has."""
    data = bytearray((run / "state.npz").read_bytes())
    directory = data.index(b"PK\x01\x02")
    data[8], data[directory + 10] = 99, 99
    (run / "state.npz").write_bytes(data)
    with pytest.raises(InputError, match="not a state saved by State.save"):
        Run.load(run)

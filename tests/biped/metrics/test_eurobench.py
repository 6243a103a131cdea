"""Performance indicators of EUROBENCH: what their own program makes of a file that was exported here."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import yaml

from biped.metrics.posturography import sway_measures
from experiments.catalogue.registry import experiment_named
from experiments.visualization import export_eurobench

#: Of ``eurobench/grf.csv``, by BEAT's program; the README beside that file has the commands.
BEAT = {
    "path_length": 0.105133449385667, "path_length_ap": 0.0516687384896, "path_length_ml": 0.0911862224549128,
    "area": 9.7687287293962e-05,
}  # fmt: skip
#: The centres of pressure, of 0.1 m, go there in mm and back: 2⁻⁵² of each, 300 times, over paths of 0.05 m.
ROUNDING = 1e-12


def sway_of(path):
    """The measures of the centre of pressure in a file of ground reactions, where the floor bears something."""
    rows = pd.read_csv(path, sep=";")
    borne = rows["f_y"] > 0.0
    return sway_measures(rows["time"], *(rows[name].where(borne) for name in ("p_x", "p_z")))


def test_beats_program_finds_the_same_path_and_area_of_the_centre_of_pressure():
    found = sway_of(Path(__file__).parent / "eurobench" / "grf.csv")
    assert {name: found[name] for name in BEAT} == pytest.approx(BEAT, rel=ROUNDING)


def test_exported_indicators_are_those_of_the_exported_ground_reactions(tmp_path):
    """So that what a program of theirs makes of ``grf.csv`` stands in ``pi`` too."""
    changes = {"run.duration": 0.2, "push.impulse": 4.0, "push.azimuth": 1.0, "push.start": 0.0}
    run = experiment_named("balance").run(changes)
    export_eurobench(run, tmp_path, run.metrics)
    found = sway_of(tmp_path / "grf.csv")
    path, area = (
        yaml.safe_load((tmp_path / "pi" / f"cop_{name}.yaml").read_text(encoding="utf-8"))["value"]
        for name in ("path_length", "area")
    )
    digits = 1e-12 * len(run.frame)  # the file has twelve digits of each centre of pressure, here 0.1 m at most
    assert path == pytest.approx(found["path_length"], abs=digits)
    assert np.sqrt(area) == pytest.approx(np.sqrt(found["area"]), abs=digits)

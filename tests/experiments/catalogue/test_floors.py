"""Contact laws by name: their parameters in an experiment, laws from files, and what each part makes of them."""

from pathlib import Path

import numpy as np
import pytest

from biped.disturbances import Patch, compile_ground
from biped.dynamics import forward_kinematics
from biped.errors import InputError
from biped.integrators.explicit.stability import linearized
from biped.model import human
from biped.runs.postures import standing
from contact import Floor, FloorError, HuntCrossley
from experiments.catalogue.registry import experiment_named
from experiments.engines.engine import Case
from experiments.studies.threshold.presets import start_and_floor
from experiments.visualization.live.settings import Settings

FOAM = "examples/foam.py"
BALANCE = experiment_named("balance")


@pytest.fixture(autouse=True)
def _in_the_project(monkeypatch):
    monkeypatch.chdir(Path(__file__).parents[3])


def test_a_law_brings_its_parameters():
    own = {one.name: one.default for one in BALANCE.on_law("hunt-crossley").parameters}
    before = {one.name: one.default for one in BALANCE.parameters}
    assert {name for name in own if name not in before} == {"floor.exponent", "floor.dissipation"}
    assert {name for name in before if name not in own} == {"floor.b_n"}
    assert [name for name in own if own[name] != before.get(name, own[name])] == ["floor.law", "floor.k_n"]
    assert list(own).index("floor.law") == list(before).index("floor.law")


def test_the_floor_is_of_the_law_that_is_set():
    found = BALANCE.build({"floor.law": "hunt-crossley", "floor.exponent": 2.0, "floor.mu_s": 0.7}).floor
    assert found == HuntCrossley(exponent=2.0, mu_s=0.7)
    assert BALANCE.build({"floor.b_n": 100.0}).floor == Floor(b_n=100.0)


def test_a_law_from_a_file():
    scene = BALANCE.build({"floor.law": FOAM, "floor.k_3": 1e10, "floor.k_n": 5e4})
    floor = scene.floor
    assert type(floor).__name__ == "Foam"
    depth = floor.sink(100.0)
    assert 5e4 * depth + 1e10 * depth**3 == pytest.approx(100.0, rel=1e-11)
    (file,) = (name for name in BALANCE.on_law(FOAM).sources if "foam" in name)
    assert BALANCE.values({"floor.law": FOAM})["floor.law"] == file


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"floor.law": "glue"}, "unknown law 'glue'; laws are spring-damper, hunt-crossley, FILE.py:NAME"),
        ({"floor.law": "hunt-crossley", "floor.b_n": 1.0}, "unknown parameter 'floor.b_n'"),
        ({"floor.exponent": 2.0}, "unknown parameter 'floor.exponent'"),
    ],
)
def test_what_no_law_has(changes, message):
    with pytest.raises(InputError) as caught:
        BALANCE.build(changes)
    assert message in str(caught.value)


def test_where_there_is_no_floor_there_is_no_law():
    with pytest.raises(InputError, match="tumble has no floor"):
        experiment_named("tumble").on_law("hunt-crossley")


def test_a_law_without_a_kernel_is_refused():
    class Lacking(Floor):
        normal = (1.0,)

    with pytest.raises(
        FloorError, match="contact law tuple has no kernel for pressure and pressure_slopes and pressure_energy"
    ):
        _ = Lacking().parameters


def test_patches_have_the_law_of_the_floor_around():
    scene = BALANCE.build({"floor.law": "hunt-crossley", "patch.present": 1, "patch.mu_s": 0.1, "patch.mu_d": 0.1})
    (patch,) = (one for one in scene.disturbances if isinstance(one, Patch))
    assert patch.floor == HuntCrossley(mu_s=0.1, mu_d=0.1)
    with pytest.raises(InputError, match="different contact laws"):
        compile_ground(Floor(), human(), None, [patch])


def test_the_law_at_rest_is_what_engines_and_stable_steps_go_by():
    model, floor = human(), HuntCrossley()
    load = model.total_mass * 9.81 / model.nc
    depth = (load / floor.k_n) ** (1.0 / floor.exponent)
    stiffness, damping = floor.exponent * load / depth, floor.dissipation * load
    case = Case(model, floor, 1e-3, None, None)
    assert case.spring_and_damper(floor) == pytest.approx((stiffness, damping))
    q = standing(model, floor).q
    like = Floor(k_n=stiffness, b_n=damping)
    assert linearized(model, q, floor) == pytest.approx(linearized(model, q, like), rel=1e-9, abs=1e-8)
    assert forward_kinematics(model, q).contact[:, 2] == pytest.approx(np.full(model.nc, -depth), abs=1e-9)


def test_what_goes_by_names_of_the_floor_follows_the_law():
    stiff = start_and_floor({"floor.law": "hunt-crossley"})[1][-1].parameters
    assert set(stiff) == {"floor.k_n", "floor.k_t", "floor.b_t"}
    sliders = Settings(BALANCE, {"floor.law": "hunt-crossley"}).sliders
    assert {"floor.exponent", "floor.dissipation", "floor.mu_s"} <= set(sliders)
    assert "floor.b_n" not in sliders
    assert all(np.isfinite(row[1:]).all() for row in sliders.values())

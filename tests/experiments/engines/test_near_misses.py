"""An optional member of an engine that is spelt almost right is refused when its class is defined."""

import pytest

from experiments.engines.engine import Engine, Simulation
from tests.refusals import refuses


@refuses(
    (Engine, "velocity_ofset", 0.5, "velocity_offset"),
    (Engine, "vendor_default", 0.5, "vendor_defaults"),
    (Engine, "smoth", 0.5, "smooth"),
    (Simulation, "passive_rolout", print, "passive_rollout"),
    (Engine, "takes_patch", True, "takes_patches"),
    (Simulation, "failures", 0.5, "failure"),
    (Simulation, "set_flor", print, "set_floor"),
)
def test_a_misspelt_member_is_refused_with_what_is_meant(base, member, value):
    type("Misspelt", (base,), {member: value})


def test_settings_of_their_own_are_not():
    assert type("Own", (Engine,), {"iterations": 50, "soles": "points", "contact": "matched"})


def test_an_engine_without_a_start_is_none():
    with pytest.raises(TypeError, match="start"):
        type("Idle", (Engine,), {"name": "idle"})()

"""An optional member of an engine that is spelt almost right is refused when its class is defined."""

import pytest

from biped.errors import InputError
from experiments.engines.engine import Engine, Simulation


@pytest.mark.parametrize(
    ("base", "member", "meant"),
    [
        (Engine, "velocity_ofset", "velocity_offset"),
        (Engine, "vendor_default", "vendor_defaults"),
        (Engine, "smoth", "smooth"),
        (Simulation, "passive_rolout", "passive_rollout"),
        (Simulation, "failures", "failure"),
    ],
)
def test_a_misspelt_member_is_refused_with_what_is_meant(base, member, meant):
    with pytest.raises(InputError, match=meant) as error:
        type("Misspelt", (base,), {member: 0.5})
    assert "\n" not in str(error.value)


def test_settings_of_their_own_are_not():
    assert type("Own", (Engine,), {"iterations": 50, "soles": "points", "contact": "matched"})


def test_an_engine_without_a_start_is_none():
    with pytest.raises(TypeError, match="start"):
        type("Idle", (Engine,), {"name": "idle"})()

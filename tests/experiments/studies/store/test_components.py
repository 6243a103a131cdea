"""One number of a parameter that is a tuple."""

import pytest

from biped.errors import InputError
from experiments.catalogue.parameters.parameter import as_json, from_json, parameter_named, value_under
from experiments.catalogue.registry import experiment_named
from tests.refusals import refuses

BLOCK = experiment_named("thrown-block")


def test_one_number_goes_into_the_tuple():
    values = BLOCK.values({"controller.kp_position[2]": 150, "block.velocity[0]": -6.0})
    assert values["controller.kp_position"] == (*BLOCK.values()["controller.kp_position"][:2], 150.0)
    assert values["block.velocity"] == (-6.0, *BLOCK.values()["block.velocity"][1:])
    assert set(values) == {parameter.name for parameter in BLOCK.parameters}


def test_one_number_beside_its_whole():
    for changes in (
        {"block.velocity": (-1.0, -2.0, -3.0), "block.velocity[1]": 5.0},
        {"block.velocity[1]": 5.0, "block.velocity": (-1.0, -2.0, -3.0)},
    ):
        assert BLOCK.values(changes)["block.velocity"] == (-1.0, 5.0, -3.0)
        assert value_under("block.velocity[1]", changes, BLOCK.parameters) == 5.0
        assert value_under("block.velocity[2]", changes, BLOCK.parameters) == -3.0
    assert value_under("block.velocity", {"block.velocity[1]": 5.0}, BLOCK.parameters) == (-4.5, 5.0, 0.2)
    assert value_under("block.velocity[2]", {}, BLOCK.parameters) == 0.2


def test_one_number_on_the_command_line():
    assert BLOCK.parse({"block.velocity[0]": "-6"}) == {"block.velocity[0]": -6.0}
    with pytest.raises(InputError, match=r"block.velocity\[0\] = fast: it must be a number \[m/s\]"):
        BLOCK.parse({"block.velocity[0]": "fast"})


@refuses(
    ("block.velocity[3]", r"the elements are block.velocity\[0\] to block.velocity\[2\]"),
    ("block.velocity[-1]", r"block.velocity\[0\] to block.velocity\[2\]"),
    ("block.velocity[x]", r"block.velocity\[0\] to block.velocity\[2\]"),
    ("block.mass[0]", "block.mass is a single value"),
    ("block.velocty[0]", "did you mean 'block.velocity'"),
    ("block.velocity[0", "unknown parameter"),
)
def test_a_number_that_is_not_there_is_told(name):
    BLOCK.values({name: 1.0})


@pytest.mark.parametrize(("name", "value"), [
    ("integrator.landing_depth", float("inf")),
    ("block.velocity", (0.1 + 0.2, -0.0, 5e-324)),
    ("initial.seed", 2**53 - 1),
    ("integrator.guess", "inf"),
])  # fmt: skip
def test_json_keeps_a_value_exactly(name, value):
    import json

    parameter = parameter_named(name, BLOCK.parameters)
    found = from_json(parameter, json.loads(json.dumps(as_json(value), allow_nan=False)))
    assert repr(found) == repr(value)

"""The engines that these tests are for; one that is not installed is skipped with how to install it."""

import pytest

from biped.errors import InputError
from experiments.engines.registry import engine_named

NAMES = ("pybullet", "mujoco")


def installed(name):
    engine = engine_named(name)
    try:
        engine.check_installed()
    except InputError as error:
        pytest.skip(str(error))
    return engine


@pytest.fixture(params=NAMES)
def engine(request):
    return installed(request.param)

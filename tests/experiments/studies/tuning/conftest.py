"""A small tuning of a real experiment, and a function in place of its trials."""

import copy
from collections.abc import Callable, Mapping
from typing import Any

import pytest

from experiments.studies.config import Config
from experiments.studies.tuning.tuning import Tuning, tuning_from

SMALL: dict[str, Any] = {
    "experiment": "stand-tilted",
    "seed": 3,
    "set": {"run.step": 2e-3, "run.duration": 0.04},
    "tune": {"optimizer": "cma", "candidates": 24, "batch": 6, "replicas": 2, "confirm": 4},
    "parameter": [
        {"name": "stiffness", "sets": ["controller.kp_position[0]", "controller.kp_position[1]"],
         "from": 10.0, "to": 1000.0, "scale": "log"},
        {"name": "damping", "sets": ["controller.kd_position[0]", "controller.kd_position[1]"], "as": "damping-ratio",
         "from": 0.2, "to": 2.0},
    ],
    "scenario": [{"name": "floor", "each": {"floor.mu_s": [0.5, 0.9]}}],
    "objective": [{"metric": "position_error", "fell": 1.0}],
}  # fmt: skip


@pytest.fixture
def small() -> dict[str, Any]:
    return copy.deepcopy(SMALL)


@pytest.fixture
def make() -> Callable[[Mapping[str, Any]], Tuning]:
    return lambda data: tuning_from(Config(data))

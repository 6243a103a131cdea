"""Engines that cost nothing: a human that never moves, one that sinks, and one that steps a lagging clock."""

import sys
from dataclasses import dataclass
from types import SimpleNamespace

import pytest

from experiments.comparison.stages import Budget
from experiments.engines import registry
from experiments.engines.engine import Engine, Simulation, VendorDefaults
from tests.experiments.visualization.report.conftest import see  # noqa: F401

#: So little that all stages take a second or two.
TINY = Budget(0.3, 0.2, 3, 2, 0.05)


@dataclass(frozen=True)
class Statue(Engine):
    """Never moves; its points carry the weight. With a speed, it sinks."""

    name = "statue"
    title = "Statue"
    package = "numpy"
    distribution = "numpy"
    install = "pip install numpy"
    velocity_offset = 0.5

    speed: float = 0.0

    @property
    def vendor_defaults(self):
        return VendorDefaults(type(self)(self.speed), 1e-3, "steps of 1 ms")

    def differences(self, case):
        return (f"it never moves, at a step of {case.step:g} s",)

    def start(self, case):
        return StatueSimulation(case, self.speed)


@dataclass(frozen=True)
class Sinker(Statue):
    """Sinks through the floor, so that its human falls."""

    name = "sinker"
    title = "Sinker"

    speed: float = 20.0


@dataclass(frozen=True)
class Absent(Statue):
    """Is not installed."""

    name = "absent"
    title = "Absent"
    package = "no_such_engine"
    distribution = "no-such-engine"
    install = "pip install no-such-engine"


class StatueSimulation(Simulation):
    def __init__(self, case, speed):
        super().__init__(case)
        self.speed = speed
        model = case.model
        self.weight = -model.total_mass * model.gravity[2]

    def place(self, q, v, projectile):
        self.q, self.v, self.projectile = q.copy(), v.copy(), projectile.copy()

    def step(self, torque, forces):
        self.q[2] -= self.speed * self.case.step

    def read(self, arrival):
        arrival.q[:], arrival.v[:] = self.q, self.v
        arrival.force[:] = 0.0
        if self.case.model.nc:
            arrival.force[:, 2] = self.weight / self.case.model.nc
        arrival.impact[:] = 0.0
        arrival.projectile[:] = self.projectile


@pytest.fixture(autouse=True)
def engines(monkeypatch):
    """The engines above, by name; of ours nothing besides what is asked for."""
    module = SimpleNamespace(Statue=Statue, Sinker=Sinker, Absent=Absent)
    monkeypatch.setitem(sys.modules, "engines_of_the_tests", module)
    for kind in (Statue, Sinker, Absent):
        monkeypatch.setitem(registry.ENGINES, kind.name, ("engines_of_the_tests", kind.__name__))
    return {"statue": Statue(), "sinker": Sinker(), "absent": Absent()}


@pytest.fixture
def tiny(monkeypatch):
    """Both efforts of the command are so little."""
    monkeypatch.setattr("experiments.comparison.stages.FULL", TINY)
    monkeypatch.setattr("experiments.comparison.stages.QUICK", TINY)
    return TINY

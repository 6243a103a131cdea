"""Engines that cost nothing: a human that never moves, one that sinks, and one that steps a lagging clock."""

import sys
from dataclasses import dataclass
from types import SimpleNamespace
from typing import ClassVar

import pytest

from experiments.benchmarks.comparison import backends
from experiments.benchmarks.comparison.budget import Effort
from experiments.engines import registry
from experiments.engines.engine import Natural

#: So little that all stages take a second or two.
TINY = Effort(0.3, 0.2, 3, 2, 0.1, 2, 0.05)


@dataclass(frozen=True)
class Statue:
    """Never moves; its points carry the weight. With a speed, it sinks."""

    name: ClassVar[str] = "statue"
    title: ClassVar[str] = "Statue"
    package: ClassVar[str] = "numpy"
    distribution: ClassVar[str] = "numpy"
    install: ClassVar[str] = "pip install numpy"
    lag: ClassVar[float] = 0.5

    speed: float = 0.0

    @property
    def natural(self):
        return Natural(type(self)(self.speed), 1e-3, 2e-3, "steps of 1 ms")

    def differences(self, case):
        return (f"it never moves, at a step of {case.step:g} s",)

    def start(self, case):
        return StatueSimulation(case, self.speed)


@dataclass(frozen=True)
class Sinker(Statue):
    """Sinks through the floor, so that its human falls."""

    name: ClassVar[str] = "sinker"
    title: ClassVar[str] = "Sinker"

    speed: float = 20.0


@dataclass(frozen=True)
class Absent(Statue):
    """Is not installed."""

    name: ClassVar[str] = "absent"
    title: ClassVar[str] = "Absent"
    package: ClassVar[str] = "no_such_engine"
    distribution: ClassVar[str] = "no-such-engine"
    install: ClassVar[str] = "pip install no-such-engine"


class StatueSimulation:
    def __init__(self, case, speed):
        self.case, self.speed = case, speed
        model = case.model
        self.weight = -model.total_mass * model.gravity[2]

    def place(self, q, v, thrown):
        self.q, self.v, self.thrown = q.copy(), v.copy(), thrown.copy()

    def step(self, torque, forces):
        self.q[2] -= self.speed * self.case.step

    def read(self, arrival):
        arrival.q[:], arrival.v[:] = self.q, self.v
        arrival.force[:] = 0.0
        if self.case.model.nc:
            arrival.force[:, 2] = self.weight / self.case.model.nc
        arrival.blow[:] = 0.0
        arrival.thrown[:] = self.thrown


@pytest.fixture(autouse=True)
def engines(monkeypatch):
    """The engines above, by name; of ours nothing besides what is asked for."""
    module = SimpleNamespace(Statue=Statue, Sinker=Sinker, Absent=Absent)
    monkeypatch.setitem(sys.modules, "engines_of_the_tests", module)
    for kind in (Statue, Sinker, Absent):
        monkeypatch.setitem(registry.ENGINES, kind.name, ("engines_of_the_tests", kind.__name__))
    monkeypatch.setattr(backends, "SMOOTH", {})
    return {"statue": Statue(), "sinker": Sinker(), "absent": Absent()}


@pytest.fixture
def tiny(monkeypatch):
    """Both efforts of the command are so little."""
    monkeypatch.setattr("experiments.benchmarks.comparison.budget.FULL", TINY)
    monkeypatch.setattr("experiments.benchmarks.comparison.budget.QUICK", TINY)
    return TINY

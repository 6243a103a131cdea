"""What an engine was asked in a run, to be asked again in a loop with nothing else in it."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from contact.arrays import Floats
from experiments.benchmarks.timing import seconds
from experiments.engines.engine import Applied, Case, Engine, Simulation
from experiments.engines.kernels.external import Arrival


class Taped:
    """A simulation that keeps where it started and what each step was given."""

    def __init__(self, simulation: Simulation) -> None:
        self.simulation = simulation
        self.start: tuple[Floats, Floats, Floats] | None = None
        self.asked: list[tuple[Floats, Sequence[Applied]]] = []

    def __getattr__(self, name: str) -> Any:
        return getattr(self.simulation, name)

    def place(self, q: Floats, v: Floats, thrown: Floats) -> None:
        """Start anew."""
        self.start, self.asked = (q.copy(), v.copy(), thrown.copy()), []
        self.simulation.place(q, v, thrown)

    def step(self, torque: Floats, forces: Sequence[Applied]) -> None:
        """Take a step, and keep what it is given."""
        self.asked.append((torque.copy(), forces))
        self.simulation.step(torque, forces)

    def read(self, arrival: Arrival) -> None:
        """What the engine says."""
        self.simulation.read(arrival)

    def replay(self) -> float:
        """[s] a step, of the same steps from the same start, with nothing in between."""
        assert self.start is not None
        q, v, thrown = (values.copy() for values in self.start)
        self.simulation.place(q, v, thrown)
        step, asked = self.simulation.step, self.asked

        def again() -> None:
            for torque, forces in asked:
                step(torque, forces)

        return seconds(again) / len(asked) if asked else np.nan


class Tape:
    """An engine whose last simulation is kept on tape; in all else it is the engine itself."""

    def __init__(self, engine: Engine) -> None:
        self.engine = engine
        self.taped: Taped | None = None

    def __getattr__(self, name: str) -> Any:
        return getattr(self.engine, name)

    def start(self, case: Case) -> Taped:
        """A simulation of the case."""
        self.taped = Taped(self.engine.start(case))
        return self.taped

    def replay(self) -> float:
        """[s] a step of what is on the tape; NaN where nothing is."""
        return np.nan if self.taped is None else self.taped.replay()

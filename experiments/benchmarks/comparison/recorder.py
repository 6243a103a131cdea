"""What an engine was asked in a run, to be asked again in a loop with nothing else in it."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from contact.arrays import Floats
from experiments.benchmarks.timing import seconds
from experiments.engines.engine import Applied, Case, Engine, Simulation
from experiments.engines.kernels.external import FloorState


class RecordedSimulation:
    """Stands for a simulation, and remembers where it started and what each step was given."""

    def __init__(self, simulation: Simulation) -> None:
        self.simulation = simulation
        self.start: tuple[Floats, Floats, Floats] | None = None
        self.asked: list[tuple[FloorState | None, Floats, Sequence[Applied]]] = []
        self.floor: FloorState | None = None  # of the step that comes next, where it moves or has patches

    def __getattr__(self, name: str) -> Any:
        return getattr(self.simulation, name)

    def place(self, q: Floats, v: Floats, projectile: Floats) -> None:
        self.start, self.asked, self.floor = (q.copy(), v.copy(), projectile.copy()), [], None
        self.simulation.place(q, v, projectile)

    def set_floor(self, floor: FloorState) -> None:
        self.floor = FloorState._make(values.copy() for values in floor)
        self.simulation.set_floor(floor)

    def step(self, torque: Floats, forces: Sequence[Applied]) -> None:
        self.asked.append((self.floor, torque.copy(), forces))
        self.simulation.step(torque, forces)

    def replay(self) -> float:
        """[s] a step, of the same steps from the same start, with nothing in between."""
        assert self.start is not None
        q, v, projectile = (values.copy() for values in self.start)
        self.simulation.place(q, v, projectile)
        simulation, asked = self.simulation, self.asked

        def steps() -> None:
            for floor, torque, forces in asked:
                if floor is not None:
                    simulation.set_floor(floor)
                simulation.step(torque, forces)

        return seconds(steps) / len(asked) if asked else np.nan


class Recorder:
    """Stands for an engine whose last simulation is recorded; in all else it is the engine itself."""

    def __init__(self, engine: Engine) -> None:
        self.engine = engine
        self.recorded: RecordedSimulation | None = None

    def __getattr__(self, name: str) -> Any:
        return getattr(self.engine, name)

    def start(self, case: Case) -> RecordedSimulation:
        self.recorded = RecordedSimulation(self.engine.start(case))
        return self.recorded

    def replay(self) -> float:
        """[s] a step of what is recorded; NaN where nothing is."""
        return np.nan if self.recorded is None else self.recorded.replay()

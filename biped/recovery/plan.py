"""A plan of torques as a controller: followed under feedback, between a law that stands before and one that goes on."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path as FilePath
from typing import Any
from zipfile import BadZipFile

import numpy as np

from biped import dynamics
from biped.control.controller import Controller
from biped.control.observation import Observation
from biped.errors import InputError
from biped.model import Model
from biped.recovery.rollout import Path, deviation
from contact.arrays import Floats


@dataclass(frozen=True, eq=False)
class RecoveryPlan:
    """Torques, the trajectory that they are for, and a feedback that keeps to it.

    Attributes:
        begins: [s].
        period: [s] for which torques are held.
        path: N ticks.
        gains: (N, joints, 2 nv) by the deviation of configuration and momenta.
        low: (joints,) [N·m] least torques.
        high: (joints,) [N·m] greatest.
        facts: what it is of: direction [°], impulse [N·s], and the like.
    """

    begins: float
    period: float
    path: Path
    gains: Floats
    low: Floats
    high: Floats
    facts: dict[str, Any]

    @property
    def ends(self) -> float:
        """The time [s] at which the plan ends."""
        return self.begins + self.period * len(self.path.u)

    def torques(self, tick: int, q: Floats, p: Floats) -> Floats:
        """(joints,) of a tick, in a state."""
        path = self.path
        away = deviation(q, p, path.anchor[tick], path, tick)[: 2 * len(p)]
        return np.clip(path.u[tick] - self.gains[tick] @ away, self.low, self.high)

    def save(self, file: str | FilePath) -> None:
        """Write it to a NumPy archive.

        Raises:
            OSError: the file cannot be written.
        """
        path = self.path
        np.savez_compressed(
            file, begins=self.begins, period=self.period, q=path.q, p=path.p, anchor=path.anchor, u=path.u,
            gains=self.gains, low=self.low, high=self.high, facts=json.dumps(self.facts),
        )  # fmt: skip

    @classmethod
    def load(cls, file: str | FilePath) -> RecoveryPlan:
        """Read what ``save`` wrote.

        Raises:
            InputError: the file holds no plan.
            OSError: the file cannot be read.
        """
        try:
            with np.load(file, allow_pickle=False) as saved:
                path = Path(saved["q"], saved["p"], saved["anchor"], saved["u"])
                facts = json.loads(str(saved["facts"]))
                return cls(float(saved["begins"]), float(saved["period"]), path, saved["gains"], saved["low"],
                           saved["high"], facts)  # fmt: skip
        except (ValueError, KeyError, EOFError, BadZipFile) as error:
            raise InputError(f"{file}: not a plan saved by RecoveryPlan.save ({error})") from error


class PlanThenLaw(Controller):
    """A law, but for the time of a plan, which is followed.

    Args:
        plan: whose period is a multiple of the law's.
        law: before and after it.

    Raises:
        InputError: it is not.
    """

    def __init__(self, plan: RecoveryPlan, law: Controller) -> None:
        self.ticks = round(plan.period / law.period)
        if self.ticks < 1 or abs(self.ticks * law.period - plan.period) > 1e-9 * plan.period:
            raise InputError(f"the plan's period {plan.period:g} s is no multiple of the law's, {law.period:g} s")
        self.plan, self.inner, self.period = plan, law, law.period
        self._held: tuple[int, Floats] = (-1, np.zeros(len(plan.low)))

    def torques(self, observation: Observation) -> Floats:
        """(joints,) [N·m]."""
        plan = self.plan
        tick = int(np.floor((observation.time - plan.begins) / plan.period + 1e-6))
        if not 0 <= tick < len(plan.path.u):
            return np.asarray(self.inner.torques(observation))
        if self._held[0] != tick:
            model = observation.model
            p = dynamics.mass_matrix(model, observation.q) @ observation.v
            self._held = tick, plan.torques(tick, observation.q, p)
        return self._held[1].copy()

    def reset(self, observation: Observation) -> None:
        """Forget what is held."""
        self._held = (-1, np.zeros(len(self.plan.low)))
        self.inner.reset(observation)

    def memory(self) -> Any:
        """The torques that are held, and the law's own memory."""
        return self._held[0], self._held[1].copy(), self.inner.memory()

    def remember(self, memory: Any) -> None:
        """Take it up again."""
        self._held = memory[0], memory[1].copy()
        if memory[2] is not None:
            self.inner.remember(memory[2])

    def check_start(self, model: Model, q: Floats) -> None:
        """Raise what the law raises for a start that does not suit it."""
        self.inner.check_start(model, q)

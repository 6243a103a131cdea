"""Controller based on a trained network, whose outputs are target angles of the joints' servos."""

import math
import os
from collections import deque
from copy import deepcopy
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from biped.control.controller import Controller, SetPoint
from biped.control.observation import Observation, joint_places
from biped.errors import InputError
from biped.model import Model
from biped.runs.postures import standing
from contact.arrays import Floats
from controllers.kernels.joint_pd import PdLaw, ServoLaw
from controllers.parameter import parameter
from controllers.policy.description import Description, network_of, read
from controllers.policy.networks import Array, files_of, load_network, reason_of, version_of
from controllers.policy.observations import TERMS, TermInputs


@dataclass
class Memory:
    """State of a policy between two calls."""

    ticks: int  # from the start to the next call; in ``torques``, to the next tick
    action: Floats  # (n,) last output of the network
    history: list[deque[Floats]]  # last values of each term
    network: list[Array]
    version: int  # of the network's file


@dataclass(frozen=True)
class Policy(Controller):
    """Controller by a trained network, described by a TOML file (docs/evaluate-a-policy.md).

    Once in the file's period the network maps an observation to target angles: default posture + scale × output. Servos
    hold the targets in between: torque kp (target − q) − kd v, computed at each control tick.

    Attributes:
        source: description of the policy, a TOML file.
        forward, left, turn: commanded velocity, for policies that observe a command.
        gain: factor on the network's outputs; with 0 the servos hold the default posture.

    Raises:
        InputError: from ``law`` and ``act``: description or network are wrong; the message describes the right form.
        MissingExtraError: from ``law``: onnxruntime or torch is not installed.
    """

    source: str = field(metadata={"parameter": False})
    forward: float = parameter(0.0, "m/s", "Commanded velocity forward")
    left: float = parameter(0.0, "m/s", "Commanded velocity to the left")
    turn: float = parameter(0.0, "rad/s", "Commanded turn rate, to the left")
    gain: float = parameter(1.0, "", "Factor on the network's outputs; 0: servos hold the default posture")
    period: float = parameter(2e-3, "s", "Control period of the servos")
    _kept: dict[str, Any] = field(
        default_factory=dict, init=False, repr=False, compare=False, metadata={"hidden": True}
    )

    acts: ClassVar[bool] = True

    @property
    def files(self) -> tuple[str | Path, ...]:  # type: ignore[override]  # the files of this object
        """Files that belong to the policy: description and network."""
        return self.source, *files_of(network_of(Path(self.source)))

    @property
    def command(self) -> Floats:
        """Commanded velocity, (3,): forward and to the left [m/s], turn rate [rad/s]."""
        return np.array([self.forward, self.left, self.turn])

    def description(self, model: Model, version: int | None = None) -> Description:
        """Return the description, read once for a model and a version of the network; None: the present version."""
        if not self.period > 0.0:
            raise InputError(f"controller.period = {self.period:g} s: it must be above zero, such as 0.002 s")
        if version is None:  # in a run it is known
            version = version_of(network_of(Path(self.source)))
        about: Description = model.once(_read, self.source, os.stat(self.source).st_mtime_ns, version)
        ratio = about.period / self.period
        if ratio < 1.0 - 1e-9 or abs(ratio - round(ratio)) > 1e-9 * ratio:
            raise InputError(
                f"{self.source}: period = {about.period:g} s: it must be a multiple of controller.period = "
                f"{self.period:g} s"
            )
        return about

    def set_point(self, model: Model) -> SetPoint:
        """Return the pose of the root in the robot's standing posture; it moves with the feet, as a policy may step."""
        return self.set_point_from(model, standing(model).q)

    def set_point_from(self, model: Model, q: Floats) -> SetPoint:
        """Return the pose of the root in ``q`` (nq,); it moves with the feet."""
        x, y, z, *turn = q[:7].tolist()
        return SetPoint((x, y, z), (turn[0], turn[1], turn[2], turn[3]), with_feet=True)

    def reset(self, observation: Observation) -> None:
        """Clear the memory: last action, history of the terms and state of the network."""
        about = self.description(observation.model)
        version = version_of(about.network)
        network = load_network(about.network, version)
        network.reset()
        history: list[deque[Floats]] = [deque(maxlen=term.history) for term in about.terms]
        self._kept["memory"] = Memory(0, np.zeros(len(about.default)), history, network.memory(), version)

    def memory(self) -> Any:
        """Return a copy of the memory; None before the first call."""
        return deepcopy(self._kept.get("memory"))

    def remember(self, memory: Any) -> None:
        """Restore a memory, unless it is None."""
        if memory is not None:
            self._kept["memory"] = deepcopy(memory)

    def law(self, model: Model) -> ServoLaw:
        """Return the servos, which wait for their first targets."""
        servo, zero = self.description(model).servo, np.zeros(model.nv)
        law = ServoLaw(PdLaw(zero.copy(), zero.copy(), zero, np.full(model.nv, np.inf)), np.zeros(1, dtype=np.int64))
        law.servo.kp[servo.dofs], law.servo.kd[servo.dofs] = servo.kp, servo.kd
        return law

    def torques(self, observation: Observation) -> Floats:
        """Return the servos' torques (joints,) [N·m], in the order of ``model.joint_names``; a call for each tick."""
        model, memory = observation.model, self._memory(observation)
        about = self.description(model, memory.version)
        if memory.ticks % round(about.period / self.period) == 0:
            self._ask(about, memory, observation)
        memory.ticks += 1
        servo, torques = about.servo, np.zeros(model.nv)
        left = self._targets(about, memory) - observation.q[servo.coordinates]
        torques[servo.dofs] = servo.kp * left - servo.kd * observation.v[servo.dofs]
        return torques[joint_places(model).driven]

    def act(self, observation: Observation, law: ServoLaw) -> None:
        """Set the servos' targets for a period of the policy."""
        memory = self._memory(observation)
        about = self.description(observation.model, memory.version)
        self._ask(about, memory, observation)
        law.servo.target[about.servo.dofs] = self._targets(about, memory)
        law.wait[0] = round(about.period / self.period)
        memory.ticks += int(law.wait[0])

    def _memory(self, observation: Observation) -> Memory:
        if "memory" not in self._kept:
            self.reset(observation)
        memory: Memory = self._kept["memory"]
        return memory

    def _targets(self, about: Description, memory: Memory) -> Floats:
        target = about.default + self.gain * about.action_scale * memory.action
        return np.clip(target, about.servo.lower, about.servo.upper)

    def _ask(self, about: Description, memory: Memory, observation: Observation) -> None:
        """Call the network."""
        inputs = TermInputs(
            observation, memory.ticks * self.period, about.imu, about.gait, self.command,
            observation.q[about.servo.coordinates] - about.default, observation.v[about.servo.dofs], memory.action,
        )  # fmt: skip
        network = load_network(about.network, memory.version)
        network.remember(memory.network)
        observed = self._observed(about, memory, inputs)
        try:
            action = network(observed)
        except Exception as error:  # onnxruntime and torch have classes of their own
            sizes = zip(about.terms, memory.history, strict=True)
            terms = ", ".join(f"{term.name} {sum(map(len, values))}" for term, values in sizes)
            raise InputError(
                f"{about.network}: no output for {observed.size} numbers ({terms}): {reason_of(error)}"
            ) from error
        if action.shape != memory.action.shape:
            raise InputError(
                f"{about.network}: its output has {action.size} numbers, but the robot has {memory.action.size} joints"
            )
        if not np.isfinite(action).all():
            raise InputError(f"{about.network}: its output is not finite at {observation.time:g} s")
        memory.action, memory.network = _limited(action, about.action_limit), network.memory()

    def _observed(self, about: Description, memory: Memory, inputs: TermInputs) -> Floats:
        """Return the observation: for each term its values of the last calls, oldest first."""
        numbers: list[Floats] = []
        for term, history in zip(about.terms, memory.history, strict=True):
            value = np.asarray(TERMS[term.name](inputs), dtype=np.float64)
            if term.scale.size not in (1, value.size):
                raise InputError(
                    f"{self.source}: the scale of {term.name} has {term.scale.size} numbers: give one, or {value.size}"
                )
            history.append(term.scale * value)
            while len(history) < term.history:  # before the first call all values were as in it
                history.append(history[-1])
            numbers += history
        return _limited(np.concatenate(numbers), about.observation_limit)


def _limited(values: Floats, limit: float) -> Floats:
    return values if limit == math.inf else np.clip(values, -limit, limit)


def _read(model: Model, file: str, _modified: int, _version: int) -> Description:
    return read(Path(file), model)

"""Randomization of episodes: pushes, friction, payload and delay of actions, drawn anew at each reset."""

import math
from dataclasses import dataclass, replace

import numpy as np

from biped.disturbances import Disturbance, Load, Push
from biped.errors import InputError
from biped.inputs.checks import above_zero, integer, numbers
from biped.simulation.scene import Scene

#: New scene of an episode or None, delay of its actions [servo periods], and the drawn values by name.
Episode = tuple[Scene | None, int, dict[str, float]]


@dataclass(frozen=True)
class Randomization:
    """Ranges (low, high) from which each episode draws its values uniformly; None: not varied.

    Attributes:
        push: [N·s] impulse of a push on the root's centre of mass, in a random horizontal direction.
        push_start: [s] start of the push, from the start of the episode.
        push_duration: [s] duration of the push.
        friction: coefficient of static and dynamic friction of the floor.
        payload: [kg] mass of a load at the root's centre of mass; negative: a lighter root.
        delay: delay of the actions, in whole servo periods; before the first action arrives, actions are zero.

    Raises:
        InputError: a range is not two finite numbers in order, or the push's start, friction or delay is negative.
    """

    push: tuple[float, float] | None = None
    push_start: tuple[float, float] = (0.5, 4.0)
    push_duration: float = 0.1
    friction: tuple[float, float] | None = None
    payload: tuple[float, float] | None = None
    delay: tuple[int, int] = (0, 0)

    def __post_init__(self) -> None:
        above_zero(self.push_duration, "push_duration")
        for name in ("push", "push_start", "friction", "payload", "delay"):
            given, least = getattr(self, name), "" if name in ("push", "payload") else "0 <= "
            optional = name not in ("push_start", "delay")
            low, high = (0.0, 0.0) if given is None and optional else numbers(given, 2, name)
            if low > high or (least and low < 0.0):
                raise InputError(f"{name} = {given!r}: it must be (low, high) with {least}low <= high")
        _ = [integer(value, "delay") for value in self.delay]

    def draw(self, scene: Scene, random: np.random.Generator, begins: float = 0.0) -> Episode:
        """Return an episode of a scene that begins at a time [s]."""
        drawn: dict[str, float] = {}
        added: list[Disturbance] = []
        root, floor = scene.model.root.name, scene.floor
        if self.push is not None:
            drawn |= {"push": random.uniform(*self.push), "azimuth": random.uniform(0.0, 2.0 * math.pi)}
            drawn["push_start"] = random.uniform(*self.push_start)
            along = (math.cos(drawn["azimuth"]), math.sin(drawn["azimuth"]), 0.0)
            added.append(Push(root, along, drawn["push"], begins + drawn["push_start"], self.push_duration))
        if self.friction is not None:
            mu = drawn["friction"] = random.uniform(*self.friction)
            floor = floor.with_(mu_s=mu, mu_d=mu)
        if self.payload is not None:
            drawn["payload"] = random.uniform(*self.payload)
            added.append(Load(root, drawn["payload"]))
        delay = int(random.integers(*self.delay, endpoint=True))
        drawn |= {"delay": delay} if self.delay[1] else {}
        return replace(scene, floor=floor, disturbances=(*scene.disturbances, *added)), delay, drawn

"""Steps a second of our environment of Gymnasium, and of Gymnasium's own humanoid beside it."""

from collections.abc import Callable
from statistics import median
from typing import Any

from experiments.benchmarks.sections import Column, Section
from experiments.benchmarks.timing import cores, interleaved, seconds

OURS, THEIRS = "biped.gym:biped/Balance-v0", "Humanoid-v5"
COUNT = 64
#: Actions are shares of the greatest; those of a wild policy would end episodes within a few steps.
SHARE = 0.3


def single(name: str, steps: int) -> Callable[[], float]:
    """Steps a second of one environment on one core; one that has ended is reset."""
    import gymnasium

    env = gymnasium.make(name)
    env.reset(seed=1)
    actions = _actions(env)

    def play() -> None:
        for k in range(steps):
            _, _, terminated, truncated, _ = env.step(actions[k % len(actions)])
            if terminated or truncated:
                env.reset()

    def work() -> float:
        with cores(1):
            return steps / seconds(play)

    return work


def vector(name: str, mode: str, steps: int) -> Callable[[], float]:
    """Steps a second of a vector of environments on two cores."""
    import gymnasium

    envs = gymnasium.make_vec(name, num_envs=COUNT, vectorization_mode=mode)
    envs.reset(seed=1)
    actions = _actions(envs)

    def play() -> None:
        for k in range(steps):
            envs.step(actions[k % len(actions)])

    def work() -> float:
        with cores(2):
            return steps * COUNT / seconds(play)

    return work


def _actions(env: Any) -> list[Any]:
    env.action_space.seed(1)
    return [SHARE * env.action_space.sample() for _ in range(16)]


def environment_section(steps: int, repeats: int) -> Section:
    turns = max(1, steps // COUNT)
    cases = {
        "ours, one": single(OURS, steps),
        f"ours, {COUNT}": vector(OURS, "vector_entry_point", turns),
        f"{THEIRS}, one": single(THEIRS, steps),
        f"{THEIRS}, {COUNT} (sync)": vector(THEIRS, "sync", turns),
    }
    section = Section(
        "environments",
        "Environments of Gymnasium: steps of 15 ms a second, one on one core, vectors on two",
        (Column("least", "1/s", ".0f"), Column("median", "1/s", ".0f"), Column("most", "1/s", ".0f")),
        notes=[f"ours steps at 2.5 ms, {THEIRS} (MuJoCo, 17 actuated joints) at 3 ms; runs taken in turn"],
    )
    for name, rates in interleaved(cases, repeats).items():
        section.rows[name] = (min(rates), median(rates), max(rates))
    return section

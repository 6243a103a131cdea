"""Seeds of trials, derived from the study's seed and the trial's labels, never from workers, order or time."""

import hashlib

import numpy as np


def seed_of(study_seed: int, *labels: str | int) -> int:
    """Return a seed that depends only on ``study_seed``, the study's seed, and on ``labels``, such as ``"replica", 3``.

    Numpy's ``SeedSequence`` takes the labels as its spawn key: different labels give unrelated random streams. A seed
    has 53 bits, and is exact as a float. Of a hundred thousand seeds, two are equal with a probability below 1e-6.
    """
    key = [number for label in labels for number in _numbers(label)]
    first, second = np.random.SeedSequence(study_seed, spawn_key=key).generate_state(2, np.uint32).tolist()
    return int(first) | (int(second) & 0x1FFFFF) << 32


def _numbers(label: str | int) -> tuple[int, ...]:
    """Return a label as 32-bit numbers, of which the first differs between texts and numbers."""
    if isinstance(label, int):
        return (0, label & 0xFFFFFFFF, label >> 32 & 0xFFFFFFFF)
    digest = hashlib.sha256(label.encode()).digest()
    return (1, int.from_bytes(digest[:4], "little"), int.from_bytes(digest[4:8], "little"))

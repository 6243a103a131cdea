"""Seeds of trials, derived from the study's seed and the trial's labels, never from workers, order or time."""

import hashlib

import numpy as np


def seed_of(study_seed: int, *words: str | int) -> int:
    """Return the seed for some words, such as ``"replica", 3``, in a study of this seed.

    Numpy's ``SeedSequence`` mixes the study's seed with the words as its spawn key, so that any two of them give
    unrelated streams. 53 bits: exact as a float too, and a hundred thousand of them differ (two alike: p < 1e-6).
    """
    key = [number for word in words for number in _numbers(word)]
    first, second = np.random.SeedSequence(study_seed, spawn_key=key).generate_state(2, np.uint32).tolist()
    return int(first) | (int(second) & 0x1FFFFF) << 32


def _numbers(word: str | int) -> tuple[int, ...]:
    """Return a word as 32-bit numbers, of which the first differs between texts and numbers."""
    if isinstance(word, int):
        return (0, word & 0xFFFFFFFF, word >> 32 & 0xFFFFFFFF)
    digest = hashlib.sha256(word.encode()).digest()
    return (1, int.from_bytes(digest[:4], "little"), int.from_bytes(digest[4:8], "little"))

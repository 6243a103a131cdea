"""Descriptions of a run's recorded disturbances."""

import pytest

from biped import Platform, Signal
from biped.disturbances import described, in_words


@pytest.mark.parametrize(
    ("motion", "words"),
    [
        ({"x": Signal.sine(0.05, 1.0, 0.2, 2.0)}, "±50 mm along x from 0.2 to 2.2 s"),
        ({"x": Signal.sine(-0.05, 1.0, 0.2, 2.0)}, "±50 mm along x from 0.2 to 2.2 s"),
        ({"pitch": Signal.sine(0.0349066, 1.0, 0.2, 2.0)}, "±2° of pitch from 0.2 to 2.2 s"),
        ({"y": Signal.step(-0.03, 0.5, 1.0)}, "-30 mm along y from 0.5 to 1.5 s"),
    ],
)
def test_a_floor_that_swings_is_told_to_both_sides(person, motion, words):
    (told,) = in_words([described(Platform(**motion))], person.facing)
    assert told == f"a floor that moves by {words}"

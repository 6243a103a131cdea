import pytest

from experiments.visualization.viewer.playback import Playback


def test_time_goes_on_with_the_clock():
    playback = Playback(1.0, 3.0, speed=0.5)
    assert playback.advance(100.0) == 1.0
    assert playback.advance(101.0) == pytest.approx(1.5)
    playback.speed = 2.0
    assert playback.advance(101.5) == pytest.approx(2.5)


def test_paused_it_stays():
    playback = Playback(0.0, 3.0, playing=False)
    playback.seek(1.25)
    assert playback.advance(5.0) == playback.advance(9.0) == 1.25
    playback.play()
    assert playback.advance(20.0) == 1.25
    assert playback.advance(20.5) == pytest.approx(1.75)


def test_it_plays_and_pauses_in_turn():
    playback = Playback(0.0, 1.0)
    playback.toggle()
    assert not playback.playing
    playback.seek(1.0)
    playback.toggle()
    assert playback.playing
    assert playback.time == 0.0  # from the start again


def test_at_the_end_it_begins_again_or_stops():
    playback = Playback(0.0, 2.0)
    playback.advance(0.0)
    assert playback.advance(2.5) == pytest.approx(0.5)
    playback.loop = False
    assert playback.advance(9.0) == 2.0
    assert not playback.playing
    playback.play()
    assert playback.advance(10.0) == 0.0

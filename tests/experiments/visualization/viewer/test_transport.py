import pytest

from biped.errors import InputError
from experiments.visualization.viewer.playback import Transport


def test_time_goes_on_with_the_clock():
    transport = Transport(1.0, 3.0, speed=0.5)
    assert transport.advance(100.0) == 1.0
    assert transport.advance(101.0) == pytest.approx(1.5)
    transport.speed = 2.0
    assert transport.advance(101.5) == pytest.approx(2.5)


def test_paused_it_stays():
    transport = Transport(0.0, 3.0, playing=False)
    transport.seek(1.25)
    assert transport.advance(5.0) == transport.advance(9.0) == 1.25
    transport.play()
    assert transport.advance(20.0) == 1.25
    assert transport.advance(20.5) == pytest.approx(1.75)


def test_it_plays_and_pauses_in_turn():
    transport = Transport(0.0, 1.0)
    transport.toggle()
    assert not transport.playing
    transport.seek(1.0)
    transport.toggle()
    assert transport.playing
    assert transport.time == 0.0  # from the start again


def test_held_it_lets_no_time_go_by():
    transport = Transport(0.0, 3.0)
    transport.advance(0.0)
    transport.hold()
    assert transport.advance(10.0) == 0.0
    assert transport.advance(10.5) == pytest.approx(0.5)


def test_at_the_end_it_begins_again_or_stops():
    transport = Transport(0.0, 2.0)
    transport.advance(0.0)
    assert transport.advance(2.5) == pytest.approx(0.5)
    transport.loop = False
    assert transport.advance(9.0) == 2.0
    assert not transport.playing
    transport.play()
    assert transport.advance(10.0) == 0.0


def test_places_outside_are_the_nearest_inside():
    transport = Transport(1.0, 3.0, playing=False)
    for asked, found in ((0.0, 1.0), (9.0, 3.0), (2.2, 2.2)):
        transport.seek(asked)
        assert transport.time == found


@pytest.mark.parametrize("speed", [0.0, -1.0, float("nan"), float("inf")])
def test_a_speed_is_above_zero(speed):
    with pytest.raises(InputError, match="above zero"):
        Transport(0.0, 1.0, speed)


def test_a_run_of_one_instant_can_be_shown():
    transport = Transport(1.0, 1.0)
    transport.advance(0.0)
    assert transport.advance(1.0) == 1.0
    assert not transport.playing

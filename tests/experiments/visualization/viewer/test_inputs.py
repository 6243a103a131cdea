"""What clients may set: values that elements can have, and nothing else."""

import math
import time

import msgspec
import pytest
import viser
from websockets.sync.client import connect

from experiments.visualization.viewer.playback import Playback
from experiments.visualization.viewer.serve import serving


@pytest.fixture
def page():
    """A server, and how a client of it sets properties of an element."""
    with serving(port=0) as server:
        own = [f"viser-v{viser.__version__}"]
        with connect(f"ws://127.0.0.1:{server.get_port()}", subprotocols=own, proxy=None, max_size=None) as client:

            def send(handle, **updates):
                message = {"type": "GuiUpdateMessage", "uuid": handle._impl.uuid, "updates": updates}
                client.send(msgspec.msgpack.encode(message))

            yield server, send


def arrives(handle, value):
    ends = time.monotonic() + 10.0
    while handle.value != value and time.monotonic() < ends:
        time.sleep(0.01)
    return handle.value == value


def test_values_that_an_element_cannot_have_are_dropped_without_a_word(page, capfd, caplog):
    server, send = page
    choice = server.gui.add_dropdown("Plot", ("a", "b"), initial_value="a")
    slider = server.gui.add_slider("Time", min=0.0, max=1.0, step=0.1, initial_value=0.0)
    box, text = server.gui.add_checkbox("Loop", False), server.gui.add_text("Name", "")
    vector = server.gui.add_vector3("At", (0.0, 0.0, 0.0))
    for handle, values in (
        (choice, ("", "c", ["a"], None, 1.0, "x" * 100_000)),
        (slider, (math.nan, math.inf, "0.5", "x" * 100_000, None, [], True)),
        (box, ("x", 1.0, None)),
        (text, (1.0, None, {"a": 1})),
        (vector, ([1.0, 2.0], [1.0, math.nan, 0.0], "abc", 3.0)),
    ):
        for value in values:
            send(handle, value=value)
    send(choice, update_cb=[])
    send(choice, value="b", removed=True)
    send(choice, no_such_thing=1)
    assert (choice.value, slider.value, box.value, text.value, vector.value) == ("a", 0.0, False, "", (0.0, 0.0, 0.0))
    for handle, value in ((choice, "b"), (slider, 1), (box, True), (text, "x"), (vector, [1, 2.0, 3.0])):
        send(handle, value=value)
    assert arrives(vector, (1.0, 2.0, 3.0))
    assert (choice.value, slider.value, box.value, text.value) == ("b", 1.0, True, "x")
    assert caplog.records == []
    assert capfd.readouterr() == ("", "")


def test_there_is_no_time_that_is_not_a_number():
    playback = Playback(0.0, 1.0)
    playback.seek(0.5)
    playback.seek(math.nan)
    assert playback.time == 0.5

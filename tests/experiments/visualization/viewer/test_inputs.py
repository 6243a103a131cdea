"""What clients may set: values that elements can have, and nothing else."""

import math
import time

import msgspec
import pytest

from experiments.visualization.viewer.playback import Playback
from experiments.visualization.viewer.serve import serving

from ..sockets import CAMERA, opened


@pytest.fixture
def page():
    """A server, and how a client of it sets properties of an element."""
    with serving(port=0) as server, opened(server) as client:

        def send(handle, **updates):
            message = {"type": "GuiUpdateMessage", "uuid": handle._impl.uuid, "updates": updates}
            client.send(msgspec.msgpack.encode(message))

        send.client = client

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
        (slider, (math.nan, math.inf, -0.1, 1.1, "0.5", "x" * 100_000, None, [], True)),
        (box, ("x", 1.0, None)),
        (text, (1.0, None, {"a": 1}, "x" * 100_000)),
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


def test_of_messages_only_those_of_our_pages_are_taken(page, capfd, caplog, monkeypatch):
    """No files, no tunnel to the network, nothing for the other clients, and no word on the terminal."""
    server, send = page
    client = send.client
    called = []
    for name in ("request_share_url", "disconnect_share_url"):
        monkeypatch.setattr(server, name, lambda: called.append(1))
    box = server.gui.add_checkbox("Loop", False)
    frame = server.scene.add_box("/box")

    async def dragged(event):
        called.append(event)

    frame.on_drag("left", modifier="cmd/ctrl")(dragged)
    drag = {
        "type": "SceneNodeDragMessage", "phase": "start", "name": "/box", "instance_index": None,
        "start_position": [0, 0, 0], "start_screen_pos": [0, 0], "end_position": [0, 0, 0], "end_screen_pos": [0, 0],
        "button": "left", "modifier": "cmd/ctrl", "owner": "",
    }  # fmt: skip
    upload = {
        "type": "FileTransferStartUpload", "source_component_uuid": box._impl.uuid, "transfer_uuid": "t",
        "filename": "x", "mime_type": "", "part_count": 2, "size_bytes": 2,
    }  # fmt: skip
    deep = b"\x91" * 100_000 + b"\xc0"
    update = msgspec.msgpack.encode({"type": "GuiUpdateMessage", "uuid": box._impl.uuid, "updates": {"value": 0}})
    for message in (
        {"type": "ShareUrlRequest"},
        {"type": "ShareUrlDisconnect"},
        {"type": "GuiFormDirtyMessage", "uuid": "x" * 100_000, "dirty": True},
        upload,
        drag | {"end_position": [math.nan, 0, 0]},
        drag | {"end_position": "x" * 100_000},
        drag | {"end_position": [1, 2]},
        {"type": "ViewerCameraMessage", "wxyz": "x" * 100_000},
        {"type": "GuiUpdateMessage", "uuid": ["x"], "updates": {"value": 1}},
        {"type": "GuiUpdateMessage"},
        {"type": ["x"]},
        {"type": "Message"},
        {},
        [1],
        1,
        None,
    ):
        client.send(msgspec.msgpack.encode(message))
    for raw in (deep, update[:-1], b"", b"\xc1", "text"):
        client.send(raw)
    client.send(CAMERA)
    send(box, value=True)
    assert arrives(box, True)  # the connection is what it was
    assert called == []
    assert server.gui._current_file_upload_states == {}
    client.send(msgspec.msgpack.encode(drag))
    ends = time.monotonic() + 10.0
    while not called and time.monotonic() < ends:
        time.sleep(0.01)
    assert len(called) == 1
    assert caplog.records == []
    assert capfd.readouterr() == ("", "")


def test_there_is_no_time_that_is_not_a_number():
    playback = Playback(0.0, 1.0)
    playback.seek(0.5)
    playback.seek(math.nan)
    assert playback.time == 0.5

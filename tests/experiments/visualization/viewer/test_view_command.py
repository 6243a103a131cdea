import os
import signal
import socket
import subprocess
import sys

import pytest

from experiments.visualization.viewer.loaded_runs import load_runs


@pytest.fixture(scope="module")
def saved(pushed, tmp_path_factory):
    return pushed.save(tmp_path_factory.mktemp("runs") / "pushed")


def test_what_is_no_run_is_refused(refusal, tmp_path):
    assert "no run in it" in refusal("view", tmp_path / "nothing")
    assert "the following arguments are required: RUN" in refusal("view")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--speed", "0"), "--speed 0: it must be a number above zero"),
        (("--rate", "-5"), "--rate -5: it must be a number above zero"),
        (("--side-by-side", "nan"), "it must be a distance in metres"),
        (("--start", "99"), "--start 99: it must be a time within the runs, from 0 to 0.3 s"),
        (("--start", "nan"), "it must be a time within the runs"),
        (("--port", "99999"), "it must be from 0 to 65535"),
        (("--host", "192.0.2.1"), "cannot listen at 192.0.2.1"),
        (("--speed", "fast"), "invalid float value"),
    ],
)
def test_bad_options_are_refused_in_one_line(refusal, saved, options, message):
    assert message in refusal("view", saved, *options)


def test_a_port_that_is_taken_is_refused(refusal, saved):
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        port = other.getsockname()[1]
        assert f"port {port}: Address already in use" in refusal("view", saved, "--port", port)


def test_ctrl_c_ends_it(saved):
    """In its own process, as on a command line."""
    # A shell may have ignored the signal for background processes.
    heard = "import signal; signal.signal(signal.SIGINT, signal.default_int_handler)"
    program = f"{heard}; import sys; from experiments.cli.main import main; sys.exit(main(sys.argv[1:]))"
    order = [sys.executable, "-c", program, "view", str(saved), "--port", "0", "--no-open", "--paused"]
    environment = os.environ | {"PYTHONWARNINGS": "ignore"}
    with subprocess.Popen(order, stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment) as view:
        try:
            line = view.stderr.readline()
            assert "at http://localhost:" in line
            view.send_signal(signal.SIGINT)
            out, err = view.communicate(timeout=30)
        finally:
            view.kill()
    assert view.returncode == 0
    assert out == ""
    assert err == "biped: ended\n"


def test_runs_are_named_so_that_they_differ(pushed, tmp_path):
    folders = [pushed.save(tmp_path / path) for path in ("a/run", "b/run")]
    assert [loaded.name for loaded in load_runs(folders)] == list(map(str, folders))
    assert [loaded.name for loaded in load_runs(folders[:1])] == ["run"]

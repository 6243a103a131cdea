"""What several processes compile side by side is what one would compile; what they do not manage, one does."""

import os
import subprocess
import sys

import pytest

from ..conftest import ROOT, run_python, said_by

PIECES = """
from contact.jit import part


@part
def one(x):
    return x + 1


@part
def two(x):
    return x + 2
"""

COMPILE = """
import sys
import numba
from contact.compiling import beside
from contact.jit import address_of, routine, call

{before}
beside.WORTHWHILE = 1
beside.cores = lambda: 2
jobs = [beside.Job(part, (numba.types.int64,)) for part in (one, two)]
beside.compile_all(jobs)
print(*(len(job.dispatcher.overloads) for job in jobs), *(job.is_done for job in jobs))
print(*(routine(lambda a, x: call(a, x))(address_of(job.dispatcher, 1), 40) for job in jobs))
"""


@pytest.mark.parametrize(
    ("before", "expected"),
    [
        ("from pieces import one, two", "1 0 True True"),
        (PIECES, "1 1 True True"),  # typed in: no other process finds it
        ("from pieces import one, two; sys.executable = '/bin/false'", "1 0 True False"),
    ],
)
def test_others_leave_what_they_compile_on_disk(tmp_path, before, expected):
    (tmp_path / "pieces.py").write_text(PIECES)
    script = tmp_path / "script.py"
    script.write_text(COMPILE.format(before=before))
    more = {"PYTHONPATH": str(ROOT), "BIPED_CACHE_DIR": str(tmp_path / "cache")}
    found = subprocess.run(
        [sys.executable, str(script)], env=os.environ | more, capture_output=True, text=True, check=False
    )
    assert found.stderr == ""
    assert found.stdout.splitlines() == [expected, "41 42"]


def test_a_process_that_nobody_waits_for_any_more_ends(tmp_path):
    """Its parent was killed: it does not go on with what nobody will load."""
    (tmp_path / "pieces.py").write_text(
        "import time\n\n\ndef wait(number):\n    open(f'{number}', 'w').close()\n    time.sleep(2.0)\n"
    )
    code = (
        "import os, time; from contact.compiling import beside; from pieces import wait\n"
        "calls = [beside.Call(wait, (k,), 1) for k in range(5)]\n"
        "import threading; threading.Timer(4.0, os._exit, (1,)).start()\n"
        "beside.compile_ahead(calls, print)\n"
    )
    more = {"PYTHONPATH": os.pathsep.join([str(ROOT), str(tmp_path)]), "BIPED_CACHE_DIR": str(tmp_path / "cache")}
    run_python(code, cwd=tmp_path, **more)
    begun = sorted(tmp_path.glob("[0-4]"))
    assert len(begun) < 5


def test_why_something_was_not_compiled_is_said(tmp_path):
    (tmp_path / "pieces.py").write_text(
        "import os\n\n\ndef do(what):\n    if what == 'end':\n        os._exit(3)\n"
        "    if what:\n        raise ValueError(what)\n"
    )
    code = (
        "from contact.compiling import beside; from pieces import do\n"
        "calls = [beside.Call(do, (what,), 1) for what in ('', 'no such\\nlaw', 'end', '')]\n"
        "beside.compile_ahead(calls, print)\n"
    )
    more = {"PYTHONPATH": os.pathsep.join([str(ROOT), str(tmp_path)]), "BIPED_CACHE_DIR": str(tmp_path / "cache")}
    said = said_by(code, cwd=tmp_path, **more)
    lost = "the process that compiles it has ended with 3"
    assert said.splitlines() == ["", r"('no such\nlaw',) ValueError: no such law", lost, lost]

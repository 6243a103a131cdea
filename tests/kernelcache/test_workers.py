"""Several processes compile the same code as one would; code that they cannot compile is compiled in this process."""

import os
import subprocess
import sys

import pytest

from ..conftest import ROOT, run_python, said_by

PIECES = """
from kernelcache import part


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
from kernelcache import workers
from kernelcache import addresses, routine, call

{before}
workers.WORTHWHILE = 1
workers.cores = lambda: 2
jobs = [workers.Job(part, (numba.types.int64,)) for part in (one, two)]
workers.compile_all(jobs)
print(*(len(job.dispatcher.overloads) for job in jobs), *(job.is_done for job in jobs))
print(*(routine(lambda a, x: call(a, x))(addresses([(job.dispatcher, 1)])[0], 40) for job in jobs))
"""


def surroundings(folder):
    """Return an environment with a separate cache, the modules of a folder, and the project."""
    path = os.pathsep.join([str(ROOT), str(folder)])
    return {"PYTHONPATH": path, "BIPED_CACHE_DIR": str(folder / "cache")}


def said_in(folder, code):
    return said_by(code, cwd=folder, **surroundings(folder))


@pytest.mark.parametrize(
    ("before", "expected"),
    [
        ("from pieces import one, two", "0 0 True True"),
        (PIECES, "0 0 False False"),  # typed in: no other process finds it
        ("from pieces import one, two; sys.executable = '/bin/false'", "0 0 False False"),
    ],
)
def test_others_leave_what_they_compile_on_disk(tmp_path, before, expected):
    (tmp_path / "pieces.py").write_text(PIECES)
    script = tmp_path / "script.py"
    script.write_text(COMPILE.format(before=before))
    environment = os.environ | surroundings(tmp_path)
    found = subprocess.run([sys.executable, str(script)], env=environment, capture_output=True, text=True, check=False)
    assert found.stderr == ""
    assert found.stdout.splitlines() == [expected, "41 42"]


def test_a_process_that_nobody_waits_for_any_more_ends(tmp_path):
    """Its parent was killed: the worker stops instead of compiling code that no process will load."""
    (tmp_path / "pieces.py").write_text(
        "import time\n\n\ndef wait(number):\n    open(f'{number}', 'w').close()\n    time.sleep(2.0)\n"
    )
    code = (
        "import os, time; from kernelcache import workers; from pieces import wait\n"
        "calls = [workers.Call(wait, (k,), 1) for k in range(5)]\n"
        "import threading; threading.Timer(4.0, os._exit, (1,)).start()\n"
        "workers.compile_ahead(calls, print)\n"
    )
    run_python(code, cwd=tmp_path, **surroundings(tmp_path))
    begun = sorted(tmp_path.glob("[0-4]"))
    assert len(begun) < 5


def test_why_something_was_not_compiled_is_said(tmp_path):
    (tmp_path / "pieces.py").write_text(
        "import os\n\n\ndef do(what):\n    if what == 'end':\n        os._exit(3)\n"
        "    if what:\n        raise ValueError(what)\n"
    )
    code = (
        "from kernelcache import workers; from pieces import do; workers.cores = lambda: 1\n"
        "calls = [workers.Call(do, (what,), 1) for what in ('', 'no such\\nlaw', 'end', '')]\n"
        "workers.compile_ahead(calls, print)\n"
    )
    said = said_in(tmp_path, code)
    lost = "the process that compiled it ended early"
    assert said.splitlines() == ["", r"('no such\nlaw',) ValueError: no such law", lost, lost]


def test_what_a_job_reads_and_writes_is_not_taken_for_an_answer(tmp_path):
    job = "import os; assert os.read(0, 9) == b''; os.write(1, b'so'); print('it is')"
    code = f"from kernelcache import workers; workers.compile_ahead([workers.Call(exec, ({job!r},), 1)] * 2, print)"
    said = said_in(tmp_path, code)
    assert said == "\n\n"

"""What several processes compile side by side is what one would compile; what they do not manage, one does."""

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
from kernelcache import address_of, routine, call

{before}
beside.WORTHWHILE = 1
beside.cores = lambda: 2
jobs = [beside.Job(part, (numba.types.int64,)) for part in (one, two)]
beside.compile_all(jobs)
print(*(len(job.dispatcher.overloads) for job in jobs), *(job.is_done for job in jobs))
print(*(routine(lambda a, x: call(a, x))(address_of(job.dispatcher, 1), 40) for job in jobs))
"""


def surroundings(folder):
    """An environment with a cache of its own, in which the modules of a folder are found, and the project."""
    path = os.pathsep.join([str(ROOT), str(folder)])
    return {"PYTHONPATH": path, "BIPED_CACHE_DIR": str(folder / "cache")}


def said_in(folder, code):
    return said_by(code, cwd=folder, **surroundings(folder))


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
    environment = os.environ | surroundings(tmp_path)
    found = subprocess.run([sys.executable, str(script)], env=environment, capture_output=True, text=True, check=False)
    assert found.stderr == ""
    assert found.stdout.splitlines() == [expected, "41 42"]


def test_a_process_that_nobody_waits_for_any_more_ends(tmp_path):
    """Its parent was killed: it does not go on with what nobody will load."""
    (tmp_path / "pieces.py").write_text(
        "import time\n\n\ndef wait(number):\n    open(f'{number}', 'w').close()\n    time.sleep(2.0)\n"
    )
    code = (
        "import os, time; from kernelcache import workers; from pieces import wait\n"
        "calls = [beside.Call(wait, (k,), 1) for k in range(5)]\n"
        "import threading; threading.Timer(4.0, os._exit, (1,)).start()\n"
        "beside.compile_ahead(calls, print)\n"
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
        "from kernelcache import workers; from pieces import do; beside.cores = lambda: 1\n"
        "calls = [beside.Call(do, (what,), 1) for what in ('', 'no such\\nlaw', 'end', '')]\n"
        "beside.compile_ahead(calls, print)\n"
    )
    said = said_in(tmp_path, code)
    lost = "the process that compiles it has ended with 3"
    assert said.splitlines() == ["", r"('no such\nlaw',) ValueError: no such law", lost, ""]


#: Two calls that note which process made them; the second by a module of which there may be another one tomorrow.
NOTED = """
import os
from kernelcache import workers
from pieces import note

beside.cores = lambda: 1
lasting = beside.Call(exec, ("import os; print(os.getpid(), file=open('processes', 'a'))",), beside.MOST // 4)
passing = beside.Call(note, (), 1)
"""


@pytest.mark.parametrize(
    ("calls", "processes"),
    [
        ("beside.compile_ahead([lasting] * 3, print)", [0, 0, 0]),
        ("beside.compile_ahead([lasting] * 6, print)", [0, 0, 0, 0, 1, 1]),  # a compiler gives no memory back
        ("beside.compile_ahead([passing] * 3, print)", [0, 0, 0]),
        ("for _ in range(2): beside.compile_ahead([lasting], print)", [0, 1]),
        ("beside.compile_elsewhere()\nfor _ in range(3): beside.compile_ahead([lasting], print)", [0, 0, 0]),
        ("beside.compile_elsewhere()\nfor _ in range(3): beside.compile_ahead([passing], print)", [0, 1, 2]),
        (
            "beside.compile_elsewhere()\nfor level in '233': os.environ['NUMBA_OPT'] = level; "
            "beside.compile_ahead([lasting], print)",
            [0, 1, 1],
        ),
        (
            "beside.compile_elsewhere()\nbeside.compile_ahead([lasting], print)\n"
            "if os.fork(): os.wait()\nbeside.compile_ahead([lasting], print)",
            [0, 1, 0],  # the child's and then its parent's, which keeps what is its own
        ),
    ],
)
def test_a_process_compiles_more_than_one_bundle_where_nothing_has_come_to_mean_something_else(
    tmp_path, calls, processes
):
    (tmp_path / "pieces.py").write_text("def note():\n    import os; print(os.getpid(), file=open('processes', 'a'))\n")
    said_in(tmp_path, NOTED + calls)
    found = (tmp_path / "processes").read_text().split()
    assert [list(dict.fromkeys(found)).index(process) for process in found] == processes


def test_what_cannot_be_handed_over_is_told(tmp_path):
    code = "from kernelcache import workers; beside.compile_ahead([beside.Call(print, (lambda: 0,), 1)], print)"
    said = said_in(tmp_path, code)
    assert said == "('print',) TypeError: a call of print cannot be handed to another process\n"


def test_what_a_job_reads_and_writes_is_not_taken_for_an_answer(tmp_path):
    job = "import os; assert os.read(0, 9) == b''; os.write(1, b'so'); print('it is')"
    code = f"from kernelcache import workers; beside.compile_ahead([beside.Call(exec, ({job!r},), 1)] * 2, print)"
    said = said_in(tmp_path, code)
    assert said == "\n\n"


def test_a_process_that_is_kept_goes_where_the_one_is_that_asks(tmp_path):
    code = (
        "import os\nfrom kernelcache import workers\nbeside.compile_elsewhere()\nbeside.cores = lambda: 1\n"
        "for folder in ('one', 'two'):\n    os.makedirs(folder)\n    os.chdir(folder)\n"
        '    beside.compile_ahead([beside.Call(exec, (\'open("here", "x").close()\',), 1)], print)\n'
    )
    said_in(tmp_path, code)
    assert sorted(str(found.relative_to(tmp_path)) for found in tmp_path.rglob("here")) == ["one/here", "one/two/here"]

"""Studies that are killed, short of room, started twice, moved in time, spread over threads, processes and Dask.

Whatever was done to it: the same command goes on, and its table equals that of a study that nothing disturbed.
"""

import os
import resource
import signal
import subprocess
import sys
import time
from functools import cache
from pathlib import Path

import pyarrow
import pyarrow.parquet

from experiments.studies import Study

from ..conftest import ROOT
from ..experiments.studies.store.test_orphans import children_of, is_alive
from .program import Program, quietly
from .row import Attempt, Row, SkipError, is_root, wait_until

_GAINS = """
[[parameter]]
name = "stiffness"
sets = ["controller.kp_position[0]", "controller.kp_position[1]"]
from = 10.0
to = 1000.0
scale = "log"
[[parameter]]
name = "damping"
sets = ["controller.kd_position[0]", "controller.kd_position[1]"]
as = "damping-ratio"
from = 0.2
to = 2.0
"""
FILES = {
    "sweep": """experiment = "thrown-block"
replicas = 15
set.run.duration = 0.1
vary.floor.mu_s = [0.6, 0.7, 0.8, 0.9]
""",
    "tune": f"""name = "small"
experiment = "stand-tilted"
seed = 3
set.run = {{ step = 2e-3, duration = 0.04 }}
tune = {{ optimizer = "cma", candidates = 12, batch = 6, replicas = 2, confirm = 4 }}
objective = [{{ metric = "position_error", fell = 1.0 }}]
{_GAINS}""",
    "threshold": """experiment = "balance"
replicas = 4
swept = { parameter = "push.impulse", label = "impulse" }
grid = { from = 0.0, to = 60.0, by = 20.0, tolerance = 5.0 }
set = { run.duration = 0.6, run.step = 0.002, push.start = 0.05 }
randomization = [{ parameters = ["initial.seed"], kind = "seed" }]
""",
    "sensitivity": f"""experiment = "balance"
seed = 1
set = {{ run.step = 0.002, run.duration = 0.1, push.start = 0.01, push.impulse = 4.0 }}
sensitivity = {{ method = "morris", samples = 10 }}
metric = [{{ name = "peak_torque", fell = "dropped" }}]
{_GAINS}""",
}
_MAP = ("push-map", "--directions", 3, "--replicas", 3, "--duration", 0.55, "--step", 0.002, "--to", 20, "--by", 10,
        "--tolerance", 5)  # fmt: skip
KINDS = (*FILES, "push-map")


def words_of(kind: str, folder: Path) -> list[object]:
    """The command of a study of this kind into this folder."""
    if kind in FILES:
        Path(f"{kind}.toml").write_text(FILES[kind], encoding="utf-8")
    return [*((kind, f"{kind}.toml") if kind in FILES else _MAP), "--out", folder, "--no-figures"]


@cache
def undisturbed(kind: str) -> tuple[pyarrow.Table, float]:
    """The table of such a study that nothing disturbed, with one worker, and how long it took [s]."""
    quietly(*words_of(kind, Path("here")), "--workers", 1)
    began = time.monotonic()
    program = Program(*words_of(kind, Path("there")), "--workers", 1).wait()
    assert program.status == 0, program.text
    return pyarrow.parquet.read_table("there/trials.parquet"), time.monotonic() - began


def goes_on(attempt: Attempt, kind: str, folder: Path, *more: object) -> None:
    """The same command finishes the study, whose table is that of an undisturbed one."""
    program = Program(*words_of(kind, folder), *more, seconds=60.0).wait()
    if program.judge(attempt, 0) == 0:
        table = pyarrow.parquet.read_table(folder / "trials.parquet")
        equal = table.equals(undisturbed(kind)[0], check_metadata=True)
        attempt.expect(equal, f"{kind} {more}: another table than undisturbed", "lost")


def stored(folder: Path) -> set[int]:
    """Trials that are in the study, if it is one yet."""
    return set(Study.read(folder).finished) if (folder / "study.json").exists() else set()


def backend(attempt: Attempt) -> tuple[object, ...]:
    """Threads mostly: processes and clusters take seconds to start."""
    name = str(attempt.random.choice(["threads", "loky", "dask"], p=[0.86, 0.1, 0.04]))
    return ("--backend", name, "--workers", int(attempt.random.integers(1, 4)))


def killed(attempt: Attempt) -> None:
    """Killed up to five times at random moments; nothing that was stored is gone, then it goes on to its end."""
    kind, where = attempt.one_of(*KINDS), backend(attempt)
    folder = Path("study").absolute()
    lasts = undisturbed(kind)[1] + (0.0 if where[1] == "threads" else 4.0)
    before: set[int] = set()
    for _ in range(attempt.random.integers(1, 6)):
        program = Program(*words_of(kind, folder), *where, seconds=60.0)
        time.sleep(float(attempt.one_of(0.02, 0.2, 1.0) * lasts * attempt.random.random()))
        number = attempt.one_of(signal.SIGKILL, signal.SIGKILL, signal.SIGTERM, signal.SIGINT)
        workers = children_of(program.pid)
        program.send(number)
        program.wait()
        ended = {signal.SIGKILL: (-9,), signal.SIGTERM: (143, -15), signal.SIGINT: (130,)}[number]
        program.judge(attempt, 0, *ended)
        gone = wait_until(lambda pids=workers: not any(map(is_alive, pids)), 180.0)
        attempt.expect(gone, f"{kind} {where}: workers live on after {number!r}", "hung")
        now = stored(folder)
        attempt.expect(before <= now, f"{kind} {where}: {sorted(before - now)} are gone", "lost")
        before = now
        attempt.tried += 1
        attempt.counts[f"{number.name} {'after the end' if program.status == 0 else kind + ' ' + str(where[1])}"] += 1
    goes_on(attempt, kind, folder, *where)


def worker_killed(attempt: Attempt) -> None:
    """A worker process is killed at a random moment: others run what it had, and the study ends as ever."""
    folder = Path("study").absolute()
    program = Program(*words_of("sweep", folder), "--backend", "loky", "--workers", 2, seconds=60.0)
    wait_until(lambda: len(children_of(program.pid)) >= 2 or program.has_ended(), 60.0)
    time.sleep(float(3.0 * attempt.random.random()))
    workers = sorted(children_of(program.pid))
    if workers:
        victim = attempt.one_of(*workers)
        attempt.counts["killed" if is_alive(victim) else "ended before"] += 1
        os.kill(victim, signal.SIGKILL)
    program.wait().judge(attempt, 0)
    goes_on(attempt, "sweep", folder)


def mounted(size: int) -> Path:
    """A file system of so many bytes."""
    place = Path("disk").absolute()
    place.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", str(place)]
    if not is_root() or sys.platform != "linux" or subprocess.run(command, capture_output=True).returncode:
        raise SkipError("no file system can be mounted by this user")
    return place


def full_disk(attempt: Attempt) -> None:
    """A disk of 0 to 900 kB runs full: told in a sentence; with room, or writable, again it goes on."""
    kind = attempt.one_of(*KINDS)
    undisturbed(kind)
    place = mounted(4096 * int(attempt.random.integers(1, 225)))
    try:
        options = ["remount,size=64m"]
        if attempt.chance(0.2):  # read-only from some moment on
            options = ["remount,rw,size=64m"]
            program = Program(*words_of(kind, place / "study"))
            time.sleep(float(undisturbed(kind)[1] * attempt.random.random()))
            subprocess.run(["mount", "-o", "remount,ro", str(place)], capture_output=True)
        else:
            program = Program(*words_of(kind, place / "study"))
        status = program.wait().judge(attempt, 0, 2)
        attempt.counts["fitted" if status == 0 else "full"] += 1
        if status == 2:
            attempt.expect("biped: error: " in program.text, program.text)
        subprocess.run(["mount", "-o", options[0], str(place)], check=True)
        goes_on(attempt, kind, place / "study")
    finally:
        subprocess.run(["umount", "-l", str(place)], check=False)


def short(attempt: Attempt) -> None:
    """Few descriptors, small files, or little memory: told in a sentence; without the limit it goes on."""
    kind, folder = attempt.one_of(*KINDS), Path("study").absolute()
    undisturbed(kind)
    what = attempt.one_of("descriptors", "file size", "memory")
    amount = int(attempt.random.integers(0, 60))
    used = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()

    def before() -> None:
        if what == "descriptors":
            resource.setrlimit(resource.RLIMIT_NOFILE, (3 + amount, 3 + amount))
        elif what == "file size":
            resource.setrlimit(resource.RLIMIT_FSIZE, (amount * 4000, amount * 4000))
        else:
            resource.setrlimit(resource.RLIMIT_AS, (used + amount * 10_000_000,) * 2)

    program = Program(*words_of(kind, folder), before=before).wait()
    status = program.judge(attempt, 0, 2)
    attempt.counts[f"{what}: {'enough' if status == 0 else 'short'}"] += 1
    goes_on(attempt, kind, folder)


def together(attempt: Attempt) -> None:
    """Two or three of the same command at once: one runs, the others are refused in a sentence."""
    kind, folder = attempt.one_of(*KINDS), Path("study").absolute()
    lasts, words = undisturbed(kind)[1], words_of(kind, folder)
    programs = []
    for _ in range(attempt.random.integers(2, 4)):
        programs.append(Program(*words, seconds=60.0))
        time.sleep(float(attempt.one_of(0.0, 0.05, 1.0) * lasts * attempt.random.random()))
    statuses = [program.wait().judge(attempt, 0, 2) for program in programs]
    attempt.expect(0 in statuses, statuses)
    for program in programs:
        if program.status == 2:
            attempt.expect("another program is writing to this study" in program.text, program.text)
    attempt.counts["refused"] += statuses.count(2)
    goes_on(attempt, kind, folder)


def clock_jumps(attempt: Attempt) -> None:
    """The clock jumps by years while it runs, is killed and goes on; its files are of the past and the future."""
    kind, folder = attempt.one_of(*KINDS), Path("study").absolute()
    lasts, seed = undisturbed(kind)[1], int(attempt.random.integers(2**31))
    real = time.time

    def jumping() -> float:
        return real() + ((int(real() * 50.0) * 2654435761 + seed) % 2_000_000_000) - 1e9

    def before() -> None:
        time.time = jumping

    program = Program(*words_of(kind, folder), before=before)
    time.sleep(float(lasts * attempt.random.random()))
    program.send(signal.SIGKILL)
    program.wait().judge(attempt, 0, -9)
    for path in folder.glob("*"):
        moved = jumping()
        os.utime(path, (moved, moved))
    program = Program(*words_of(kind, folder), before=before).wait()
    program.judge(attempt, 0)
    attempt.counts[kind] += 1
    goes_on(attempt, kind, folder)


def alike(attempt: Attempt) -> None:
    """A study of closed loops at random: 1 and 7 threads, 2 processes, Dask, the same rows bit for bit."""
    from .loops import drawn

    undisturbed("sweep")
    changes = {name: value for name, value in drawn(attempt).items() if name != "initial.seed"}
    lines = [f"{name!r} = {list(value) if isinstance(value, tuple) else value!r}" for name, value in changes.items()]
    vary = ["[vary]", "fall.tilt = [1.0, 1.2]"]
    text = "\n".join(['experiment = "balance"', "replicas = 4", "[set]", *lines, *vary])
    Path("alike.toml").write_text(text.replace("'", '"'), encoding="utf-8")
    tables = {}
    others = [("threads", 7), ("loky", 2), ("dask", 2)] if attempt.chance(0.1) else [("threads", 7)]
    for where, workers in [("threads", 1), *others]:
        words = ("sweep", "alike.toml", "--out", where + str(workers), "--no-figures", "--backend", where)
        program = Program(*words, "--workers", workers, seconds=60.0).wait()
        status = program.judge(attempt, 0, 1, 2)
        if status == 2:  # refused, for options that the law or the floor has not
            attempt.counts["refused"] += 1
            return
        tables[where, workers] = pyarrow.parquet.read_table(f"{where}{workers}/trials.parquet")
        attempt.counts[f"{where} {workers}"] += 1
    first = tables.pop(("threads", 1))
    attempt.tried = first.num_rows * len(tables)
    for (where, workers), table in tables.items():
        attempt.expect(table.equals(first, check_metadata=True), f"{text}\n{where} {workers}: another table")


#: Of the shortest that a closed loop can be, ten ticks: the study is what is tried.
_MILLION = """experiment = "balance"
replicas = 1000000
set.run = { duration = 0.02, step = 0.002 }
vary.floor.mu_s = [0.8]
"""


def million(attempt: Attempt) -> None:
    """One study of a million trials: ten minutes more of it, then Ctrl-C; it goes on with the next attempt."""
    folder = ROOT / "results" / "campaign" / "million"
    Path("million.toml").write_text(_MILLION, encoding="utf-8")
    before = stored(folder)
    words = ("sweep", "million.toml", "--out", folder, "--no-figures", "--workers", 1)
    program = Program(*words, seconds=3600.0)
    while not wait_until(program.has_ended, 600.0) and stored(folder) == before:
        pass  # it begins by making a list of a million
    memory = Path(f"/proc/{program.pid}/status").read_text() if not program.has_ended() else ""
    program.send(signal.SIGINT)
    program.wait(1200.0).judge(attempt, 0, 130)
    now = stored(folder)
    attempt.expect(before <= now, f"{len(before - now)} are gone", "lost")
    attempt.tried = len(now) - len(before)
    peak = next((int(line.split()[1]) // 1000 for line in memory.splitlines() if line.startswith("VmHWM")), 0)
    attempt.counts[f"of at most {-(-peak // 100) * 100} MB"] += attempt.tried


ROWS = (
    Row("kills", "SIGKILL, SIGTERM, SIGINT at random moments of sweeps, tunings, thresholds, sensitivities, push maps, "
        "up to five times each, on threads, loky, Dask; then the same command: the table of an undisturbed study, bit "
        "for bit; no workers live on", "kills", killed, 1000, 2, 60.0),
    Row("workers", "a worker process of loky is killed at a random moment", "kills", worker_killed, 0, 0),
    Row("disks", "a disk of 4 to 900 kB that runs full, or becomes read-only; then, with room, the same command",
        "disks", full_disk, 100, 1),
    Row("short", "few descriptors, small files, little memory; then, without the limit, the same command", "studies",
        short, 0, 1),
    Row("together", "two or three of the same command on one study at once", "studies", together, 0, 1),
    Row("clocks", "a clock that jumps by years (Python's), times of files in past and future, a kill between",
        "studies", clock_jumps, 0, 1),
    Row("alike", "studies of closed loops at random on 1 and 7 threads, some on 2 processes and Dask, bit for bit",
        "comparisons", alike, 0, 2),
    Row("million", "one study of a million trials, stopped and gone on with", "trials", million, 1_000_000, 0, 1800.0),
)  # fmt: skip

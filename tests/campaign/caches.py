"""Caches of compiled kernels that are damaged, swapped, another user's, written by two at once; another processor."""

import importlib.util
import json
import os
import sys
from pathlib import Path

from kernelcache import cache

from ..conftest import ROOT, run_python
from ..contact.test_cache import another_byte, empty, of_numba_itself, truncated, writable
from .inputs import other_bytes
from .program import Program
from .row import Attempt, Row, is_root

#: Three kernels, one of which calls the others; the file's name differs in each attempt, so that none is known.
_KERNELS = """from kernelcache import kernel, routine


@kernel
def cubed(x):
    return x * x * x + {factor}


@routine
def rooted(x):
    return (x + {factor}) ** 0.5


@routine
def summed(x):
    return cubed(x) - x / {factor}
"""
CALLED = ("rooted", "summed")
KEPT = (cache.BITCODE, cache.MACHINE_CODE)


def use(source: Path, folder: Path) -> Program:
    """A process that calls the kernels with this cache, and says what they give, to the last bit."""

    def work() -> int:
        os.environ["BIPED_CACHE_DIR"] = str(folder)
        cache.cache_folder.cache_clear()
        spec = importlib.util.spec_from_file_location(source.stem, source)
        module = importlib.util.module_from_spec(spec)
        sys.modules[source.stem] = module
        spec.loader.exec_module(module)
        print("gives", *(getattr(module, name)(1.7).hex() for name in CALLED))
        return 0

    return Program(source.name, work=work)


def given(program: Program, attempt: Attempt) -> str:
    program.wait().judge(attempt, 0)
    return next((line for line in program.text.splitlines() if line.startswith("gives ")), "nothing")


def theirs(path: Path) -> None:
    os.chown(path, 12345, 12345)


def linked(path: Path) -> None:
    elsewhere = path.with_suffix(".moved")
    path.rename(elsewhere)
    path.symlink_to(elsewhere)


def damaged(attempt: Attempt) -> None:
    """Files of the cache are damaged or swapped, or their owner or mode: the same bits, compiled again."""
    source, folder = Path(f"kernels_{os.urandom(4).hex()}.py").absolute(), Path("cache").absolute()
    source.write_text(_KERNELS.format(factor=repr(attempt.random.uniform(0.5, 2.0))), encoding="utf-8")
    programs = [use(source, folder) for _ in range(attempt.random.integers(1, 4))]  # into an empty cache at once
    first = {given(program, attempt) for program in programs}
    attempt.expect(len(first) == 1 and "nothing" not in first, f"{len(programs)} at once: {first}")
    attempt.counts[f"{len(programs)} at once"] += 1
    for _ in range(3):
        files = [path for path in folder.rglob("*") if path.suffix in KEPT and not path.is_symlink()]
        hurt = [truncated, empty, another_byte, of_numba_itself, writable, linked, "bytes", "swapped", "removed"]
        how = attempt.one_of(*hurt, *([theirs] if is_root() else []))
        victim, other = attempt.one_of(*files), attempt.one_of(*files)
        if how == "bytes":
            victim.write_bytes(other_bytes(attempt, victim.read_bytes()))
        elif how == "swapped":
            content = victim.read_bytes()
            victim.write_bytes(other.read_bytes())
            other.write_bytes(content)
        elif how == "removed":
            victim.unlink()
        else:
            how(victim)
        now = given(use(source, folder), attempt)
        attempt.expect({now} == first, f"{how}: {now} in place of {first}")
        attempt.tried += 1
        attempt.counts[how if isinstance(how, str) else how.__name__] += 1


_RUN = """
import json, sys
from experiments.catalogue.registry import experiment_named
from experiments.studies.trial import Trial, run_trial
changes = json.loads(sys.argv[1])
result = run_trial(experiment_named("balance"), Trial(0, changes))
print(json.dumps({name: value for name, value in result.items() if name not in ("wall_time", "real_time_factor")}))
"""


def other_processor(attempt: Attempt) -> None:
    """A closed loop compiled for any x86-64, without AVX or FMA: twice the same bits, and the same verdict as here."""
    changes = {"run.duration": 0.5, "run.step": 0.001, "push.start": 0.05, "push.duration": 0.05,
               "push.impulse": round(float(attempt.random.uniform(1.0, 6.0)), 3)}  # fmt: skip
    kept = ROOT / "results" / "campaign" / "kernels-x86-64"
    kept.mkdir(parents=True, mode=0o700, exist_ok=True)
    more = {"NUMBA_CPU_NAME": "x86-64", "NUMBA_CPU_FEATURES": "", "BIPED_CACHE_DIR": str(kept)}
    said = []
    for environment in ({}, more, more):
        done = run_python(_RUN, json.dumps(changes), **environment)
        attempt.expect(done.returncode == 0, done.stderr, "traceback")
        said.append(json.loads(done.stdout) if done.returncode == 0 else {})
    here, there, again = said
    attempt.expect(there == again, f"{changes}: two results on one processor")
    attempt.expect(here.get("verdict") == there.get("verdict"), f"{changes}: {here} but {there}")
    attempt.counts["the same bits as here" if here == there else "other bits than here"] += 1


ROWS = (
    Row("caches", "caches of kernels, written by up to three at once, then cut, flipped, swapped, linked, removed, "
        "another user's; the results to the last bit", "damages", damaged, 0, 1),
    Row("processor", "closed loops compiled for any x86-64: repeatable, and the same verdicts", "closed loops",
        other_processor, 0, 0, 600.0),
)  # fmt: skip

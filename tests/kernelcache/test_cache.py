"""Machine code is stored in a private folder, and compiled again if a file is damaged."""

import os
import re
import uuid

import pytest

from kernelcache import cache

from ..conftest import ROOT, run_python

DOUBLE = """
import importlib.util, sys
spec = importlib.util.spec_from_file_location("doubling", sys.argv[1])
module = importlib.util.module_from_spec(spec)
sys.modules["doubling"] = module
spec.loader.exec_module(module)
print(module.double(1.5), len(module.double.stats.cache_hits))
"""


@pytest.fixture
def source(tmp_path):
    file = tmp_path / "doubling.py"
    file.write_text("from kernelcache import routine\n\n\n@routine\ndef double(x):\n    return 2 * x\n")
    return file


def doubled(source, folder, *, code=DOUBLE, **more):
    """Return a routine's result in another process, whether it was in the cache, and the messages."""
    return run_python(code, str(source), **{"BIPED_CACHE_DIR": str(folder)} | more)


def files(folder):
    return sorted(folder.rglob("doubling.double-*.code"))


def test_folders_and_files_are_private(source, tmp_path):
    folder = tmp_path / "some" / "where"
    before = os.umask(0o002)
    try:
        first = doubled(source, folder)
    finally:
        os.umask(before)
    assert (first.stdout, first.stderr) == ("3.0 0\n", "")
    assert doubled(source, folder).stdout == "3.0 1\n"
    for path in folder.rglob("*"):
        assert path.stat().st_mode & 0o077 == 0, path


def chosen(tmp_path, monkeypatch, make):
    """Return the folder in use and the messages, after ``make`` has prepared the user's cache."""
    sentences = []
    monkeypatch.delenv("BIPED_CACHE_DIR", raising=False)
    monkeypatch.setattr(cache.platformdirs, "user_cache_path", lambda _: tmp_path / "cache")
    monkeypatch.setattr(cache, "say", sentences.append)
    make(tmp_path / "cache" / "biped-kernels")
    return cache.cache_folder.__wrapped__(), sentences


def test_without_obstacles_the_users_cache_serves(tmp_path, monkeypatch):
    folder, sentences = chosen(tmp_path, monkeypatch, lambda _: None)
    assert folder == tmp_path / "cache" / "biped-kernels"
    assert sentences == []


def test_a_folder_of_its_own_serves_a_process_where_the_users_cache_cannot(tmp_path, monkeypatch):
    def a_file(root):
        root.parent.mkdir()
        root.write_text("")

    folder, sentences = chosen(tmp_path, monkeypatch, a_file)
    assert folder.name.startswith("biped-kernels-")
    assert tmp_path not in folder.parents
    assert folder.stat().st_mode & 0o077 == 0
    assert len(sentences) == 1
    assert "cannot be saved" in sentences[0]


def test_what_nobody_used_for_a_month_goes(tmp_path, monkeypatch):
    """Unused are a file and a folder, also of earlier versions; the check runs once a day."""
    root = tmp_path / "cache" / "biped-kernels"

    def old(folder):
        for path in (folder / "old.code", folder / "new.code", folder / "0123456789abcdef" / "old.nbi"):
            path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            path.touch()
        folder.chmod(0o700)
        for path in (folder / "old.code", folder / "0123456789abcdef"):
            os.utime(path, (0, 0))

    chosen(tmp_path, monkeypatch, old)
    assert sorted(path.name for path in root.iterdir()) == ["cleaned", "new.code"]
    chosen(tmp_path, monkeypatch, old)
    assert (root / "old.code").exists()


def truncated(path):
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])


def empty(path):
    path.write_bytes(b"")


def another_byte(path):
    content = bytearray(path.read_bytes()) or bytearray(1)
    content[-min(100, len(content))] ^= 1
    path.write_bytes(content)


def of_numba_itself(path):
    """Write a file as Numba alone would, with a harmful pickle."""
    path.write_bytes(b"cos\nsystem\n(S'echo harm'\ntR.")


@pytest.mark.parametrize("damage", [truncated, empty, another_byte, of_numba_itself])
def test_what_is_damaged_is_compiled_again(source, tmp_path, damage):
    folder = tmp_path / "cache"
    doubled(source, folder)
    (path,) = files(folder)
    damage(path)
    again = doubled(source, folder)
    assert again.stdout == "3.0 0\n"
    assert again.stderr.startswith("biped: a cached kernel is invalid and compiled again: ")
    assert len(again.stderr.splitlines()) == 1
    last = doubled(source, folder)
    assert (last.stdout, last.stderr) == ("3.0 1\n", "")


def test_the_sound_file_of_another_kernel_is_not_taken(source, tmp_path):
    """The file is of the same function before an edit, as after a failed copy of a folder."""
    folder = tmp_path / "cache"
    doubled(source, folder)
    (before,) = files(folder)
    # Of another length: within one second, Python itself takes an edit of the same length for the file before it.
    source.write_text(source.read_text().replace("2 *", "3.0 *"))
    assert doubled(source, folder).stdout == "4.5 0\n"
    (after,) = (file for file in files(folder) if file != before)
    after.write_bytes(before.read_bytes())
    again = doubled(source, folder)
    assert again.stdout == "4.5 0\n"
    assert "compiled again" in again.stderr


def test_a_folder_that_goes_away_is_made_again(source, tmp_path):
    folder = tmp_path / "cache"
    late = DOUBLE.replace(
        "print(", "import shutil, os\nmodule.double(1)\nshutil.rmtree(os.environ['BIPED_CACHE_DIR'])\nprint("
    )
    found = doubled(source, folder, code=late)
    assert (found.stdout, found.stderr) == ("3.0 0\n", "")
    assert len(files(folder)) == 1


def test_code_of_another_cpu_is_not_taken(source, tmp_path):
    folder = tmp_path / "cache"
    doubled(source, folder)
    other = doubled(source, folder, NUMBA_CPU_NAME="generic", NUMBA_CPU_FEATURES="")
    assert (other.stdout, other.stderr) == ("3.0 0\n", "")
    assert doubled(source, folder).stdout == "3.0 1\n"


def test_code_of_another_numba_is_not_taken(source, tmp_path):
    folder = tmp_path / "cache"
    older = "import numba\nnumba.__version__ = '0.1'\n"
    assert doubled(source, folder, code=older + DOUBLE).returncode == 0
    assert doubled(source, folder).stdout == "3.0 0\n"
    assert len(files(folder)) == 2


CALLS = "from kernelcache import routine\nfrom other import triple\n\n\n@routine\ndef double(x): return triple(x)\n"
OTHER = "from kernelcache import kernel\n\n\n@kernel\ndef triple(x):\n    return {} * x\n"


def test_an_edit_of_another_file_is_seen(source, tmp_path):
    source.write_text(CALLS)
    path = os.pathsep.join([str(tmp_path), str(ROOT)])
    results = []
    for factor in (3, 3, 4):
        (tmp_path / "other.py").write_text(OTHER.format(factor))
        results.append(doubled(source, tmp_path / "cache", PYTHONPATH=path, PYTHONDONTWRITEBYTECODE="1").stdout)
    assert results == ["4.5 0\n", "4.5 1\n", "6.0 0\n"]


def test_an_edit_after_the_import_is_not_kept_for_the_new_text(source, tmp_path):
    """Code compiled from the old text is not used by a process with the new text."""
    source.write_text(CALLS)
    other = tmp_path / "other.py"
    more = {"PYTHONPATH": os.pathsep.join([str(tmp_path), str(ROOT)]), "PYTHONDONTWRITEBYTECODE": "1"}
    other.write_text(OTHER.format(3))
    late = DOUBLE.replace("print(", f"open({str(other)!r}, 'w').write({OTHER.format(4)!r})\nprint(")
    first = doubled(source, tmp_path / "cache", code=late, **more)
    assert (first.stdout, first.stderr) == ("4.5 0\n", "")
    assert doubled(source, tmp_path / "cache", **more).stdout == "6.0 0\n"


def symbols(source, tmp_path, factor):
    """Return the symbols of a routine and of a kernel it calls, in a process that has compiled them."""
    (tmp_path / "other.py").write_text(OTHER.format(factor))
    show = DOUBLE.replace("len(module.double.stats.cache_hits)", "*module.double.inspect_llvm().values()")
    more = {"PYTHONPATH": os.pathsep.join([str(tmp_path), str(ROOT)]), "PYTHONDONTWRITEBYTECODE": "1"}
    found = doubled(source, tmp_path / f"cache {factor} {uuid.uuid4()}", code=show, **more)
    return set(re.findall(r"@(_ZN\w*double\w*)", found.stdout))


def test_a_symbol_stands_for_the_same_code_in_all_processes(source, tmp_path):
    """Otherwise a process that loads code compiled by two others could confuse their symbols (numba#10486)."""
    source.write_text(CALLS)
    first = symbols(source, tmp_path, 3)
    assert first
    assert symbols(source, tmp_path, 3) == first
    assert not symbols(source, tmp_path, 4) & first


USES = """
import sys
import kernelcache, other, inlining
calls = {name: getattr(sys.modules[name.rpartition(".")[0]], name.rpartition(".")[2]) for name in sys.argv[1:]}
for function in calls.values():
    print(kernelcache.routine(lambda x: function(x))(1.5))
"""
INLINING = """
from kernelcache import kernel
from other import triple


@kernel
def sextuple(x):
    return 2 * triple(x)
"""


def test_kernels_that_were_compiled_by_different_processes_fit_together(tmp_path):
    """A kernel's file has only its own code; the kernels it calls may be written by other processes."""
    (tmp_path / "other.py").write_text(OTHER.format(3))
    (tmp_path / "inlining.py").write_text(INLINING)
    more = {"PYTHONPATH": os.pathsep.join([str(tmp_path), str(ROOT)]), "BIPED_CACHE_DIR": str(tmp_path / "cache")}

    def use(name):
        found = run_python(USES, name, **more)
        assert (found.stderr, found.returncode) == ("", 0)
        return found.stdout

    assert use("inlining.sextuple") == "9.0\n"
    (called,) = (tmp_path / "cache").rglob("other.triple-*.bitcode")
    called.unlink()
    assert use("other.triple") == "4.5\n"
    assert called.exists()
    assert use("inlining.sextuple") == "9.0\n"

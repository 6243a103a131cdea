"""The house itself: what is imported when, what stands in the repository, and that versions agree."""

import ast
import os
import re
import subprocess
import tomllib
from pathlib import Path

import pytest

import biped
from biped.inputs.extras import OPTIONAL

from .conftest import said_by

ROOT = Path(__file__).resolve().parent.parent
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
LARGEST_FILE = 1_000_000
HEAVY = {"numba", "llvmlite", "pandas", "pyarrow", "pinocchio", "scipy", "matplotlib", "rich", "numpy"}
# The one list of what is imported within functions. For a fast start: in all commands, and of packages anywhere
COMMAND_LINE = (
    "experiments/commands/", "experiments/cli/", "experiments/studies/threshold/command.py",
    "experiments/studies/threshold/policy_benchmark.py",
)  # fmt: skip
SLOW_TO_LOAD = {*HEAVY, "coal", "joblib", "dask", "msgspec"}  # the last comes with viser alone
# and modules of the project that load such packages, or an extra, or compile.
LATE = {
    "biped.errors": {"biped/inputs/extras.py", "experiments/catalogue/registry.py"},
    "formulations.lagrangian": {"experiments/work_precision/problems.py"},
    "formulations.lagrangian.integrate": {"formulations/lagrangian/system.py"},
    "formulations.mechanism.recording": {"formulations/mechanism/simulation.py"},
    "biped.records.read": {"biped/signals/signal.py"},
    "controllers.policy": {"experiments/catalogue/parameters/controllers.py"},
    "kernelcache": {"experiments/studies/store/header.py"},
    "experiments.benchmarks": {"experiments/benchmarks/measure.py"},
    "experiments.catalogue": {"experiments/catalogue/registry.py", "experiments/studies/config.py"},
    "experiments.lookup.open_registry": {"experiments/catalogue/registry.py"},
    "experiments.cli.machine": {"experiments/studies/store/header.py"},
    "experiments.papers.wendlandt_1997.screen_picture": {"experiments/papers/wendlandt_1997/experiment2.py"},
    "experiments.papers": {"experiments/papers/registry.py"},
    "experiments.studies": {"experiments/studies/threshold/findings.py"},
    "experiments.studies.store.sources": {"experiments/studies/store/header.py"},
    "experiments.visualization.viewer.surfaces": {"experiments/visualization/viewer/saved_runs.py"},
}


def tracked_files():
    """What git tracks or would; all that is there, where there is no git (a source archive)."""
    command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    try:
        listing = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    except (OSError, subprocess.CalledProcessError):
        pytest.skip("not a git checkout")
    return [path for name in listing.split("\0") if name and (path := ROOT / name).is_file()]


def test_importing_biped_is_light():
    loaded = set(said_by("import sys, biped; print(*{name.partition('.')[0] for name in sys.modules})").split())
    assert "biped" in loaded
    assert not loaded & HEAVY


def test_building_a_model_compiles_nothing_and_needs_no_tables():
    code = "import sys, biped; biped.human().tree; print(*{name.partition('.')[0] for name in sys.modules})"
    assert not set(said_by(code).split()) & (HEAVY - {"numpy"})


def test_show_loads_neither_pandas_nor_rotations():
    code = "import sys; from experiments.cli import main; main(['show', 'balance']); print(*sys.modules)"
    assert not {"scipy.spatial", "pandas"} & set(said_by(code).splitlines()[-1].split())


def test_make_writes_bytecode_where_the_environment_says_not_to():
    said = subprocess.run(
        ["make", "--no-print-directory", "--eval=shown: ; @echo _$$PYTHONDONTWRITEBYTECODE", "shown"],
        cwd=ROOT, env=os.environ | {"PYTHONDONTWRITEBYTECODE": "1"}, capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert said.stdout == "_\n"


def imported_within_functions(path):
    functions = (node for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))) if is_function(node))
    for node in (node for function in functions for node in ast.walk(function)):
        if isinstance(node, ast.ImportFrom):
            yield node.module
        elif isinstance(node, ast.Import):
            yield from (name.name for name in node.names)


def is_function(node):
    return isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))


def is_listed(module, file):
    if file.startswith(COMMAND_LINE) or module.partition(".")[0] in {*OPTIONAL, *SLOW_TO_LOAD}:
        return True
    return any(file in files and f"{module}.".startswith(f"{late}.") for late, files in LATE.items())


def test_imports_within_functions_are_those_of_one_list():
    files = [path.relative_to(ROOT).as_posix() for path in tracked_files()]
    sources = [
        file
        for file in files
        if re.fullmatch(r"(biped|contact|controllers|experiments|formulations|kernelcache)/.*\.py", file)
    ]
    found = [(module, file) for file in sources for module in imported_within_functions(ROOT / file)]
    assert len(found) > 100
    assert [pair for pair in found if not is_listed(*pair)] == []
    used = {file for _, file in found}
    assert {file for files in LATE.values() for file in files} <= used


@pytest.mark.parametrize("name", biped.__all__)
def test_every_public_name_is_there_and_documented(name):
    assert getattr(biped, name).__doc__


def test_the_version_is_the_same_everywhere():
    version = PROJECT["project"]["version"]
    citation = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    assert re.search(rf"^version: {re.escape(version)}$", citation, re.MULTILINE)
    assert f"## [{version}]" in (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    printed = said_by("import sys; sys.argv = ['biped', '--version']; from experiments.cli import main; main()")
    assert version in printed.split()


def test_the_licence_is_the_same_everywhere():
    identifier = PROJECT["project"]["license"]
    assert f"license: {identifier}\n" in (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    assert (ROOT / "LICENSE").read_text(encoding="utf-8").startswith("BSD 3-Clause License")


def test_constraints_pin_every_dependency_exactly():
    lines = (ROOT / "constraints.txt").read_text(encoding="utf-8").splitlines()
    pins = [line for line in lines if line and not line.startswith("#")]
    assert all(re.fullmatch(r"[\w.-]+==[\w.]+", pin) for pin in pins)
    pinned = {canonical(pin.partition("==")[0]) for pin in pins}
    needed = [
        *PROJECT["project"]["dependencies"],
        *(one for extra in PROJECT["project"]["optional-dependencies"].values() for one in extra),
    ]
    for requirement in needed:
        name = canonical(re.match(r"[\w.-]+", requirement)[0])
        assert name in {*pinned, PROJECT["project"]["name"]}, requirement


def test_no_hard_dependency_is_more_than_the_core_needs():
    names = {canonical(re.match(r"[\w.-]+", requirement)[0]) for requirement in PROJECT["project"]["dependencies"]}
    assert names == {
        "joblib", "lazy-loader", "matplotlib", "numba", "numpy", "pandas", "pin", "platformdirs", "pyarrow", "rich",
        "scipy",
    }  # fmt: skip


def canonical(name):
    return re.sub(r"[-_.]+", "-", name).lower()


def test_no_file_is_large():
    large = [str(path.relative_to(ROOT)) for path in tracked_files() if path.stat().st_size > LARGEST_FILE]
    assert not large


def test_nothing_names_an_index_or_a_machine():
    # Written in parts, so that this file does not name them either.
    hosts = ["py" + "pi.org", "python" + "hosted", "anaconda" + ".org", "registry." + "npmjs", "deb." + "debian"]
    words = [*hosts, "--index" + "-url", "/ho" + "me/", "/ro" + "ot/", "/wo" + "rk/", "/Us" + "ers/"]
    pattern = re.compile("|".join(map(re.escape, words)))
    stray = []
    for path in tracked_files():
        if path.suffix in (".png", ".svg", ".parquet", ".npz", ".gif", ".mat"):
            continue
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1):
            if pattern.search(line):
                stray.append(f"{path.relative_to(ROOT)}:{number}")
    assert not stray


def test_every_package_is_typed():
    for package in PROJECT["tool"]["importlinter"]["root_packages"]:
        assert (ROOT / package / "__init__.py").is_file()
        assert (ROOT / package / "py.typed").is_file(), f"{package}/py.typed is missing"

"""Optional packages: the core does without any of them, and what needs one says which command installs it."""

import json
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

import biped
from biped.errors import InputError, MissingExtraError
from biped.inputs.extras import OPTIONAL, command, missing, need
from experiments.engines.registry import ENGINES, engine_named

from .conftest import said_by

ROOT = Path(__file__).resolve().parent.parent
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
EXTRAS = PROJECT["optional-dependencies"]
#: Extras of extras, and tools that the project itself never imports.
GROUPS = ("all", "dev")
TOOLS = ("docs",)
#: Left out of both: several gigabytes, by torch.
LARGE = ("torch", "sb3")

REPORT, VIEW, TUNE = (f"pip install 'biped-balance[{extra}]'" for extra in ("report", "view", "tune"))

#: All but two: matplotlib needs Pillow too, and SciPy asks a hidden torch for its class of arrays.
ABSENT = [package for package in OPTIONAL if package not in ("PIL", "torch")]

#: What works without any of them, in this order; the first makes a run for the others.
WORKING = (
    "run box-drop --duration 0.05 --out run", "list", "show box-drop", "integrators", "reproduce", "export run --sto",
    "sweep sweep.toml --out swept",
)  # fmt: skip
#: And what does not, with the sentence that says why.
REFUSED = {
    "report run": f"pages need plotly: {REPORT}",
    "report run --notebook": f"pages need plotly: {REPORT}",
    "compare box-drop --quick": f"pages need plotly and jinja2: {REPORT}",
    "reproduce lee-2016 --quick": f"pages need jinja2: {REPORT}",
    "reproduce wendlandt-1997 table-2.1": "pages need jinja2 and Lagrangian systems need sympy: "
    "pip install 'biped-balance[report,lagrangian]'",
    "work-precision --quick": "pages need jinja2 and Lagrangian systems need sympy: "
    "pip install 'biped-balance[report,lagrangian]'",
    "view run": f"the viewer needs viser and trimesh and websockets: {VIEW}",
    "live box-drop": f"the viewer needs viser and trimesh and websockets: {VIEW}",
    "render run -o film.mp4": (
        f"the viewer needs viser and trimesh and websockets and films need imageio-ffmpeg: {VIEW}"
    ),
    "render run -o film.gif": f"the viewer needs viser and trimesh and websockets: {VIEW}",
    "render run -o film.html": f"the viewer needs viser and trimesh and websockets: {VIEW}",
    "tune tune.toml": f"tuning needs optuna and the optimizer cma needs cma: {TUNE}",
    "sensitivity sensitivity.toml": "sensitivity analysis needs SALib: pip install 'biped-balance[sensitivity]'",
    "export run --eurobench": "EUROBENCH's files need pyyaml: pip install 'biped-balance[export]'",
    "sweep sweep.toml --scheduler x:1": "a Dask scheduler needs distributed: pip install 'biped-balance[cluster]'",
}
#: The same from Python.
SNIPPETS = {
    "from experiments.visualization.report import write_report": ("pages need plotly", REPORT),
    "from experiments.visualization.pages import Page, render; render(Page('title'))": ("pages need jinja2", REPORT),
    "from formulations.lagrangian import System": (
        "Lagrangian systems need sympy",
        "pip install 'biped-balance[lagrangian]'",
    ),
    "import formulations.lagrangian; formulations.lagrangian.rigid_body()": (
        "Lagrangian systems need sympy",
        "pip install 'biped-balance[lagrangian]'",
    ),
    "import biped; biped.human().view()": ("the viewer needs trimesh", VIEW),
    "from experiments.visualization.viewer.serve import serving\nwith serving(): pass": (
        "the viewer needs viser and websockets",
        VIEW,
    ),
}

for engine in ENGINES:
    snippet = f"from experiments.engines.registry import engine_named; engine_named({engine!r}).start(None)"
    package = engine_named(engine).package
    SNIPPETS[snippet] = (f"{OPTIONAL[package].purpose} {OPTIONAL[package].installed}", command(package))
    assert f"the engine {engine} need" in OPTIONAL[package].purpose

#: Runs in a process of its own that finds none of the packages: commands first, then snippets.
ALONE = """
import contextlib, io, json, sys
packages, commands, snippets = json.loads(sys.stdin.read())
sys.modules.update(dict.fromkeys(packages))
from experiments.cli import main
told = {}
for command in commands:
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        status = main(command.split())
    told[command] = (status, err.getvalue())
for snippet in snippets:
    try:
        exec(snippet, {})
        told[snippet] = None
    except ImportError as error:
        told[snippet] = ([kind.__name__ for kind in type(error).__mro__], str(error))
print(json.dumps(told))
"""


@pytest.fixture(scope="module")
def told(tmp_path_factory):
    folder = tmp_path_factory.mktemp("alone")
    for name in ("tune.toml", "sensitivity.toml"):
        (folder / name).write_text((ROOT / "examples" / name).read_text(encoding="utf-8"), encoding="utf-8")
    (folder / "sweep.toml").write_text(
        'experiment = "box-drop"\n[set]\nrun.duration = 0.05\n[vary]\n"floor.mu_s" = [0.6, 0.8]\n', encoding="utf-8"
    )
    result = subprocess.run(
        [sys.executable, "-c", ALONE], input=json.dumps([ABSENT, [*WORKING, *REFUSED], list(SNIPPETS)]), cwd=folder,
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert result.returncode == 0, result.stderr
    return json.loads(result.stdout)


def canonical(requirement):
    return re.sub(r"[-_.]+", "-", re.match(r"[\w.-]+", requirement)[0]).lower()


def test_the_table_of_optional_packages_is_that_of_the_project():
    of_table = {}
    for optional in OPTIONAL.values():
        if optional.extra:
            of_table.setdefault(optional.extra, set()).add(canonical(optional.installed))
    of_project = {name: set(map(canonical, needed)) for name, needed in EXTRAS.items() if name not in (*GROUPS, *TOOLS)}
    assert of_table == of_project
    assert not set().union(*of_table.values()) & set(map(canonical, PROJECT["dependencies"]))


def test_everything_is_in_all_and_in_dev():
    own = set(EXTRAS) - {*GROUPS, *TOOLS, *LARGE}
    groups = {name: set(re.search(r"\[(.*)\]", EXTRAS[name][0])[1].split(",")) for name in GROUPS}
    assert groups == {"all": own, "dev": own}


def test_the_page_on_installing_lists_all_extras():
    rows = re.findall(r"^\| `(\w+)` \| (.*?) \|", (ROOT / "docs" / "install.md").read_text("utf-8"), re.MULTILINE)
    assert {name for name, _ in rows} == set(EXTRAS)


@pytest.mark.parametrize("command", WORKING)
def test_the_core_does_without_them(told, command):
    status, errors = told[command]
    assert status == 0, errors


@pytest.mark.parametrize("command", REFUSED)
def test_a_command_that_misses_one_says_how_to_install_it(told, command):
    status, errors = told[command]
    assert (status, errors.splitlines()[-1:]) == (2, [f"biped: error: {REFUSED[command]}"])


@pytest.mark.parametrize("snippet", SNIPPETS)
def test_python_that_misses_one_is_told_the_same(told, snippet):
    kinds, message = told[snippet]
    assert {"InputError", "ImportError"} <= set(kinds)
    assert message == ": ".join(SNIPPETS[snippet])


@pytest.mark.parametrize("package", OPTIONAL)
def test_each_is_told_by_itself(package, monkeypatch):
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(MissingExtraError) as told:
        need(package)
    assert str(told.value).endswith(f"{OPTIONAL[package].installed}: {command(package)}")
    assert isinstance(told.value, InputError)
    assert told.value.name == package


def test_other_imports_that_fail_are_no_missing_extras(monkeypatch):
    assert missing(ImportError("broken", name="numpy")) is None
    assert missing(ImportError("cannot import name 'Absent' from 'pandas'")) is None
    monkeypatch.setitem(sys.modules, "plotly", sys)  # it is there, and broken
    assert missing(ImportError("broken", name="plotly.graph_objects")) is None


def test_all_that_the_package_itself_offers_needs_none():
    code = f"import sys; sys.modules.update(dict.fromkeys({ABSENT!r}))\nimport biped, controllers, contact\n"
    code += "\n".join(f"biped.{name}" for name in biped.__all__)
    said_by(code)

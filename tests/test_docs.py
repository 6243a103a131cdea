"""The README and the pages of docs/: their Python runs, their commands and links exist.

The Python blocks of a page form one module, which runs in an empty folder. Blocks fenced as ``text`` do not run. The
cells of tutorials run when the site is built, not here.
"""

import importlib.util
import json
import re
import sys
import tomllib
from functools import cache
from pathlib import Path

import pytest

from biped.metrics import METRICS
from biped.runs.verdict import verdict_line
from experiments.cli import main
from experiments.visualization import SHEETS

from .conftest import said_by

ROOT = Path(__file__).resolve().parent.parent
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
DOCS = ROOT / "docs"
#: The page shown by package indexes, without the rest of the repository.
DESCRIPTION = ROOT / PROJECT["readme"]
PAGES = [ROOT / "README.md", DESCRIPTION, *sorted(DOCS.glob("*.md")), *sorted(DOCS.glob("tutorials/*.md"))]
#: A language, or a block that the site runs while it is built: {code-cell}, or {picture} with its path.
FENCE = re.compile(r"^```(\w*|\{[\w-]+\}.*)\s*$")
PACKAGES = "biped|contact|controllers|experiments|formulations|kernelcache"
LINK = re.compile(r"(?<!`)\[[^\]`]*\]\(([^)\s]+)\)")

pytestmark = pytest.mark.docs


def named(pages):
    return [pytest.param(page, id=str(page.relative_to(ROOT))) for page in pages]


@pytest.fixture(autouse=True)
def nothing_stays():
    metrics, sheets = dict(METRICS), list(SHEETS)
    yield
    METRICS.clear()
    METRICS.update(metrics)
    SHEETS[:] = sheets


def fenced(page):
    language = None
    for number, line in enumerate(page.read_text(encoding="utf-8").splitlines(), start=1):
        fence = FENCE.match(line)
        if fence and language is None:
            language = fence[1]
        elif line.startswith("```"):
            language = None
        elif language is not None:
            yield language, number, line
    assert language is None, f"{page}: a fence is left open"


def python_of(page):
    """Return the page's Python with its line numbers, for tracebacks."""
    lines = {number: line for language, number, line in fenced(page) if language == "python"}
    return "\n".join(lines.get(number, "") for number in range(1, max(lines, default=0) + 1))


def imported_by(page):
    lines = [line for language, _, line in fenced(page) if language in ("python", "{code-cell}")]
    source = page.read_text(encoding="utf-8") if page.suffix == ".py" else "\n".join(lines)
    return set(re.findall(rf"^(?:from|import) ((?:{PACKAGES})\b[\w.]*)", source, re.MULTILINE))


def commands_of(page):
    lines = [line for language, _, line in fenced(page) if is_shell(language)]
    return [line.split("#")[0].strip() for line in lines]


def is_shell(language):
    return language in ("sh", "console") or language.startswith("{picture}")


def has_command(page, program):
    return any(command.startswith(f"{program} ") for command in commands_of(page))


def links_of(page):
    inside = {number for _, number, _ in fenced(page)}
    lines = enumerate(page.read_text(encoding="utf-8").splitlines(), start=1)
    return [target for number, line in lines if number not in inside for target in LINK.findall(line)]


@pytest.mark.parametrize("page", named(page for page in PAGES if python_of(page)))
def test_examples_run(page, tmp_path, monkeypatch):
    module = f"example_{page.stem.lower().replace('-', '_')}"
    script = tmp_path / f"{module}.py"  # a file, because Numba caches no function that stands in none
    script.write_text(python_of(page) + "\n", encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    spec = importlib.util.spec_from_file_location(module, script)
    example = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, module, example)
    spec.loader.exec_module(example)


@cache
def help_of(*subcommand):
    return said_by("from experiments.cli import main; main()", *subcommand, "--help")


@pytest.mark.parametrize("page", named(page for page in PAGES if has_command(page, "biped")))
def test_commands_exist(page):
    for command in commands_of(page):
        if not command.startswith("biped "):
            continue
        words = command.split()[1:]
        if words[0].startswith("-"):
            assert words[0] in help_of()
            continue
        known = help_of(words[0])
        for option in [word.split("=")[0] for word in words if word.startswith("--")]:
            assert option in known, f"{command}: biped {words[0]} has no option {option}"


@pytest.mark.parametrize("page", named(page for page in PAGES if has_command(page, "make")))
def test_make_targets_exist(page):
    targets = re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE)
    for command in commands_of(page):
        if command.startswith("make "):
            assert command.split()[1] in targets, f"{page.name}: {command}"


@pytest.mark.parametrize("page", named(PAGES))
def test_links_lead_somewhere(page):
    for target in links_of(page):
        if not re.match(r"[a-z]+:|#", target):
            path = page.parent / target.split("#")[0]
            assert path.exists(), f"{page.relative_to(ROOT)}: {target} is not there"


def test_what_an_index_of_packages_shows_is_complete_by_itself():
    assert [target for target in links_of(DESCRIPTION) if not re.match(r"https?:", target)] == []


def test_every_page_is_in_the_index():
    index = (DOCS / "index.md").read_text(encoding="utf-8")
    names = [page.relative_to(DOCS).as_posix() for page in PAGES if page.is_relative_to(DOCS)]
    assert [name for name in names if name != "index.md" and f"({name})" not in index] == []


def script_of_docs(name):
    spec = importlib.util.spec_from_file_location(f"docs_{name}", DOCS / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_public_modules_are_those_that_the_documentation_imports_from():
    modules = script_of_docs("modules")
    assert modules.BLOCK.search(modules.PAGE.read_text(encoding="utf-8"))[0] == modules.table(), "make modules"
    assert {module for page in PAGES for module in imported_by(page)} == {*modules.PUBLIC}
    examples = sorted((ROOT / "examples").glob("*.py"))
    assert {module for example in examples for module in imported_by(example)} <= {*modules.PUBLIC}


def test_the_numbers_of_the_results_page_are_those_of_the_last_benchmark():
    numbers = script_of_docs("numbers")
    kept = json.loads(numbers.KEPT.read_text(encoding="utf-8"))
    assert numbers.BLOCK.search(numbers.PAGE.read_text(encoding="utf-8"))[0] == numbers.block_of(kept)


def judged_on(page):
    """Return, for each run on the page, the verdict above it and the options of ``biped run``."""
    text = page.read_text(encoding="utf-8")
    return re.findall(r"^`([^`\n]+)`$.*?^biped run ([^\n]+) --out \S+$", text, re.MULTILINE | re.DOTALL)


def without_numbers(line):
    return re.sub(r"\d[\d.e+]*", "#", line)


def test_each_film_is_of_the_verdict_that_it_is_said_to_be_of(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    films = judged_on(DOCS / "films.md")
    for line, options in films:
        main(["run", *options.split(), "--out", "run", "--quiet"])
        summary = json.loads(Path("run/summary.json").read_text(encoding="utf-8"))
        assert without_numbers(verdict_line(summary)).startswith(without_numbers(line)), options
    capsys.readouterr()
    assert {"fell", "lost control", "undecided", "unreliable", "failed"} < {line.partition(":")[0] for line, _ in films}

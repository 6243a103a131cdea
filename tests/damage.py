"""Saved runs and studies with one thing damaged, and what reading them comes to: a sentence, or a traceback.

A specimen is a folder; a damage is a file of it with another content. ``search`` draws damages from a seed, and asks of
each what reads such a folder: the door, and where that takes it, the commands behind it, all in this process.
``python -m tests.damage SECONDS [SEED]`` searches for so long and prints what it finds.
"""

import contextlib
import io
import json
import random
import shutil
import sqlite3
import sys
import tempfile
import time
import traceback
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from contact.errors import BipedError
from experiments.catalogue.registry import experiment_named
from experiments.cli.main import main
from experiments.studies.store.folder import DATABASE, Study
from experiments.studies.sweep.sweep import sweep
from experiments.visualization.report.run_source import load_run

#: In the place of any value: of other types; and one that says to leave it out.
MISSING = object()
OTHERS = (
    None, True, -1, 1.5, 1e308, "", "text", "x" * 100_000, [], ["a"], [[1.0]] * 3, {}, {"a": {"b": 1}}, MISSING,
)  # fmt: skip
#: [s] of the processor that one reading may take.
PATIENCE = 20.0
#: Columns of the trials' database that hold JSON.
TEXTS = ("labels", "varied", "changes", "result")

EXPERIMENT, CHANGES = "thrown-block", {"run.duration": 0.02}


@dataclass(frozen=True)
class Specimen:
    """A folder that is sound.

    Attributes:
        folder: where it is.
        door: reads it in Python.
        commands: words of the commands that read it; ``{folder}`` and ``{out}`` stand for folders.
    """

    folder: Path
    door: Callable[[Path], Any]
    commands: tuple[str, ...]


@dataclass(frozen=True)
class Damage:
    """A file with another content, or none.

    Attributes:
        file: its name.
        what: of it is damaged, in words.
        do: damages the file at a path.
    """

    file: str
    what: str
    do: Callable[[Path], None]


@dataclass(frozen=True)
class Finding:
    """A damage that was answered by no sentence."""

    damage: Damage
    command: str
    answer: str


def saved_run(folder: Path) -> Specimen:
    experiment_named(EXPERIMENT).run(CHANGES).save(folder)
    commands = (
        "report {folder} --out {out}/r.html",
        "export {folder} --csv --sto --eurobench --out {out}",
        "render {folder} -o {out}/r.html",
    )
    return Specimen(folder, load_run, commands)


def saved_study(folder: Path) -> Specimen:
    sweep(EXPERIMENT, {"floor.mu_s": [0.6, 0.7]}, CHANGES, out=folder)
    commands = (
        "report {folder} --out {out}/s.html", "rerun {folder} --list", "rerun {folder} 1 --no-figures --out {out}",
    )  # fmt: skip
    return Specimen(folder, lambda path: Study.read(path).frame(), commands)


def damages(specimen: Specimen, draw: random.Random) -> Iterator[Damage]:
    files = sorted(file for file in specimen.folder.iterdir() if file.is_file() and file.stat().st_size)
    while True:
        file = draw.choice(files)
        if file.suffix == ".json":
            yield _of_json(file, draw)
        elif file.name == DATABASE and draw.random() < 0.8:
            yield _of_database(draw)
        else:
            yield _of_bytes(file, draw)


def paths_in(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """All places in JSON, of lists the first and the last."""
    if path:
        yield path
    parts: Any = value.items() if isinstance(value, dict) else ()
    if isinstance(value, list):
        parts = {place: value[place] for place in (0, len(value) - 1) if value}.items()
    for key, part in parts:
        yield from paths_in(part, (*path, key))


def with_other(whole: Any, path: tuple[Any, ...], other: Any) -> Any:
    """A copy of JSON with another value at a place, or without that."""
    found = json.loads(json.dumps(whole))
    place = found
    for key in path[:-1]:
        place = place[key]
    if other is MISSING:
        del place[path[-1]]
    else:
        place[path[-1]] = other
    return found


def _drawn(text: str, draw: random.Random) -> tuple[str, str]:
    """JSON that is damaged, and how."""
    whole = json.loads(text)
    path, other = draw.choice(list(paths_in(whole))), draw.choice(OTHERS)
    words = "missing" if other is MISSING else repr(other)[:40]
    return json.dumps(with_other(whole, path, other)), f"{'.'.join(map(str, path))}: {words}"


def _of_json(file: Path, draw: random.Random) -> Damage:
    text, what = _drawn(file.read_text(encoding="utf-8"), draw)
    return Damage(file.name, what, lambda path: _write(path, text.encode()))


def _of_database(draw: random.Random) -> Damage:
    column, seed = draw.choice(TEXTS), draw.random()

    def do(path: Path) -> None:
        with contextlib.closing(sqlite3.connect(path)) as database:
            ((text,),) = database.execute(f"SELECT {column} FROM trials WHERE trial = 1").fetchall()
            damaged, _ = _drawn(text, random.Random(seed))
            database.execute(f"UPDATE trials SET {column} = ? WHERE trial = 1", (damaged,))
            database.commit()

    return Damage(DATABASE, f"{column} by {seed}", do)


def _of_bytes(file: Path, draw: random.Random) -> Damage:
    data = bytearray(file.read_bytes())
    if draw.random() < 0.3:
        size = draw.randrange(len(data))
        return Damage(file.name, f"cut to {size} bytes", lambda path: _write(path, bytes(data[:size])))
    flipped = [draw.randrange(len(data)) for _ in range(draw.choice((1, 8, 64)))]
    for place in flipped:
        data[place] ^= 1 << draw.randrange(8)
    return Damage(
        file.name, f"{len(flipped)} bits flipped, first at {flipped[0]}", lambda path: _write(path, bytes(data))
    )


def _write(path: Path, data: bytes) -> None:
    path.write_bytes(data)


def answers(specimen: Specimen, damage: Damage, *, commands: bool = True) -> Iterator[Finding]:
    """What reads a specimen with this damage and ends in something else than a sentence, or takes too long."""
    with tempfile.TemporaryDirectory() as passing:
        folder = shutil.copytree(specimen.folder, Path(passing) / "specimen")
        damage.do(folder / damage.file)
        try:
            specimen.door(folder)
        except (BipedError, OSError):
            commands = False
        except Exception:
            yield Finding(damage, "the door", traceback.format_exc())
        for words in specimen.commands if commands else ():
            said = words.format(folder=folder, out=Path(passing) / "out")
            began = time.process_time()
            try:
                with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
                    main(said.split())
            except Exception:
                yield Finding(damage, words, traceback.format_exc())
            if time.process_time() - began > PATIENCE:
                yield Finding(damage, words, f"took {time.process_time() - began:.0f} s")


def search(specimen: Specimen, seed: int, *, count: int, commands: bool = True) -> list[Finding]:
    """Findings of so many damages."""
    drawn = damages(specimen, random.Random(seed))
    return [found for _ in range(count) for found in answers(specimen, next(drawn), commands=commands)]


def _search_for(seconds: float, seed: int) -> int:
    with tempfile.TemporaryDirectory() as passing:
        specimens = [make(Path(passing) / make.__name__) for make in (saved_run, saved_study)]
        ends, count, lost = time.monotonic() + seconds, 0, 0
        while time.monotonic() < ends:
            for specimen in specimens:
                for found in search(specimen, seed + count, count=1):
                    lost += 1
                    print(f"{found.damage.file}: {found.damage.what}\n{found.command}\n{found.answer}", flush=True)
                count += 1
    print(f"{count} damages, {lost} without a sentence")
    return 1 if lost else 0


if __name__ == "__main__":
    sys.exit(_search_for(float(sys.argv[1]), int(sys.argv[2]) if sys.argv[2:] else 0))

"""Inputs that are mutated: command lines, TOML files, robots in URDF, MJCF and TOML, mechanisms, saved files.

Each is given to the command in a process of its own: it has to end well or in a sentence, within the limit.
"""

import os
import re
import shutil
import sqlite3
import tempfile
import warnings
from collections.abc import Callable
from contextlib import closing, suppress
from functools import cache
from pathlib import Path
from random import Random

from biped import State, simulate
from biped.model import load_robot
from contact.errors import BipedError
from experiments.studies.config import read_config
from experiments.studies.store.folder import DATABASE

from ..biped.model.test_mjcf import KINDS
from ..biped.model.test_robots import ROBOT
from ..conftest import ROOT
from ..damage import Specimen, damages
from .program import Program, quietly
from .row import Attempt, Row
from .studies import FILES

EXAMPLES = ROOT / "examples"
JUNK = (
    "", " ", "nan", "inf", "-inf", "-1", "0", "1e400", "1e-320", "1e30", "9" * 400, "-0.0", "0x10", "1_000", "1,2,3",
    ",", "true", "null", "[]", "{}", "[[", "[" * 3000, "a.a" * 2000, '"', "'", "\\", "=", "==", "=1", "x", "x" * 5000,
    "é", "٣", "\u202e", "\U0001f9cd", "\t", "--", "-", "-h", "--json", "%s", "{0}", "${HOME}", "*", "none", "None",
    "1deg", "90°", "1 N·s", "5%", "1e3s", "human", "trunk", "run.step", "&a;", "<a>", "]]>", "1 2 3", "0 0 0",
)  # fmt: skip
QUICK = ("--duration", "0.02", "--no-figures")
COMMANDS = (
    ("run", "balance", *QUICK, "--set", "push.impulse=8", "--set", "push.start=0.001", "--seed", "3"),
    ("run", "thrown-block", *QUICK, "--step", "0.002", "--integrator", "rigid", "--json"),
    ("run", "balance", *QUICK, "--controller", "joint-pd", "--set", "actuators.limit=60", "-v"),
    ("run", "tumble", *QUICK, "--set", "run.record_every=0.01", "--out", "there"),
    ("run", "box-drop", *QUICK, "--figures", "png", "--figure-width", "single"),
    ("run", "balance", *QUICK, "--gains", "gains.toml", "--set", "platform.motion=sine", "--set", "platform.start=0"),
    ("show", "balance", "--robot", "human.urdf"), ("show", "sit-to-stand"), ("list",), ("list", "--json"),
    ("integrators",), ("limits", "--no-figures"), ("example",), ("example", "sweep.toml"), ("completion", "bash"),
    ("sweep", "sweep.toml", "--workers", "2", "--no-figures", "--backend", "threads", "--counts", "fell,lost control"),
    ("threshold", "threshold.toml", "--workers", "1", "--no-figures", "--json"),
    ("tune", "tune.toml", "--workers", "1", "--no-figures", "-q"),
    ("mechanism", "closed-chain.trep", "--duration", "0.05", "--no-figures"),
    ("report", "run", "--out", "page.html"),
    ("export", "run", "--csv", "--sto", "--since", "0.01", "--out", "exported"),
    ("rerun", "study", "--list"), ("rerun", "study", "3", "--no-figures"),
    ("--version",), ("--help",), ("sweep", "--help"),
)  # fmt: skip
ROBOT_TOML = """name = "Walker"
urdf = "robot.urdf"
feet = ["left_foot", "right_foot"]
contacts = "collision"
locked = { wrist = 0.0, follow = 0.0, grasp = 0.0 }
posture = { "*_hip" = -0.3, "*_knee" = 0.6, "*_ankle" = -0.3 }
armature = 0.01
"""


@cache
def prepared() -> Path:
    """A folder with files to begin from, and a run and a study that are saved; the programs that are split off then
    have loaded what they need."""
    folder = Path(tempfile.mkdtemp(prefix="campaign-inputs-"))
    before = Path.cwd()
    os.chdir(folder)
    try:
        for name in ("gains.toml", "human.urdf", "closed-chain.trep"):
            shutil.copy(EXAMPLES / name, folder)
        for kind, text in FILES.items():
            Path(f"{kind}.toml").write_text(text.replace("replicas = 15", "replicas = 2"), encoding="utf-8")
        Path("robot.urdf").write_text(ROBOT, encoding="utf-8")
        Path("robot.xml").write_text(KINDS["several joints on a body"], encoding="utf-8")
        Path("robot.toml").write_text(ROBOT_TOML, encoding="utf-8")
        for words in (
            ("run", "balance", "--duration", "0.03", "--no-figures", "--out", "run"),
            ("sweep", "sweep.toml", "--no-figures", "--out", "study"),
        ):
            quietly(*words)
        for words in COMMANDS:
            quietly(*words)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            assert dropped("robot.urdf") == dropped("robot.xml") == 0
        for name in ("results", "there", "exported"):
            shutil.rmtree(name, ignore_errors=True)
    finally:
        os.chdir(before)
    return folder


def begin() -> None:
    shutil.copytree(prepared(), ".", dirs_exist_ok=True)


def mutated(attempt: Attempt, text: str) -> str:
    """A text with something cut out, doubled, moved, turned around, or put in."""
    random = attempt.random
    for _ in range(random.integers(1, 4)):
        i, j = sorted(int(random.integers(len(text) + 1)) for _ in range(2))
        j = min(j, i + int(random.integers(1, 40)))
        cut = text[i:j]
        match attempt.one_of("cut", "double", "junk", "junk", "value", "value", "value", "swap", "bit"):
            case "cut":
                text = text[:i] + text[j:]
            case "double":
                text = text[:j] + cut * int(random.integers(1, 4)) + text[j:]
            case "junk":
                text = text[:i] + attempt.one_of(*JUNK) + text[j:]
            case "swap":
                text = text[:i] + cut[::-1] + text[j:]
            case "bit" if cut:
                text = text[:i] + chr(ord(cut[0]) ^ (1 << int(random.integers(7)))) + text[i + 1 :]
            case "value":
                places = list(re.finditer(r"(?<![\w.])-?\d[\d.e+-]*|\"[^\"\n]*\"|\[[^\]\n]*\]", text))
                if places:
                    place = places[random.integers(len(places))]
                    text = text[: place.start()] + attempt.one_of(*JUNK) + text[place.end() :]
    return text


def harmless(word: str) -> str:
    """Nothing outside of the attempt's folder is written to, and no device waited for."""
    return word.replace("..", "").replace("/", "").replace("\0", "")


def give(attempt: Attempt, *words: str, work: Callable[[], int] | None = None) -> None:
    program = Program(*words, work=work).wait()
    status = program.judge(attempt, 0, 1, 2, 3)
    attempt.counts[f"status {status}"] += 1
    if status == 2:
        attempt.expect("biped" in program.text, f"{program.words}: without a sentence: {program.text}")


def command_line(attempt: Attempt) -> None:
    begin()
    words = list(attempt.one_of(*COMMANDS))
    for _ in range(attempt.random.integers(1, 4)):
        k = int(attempt.random.integers(len(words)))
        match attempt.one_of("drop", "double", "swap", "junk", "junk", "letters", "letters", "value"):
            case "drop":
                words.pop(k)
            case "double":
                words.insert(k, words[k])
            case "swap":
                other = int(attempt.random.integers(len(words)))
                words[k], words[other] = words[other], words[k]
            case "junk":
                words[k] = attempt.one_of(*JUNK)
            case "letters":
                words[k] = mutated(attempt, words[k])
            case "value":
                words[k] = words[k].partition("=")[0] + "=" + attempt.one_of(*JUNK)
        words = [harmless(word) for word in words] or ["--help"]
    if words[0] in ("view", "live", "bench", "warm", "reproduce"):  # these last
        words[0] = "list"
    give(attempt, *words)


def toml(attempt: Attempt) -> None:
    begin()
    kind = attempt.one_of(*FILES, "gains", "robot")
    file = Path(f"{kind}.toml")
    file.write_text(mutated(attempt, file.read_text(encoding="utf-8")), encoding="utf-8", errors="surrogatepass")
    attempt.counts[kind] += 1
    if kind == "gains":
        give(attempt, "run", "balance", *QUICK, "--gains", "gains.toml")
    elif kind == "robot":
        give(attempt, "show", "balance", "--robot", "robot.toml")
    elif asks_for_long(file):  # what takes long because it is to is no hang
        attempt.counts["left out: long trials"] += 1
    else:
        give(attempt, kind, str(file), "--no-figures", "--workers", "1", "--out", "study-of-it")


def asks_for_long(file: Path) -> bool:
    """Whether a study's file is sound, and its trials are to last for more than ten seconds, but not to be refused."""
    try:
        config = read_config(file)
        duration = config.table("set", {}).changes(config.experiment()).get("run.duration", 0.0)
    except BipedError:
        return False
    return 10.0 < duration < 1e6


def robot(attempt: Attempt) -> None:
    begin()
    name = attempt.one_of("human.urdf", "robot.urdf", "robot.xml", "closed-chain.trep")
    text = Path(name).read_text(encoding="utf-8")
    if attempt.chance(0.1):
        text = f'<!DOCTYPE a [<!ENTITY a "{"x" * 99}"><!ENTITY b SYSTEM "file:///etc/hostname">]>' + text
        text = text.replace('"robot', f'"&{attempt.one_of("a", "b")};robot').replace("0.0", "&b;", 1)
    Path(name).write_text(mutated(attempt, text), encoding="utf-8", errors="surrogatepass")
    attempt.counts[name] += 1
    if name.endswith("trep"):
        give(attempt, "mechanism", name, "--duration", "0.01", "--no-figures")
    elif name == "human.urdf":
        words = ("show", "balance") if attempt.chance(0.7) else ("run", "balance", *QUICK)
        give(attempt, *words, "--robot", name)
    else:
        give(attempt, name, work=lambda: dropped(name))


def dropped(name: str) -> int:
    """A robot that is loaded and let fall, or refused: as the command ends."""
    try:
        model = load_robot(name)
        simulate(model, None, state=State.at(model, model.neutral()), duration=0.01)
    except BipedError as error:
        print("biped:", error)
        return 2
    return 0


# --- saved files ---


def saved(attempt: Attempt) -> None:
    """A file of a run or of a study with other bytes, or with values of other types, or none."""
    begin()
    folder = Path(attempt.one_of("run", "study"))
    if folder.name == "study" and attempt.chance(0.2):
        change_rows(attempt, folder / DATABASE)
    elif attempt.chance(0.2):
        file = attempt.one_of(*sorted(path for path in folder.iterdir() if path.is_file()))
        file.write_bytes(other_bytes(attempt, file.read_bytes()))
        attempt.counts["bytes"] += 1
    else:
        drawn = damages(Specimen(folder, lambda path: path, ()), Random(int(attempt.random.integers(2**31))))
        damage = next(drawn)
        damage.do(folder / damage.file)
        attempt.counts[damage.file] += 1
    if folder.name == "run":
        use = attempt.one_of(("report", "run"), ("export", "run", "--csv", "--eurobench", "--out", "out"))
    else:
        again = ("sweep", "sweep.toml", "--no-figures", "--out", "study")
        listed, rerun = ("rerun", "study", "--list"), ("rerun", "study", "1", "--no-figures")
        use = attempt.one_of(("report", "study"), listed, rerun, again)
    give(attempt, *use)


def change_rows(attempt: Attempt, file: Path) -> None:
    """The same wrong value in all trials."""
    attempt.counts["all rows"] += 1
    with closing(sqlite3.connect(file)) as database:
        columns = [row[1] for row in database.execute("pragma table_info('trials')")]
        value = attempt.one_of(None, -1, 2**40, "x", b"\xff\x00", "[" * 2000, "{}", "null", 1e300)
        with suppress(sqlite3.IntegrityError):
            database.execute(f"update trials set {attempt.one_of(*columns)} = ?", (value,))
        database.commit()


def other_bytes(attempt: Attempt, content: bytes) -> bytes:
    random = attempt.random
    i = int(random.integers(len(content) + 1))
    match attempt.one_of("cut", "flip", "flip", "noise", "empty", "zeros"):
        case "cut":
            return content[:i]
        case "flip" if content:
            changed = bytearray(content)
            for k in random.integers(len(content), size=random.integers(1, 9)):
                changed[k] ^= 1 << int(random.integers(8))
            return bytes(changed)
        case "noise":
            return content[:i] + random.bytes(64) + content[i + 64 :]
        case "zeros":
            return content[:i] + bytes(len(content) - i)
    return b""


ROWS = (
    Row("commands", "command lines with words dropped, doubled, swapped, and spoilt", "command lines", command_line,
        2500, 12),
    Row("toml", "TOML of sweeps, tunings, thresholds, sensitivities, gains, robots, mutated", "files", toml, 2500, 10),
    Row("robots", "URDF, MJCF, Listing 1's notation, mutated; entities", "files", robot, 2500, 10),
    Row("saved", "files of saved runs and studies: bytes, values of other types, rows; then reported, "
        "exported, listed, rerun, gone on with", "folders", saved, 2500, 12),
)  # fmt: skip

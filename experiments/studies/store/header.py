"""``study.json``: contents of a study, and the programs and machines that computed it."""

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from biped.errors import InputError
from biped.inputs.files import replace_file
from experiments.lookup.open_registry import digest_at

FORMAT = 3


@dataclass
class Header:
    """Header of a study: everything that determines its trials, and its sessions."""

    kind: str  # kind of study, such as ``sweep``
    experiment: str
    configuration: dict[str, Any]  # everything that determines the trials
    varied: tuple[str, ...] = ()  # parameters that are columns
    units: dict[str, str] = field(default_factory=dict)  # units by column
    metrics: tuple[str, ...] | None = None  # stored metrics; None for all
    seed: int | None = None
    controller: str | None = None  # name of a controller other than the experiment's own
    robot: str | None = None  # name of a robot other than the human
    metric_files: tuple[str, ...] = ()  # files of user metrics
    sources: dict[str, str] = field(default_factory=dict)  # digests of user files
    #: versions and machine of each program that wrote to it, and the number of trials at its start
    sessions: list[dict[str, Any]] = field(default_factory=list)

    @classmethod
    def load(cls, path: Path) -> "Header":
        """Read a header; raises InputError if it is damaged, or of another format."""
        try:
            data = json.loads(path.read_text(encoding="utf-8"))
            found = data.pop("format")
            if found != FORMAT:
                raise InputError(f"{path}: format {found!r}, but this version reads {FORMAT}: run the study again")
            header = cls(**data)
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            if isinstance(error, InputError):
                raise
            raise InputError(f"{path}: damaged, or not a study's ({error})") from None
        header.varied, header.metric_files = tuple(header.varied), tuple(header.metric_files)
        header.metrics = None if header.metrics is None else tuple(header.metrics)
        return header

    def save(self, path: Path) -> None:
        text = json.dumps({"format": FORMAT, **asdict(self)}, indent=2, allow_nan=False, ensure_ascii=False)
        replace_file(path, (text + "\n").encode())

    def add_session(self, finished: int) -> None:
        now = stamp()
        last = self.sessions[-1] if self.sessions else {}
        if any(last.get(key) != now[key] for key in now if key not in ("date", "load")):
            self.sessions.append({"finished_before": finished, **now})


def stamp() -> dict[str, Any]:
    """Return all on which a result's last digit depends: machine, versions, commit, kernels."""
    from experiments.cli.machine import stamp as machine
    from experiments.studies.store.sources import sources_digest
    from kernelcache import target_name

    return {**machine(), "target": target_name(), "kernels": sources_digest()}


def difference(there: Header, wanted: Header) -> str:
    """Return the first difference between an existing study and the desired one; empty if there is none."""
    for name in ("kind", "experiment", "controller", "seed"):
        if getattr(there, name) != getattr(wanted, name):
            return f"its {name} is {getattr(there, name)!r}, not {getattr(wanted, name)!r}"
    changed = edited(there, wanted.sources)
    if changed:
        return f"{changed[0]} {'has been edited since' if digest_at(changed[0]) else 'is gone'}"
    found = _differences(there.configuration, json.loads(json.dumps(wanted.configuration, allow_nan=False)))
    more = f" (and {len(found) - 1} more)" if len(found) > 1 else ""
    return f"{found[0]}{more}" if found else ""


def edited(header: Header, sources: Mapping[str, str]) -> list[str]:
    """Return names of files that changed since the study began and are not among ``sources`` now."""
    moved = [digest for name, digest in sources.items() if name not in header.sources]
    known = header.sources.items()
    return [name for name, digest in known if digest not in (*moved, sources.get(name), digest_at(name))]


def _differences(there: Any, wanted: Any, path: str = "") -> list[str]:
    """Return a sentence for each leaf in which two configurations differ."""
    if not (isinstance(there, Mapping) and isinstance(wanted, Mapping)):
        same = there == wanted and isinstance(there, bool) == isinstance(wanted, bool)
        return [] if same else [f"its {path} is {there!r}, not {wanted!r}"]
    found = []
    for key in dict.fromkeys([*there, *wanted]):
        place = f"{path}.{key}" if path else str(key)
        if key not in there:
            found.append(f"{place} = {wanted[key]!r} is new")
        elif key not in wanted:
            found.append(f"{place} = {there[key]!r} is not asked for now")
        else:
            found += _differences(there[key], wanted[key], place)
    return found

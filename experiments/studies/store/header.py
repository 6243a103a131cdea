"""``study.json``: configuration of a study, and the versions and machines that computed it."""

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
    """Header of a study: everything that determines its trials, and the sessions in which they were run."""

    kind: str  # kind of study, such as ``sweep``
    experiment: str  # address of the experiment
    configuration: dict[str, Any]  # everything that determines the trials
    varied: tuple[str, ...] = ()  # parameters that are columns of the table
    units: dict[str, str] = field(default_factory=dict)  # units by column
    metrics: tuple[str, ...] | None = None  # stored metrics; None for all
    seed: int | None = None
    controller: str | None = None  # name of the controller; None for the experiment's own
    robot: str | None = None  # name of the robot; None for the human
    metric_files: tuple[str, ...] = ()  # files of user metrics
    sources: dict[str, str] = field(default_factory=dict)  # digests of user files by path
    #: for each session that wrote to the study: versions, machine, and number of trials finished before it
    sessions: list[dict[str, Any]] = field(default_factory=list)

    @classmethod
    def load(cls, path: Path) -> "Header":
        """Read a header; raises InputError if the file is damaged, or has another format."""
        try:
            data = json.loads(path.read_text(encoding="utf-8"))
            version = data.pop("format")
            if version != FORMAT:
                raise InputError(f"{path}: format {version!r} is not this version's, {FORMAT}: run the study again")
            header = cls(**data)
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            if isinstance(error, InputError):
                raise
            raise InputError(f"{path}: damaged, or not the header of a study ({error})") from None
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
    """Return what the last digits of results depend on, by name: machine, versions, commit, kernels."""
    from experiments.cli.machine import stamp as machine
    from experiments.studies.store.sources import sources_digest
    from kernelcache import target_name

    return {**machine(), "target": target_name(), "kernels": sources_digest()}


def difference(there: Header, planned: Header) -> str:
    """Return text on the first difference between an existing study and a planned one; empty if there is none."""
    for name in ("kind", "experiment", "controller", "seed"):
        if getattr(there, name) != getattr(planned, name):
            return f"its {name} is {getattr(there, name)!r}, not {getattr(planned, name)!r}"
    changed = edited(there, planned.sources)
    if changed:
        return f"{changed[0]} {'has been edited since' if digest_at(changed[0]) else 'no longer exists'}"
    texts = _differences(there.configuration, json.loads(json.dumps(planned.configuration, allow_nan=False)))
    more = f" (and {len(texts) - 1} more)" if len(texts) > 1 else ""
    return f"{texts[0]}{more}" if texts else ""


def edited(header: Header, sources: Mapping[str, str]) -> list[str]:
    """Return paths of user files that changed since the study began; a moved file with equal content has not."""
    moved = [digest for name, digest in sources.items() if name not in header.sources]
    known = header.sources.items()
    return [name for name, digest in known if digest not in (*moved, sources.get(name), digest_at(name))]


def _differences(there: Any, planned: Any, path: str = "") -> list[str]:
    """Return a text for each entry in which two configurations differ."""
    if not (isinstance(there, Mapping) and isinstance(planned, Mapping)):
        same = there == planned and isinstance(there, bool) == isinstance(planned, bool)
        return [] if same else [f"its {path} is {there!r}, not {planned!r}"]
    texts = []
    for key in dict.fromkeys([*there, *planned]):
        place = f"{path}.{key}" if path else str(key)
        if key not in there:
            texts.append(f"{place} = {planned[key]!r} is new")
        elif key not in planned:
            texts.append(f"it has {place} = {there[key]!r}, which is not set now")
        else:
            texts += _differences(there[key], planned[key], place)
    return texts

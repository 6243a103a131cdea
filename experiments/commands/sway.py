"""``biped sway``: measures of sway from force-plate records, a row for each file."""

from argparse import Namespace
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from biped.errors import InputError
from experiments.cli.failures import FAILURE, UNSOLVED, describe
from experiments.cli.main import Parser, fail
from experiments.cli.progress import ProgressBar
from experiments.cli.reply import reply

if TYPE_CHECKING:
    import pandas as pd

    from biped.records import Record

_DESCRIPTION = """\
Measure the sway of quiet stance in records of force plates: distances, velocity, area, frequencies, sway density and
stabilogram diffusion of the centre of pressure, a row for each file. Columns of a metadata table go beside them, so
that `biped statistics` can compare groups and conditions."""

_EXAMPLES = """\
examples:
  biped sway trials/*.csv                          columns cop_ap and cop_ml
  biped sway BDS*.txt --ap COPx --ml COPy --filter 10
  biped sway BDS*.txt --ap COPx --ml COPy --groups BDSinfo.txt --key Trial --out sway.csv
  biped sway plate.csv --plate Fx,Fy,Fz,Mx,My,Mz --ap cop_x --ml cop_y
  biped sway old.txt --ap x --ml y --rate 50 --units x=mm,y=mm
  biped statistics sway.csv --metric mean_velocity,area --within Vision --subject Subject

Results are in SI units and degrees; docs/sway.md defines the measures. Measures that a record does not allow are empty.
Exit status: 0 done, 1 a file could not be measured (all others are in the table), 2 bad input, or no file could be
measured.
"""

#: [N] A plate that bears less has no centre of pressure.
LEAST_FORCE = 20.0
#: [m] A centre of pressure below two feet does not range over more.
WIDEST = 0.5
_PLATE = ("fx", "fy", "fz", "mx", "my", "mz")
#: Of the printed table: headings, and by how much a measure is multiplied.
_SHOWN = {
    "duration": ("duration [s]", 1.0),
    "rms_distance_ap": ("RMS AP [mm]", 1e3),
    "rms_distance_ml": ("RMS ML [mm]", 1e3),
    "mean_velocity": ("velocity [mm/s]", 1e3),
    "area": ("area [mm²]", 1e6),
    "power_frequency_50_ap": ("PF50 AP [Hz]", 1.0),
    "power_frequency_95_ap": ("PF95 AP [Hz]", 1.0),
    "critical_time": ("critical time [s]", 1.0),
}


def parser() -> Parser:
    own = Parser("biped sway", _DESCRIPTION, _EXAMPLES)
    own.add_argument("files", metavar="FILE", nargs="+", help="records: CSV, TSV, text, C3D, .mot, .sto, .mat")
    own.option("--ap", "COLUMN", "anteroposterior centre of pressure", "cop_ap")
    own.option("--ml", "COLUMN", "mediolateral centre of pressure", "cop_ml")
    own.option(
        "--plate", "COLUMNS", "forces and moments fx,fy,fz,mx,my,mz of a plate, from which cop_x and cop_y follow"
    )
    own.option("--surface", "Z", "of --plate: z [m] of the plate's surface, from the origin of the moments", 0.0)
    own.option("--time", "COLUMN", "times of the samples", "time")
    own.option("--rate", "HZ", "sampling rate of files without times", float)
    own.option("--units", "LIST", "units where files do not say them, such as COPx=mm,COPy=mm")
    own.option("--gaps", "S", "longest gap that is bridged by straight lines", 0.0)
    own.option("--filter", "HZ", "cut-off of a low-pass filter of fourth order without delay; 0 is none", 0.0)
    own.option("--resample", "HZ", "rate at which the filtered record is sampled anew; 0 keeps its own", 0.0)
    own.option("--begin", "S", "time of the record from which on it counts (default: its first)", float)
    own.option("--end", "S", "time of the record up to which it counts (default: its last)", float)
    own.option("--groups", "TABLE", "metadata, a row for each file: .csv, .tsv, .txt or .parquet")
    own.option("--key", "COLUMN", "column of the metadata with the files' names (default: the first that has any)")
    own.option("--out", "TABLE", "file for the results: .csv or .parquet", "results/sway.csv")
    own.add_forms()
    return own


def main(options: Namespace) -> int:
    import pandas as pd

    from experiments.cli.output import writable_folder
    from experiments.cli.terminal import print_table, say

    out, files = Path(options.out), [Path(file) for file in options.files]
    if out.suffix.lower() not in (".csv", ".parquet"):
        raise InputError(f"--out {out}: the table of results must be a file .csv or .parquet")
    units, plate = _pairs(options.units), _plate(options.plate)
    groups = _groups(Path(options.groups), options.key, files) if options.groups else {}
    writable_folder(out.parent)
    rows: list[dict[str, Any]] = []
    notes: dict[str, list[str]] = {}
    with ProgressBar(len(files), "measuring", "files", counts=True) as bar:
        for done, file in enumerate(files, start=1):
            try:
                row, remarks = _measured(file, options, units, plate)
                rows.append({"file": str(file), **(_group_of(file, groups, row) if options.groups else {}), **row})
            except Exception as error:
                message = describe(error)
                if message is None:
                    raise
                fail(message if str(file) in message else f"{file}: {message}", FAILURE)
                remarks = []
            for remark in remarks:
                notes.setdefault(remark, []).append(str(file))
            bar(done)
    if not rows:
        return FAILURE
    table = pd.DataFrame(rows)
    _write(table, out)
    reply({"trials": table, "notes": notes, "file": str(out)})
    shown = {name: text for name, (text, _) in _SHOWN.items() if name in table}
    cells = [[row["file"], *(_cell(row[name], _SHOWN[name][1]) for name in shown)] for row in table.to_dict("records")]
    print_table(["file", *shown.values()], cells)
    for remark, of in notes.items():
        more = f" and {len(of) - 3} more" if len(of) > 3 else ""
        say(f"{', '.join(of[:3])}{more}: {remark}", "yellow")
    say(f"{out}: {len(table)} files, {len(table.columns)} columns", "cyan")
    return UNSOLVED if len(rows) < len(files) else 0


def _measured(
    file: Path, options: Namespace, units: Mapping[str, str], plate: Sequence[str]
) -> tuple[dict[str, float], list[str]]:
    """The measures of a file, and remarks about what was assumed and what is missing."""
    from biped.metrics.posturography.trial import trial_measures
    from biped.records import Preparation, read_record

    record = read_record(file, time=options.time, rate=options.rate, units=units)
    if plate:
        record = _with_pressure(record, plate, options.surface)
    begin = float(record.time[0]) if options.begin is None else options.begin
    end = float("inf") if options.end is None else options.end
    prepared = Preparation(gaps=options.gaps, filter=options.filter, resample=options.resample, begin=begin, end=end)
    columns, notes = [], []
    for name in (options.ap, options.ml):
        if name not in record.columns:
            remedy = "name the centre of pressure by --ap and --ml, or forces and moments by --plate"
            raise InputError(f"{file}: no column {name!r}; columns are {', '.join(record.columns)}: {remedy}")
        time, values = prepared(record, name, "m")
        if not record.units[name]:
            spans = float(values.max() - values.min())
            if spans > WIDEST:
                raise InputError(
                    f"{file}, column {name}: it has no unit, and would range over {spans:.3g} m: say its unit, such as "
                    f"--units {name}=mm"
                )
            notes.append(f"{name} has no unit: it is taken to be in m; --units says another")
        columns.append(values)
    found = trial_measures(time, *columns)
    row = {"duration": float(time[-1] - time[0]), "rate": float((len(time) - 1) / (time[-1] - time[0]))}
    return row | found.measures, notes + found.notes


def _with_pressure(record: "Record", plate: Sequence[str], surface: float) -> "Record":
    """The record with ``cop_x`` and ``cop_y`` [m] of a plate, NaN where it bears less than 20 N."""
    import numpy as np

    fx, fy, fz, mx, my, _ = (
        record.converted(name, "N" if kind.startswith("f") else "N*m") for name, kind in zip(plate, _PLATE, strict=True)
    )
    borne = np.where(np.abs(fz) >= LEAST_FORCE, fz, np.nan)
    pressure = {"cop_x": (surface * fx - my) / borne, "cop_y": (surface * fy + mx) / borne}
    return replace(
        record, columns={**record.columns, **pressure}, units={**record.units, **dict.fromkeys(pressure, "m")}
    )


def _plate(text: str | None) -> list[str]:
    names = [name.strip() for name in text.split(",")] if text else []
    if names and len(names) != len(_PLATE):
        raise InputError(f"--plate {text}: it must name six columns, in the order {','.join(_PLATE)}")
    return names


def _pairs(text: str | None) -> dict[str, str]:
    pairs = [part.partition("=") for part in text.split(",")] if text else []
    if not all(name and equals and unit for name, equals, unit in pairs):
        raise InputError(f"--units {text}: it must be columns and their units, such as COPx=mm,COPy=mm")
    return {name.strip(): unit.strip() for name, _, unit in pairs}


def _groups(path: Path, key: str | None, files: Sequence[Path]) -> dict[str, list[dict[str, Any]]]:
    """The rows of a table of metadata, by the names of files, without folders."""
    from experiments.statistics.table import check_columns, read_table

    table = read_table(path)
    wanted = {name for file in files for name in (file.name, file.stem)}
    if key is None:
        key = next((name for name in table if wanted & set(map(_name_of, table[name]))), None)
        if key is None:
            raise InputError(f"{path}: no column has the name of a file, such as {files[0].stem}: name it by --key")
    check_columns(table, [key])
    found: dict[str, list[dict[str, Any]]] = {}
    for row in table.to_dict("records"):
        found.setdefault(_name_of(row[key]), []).append(row)
    return found


def _name_of(value: object) -> str:
    return Path(str(value)).name


def _group_of(file: Path, groups: Mapping[str, list[dict[str, Any]]], row: Mapping[str, float]) -> dict[str, Any]:
    """The metadata of a file."""
    rows = [*groups.get(file.name, []), *(groups.get(file.stem, []) if file.stem != file.name else [])]
    if len(rows) != 1:
        raise InputError(f"{file}: {len(rows)} rows of --groups have its name; there must be one")
    if twice := next((name for name in rows[0] if name in row or name == "file"), None):
        raise InputError(f"{file}: the column {twice!r} of --groups is called as one of the results: rename it")
    return rows[0]


def _write(table: "pd.DataFrame", out: Path) -> None:
    from biped.files import in_place_of

    with in_place_of(out) as part:
        table.to_csv(part, index=False) if out.suffix.lower() == ".csv" else table.to_parquet(part, index=False)


def _cell(value: float, factor: float) -> str:
    return "" if value != value else f"{factor * value:.4g}"

"""``biped sway``: measures of sway from force-plate records, a row for each file."""

from argparse import ArgumentTypeError, Namespace
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from biped.errors import InputError
from contact.errors import listed
from experiments.cli.failures import FAILURE, UNSOLVED, describe
from experiments.cli.main import Parser, fail
from experiments.cli.progress import ProgressBar
from experiments.cli.reply import reply

if TYPE_CHECKING:
    from biped.records import Record
    from contact.arrays import Floats

_DESCRIPTION = """\
Measure the sway of quiet stance in force-plate records, a row for each file: distances, velocity, area, frequencies,
sway density and stabilogram diffusion of the centre of pressure, in SI units."""

_EXAMPLES = """\
examples:
  biped sway trials/*.csv                          columns cop_ap and cop_ml
  biped sway BDS*.txt --ap COPx --ml COPy --groups BDSinfo.txt --key Trial --out sway.csv
  biped sway plate.csv --plate Fx Fy Fz Mx My Mz --ap cop_x --ml cop_y --filter 10
  biped sway old.txt --ap x --ml y --rate 50 --units x=mm,y=mm

Status 1: a file could not be measured; the others are in the table.
"""

#: [m] largest plausible range of the centre of pressure of two feet.
WIDEST = 0.5
_PLATE = ("fx", "fy", "fz", "mx", "my", "mz")
#: Printed table: headings, and factors of the measures.
_SHOWN = {
    "duration": ("duration [s]", 1.0),
    "rms_distance_ap": ("RMS AP [mm]", 1e3),
    "rms_distance_ml": ("RMS ML [mm]", 1e3),
    "mean_velocity": ("velocity [mm/s]", 1e3),
    "area": ("area [mm²]", 1e6),
    "power_frequency_50_ap": ("PF50 AP [Hz]", 1.0),
    "critical_time": ("critical time [s]", 1.0),
}


def parser() -> Parser:
    own = Parser("biped sway", _DESCRIPTION, _EXAMPLES, page="sway")
    own.add_argument("files", metavar="FILE", nargs="+", help="records: CSV, TSV, text, C3D, .mot, .sto, .mat")
    own.option("--ap", "COLUMN", "column of the anteroposterior centre of pressure", "cop_ap")
    own.option("--ml", "COLUMN", "column of the mediolateral centre of pressure", "cop_ml")
    text = "columns of a plate's forces and moments, from which cop_x and cop_y are computed"
    own.add_argument("--plate", metavar=tuple(map(str.upper, _PLATE)), nargs=6, help=text)
    own.option("--surface", "Z", "z [m] of the surface of --plate, from the origin of the moments", 0.0)
    own.option("--time", "COLUMN", "column of the times of the samples", "time")
    own.option("--rate", "HZ", "sampling rate [Hz] of files without times", float)
    own.option("--heading", "LINE", "line of text files that names the columns; 0: none (default: detected)", int)
    own.option("--units", "LIST", "units that the files lack, such as COPx=mm,COPy=mm", _units)
    own.option("--gaps", "S", "longest gap [s] filled by linear interpolation", 0.0)
    own.option("--filter", "HZ", "cut-off frequency [Hz] of a zero-lag low-pass filter of fourth order; 0: none", 0.0)
    own.option("--resample", "HZ", "rate [Hz] of resampling after the filter; 0: keep the record's rate", 0.0)
    own.option("--begin", "S", "first time [s] of the record to use (default: the start)", float)
    own.option("--end", "S", "last time [s] of the record to use (default: the end)", float("inf"))
    own.option("--groups", "TABLE", "metadata, a row for each file: .csv, .tsv, .txt or .parquet")
    own.option("--key", "COLUMN", "metadata column with the files' names (default: the first that contains any)")
    own.option("--out", "TABLE", "file for the results: .csv or .parquet", "results/sway.csv")
    own.add_forms()
    return own


def main(options: Namespace) -> int:
    import pandas as pd

    from biped.inputs.files import replacing
    from experiments.cli.output import writable_folder
    from experiments.cli.terminal import say
    from experiments.visualization.document import print_block
    from experiments.visualization.pages import Table

    out, files = Path(options.out), options.files
    if out.suffix.lower() not in (".csv", ".parquet"):
        raise InputError(f"--out {out}: the table of results must be a file .csv or .parquet")
    groups = _groups(Path(options.groups), options.key, files) if options.groups else {}
    writable_folder(out.parent)
    rows: list[dict[str, Any]] = []
    notes: dict[str, list[str]] = {}
    with ProgressBar(len(files), "measuring", "files", counts=True) as bar:
        for done, file in enumerate(files):
            bar(done)
            try:
                row, remarks = _measured(file, options)
                rows.append({"file": file, **_with_groups(row, file, groups)})
            except Exception as error:
                message = describe(error)
                if message is None:
                    raise
                fail(message if file in message else f"{file}: {message}", FAILURE)
                continue
            for remark in remarks:
                notes.setdefault(remark, []).append(file)
    if not rows:
        return FAILURE
    table = pd.DataFrame(rows)
    with replacing(out) as part:
        table.to_csv(part, index=False) if out.suffix.lower() == ".csv" else table.to_parquet(part, index=False)
    reply({"trials": table, "notes": notes, "file": out})
    shown = {name: text for name, text in _SHOWN.items() if name in table}
    scaled = table.assign(**{name: factor * table[name] for name, (_, factor) in shown.items()})
    headings = {name: heading for name, (heading, _) in shown.items()}
    print_block(Table.of("", scaled[["file", *headings]].rename(columns=headings)))
    for remark, of in notes.items():
        say(f"{listed(of, 3)}: {remark}", "yellow")
    say(f"{out}: {len(table)} files, {len(table.columns)} columns", "cyan")
    return UNSOLVED if len(rows) < len(files) else 0


def _measured(file: str, options: Namespace) -> tuple[dict[str, float], list[str]]:
    """Return the measures of a file, and remarks about assumed and missing information."""
    from biped.records import Preparation, read_record

    told = {"time": options.time, "rate": options.rate, "units": options.units, "heading": options.heading}
    record = read_record(file, **told, log=False)
    record = _with_pressure(record, options.plate, options.surface) if options.plate else record
    begin = float(record.time[0]) if options.begin is None else options.begin
    prepared = Preparation(options.gaps, options.filter, options.resample, begin=begin, end=options.end)
    _check_rows(record, options)
    unsaid = [name for name in options.plate or (options.ap, options.ml) if record.units.get(name) == ""]
    notes = list(record.notes)
    notes += [f"{name} has no unit: SI units are assumed; give another by --units" for name in unsaid]
    columns = []
    for name in (options.ap, options.ml):
        if name not in record.columns:
            remedy = "name the centre of pressure by --ap and --ml, or forces and moments by --plate"
            raise InputError(f"{file}: no column {name!r}; columns are {', '.join(record.columns)}: {remedy}")
        time, values = prepared(record, name, "m")
        if name in unsaid and (wide := values.max() - values.min()) > WIDEST:
            remedy = f"say its unit, such as --units {name}=mm"
            raise InputError(f"{file}, column {name}: without a unit it would range over {wide:.3g} m: {remedy}")
        columns.append(values)
    if options.ap == options.ml:
        raise InputError(f"--ap and --ml are both {options.ap!r}: they must be two columns, along two axes")
    found = {"duration": float(time[-1] - time[0]), "rate": float((len(time) - 1) / (time[-1] - time[0]))}
    return found | _measures(notes, time, *columns), notes


def _check_rows(record: "Record", options: Namespace) -> None:
    """Raise InputError if rows are missing, which ``--gaps`` and ``--resample`` do not fill."""
    import numpy as np

    from biped.records.record import are_left_out

    missing = np.flatnonzero(are_left_out(record.time) & (record.time[1:] > (options.begin or -np.inf)))
    missing = missing[record.time[missing] < options.end]
    longest = float(np.diff(record.time)[missing].max(initial=0.0))
    if missing.size and (not options.resample or longest > options.gaps):
        raise InputError(
            f"{record.source}: rows are missing after {record.time[missing[0]]:g} s: set --gaps to {longest:.3g} or "
            f"more, --resample to {record.rate:.4g} and --filter to half of that or less; or cut by --begin and --end"
        )


def _measures(notes: list[str], time: "Floats", ap: "Floats", ml: "Floats") -> dict[str, float]:
    """Return all measures of time [s], AP and ML [m]; add a note for each kind that cannot be computed."""
    from biped.metrics import diffusion_curve, diffusion_measures, mean_power_frequency, sway_density, sway_measures
    from biped.metrics.posturography.diffusion import PARTING

    found = sway_measures(time, ap, ml)
    if not found:
        raise InputError(f"{len(time)} points are too few: a record needs three or more")
    if "power_low" not in found:
        notes.append("no measures of the spectrum: it is shorter than 20 s, or does not move")
    for what, measure in (
        ("mean power frequency", mean_power_frequency),
        ("sway density", sway_density),
        ("diffusion", lambda *sway: diffusion_measures(diffusion_curve(*sway))),
    ):
        try:
            found |= measure(time, ap, ml)
        except InputError as error:
            notes.append(f"no {what}: {error}")
    names = [name.replace("parting", "critical_time") for name in found if name.startswith("parting")]
    if without := ", ".join(name for name in names if name not in found):
        notes.append(f"no {without}: there is no critical point between {PARTING[0]:g} and {PARTING[1]:g} s")
    return found


def _with_pressure(record: "Record", plate: Sequence[str], surface: float) -> "Record":
    """Return the record with ``cop_x`` and ``cop_y`` [m] of a force plate; NaN below 20 N of vertical GRF."""
    import numpy as np

    from biped.records.c3d import LOADED

    units = ["N" if kind.startswith("f") else "N*m" for kind in _PLATE]
    fx, fy, fz, mx, my, _ = map(record.converted, plate, units)
    borne = np.where(np.abs(fz) >= LOADED, fz, np.nan)
    pressure = {"cop_x": (surface * fx - my) / borne, "cop_y": (surface * fy + mx) / borne}
    return replace(record, columns={**record.columns, **pressure}, units={**record.units, "cop_x": "m", "cop_y": "m"})


def _units(text: str) -> dict[str, str]:
    from biped.records.read import units_in

    try:
        return units_in(text)
    except InputError as error:
        raise ArgumentTypeError(str(error)) from None


def _groups(path: Path, key: str | None, files: Sequence[str]) -> dict[str, list[dict[Any, Any]]]:
    """Return the row of a metadata table for each file, matched by its name with or without suffix."""
    from experiments.statistics.table import check_columns, read_table

    table = read_table(path)
    names = table.map(lambda value: Path(str(value)).name)
    of = {file: (Path(file).name, Path(file).stem) for file in files}
    wanted = [name for both in of.values() for name in both]
    key = key or next((str(name) for name in table if names[name].isin(wanted).any()), None)
    if key is None:
        raise InputError(f"{path}: no column has the name of a file, such as {Path(files[0]).stem}: name it by --key")
    check_columns(table, [key])
    return {file: table[names[key].isin(both)].to_dict("records") for file, both in of.items()}


def _with_groups(row: dict[str, float], file: str, groups: dict[str, list[dict[Any, Any]]]) -> dict[str, Any]:
    rows = groups.get(file, [{}])
    if len(rows) != 1:
        raise InputError(f"{file}: {len(rows)} rows of --groups have its name; exactly one must have it")
    if twice := {"file", *row} & set(rows[0]):
        raise InputError(f"{file}: {', '.join(twice)} of --groups has the name of a result: rename the column")
    return rows[0] | row
